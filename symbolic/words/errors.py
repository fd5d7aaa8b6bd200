"""What a user got wrong: said in a sentence, with what to do."""


class UsageError(ValueError):
    """The user's call is invalid. The message gives the call, the argument and what to do."""
