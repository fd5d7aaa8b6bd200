"""What a run takes, estimated from its parameters alone: refused or announced before anything is built."""

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from bridge.limits.accepted import LongRun
from bridge.limits.memory import require_memory
from bridge.limits.run import BLOCK, Run
from symbolic.words.errors import UsageError

MINUTE, HOUR, DAY, YEAR = 60.0, 3600.0, 86400.0, 3.2e7
LONGEST = 3 * DAY  # beyond it a run is refused: the estimate may be several times too high
LARGEST = 1e18  # a size counts as this much where it is larger, so that its powers stay finite
Count = float | int
NUMBER = 8  # bytes
PRODUCT, ON_BALLS, PASS = 1e-9, 1e-5, 1e-3  # seconds: of a product in floats, of one on balls, of a layer in Python
EXPONENTIAL = 10  # products that take as long
BOUNDS = 20  # steps of an attack that take as long as all that bounds need of a layer
MOST_ON_BALLS = 60.0  # seconds: exact runs that take longer are not tried
KEPT = 20  # tensors of the size of a prompt that autograd keeps for each layer of a network, about


@dataclass(frozen=True)
class Cost:
    """About how many bytes the largest step takes, and how many seconds all steps take on one idle core."""

    bytes: Count = 0.0
    seconds: Count = 0.0

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


@dataclass(frozen=True)
class Work:
    """What a point takes, counted from its sizes.

    Of one prompt (where there are no inputs, of one draw): `numbers` are held at once; `products` are multiplied in a
    run in floats, `attacked` (the same, if None) in one of an attack, `exact` on balls for each search of an attack.
    Each step of an attack makes `passes` through a layer in Python. `before` is what precedes all runs.
    """

    numbers: Count = 0.0
    products: Count = 0.0
    attacked: Count | None = None
    exact: Count = 0.0
    passes: Count = 0.0
    before: Cost = Cost()

    @property
    def bytes_of_one(self) -> Count:
        """Of a prompt."""
        return NUMBER * self.numbers

    def times(self, runs: int) -> "Work":
        """So many runs of each prompt."""
        return replace(self, products=runs * self.products)

    def cost(self, run: Run, searches: int = 0, drawn: Count = 0.0) -> Cost:
        """With the samples, and so many searches by attack; `drawn`: the numbers of the inputs of a prompt, if any."""
        at_once = min(run.samples, BLOCK) + KEPT * run.restarts if drawn else 1
        held = self.bytes_of_one * at_once + NUMBER * drawn * run.samples
        steps = run.attack * run.restarts * searches
        products = self.products * run.samples + steps * (self.products if self.attacked is None else self.attacked)
        on_balls = min(MOST_ON_BALLS, ON_BALLS * searches * self.exact)
        in_python = PASS * self.passes * (run.attack + BOUNDS)
        return self.before + Cost(held, PRODUCT * products + on_balls + in_python)


def attention(tokens: Count, layers: Count) -> Work:
    """Of heads that weigh all pairs of tokens in each layer."""
    return Work(numbers=4 * tokens**2, products=EXPONENTIAL * layers * tokens**2)


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
