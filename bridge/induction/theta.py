"""Test an asymptotic claim, a Theta, along a path of the parameters (sigma_init -> 0, say).

The rule. `expression` is what stands inside the Theta, `derived` a formula of ours for the same quantity, `limit` the
limit of derived/expression along the direction. The data confirm the formula if measured/derived is within TOLERANCE of
1 at the last point. Then the Theta is consistent if the limit is positive and finite, and violated if it is 0 or
infinite (an O and an Omega each forbid one of the two). Else it is undecided.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bridge.export.numbers import plain
from bridge.record import Verdict

TOLERANCE = 0.05

Point = dict[str, Any]


@dataclass(frozen=True)
class Direction:
    """`points`, the last one farthest out; `limit` of derived/expression along them, inf, or nan where the
    formula does not reach so far."""

    name: str
    points: tuple[Point, ...]
    limit: float
    outside: str = ""  # why the statement does not cover it, if it does not


@dataclass(frozen=True)
class Sample:
    point: Point
    measured: float | None
    derived: float | None  # None where the formula does not apply
    expression: float

    @property
    def ratio(self) -> float | None:
        return None if self.measured is None else self.measured / self.expression

    @property
    def agreement(self) -> float | None:
        if self.measured is None or self.derived is None:
            return None
        if not self.derived:  # T_o = 0 where h starts above h*
            return 1.0 if self.measured == 0 else None
        return self.measured / self.derived


def sampled(
    direction: Direction,
    measure: Callable[[Point], float | None],
    derive: Callable[[Point], float | None],
    express: Callable[[Point], float],
) -> list[Sample]:
    return [Sample(point, measure(point), derive(point), express(point)) for point in direction.points]


def confirmed(sample: Sample) -> bool:
    """Whether the measurement is within TOLERANCE of the derived formula."""
    return sample.agreement is not None and abs(sample.agreement - 1) <= TOLERANCE


def judged(samples: Sequence[Sample], limit: float, *, above: bool = True, below: bool = True) -> Verdict:
    """The verdict on a Theta; on an O with `below` False, on an Omega with `above` False."""
    if not confirmed(samples[-1]) or not limit >= 0:
        return Verdict.UNDECIDED
    too_large, too_small = limit == math.inf, limit == 0
    return Verdict.VIOLATED if (too_large and above) or (too_small and below) else Verdict.CONSISTENT


def describe(samples: Sequence[Sample], limit: float) -> str:
    """The ratios to the expression along the direction, their derived limit, and how near the formula is at the end."""
    ratios = " ".join(plain(s.ratio) for s in samples)
    last = samples[-1].agreement
    nothing = "not reached" if samples[-1].measured is None else "no formula"
    near = nothing if last is None else plain(abs(last - 1))
    goal = "unbounded" if limit == math.inf else "none" if math.isnan(limit) else plain(limit)
    return f"measured/printed {ratios}, derived limit {goal}; relative distance to derived at the last point: {near}"
