"""Violations that Python's own rounding may explain: judged again with its floats enclosed, they are undecided."""

from numeric.balls import BallsError
from numeric.networks.stream import StreamError
from symbolic.words.errors import UsageError

NOT_RUN = (UsageError, BallsError, StreamError)  # of what does not run on the wider balls
WITHIN_ROUNDING = (
    "error and bound differ by no more than what Python may have rounded in floats such as 1.0 / n, math.sqrt(2), 0.1; "
    "write 1 / n, torch.sqrt(torch.tensor(2)), torch.tensor(1) / 10, which are exact"
)


def within_rounding(tiers: list[str]) -> list[str]:
    """Why these tiers are undecided, and what to write instead; nothing for none."""
    return [f"{', '.join(tiers)}: {WITHIN_ROUNDING}"] if tiers else []
