"""The least value of a function on a box, between two proved numbers, by branch and bound over Arb balls."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import flint
import sympy as sp

from bridge.balls import letters_of
from bridge.branch_and_bound import best_first, cut_across
from bridge.enclosures import STEPS
from bridge.lowering import LoweringError, lower
from numeric.balls import Arb, float_above, float_below, working_precision
from symbolic.statements import UsageError

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

    @property
    def root(self) -> "Enclosure":
        """Of the square root of the number, which is at least 0."""
        with working_precision(BITS):
            low, high = flint.arb(max(self.lower, 0.0)).sqrt(), flint.arb(max(self.upper, 0.0)).sqrt()
            return replace(self, lower=float_below(low), upper=float_above(high))


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
    boxes near the minimum need not be cut as finely. Where the function has no enclosure nothing bounds it from below.
    Raises UsageError for a box with a side that is not finite.
    """
    with working_precision(BITS):
        root: Box = tuple((float(low), float(high)) for low, high in box)
        if not all(math.isfinite(end) for side in root for end in side):
            raise UsageError(f"least_value: the box {root}; give sides with two finite ends")
        at = middle_of(root)
        upper = _value_at(at, function)

        def halves(box: Box) -> Iterator[tuple[float, Box]]:
            nonlocal upper, at
            for part in halves_of(box):
                middle = middle_of(part)
                value = _value_at(middle, function)
                if value < upper:
                    upper, at = value, middle
                yield _least_on(part, function, gradient), part

        start = [(_least_on(root, function, gradient), root)]
        left = best_first(start, halves, lambda least, _: upper - least <= tolerance, most=most_boxes)
        return Enclosure(min(left.least(upper), upper), upper, at, left.seen)


def least_of(
    expression: sp.Expr,
    ranges: Mapping[sp.Symbol, tuple[float, float]],
    values: Mapping[sp.Symbol, Any] | None = None,
    *,
    tolerance: float,
    most_boxes: int = 50_000,
) -> Enclosure:
    """The minimum of a SymPy expression over closed ranges of some letters, the others having `values` (or balls).

    `at` has the order of the ranges. Errors and slopes as for `least_value`; an expression with jumps has no slopes.
    Raises UsageError for letters without a range or a value.
    """
    known = values or {}
    letters_of(expression, {**ranges, **known}, "least_of")
    function, slopes = _on_balls(expression, tuple(ranges), tuple(known))
    fixed = tuple(known.values())
    return least_value(
        lambda t: function(*t, *fixed),
        list(ranges.values()),
        tolerance=tolerance,
        gradient=None if slopes is None else lambda t: [slope(*t, *fixed) for slope in slopes],
        most_boxes=most_boxes,
    )


@lru_cache(maxsize=64)
def _on_balls(
    expression: sp.Expr, variables: tuple[sp.Symbol, ...], others: tuple[sp.Symbol, ...]
) -> tuple[Callable[..., Any], list[Callable[..., Any]] | None]:
    """The expression and its slopes: at kinks those between the one-sided ones."""
    every = (*variables, *others)
    function = lower(expression, "arb", args=every, bits=BITS)
    if expression.has(*STEPS):
        return function, None
    try:
        return function, [lower(sp.diff(expression, x), "arb", args=every, bits=BITS) for x in variables]
    except LoweringError:
        return function, None


def _value_at(point: tuple[float, ...], function: OnBalls) -> float:
    """At least the value; infinite where there is none."""
    value = float_above(function([flint.arb(x) for x in point]))
    return math.inf if math.isnan(value) else value


# f(t) lies in f(box), and in f(m) + f'(box) (t - m).
def _least_on(box: Box, function: OnBalls, gradient: Callable[[Sequence[Any]], Sequence[Any]] | None) -> float:
    balls = [_ball(*side) for side in box]
    natural = float_below(function(balls))
    natural = -math.inf if math.isnan(natural) else natural  # the heap has no order for what is no number
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
