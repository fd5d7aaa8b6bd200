"""What a training refuses."""


class TrainingError(ValueError):
    """A training that cannot be set up, or a checkpoint that does not fit it: says what came and what is wanted."""


def require(holds: bool, what: str, remedy: str) -> None:
    """Raises TrainingError unless it holds."""
    if not holds:
        raise TrainingError(f"{what}; {remedy}")
