"""What a run takes, estimated from its parameters alone: refused or announced before anything is built."""

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bridge.limits.memory import require_memory
from symbolic.words.errors import UsageError

MINUTE, HOUR, DAY, YEAR = 60.0, 3600.0, 86400.0, 3.2e7
LONGEST = 3 * DAY  # beyond it a run is refused: the estimate may be several times too high
LARGEST = 1e18  # a size counts as this much where it is larger, so that its powers stay finite


class LongRun(UserWarning):
    """A run that takes more than a minute: how long, and what makes it shorter."""


@dataclass(frozen=True)
class Cost:
    """About how many bytes the largest step takes, and how many seconds all steps take on one idle core."""

    bytes: float = 0.0
    seconds: float = 0.0

    def __add__(self, other: "Cost") -> "Cost":
        """One after the other."""
        return Cost(max(self.bytes, other.bytes), self.seconds + other.seconds)

    def require(self, call: str, remedy: str) -> None:
        """Raises UsageError where the memory that is available, or any patience, is not enough."""
        require_memory(call, int(self.bytes), remedy)
        if self.seconds > LONGEST:
            raise UsageError(f"{call}: would take {duration(self.seconds)} on an idle core; {remedy}")

    def announce(self, call: str) -> None:
        """Warns of a run of more than a minute, before it starts."""
        if self.seconds > MINUTE:
            words = f"{call}: takes {duration(self.seconds)} on an idle core; Ctrl-C interrupts"
            warnings.warn(words, LongRun, stacklevel=3)


def linear_cost(size: str, bytes_each: float | int, seconds_each: float | int) -> Callable[..., Cost]:
    """The `cost` of a theorem whose checks are sums of so many terms as the parameter `size` says."""

    def cost(sizes: Mapping[str, float], run: Any) -> Cost:
        return Cost(bytes_each * sizes[size], seconds_each * sizes[size])

    return cost


def sizes_of(params: Mapping[str, Any]) -> dict[str, float]:
    """The numbers among the parameters as sizes: at least 0, and so that a product of powers is finite."""
    numbers = {name: float(min(max(x, 0), LARGEST)) for name, x in params.items() if isinstance(x, int | float)}
    return {name: x for name, x in numbers.items() if not math.isnan(x)}


def duration(seconds: float) -> str:
    """In the unit that a person would take."""
    for unit, length, most in (("minutes", MINUTE, 2 * HOUR), ("hours", HOUR, 2 * DAY), ("days", DAY, YEAR)):
        if seconds < most:
            return f"about {round(seconds / length)} {unit}"
    return f"about {seconds / YEAR:.1g} years" if seconds < 1e6 * YEAR else "more than a million years"
