"""The least value of a function on a box, between two proved numbers, by branch and bound over Arb balls."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import flint

from bridge.branch_and_bound import best_first, cut_across
from numeric.balls import Arb, float_above, float_below, working_precision

OnBalls = Callable[[Sequence[Any]], Any]  # balls of the variables to a ball that holds every value there
Box = tuple[tuple[float, float], ...]
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
        at = middle_of(root)
        upper = float_above(function([flint.arb(x) for x in at]))

        def halves(box: Box) -> Iterator[tuple[float, Box]]:
            nonlocal upper, at
            for part in halves_of(box):
                middle = middle_of(part)
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
    middle = [flint.arb(x) for x in middle_of(box)]
    centred = function(middle)
    for slope, ball, at in zip(gradient(balls), balls, middle, strict=True):
        centred += slope * (ball - at)
    low = float_below(centred)
    return max(natural, low) if math.isfinite(low) else natural


def _ball(low: float, high: float) -> Arb:
    return flint.arb(low).union(flint.arb(high))


def middle_of(box: Box) -> tuple[float, ...]:
    return tuple((low + high) / 2 for low, high in box)


def halves_of(box: Box) -> tuple[Box, Box]:
    """The box cut across its widest side."""
    axis = max(range(len(box)), key=lambda i: box[i][1] - box[i][0])
    return cut_across(box, axis, sum(box[axis]) / 2)
