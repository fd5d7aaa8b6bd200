"""Why a point of a theorem is not run."""

from dataclasses import dataclass

from bridge.theorems.record import Verdict
from symbolic.words.prose import make_prose


@dataclass(frozen=True)
class Refusal:
    """A point that is not run: `not representable` (how many of what), or `outside` (which hypothesis).

    `of_run`: of the run alone; bounds are solved for all the same.
    """

    verdict: Verdict
    reason: str
    of_run: bool = False

    def __post_init__(self) -> None:
        make_prose(self, "reason", checked=False)
