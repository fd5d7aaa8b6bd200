"""Margins from their definition, rho = min ||delta||_2 subject to F(theta + delta) <= 0, between two proved numbers.

Branch and bound over all changes, nearest box first: for few parameters, and slower than what is checked against it.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import flint

from bridge.branch_and_bound import best_first
from bridge.least_value import BITS, Box, Enclosure, OnBalls, halves_of, middle_of
from numeric.balls import Arb, float_above, float_below, working_precision
from symbolic.statements import UsageError


def exact_margin(
    output: OnBalls,
    point: Sequence[float],
    *,
    largest: float,
    start: Sequence[float] | None = None,
    tolerance: float = 1e-3,
    most_boxes: int = 200_000,
) -> Enclosure:
    """The margin of F = `output` (signed so that it is positive at `point`) between two proved bounds.

    `largest` bounds the changes looked at: without any flip within it, the lower bound is at most `largest` and the
    upper one is infinite. `start` is a change that flips, if one is known (it is checked, and made smaller along its
    ray). Ends when the bounds are within `tolerance`, relative, or at `most_boxes` (the bounds hold all the same).

    Raises UsageError where F at the point is not surely positive: then the margin is 0 or the sign is not known.
    """
    with working_precision(BITS):
        if not output([flint.arb(x) for x in point]) > 0:
            raise UsageError("exact_margin: the output at the point is not surely positive; its margin is 0")
        search = _MarginSearch(output, tuple(point))
        if start is not None:
            search.try_change(tuple(start))
        root: Box = tuple((-largest, largest) for _ in point)
        # Every flip outside of the open boxes is no nearer than `upper`, those in one are no nearer than its key.
        left = best_first(
            [(0.0, root)],
            search.halves,
            lambda near, _: near >= min(search.upper * (1 - tolerance), largest),
            most=most_boxes,
        )
        return Enclosure(min(left.least(math.inf), search.upper, largest), search.upper, search.at, left.seen)


class _MarginSearch:
    def __init__(self, output: OnBalls, point: tuple[float, ...]) -> None:
        self.output, self.point = output, point
        self.upper, self.at = math.inf, tuple(0.0 for _ in point)

    def halves(self, box: Box) -> Iterator[tuple[float, Box]]:
        """Those in which the output may flip, with their distances."""
        for part in halves_of(box):
            if not self.surely_positive(part):
                self.try_change(middle_of(part))
                yield _nearest(part), part

    def surely_positive(self, box: Box) -> bool:
        balls = [
            flint.arb(x) + flint.arb(side[0]).union(flint.arb(side[1])) for x, side in zip(self.point, box, strict=True)
        ]
        return bool(self.output(balls) > 0)

    def flips(self, change: tuple[float, ...]) -> bool:
        return bool(self.output([flint.arb(x) + flint.arb(d) for x, d in zip(self.point, change, strict=True)]) <= 0)

    def try_change(self, change: tuple[float, ...]) -> None:
        """The nearest flip found along the ray through `change`, by bisection, if `change` itself flips."""
        if _length(change) >= self.upper or not self.flips(change):
            return
        inside, outside = 0.0, 1.0
        for _ in range(40):
            middle = (inside + outside) / 2
            shorter = tuple(middle * d for d in change)
            inside, outside = (inside, middle) if self.flips(shorter) else (middle, outside)
        self.at = tuple(outside * d for d in change)
        self.upper = _length(self.at)


def _nearest(box: Box) -> float:
    """A float that is at most the distance of the box from 0."""
    sides = [flint.arb(low if low > 0 else -high if high < 0 else 0.0) for low, high in box]
    return max(0.0, float_below(_root_of_squares(sides)))


def _length(change: Sequence[float]) -> float:
    """A float that is at least the change's 2-norm."""
    return float_above(_root_of_squares([flint.arb(d) for d in change]))


def _root_of_squares(sides: Sequence[Any]) -> Arb:
    return sum((side * side for side in sides), flint.arb(0)).sqrt()
