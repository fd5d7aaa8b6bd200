"""Sums of ReLUs with certified errors: from a SymPy function to coefficients and a bound on their error.

The certificate is of the sum F with its float64 coefficients taken exactly: with f the function and x_i the knots,
|F - f| <= h^2/8 sup|f''| + max_i |F(x_i) - f(x_i)| + 3 max_i (hinge i at x_i), every term enclosed by Arb.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import flint
import numpy as np
import sympy as sp

from bridge.lowering import LoweringError, lower
from bridge.lowering.enclosures import supremum
from numeric.balls import float_above, working_precision
from numeric.networks.hinges import uniform_knot, uniform_knots
from numeric.networks.loss_sums import LossSum
from numeric.networks.relu_sums import ReluSum
from symbolic.calculus.activations import Loss, Piece, stable_derivative
from symbolic.calculus.approximation import (
    ROUNDING_SHARE,
    SmoothPart,
    hinge_count,
    secant_cells,
    secant_error,
    secant_slope_error,
    smooth_parts,
)
from symbolic.words.errors import UsageError
from symbolic.words.shown import brief

BITS = 96
MOST_RELUS = 1_000_000
ROUNDS, HEADROOM = 20, 1.01  # of the search for a range that covers what its own error adds to it


@dataclass(frozen=True, eq=False)
class Interpolant:
    """`relu_sum` in place of `function` on [-radius, radius].

    `error` is a certified upper bound of sup |relu_sum - function|, `slope_error` of sup |relu_sum' - function'| (at a
    kink of either, of the slopes on both sides). `rounding` and `slope_rounding` are what float64 coefficients add to
    the bounds of secants through exact values.
    """

    function: sp.Expr
    symbol: sp.Symbol
    radius: float
    relu_sum: ReluSum
    error: flint.arb
    slope_error: flint.arb
    rounding: flint.arb
    slope_rounding: flint.arb

    __repr__ = brief

    @property
    def width(self) -> float:
        """Of a cell."""
        return 2 * self.radius / self.relu_sum.cells

    @property
    def bend(self) -> float:
        """At least sup |f''| between the kinks of the function."""
        return float_above(curvature(self.function, self.symbol, self.radius))

    @property
    def grid(self) -> int:
        """The least even number of cells for which every kink of the function is a knot."""
        return grid_of_kinks(self.function, self.symbol, self.radius)

    # Beyond the radius a sum of ReLUs continues its last line, which float64 coefficients move as they move its slope.
    def error_within(self, reach: float) -> flint.arb:
        """sup |relu_sum - function| over [-reach, reach], also where that is beyond the radius it was built on."""
        if reach <= self.radius:
            return self.error
        sums, largest = self.relu_sum, self.error
        for end, (low, high) in ((0, (-reach, float(sums.knots[0]))), (-1, (float(sums.knots[-1]), reach))):
            knot, value, slope = (_exact(float(array[end])) for array in (sums.knots, sums.values, sums.slopes))
            line = value + slope * (self.symbol - knot)
            largest = largest.max(supremum(self.function - line, self.symbol, low, high))
        beyond = flint.arb(reach) - flint.arb(self.radius)
        return largest + self.rounding + self.slope_rounding * beyond


@dataclass(frozen=True, eq=False)
class LossInterpolant:
    """`loss_sum` in place of u(t, y) = d ell1/dt on |t| <= radius_t, |y| <= radius_y, with certified errors.

    `slope_error` bounds sup |d ubar/dt - d u/dt|.
    """

    loss: Loss
    radius_t: float
    radius_y: float
    loss_sum: LossSum
    error: flint.arb
    slope_error: flint.arb
    interpolants: tuple[tuple[Piece, Interpolant], ...]

    __repr__ = brief


def interpolate(
    function: sp.Expr,
    symbol: sp.Symbol,
    radius: Any,
    *,
    cells: int | None = None,
    eps: float | int | None = None,
    spread: float | int = 1.0,
) -> Interpolant:
    """The piecewise-linear interpolant of `function` on [-radius, radius] as a certified sum of ReLUs.

    Give the number of `cells` (any whole number >= 2), or `eps` for the least even number whose certified error is at
    most that. `spread` is as in `ReluSum`. A function may have kinks at knots and must be C^2 elsewhere.
    Raises UsageError for another function, for a radius or eps that is not positive, and for more than
    MOST_RELUS ReLUs (see `cells_for`).
    """
    radius = _positive("radius", radius)
    if (cells is None) == (eps is None):
        raise UsageError("interpolate: give either cells or eps")
    if cells is not None:
        return _interpolated(function, symbol, radius, _whole(cells), float(spread))
    assert eps is not None  # one of the two is given
    return _accurate(function, symbol, radius, _positive("eps", eps), float(spread))


def interpolate_covering(
    function: sp.Expr, symbol: sp.Symbol, needed: Callable[[float], float], *, cells: int, called: str = ""
) -> Interpolant:
    """The interpolant of so many cells on a range that covers what its own error adds to it.

    `needed` gives, of a sup error of the interpolant (rounded up), the radius that the arguments then reach; it has to
    grow with the error. The radius is enlarged from needed(0) until it is at least needed(error).
    Raises UsageError where that never ends, of the function as it is `called`, and as `interpolate`.
    """
    radius = needed(0.0)
    for _ in range(ROUNDS):
        found = interpolate(function, symbol, radius, cells=cells)
        error = float_above(found.error)
        if needed(error) <= found.radius:
            return found
        radius = needed(HEADROOM * error)
    raise UsageError(
        f"relus = {relus_of(function, symbol, radius, cells)}: the range that {called or sp.sstr(function)} has to "
        f"cover grows with the error on it, without end; give more ReLUs"
    )


def relus_of(function: sp.Expr, symbol: sp.Symbol, radius: Any, cells: int) -> int:
    """H of the interpolant, at most: the constant counts unless the coefficient that is built for it is 0."""
    with working_precision(BITS):
        middle = float(_on_balls(function, symbol)(flint.arb(uniform_knot(radius, cells, cells // 2))).mid())
    return int(hinge_count(cells, middle if math.isfinite(middle) else None))


def cells_for(function: sp.Expr, symbol: sp.Symbol, radius: Any, eps: Any) -> int:
    """The least even number of cells (0 a knot), with kinks on knots, that suffices for eps; it may exceed MOST_RELUS.

    h^2/8 sup|f''| is kept below eps by the share that `secant_cells` leaves for rounding.
    """
    radius, eps = _positive("radius", radius), _positive("eps", eps)
    least = secant_cells(_exact(radius), _exact(float_above(curvature(function, symbol, radius))), _exact(eps))
    grid = grid_of_kinks(function, symbol, radius)
    return grid * math.ceil(int(least) / grid)


def loss_interpolants(
    loss: Loss, radius_t: Any, radius_y: Any, *, cells: int | None = None, eps: float | int | None = None
) -> LossInterpolant:
    """u = d ell1/dt as a certified sum of ReLUs on |t| <= radius_t, |y| <= radius_y.

    Linear pieces are exact up to the rounding of their two or three coefficients. `cells` is the number of cells of
    each other piece; `eps` is shared evenly among those. Raises UsageError as `interpolate` and `Loss.pieces` do.
    """
    radius_t, radius_y = _positive("radius_t", radius_t), _positive("radius_y", radius_y)
    pieces = loss.pieces()
    if (cells is None) == (eps is None):
        raise UsageError("loss_interpolants: give either cells or eps")
    curved = sum(not piece.linear for piece in pieces)
    share = None if eps is None else _positive("eps", eps) / max(1, curved)
    found, parts = [], []
    for piece in pieces:
        alpha, beta = (int(sp.diff(piece.argument, variable)) for variable in (loss.t, loss.y))
        radius = float_above(abs(alpha) * flint.arb(radius_t) + abs(beta) * flint.arb(radius_y))
        part = interpolate(
            piece.function,
            piece.variable,
            radius,
            cells=2 if piece.linear else cells,
            eps=None if piece.linear else share,
            spread=float(abs(alpha) + abs(beta)),
        )
        found.append((piece, part))
        parts.append((alpha, beta, part.relu_sum))
    errors = [part.error for _, part in found]
    slopes = [part.slope_error for (alpha, _, _), (_, part) in zip(parts, found, strict=True) if alpha]
    total, slope = (sum(each, start=flint.arb(0)).upper() for each in (errors, slopes))
    return LossInterpolant(loss, radius_t, radius_y, LossSum(tuple(parts)), total, slope, tuple(found))


def _accurate(function: sp.Expr, symbol: sp.Symbol, radius: float, eps: float, spread: float) -> Interpolant:
    found = _interpolated(function, symbol, radius, cells_for(function, symbol, radius, eps), spread)
    if found.error <= eps:
        return found
    raise UsageError(
        f"interpolate: eps = {eps:g} is too small for float64 coefficients of {sp.sstr(function)}, whose rounding is "
        f"{float(found.rounding):.2g} and must be below the share {float(ROUNDING_SHARE):.2g} of eps; give a larger eps"
    )


@lru_cache(maxsize=64)
def _interpolated(function: sp.Expr, symbol: sp.Symbol, radius: float, cells: int, spread: float) -> Interpolant:
    _require_few(function, symbol, radius, cells)
    _require_kinks_on_knots(function, symbol, radius, cells)
    bend = curvature(function, symbol, radius)
    value = _on_balls(function, symbol)
    knots = uniform_knots(radius, cells).tolist()
    with working_precision(BITS):
        balls = [value(flint.arb(knot)) for knot in knots]
        _require_finite(function, knots, balls)
        relu_sum = ReluSum(radius, np.array([float(ball.mid()) for ball in balls]), spread)
        at_knots = relu_sum.deviation(iter(balls))
        # On [x_i, x_{i+1}] the hinges of all other knots are in one state, so that F is a line L there but for the
        # hinges at x_i and x_{i+1}, at most k_i and k_{i+1} where they should be 0. L is within d_i + k_i of f at x_i,
        # so within max(d + k) + h^2/8 sup|f''| of f on the cell, and F is within k_i + k_{i+1} of L.
        rounding = at_knots + 3 * relu_sum.kink_size()
        slope_rounding = _slope_rounding(relu_sum, bend, rounding)
        error = _at_width(secant_error, relu_sum, bend) + rounding
        slope_error = _at_width(secant_slope_error, relu_sum, bend) + slope_rounding
    certified = (ball.upper() for ball in (error, slope_error, rounding, slope_rounding))
    return Interpolant(function, symbol, radius, relu_sum, *certified)


# L' is within 2 max(d + k) / h of the secant of f, and that within h/2 sup|f''| of f'. Between a knot and its kink the
# neighbour's line is still in force, which adds the distance between the two to the distance of f' from the mean.
def _slope_rounding(relu_sum: ReluSum, bend: flint.arb, rounding: flint.arb) -> flint.arb:
    narrowest = flint.arb(float(np.diff(relu_sum.knots).min()))
    return 2 * rounding / narrowest + bend * relu_sum.kink_shift()


def _at_width(rule: Callable[[Any, Any], sp.Expr], relu_sum: ReluSum, bend: flint.arb) -> flint.arb:
    """One of the symbolic secant bounds at the widest cell."""
    width, curvature = sp.symbols("width curvature", nonnegative=True)
    widest = math.nextafter(float(np.diff(relu_sum.knots).max()), math.inf)
    bound: flint.arb = lower(rule(width, curvature), "arb", args=(width, curvature), bits=BITS)(widest, bend)
    return bound


@lru_cache(maxsize=1024)
def _parts(function: sp.Expr, symbol: sp.Symbol, radius: float) -> tuple[SmoothPart, ...]:
    return smooth_parts(function, symbol, _exact(radius))


def _require_kinks_on_knots(function: sp.Expr, symbol: sp.Symbol, radius: float, cells: int) -> None:
    for part in _parts(function, symbol, radius)[1:]:
        place = (part.low / _exact(radius) + 1) / 2 * cells
        if not (place.is_integer and Fraction(part.low) == _knot(radius, cells, int(place))):
            raise UsageError(
                f"interpolate: {sp.sstr(function)} has a kink at {sp.sstr(part.low)}, which is not a knot of {cells} "
                f"cells on [-{radius:g}, {radius:g}]; take a multiple of {grid_of_kinks(function, symbol, radius)}"
            )


@lru_cache(maxsize=1024)
def curvature(function: sp.Expr, symbol: sp.Symbol, radius: float) -> flint.arb:
    """sup |f''| on [-radius, radius] between the kinks, certified. Raises UsageError where the function is not C^2."""
    largest = flint.arb(0)
    for part in _parts(function, symbol, radius):
        try:
            bend = supremum(_second_derivative(part.expr, symbol), symbol, part.low, part.high)
        except (UsageError, LoweringError) as error:
            raise UsageError(
                f"interpolate: {sp.sstr(function)} is not shown to be twice continuously differentiable on "
                f"[{sp.sstr(part.low)}, {sp.sstr(part.high)}] ({error})"
            ) from None
        largest = largest.max(bend)
    return largest


def _second_derivative(expr: sp.Expr, symbol: sp.Symbol) -> sp.Expr:
    return stable_derivative(stable_derivative(expr, symbol), symbol)


def grid_of_kinks(function: sp.Expr, symbol: sp.Symbol, radius: float) -> int:
    """The least even number of cells for which every kink is a knot."""
    half = _exact(radius)
    grid = 2
    for part in _parts(function, symbol, radius)[1:]:
        place = (part.low / half + 1) / 2
        if not place.is_Rational:
            raise UsageError(
                f"interpolate: {sp.sstr(function)} has a kink at {sp.sstr(part.low)}, not a rational multiple of the "
                f"radius {radius:g}, so it is not a uniform knot; rescale the function or choose another radius"
            )
        grid = math.lcm(grid, int(place.q))
    return grid


def _exact(number: float) -> sp.Rational:
    return sp.Rational(Fraction(number))


def _knot(radius: float, cells: int, place: int) -> Fraction:
    return Fraction(uniform_knot(radius, cells, place))


def _on_balls(function: sp.Expr, symbol: sp.Symbol) -> Callable[[flint.arb], flint.arb]:
    try:
        found: Callable[[flint.arb], flint.arb] = lower(function, "arb", args=(symbol,), bits=BITS)
    except LoweringError as error:
        raise UsageError(f"interpolate: {sp.sstr(function)} cannot be enclosed: {error}") from None
    return found


def _require_finite(function: sp.Expr, knots: list[float], balls: list[flint.arb]) -> None:
    for knot, ball in zip(knots, balls, strict=True):
        if not ball.is_finite():
            raise UsageError(f"interpolate: {sp.sstr(function)} is undefined at {knot:g}; choose another radius")


def _require_few(function: sp.Expr, symbol: sp.Symbol, radius: float, cells: int) -> None:
    count = relus_of(function, symbol, radius, cells)
    if count > MOST_RELUS:
        raise UsageError(
            f"interpolate: {sp.sstr(function)} needs {count} ReLUs, more than {MOST_RELUS}; give a larger eps or a "
            f"smaller radius"
        )


def _positive(what: str, number: Any) -> float:
    try:
        value = float_above(number) if isinstance(number, flint.arb) else float(number)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not 0 < value < math.inf:
        raise UsageError(f"interpolate: {what} = {number} must be a positive finite number")
    return value


def _whole(cells: Any) -> int:
    if isinstance(cells, bool) or cells != int(cells) or cells < 2:
        raise UsageError(f"interpolate: cells = {cells} must be a whole number of at least 2")
    return int(cells)
