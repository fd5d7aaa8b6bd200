"""Certified all-layer margins: rho = min ||delta||_2 subject to F(theta + delta) <= 0, between two proved numbers.

`exact_margin` takes any F on Arb balls and few parameters (branch and bound over delta, nearest box first).
`least_value` encloses the minimum of a function on a box likewise: what is left of the margin of a two-layer network
once the last layer is eliminated has one variable a hidden unit.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import flint

from bridge.branch_and_bound import best_first, cut_across
from numeric.balls import Arb, float_above, float_below, working_precision
from symbolic.statements import UsageError

OnBalls = Callable[[Sequence[Any]], Any]  # balls of the variables to a ball that holds every value there
BITS = 96


@dataclass(frozen=True)
class Enclosure:
    """lower <= the number <= upper, both proved; `at` is where the upper end is attained, `boxes` what it took."""

    lower: float
    upper: float
    at: tuple[float, ...]
    boxes: int

    @property
    def width(self) -> float:
        return self.upper - self.lower


Box = tuple[tuple[float, float], ...]


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
        for part in _halves(box):
            if not self.surely_positive(part):
                self.try_change(_middle(part))
                yield _nearest(part), part

    def surely_positive(self, box: Box) -> bool:
        balls = [flint.arb(x) + _ball(*side) for x, side in zip(self.point, box, strict=True)]
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


def least_value(
    function: OnBalls,
    box: Sequence[tuple[float, float]],
    *,
    tolerance: float,
    gradient: Callable[[Sequence[Any]], Sequence[Any]] | None = None,
    most_boxes: int = 50_000,
) -> Enclosure:
    """The minimum of a function over a closed box, within an absolute `tolerance` unless the boxes run out.

    `gradient` gives balls that hold every slope on the box (at a kink all those between the one-sided ones): with it
    boxes near the minimum need not be cut as finely.
    """
    with working_precision(BITS):
        root: Box = tuple((float(low), float(high)) for low, high in box)
        at = _middle(root)
        upper = float_above(function([flint.arb(x) for x in at]))

        def halves(box: Box) -> Iterator[tuple[float, Box]]:
            nonlocal upper, at
            for part in _halves(box):
                middle = _middle(part)
                value = float_above(function([flint.arb(x) for x in middle]))
                if value < upper:
                    upper, at = value, middle
                yield _least_on(part, function, gradient), part

        start = [(_least_on(root, function, gradient), root)]
        left = best_first(start, halves, lambda least, _: upper - least <= tolerance, most=most_boxes)
        return Enclosure(min(left.least(upper), upper), upper, at, left.seen)


# f(t) lies in f(box), and in f(m) + f'(box) (t - m).
def _least_on(box: Box, function: OnBalls, gradient: Callable[[Sequence[Any]], Sequence[Any]] | None) -> float:
    balls = [_ball(*side) for side in box]
    natural = float_below(function(balls))
    if gradient is None:
        return natural
    middle = [flint.arb(x) for x in _middle(box)]
    centred = function(middle)
    for slope, ball, at in zip(gradient(balls), balls, middle, strict=True):
        centred += slope * (ball - at)
    low = float_below(centred)
    return max(natural, low) if math.isfinite(low) else natural


def _ball(low: float, high: float) -> Arb:
    return flint.arb(low).union(flint.arb(high))


def _middle(box: Box) -> tuple[float, ...]:
    return tuple((low + high) / 2 for low, high in box)


def _halves(box: Box) -> tuple[Box, Box]:
    """The box cut across its widest side."""
    axis = max(range(len(box)), key=lambda i: box[i][1] - box[i][0])
    return cut_across(box, axis, sum(box[axis]) / 2)


def _nearest(box: Box) -> float:
    """A float that is at most the distance of the box from 0."""
    sides = [flint.arb(low if low > 0 else -high if high < 0 else 0.0) for low, high in box]
    return max(0.0, float_below(_root_of_squares(sides)))


def _length(change: Sequence[float]) -> float:
    """A float that is at least the change's 2-norm."""
    return float_above(_root_of_squares([flint.arb(d) for d in change]))


def _root_of_squares(sides: Sequence[Any]) -> Arb:
    return sum((side * side for side in sides), flint.arb(0)).sqrt()
