"""The least value of a function on a box, between two proved numbers, by branch and bound over Arb balls."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import flint
import sympy as sp

from bridge.lowering.ball_values import exact_ball, letters_of, require_numbers
from bridge.lowering.branch_and_bound import best_first, cut_across
from bridge.lowering.enclosures import BITS, with_slopes
from numeric.balls import Arb, float_above, float_below, working_precision
from symbolic.derivations.exact_numbers import as_count, as_formula, as_number, require_symbols
from symbolic.words.errors import UsageError

OnBalls = Callable[[Sequence[Any]], Any]  # balls of the variables to a ball that holds every value there
Box = tuple[tuple[float, float], ...]
Ends = tuple[tuple[Arb, Arb], ...]  # the exact ends of the sides


@dataclass(frozen=True)
class Enclosure:
    """lower <= the number <= upper, both proved; `at` is where the upper end is attained, `boxes` what it took.

    An end of a range that is not a float64 is exact; `at` then has a float next to it.
    """

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
    box: Sequence[tuple[Any, Any]],
    *,
    tolerance: float,
    gradient: Callable[[Sequence[Any]], Sequence[Any]] | None = None,
    most_boxes: int = 50_000,
) -> Enclosure:
    """The minimum of a function over a closed box, within an absolute `tolerance` unless the boxes run out.

    `gradient` gives balls that hold every slope on the box (at a kink all those between the one-sided ones): with it
    boxes near the minimum need not be cut as finely. Where the function has no enclosure nothing bounds it from below.
    The ends are numbers, of SymPy too, and count exactly. Raises UsageError for a box without two finite ends a side,
    the lower one first, for a tolerance that is not a number >= 0, and for a function that does not give a ball.
    """
    if isinstance(box, Sequence) and not box:
        raise _no_box("least_value", box)
    return _least("least_value", function, box, tolerance, gradient, most_boxes)


def _least(
    call: str,
    function: OnBalls,
    box: Sequence[tuple[Any, Any]],
    tolerance: Any,
    gradient: Callable[[Sequence[Any]], Sequence[Any]] | None,
    most_boxes: Any,
) -> Enclosure:
    tolerance, most_boxes = _tolerance(call, tolerance), as_count(call, "most_boxes", most_boxes)
    function = _giving_balls(call, function)
    with working_precision(BITS):
        ends = _ends(call, box)
        root: Box = tuple((float_below(low), float_above(high)) for low, high in ends)
        at = middle_of(root)
        upper = _value_at(at, ends, function)

        def halves(box: Box) -> Iterator[tuple[float, Box]]:
            nonlocal upper, at
            for part in halves_of(box):
                middle = middle_of(part)
                value = _value_at(middle, ends, function)
                if value < upper:
                    upper, at = value, middle
                yield _least_on(call, part, function, gradient), part

        start = [(_least_on(call, root, function, gradient), root)]
        left = best_first(start, halves, lambda least, _: upper - least <= tolerance, most=most_boxes)
        return Enclosure(min(left.least(upper), upper), upper, at, left.seen)


def _tolerance(call: str, tolerance: Any) -> float:
    found = as_number(call, "tolerance", tolerance)
    if found.is_negative:
        raise UsageError(f"{call}: tolerance = {tolerance}; give a number >= 0")
    return float_below(exact_ball(found))


def _ends(call: str, box: Any) -> Ends:
    """The exact ends of the sides."""
    try:
        sides = [(as_number(call, "an end", low), as_number(call, "an end", high)) for low, high in box]
    except (UsageError, TypeError, ValueError):  # of what is not an end, a pair or a box
        raise _no_box(call, box) from None
    if any(low > high for low, high in sides):
        raise _no_box(call, box)
    return tuple((exact_ball(low, BITS), exact_ball(high, BITS)) for low, high in sides)


def _no_box(call: str, box: Any) -> UsageError:
    return UsageError(f"{call}: the box {box!r:.80}; give sides with two finite ends, the lower one first")


def _giving_balls(call: str, function: Any) -> OnBalls:
    if not callable(function):
        raise UsageError(f"{call}: function = {function!r:.80}; give a function of a list of balls")

    def on_balls(t: Sequence[Any]) -> Arb:
        found = function(t)
        if isinstance(found, flint.arb):
            return found
        if isinstance(found, int | float):
            return flint.arb(found)
        raise UsageError(f"{call}: the function gives {found!r:.80}; it takes a list of balls and has to give a ball")

    return on_balls


def least_of(
    expression: sp.Expr,
    ranges: Mapping[sp.Symbol, tuple[Any, Any]],
    values: Mapping[sp.Symbol, Any] | None = None,
    *,
    tolerance: float,
    most_boxes: int = 50_000,
) -> Enclosure:
    """The minimum of a SymPy expression over closed ranges of some letters, the others having `values` (or balls).

    `at` has the order of the ranges. Ends, errors and slopes as for `least_value`; an expression with jumps has no
    slopes. Raises UsageError for letters without a range or a value, and for one with both.
    """
    expression, known = as_formula("least_of", "expression", expression), {} if values is None else values
    require_symbols("least_of", "ranges", ranges)
    require_symbols("least_of", "values", known)
    if both := [str(letter) for letter in ranges if letter in known]:
        raise UsageError(f"least_of: {', '.join(both)} has a range and a value; give one of the two")
    letters_of(expression, {**ranges, **known}, "least_of")
    require_numbers("least_of", tuple(known), known)
    function, slopes = with_slopes(expression, tuple(ranges), tuple(known))
    fixed = tuple(known.values())
    return _least(
        "least_of",
        lambda t: function(*t, *fixed),
        list(ranges.values()),
        tolerance,
        None if slopes is None else lambda t: [slope(*t, *fixed) for slope in slopes],
        most_boxes,
    )


def _value_at(point: tuple[float, ...], ends: Ends, function: OnBalls) -> float:
    """At least the value at the nearest point between the exact ends; infinite where there is none."""
    inside = [clipped(x, *side) for x, side in zip(point, ends, strict=True)]
    value = float_above(function(inside))
    return math.inf if math.isnan(value) else value


# f(t) lies in f(box), and in f(m) + f'(box) (t - m).
def _least_on(
    call: str, box: Box, function: OnBalls, gradient: Callable[[Sequence[Any]], Sequence[Any]] | None
) -> float:
    balls = [_ball(*side) for side in box]
    natural = float_below(function(balls))
    natural = -math.inf if math.isnan(natural) else natural  # the heap has no order for what is not a number
    if gradient is None or natural == -math.inf:  # a slope counts where the function has an enclosure
        return natural
    middle = [flint.arb(x) for x in middle_of(box)]
    centred = function(middle)
    slopes = tuple(gradient(balls))
    if len(slopes) != len(balls):
        raise UsageError(f"{call}: the gradient gives {len(slopes)} slopes for {len(balls)} sides; give one for each")
    for slope, ball, at in zip(slopes, balls, middle, strict=True):
        centred += slope * (ball - at)
    low = float_below(centred)
    return max(natural, low) if math.isfinite(low) else natural


def clipped(x: float, low: Arb, high: Arb) -> Arb:
    """The number, or the end beside it where it is not surely between the two."""
    at = flint.arb(x)
    return low if not at >= low else high if not at <= high else at


def _ball(low: float, high: float) -> Arb:
    return flint.arb(low).union(flint.arb(high))


def middle_of(box: Box) -> tuple[float, ...]:
    return tuple(low / 2 + high / 2 for low, high in box)  # the sum may overflow


def halves_of(box: Box) -> tuple[Box, Box]:
    """The box cut across its widest side."""
    axis = max(range(len(box)), key=lambda i: box[i][1] - box[i][0])
    return cut_across(box, axis, middle_of(box)[axis])
