"""What `numeric.tools.flows` raises, for those that only have to know it: SciPy is slow to import."""


class IntegrationError(RuntimeError):
    """An integration that did not reach its end. The message gives the last time and the reason."""
