"""Certified suprema of functions of one variable, by branch and bound over Arb balls.

An interval is bounded by the function on the ball, and by its mean-value form f(m) + f'(ball) (ball - m), whichever is
smaller; the interval with the largest bound is halved until the bound is close to a value that is attained.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import flint
import sympy as sp

from bridge.lowering import Lowered, LoweringError, lower
from bridge.lowering.ball_values import as_exact
from bridge.lowering.branch_and_bound import best_first
from numeric.balls import Arb, float_above, float_below, rational, working_precision
from symbolic.words.errors import UsageError

BITS = 96
Interval = tuple[Arb, Arb, Arb]  # a bound of the function there, and its two ends
Bounds = Callable[[Arb, Arb], tuple[Arb, Arb, Arb]]
CLOSE = 11  # bits of a supremum that are right: a relative error below the 10^-3 that callers may count on
TIGHTNESS = flint.arb(2) ** -CLOSE
MOST_INTERVALS = 20_000
STEPS = (sp.Heaviside, sp.sign, sp.floor, sp.ceiling, sp.Piecewise, sp.DiracDelta, sp.Mod)  # f' does not detect jumps


@lru_cache(maxsize=512)
def with_slopes(
    expr: sp.Expr, variables: tuple[sp.Symbol, ...], others: tuple[sp.Symbol, ...] = ()
) -> tuple[Lowered, list[Lowered] | None]:
    """The expression on balls, and its slopes in the variables: at kinks those between the one-sided ones (Clarke).

    None for one with jumps. Slopes bound differences where the expression itself has an enclosure, and only there:
    SymPy's derivative of atan(tan(t)) is 1, across all jumps.
    """
    every = (*variables, *others)
    function = lower(expr, "arb", args=every, bits=BITS)
    if expr.has(*STEPS):
        return function, None
    try:
        return function, [lower(sp.diff(expr, x), "arb", args=every, bits=BITS) for x in variables]
    except LoweringError:
        return function, None


def supremum(expr: sp.Expr, symbol: sp.Symbol, low: Any, high: Any, *, close: int = CLOSE) -> flint.arb:
    """An upper bound of sup |expr| over low <= symbol <= high, within 2^-close < 10^-3 of it (or below 10^-30).

    `low` and `high` are numbers (floats as the binary rationals that they are) or balls, of which the outer ends count.
    Raises UsageError where the interval is empty or no finite bound is found (a pole, or undefined throughout).
    """
    start, end = _ends(expr, low, high)
    return _largest(expr, symbol, start, end, Fraction(0), absolute=True, close=close)


def suprema(expr: sp.Expr, symbol: sp.Symbol, edges: Sequence[Any]) -> list[flint.arb]:
    """The same on each of the cells between neighbouring edges."""
    return [supremum(expr, symbol, low, high) for low, high in itertools.pairwise(edges)]


def range_of(expr: sp.Expr, symbol: sp.Symbol, low: Any, high: Any) -> tuple[float, float]:
    """Floats (lower, upper) with lower <= expr <= upper over low <= symbol <= high, within 10^-3 of sup |expr|.

    Errors as for `supremum`.
    """
    start, end = _ends(expr, low, high)
    size = Fraction(float_above(_largest(expr, symbol, start, end, Fraction(0), absolute=True)))
    above, below = (_largest(each, symbol, start, end, size, absolute=False) for each in (expr, -expr))
    return -float_above(below), float_above(above)


def _ends(expr: sp.Expr, low: Any, high: Any) -> tuple[Fraction, Fraction]:
    start = Fraction(float_below(low)) if isinstance(low, flint.arb) else _fraction(low)
    end = Fraction(float_above(high)) if isinstance(high, flint.arb) else _fraction(high)
    if start > end:
        raise UsageError(f"the range [{low}, {high}] of {sp.sstr(expr)} is empty; give low <= high")
    return start, end


def _fraction(number: Any) -> Fraction:
    try:
        return Fraction(as_exact(number))
    except (OverflowError, ValueError):
        raise UsageError(f"{number} is not a valid end of a range; give a finite number") from None


@lru_cache(maxsize=4096)
def _largest(
    expr: sp.Expr,
    symbol: sp.Symbol,
    low: Fraction,
    high: Fraction,
    size: Fraction,
    *,
    absolute: bool,
    close: int = CLOSE,
) -> flint.arb:
    """An upper bound, a point, of sup expr (of sup |expr|), at most 2^-close max(|sup|, size) + 2^-BITS above it."""
    with working_precision(BITS):
        tightness = flint.arb(2) ** -close
        start, end, scale = map(rational, (low, high, size))
        bounds = bounds_of(expr, symbol)
        slack = scale * tightness + flint.arb(2) ** -BITS
        bound = _branch_and_bound(bounds, start, end, (tightness, slack), absolute)
    if not bound.is_finite():
        raise UsageError(
            f"no finite bound found for {sp.sstr(expr)} on [{float(low):g}, {float(high):g}]: it has a pole there or "
            f"is undefined; choose a smaller range"
        )
    return bound


# f(t) lies in f(ball), and in f(m) + f'(ball) (t - m); where f' has one sign f is largest and smallest at the ends.
@lru_cache(maxsize=512)  # lowered once for all intervals: that takes longer than most searches
def bounds_of(expr: sp.Expr, symbol: sp.Symbol) -> Bounds:
    """On an interval: a lower and an upper bound of the function, and its value at one of the points."""
    real = sp.Dummy(symbol.name, real=True)
    function, slopes = with_slopes(expr.xreplace({symbol: real}), (real,))

    def bounds(low: Arb, high: Arb) -> tuple[Arb, Arb, Arb]:
        ball, middle = low.union(high), (low + high) / 2
        natural = function.bare(ball)
        slope = slopes[0].bare(ball) if slopes is not None and natural.is_finite() else flint.arb.nan()
        if slope >= 0 or slope <= 0:
            first, last = function.bare(low), function.bare(high)
            start, end = (first, last) if slope >= 0 else (last, first)
            return start.lower(), end.upper(), end if abs(end) >= abs(start) else start
        at_middle = function.bare(middle)
        centred = at_middle + slope * (ball - middle)
        return -_smaller(-natural.lower(), -centred.lower()), _smaller(natural.upper(), centred.upper()), at_middle

    return bounds


def _branch_and_bound(bounds: Bounds, low: Arb, high: Arb, within: tuple[Arb, Arb], absolute: bool) -> Arb:
    """`within`: how far the bound may be from a value that is attained, relative to that and beside it."""
    tightness, slack = within

    def bounded(start: Arb, end: Arb) -> tuple[Arb, Arb]:
        below, above, point = bounds(start, end)
        return (above.max(-below), abs(point).lower()) if absolute else (above, point.lower())

    bound, best = bounded(low, high)

    def halves(interval: Interval) -> Iterator[tuple[float, Interval]]:
        nonlocal best
        _, low, high = interval
        middle = ((low + high) / 2).mid()
        for start, end in ((low, middle), (middle, high)):
            bound, attained = bounded(start, end)
            best = _larger(best, attained)
            yield -_key(bound), (bound, start, end)

    def enough(_: float, interval: Interval) -> bool:
        return bool(best.is_finite() and interval[0] <= best + abs(best) * tightness + slack)

    left = best_first([(-_key(bound), (bound, low, high))], halves, enough, most=2 * MOST_INTERVALS + 1)
    largest = left.parts[0][1][0]
    for _, (bound, _, _) in left.parts:  # the keys are rounded, the bounds are not
        largest = bound if not bound <= largest else largest
    return largest


def _key(bound: Arb) -> float:
    return float("inf") if not bound.is_finite() else float(bound)


def _smaller(a: Arb, b: Arb) -> Arb:
    """The smaller of two upper bounds, one of which may be nan."""
    if not a.is_finite():
        return b if b.is_finite() else flint.arb("inf")
    return b if b < a else a


def _larger(a: Arb, b: Arb) -> Arb:
    """The larger of two values that are attained, one of which may be undefined."""
    if not a.is_finite():
        return b
    return b if b > a else a
