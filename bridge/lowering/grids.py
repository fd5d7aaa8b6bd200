"""A function of two variables on a grid: its derivatives certified on a box, low rank at the knots, the error of both.

Of the values G at the knots and a matrix G_K + c in their place, all of float64 entries taken exactly,
    |I (G_K + c) - g| <= (error of the interpolation, centred) + half the length of the range of the entries of G_K - G,
with I the interpolation of values at the knots by hat functions, which averages, and c in the middle of both ranges.
"""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import flint
import numpy as np
import sympy as sp

from bridge.lowering import LoweringError
from bridge.lowering.ball_values import evaluate_ball
from bridge.lowering.enclosures import STEPS
from bridge.lowering.formula import ArrayFunction, evaluate
from bridge.lowering.least_value import least_of
from numeric.balls import BallArray, float_above, float_below, working_precision
from numeric.networks.hats import LowRankGrid, factors, numerical_rank
from symbolic.calculus.bilinear_interpolation import centred_error, kink_of_slopes, secant_range
from symbolic.words.errors import UsageError

BITS, SAMPLES, DIGITS = 96, 9, 6
TIGHTNESS = 1e-3  # of ranges, in units of the largest value that samples show
MOST_CELLS = 2048
GROWTHS = (1, 1.02, 1.05, 1.1, 1.2, 1.4, 2)  # times the least number of cells: what is tried
Ends = tuple[sp.Rational, sp.Rational]  # below and above, of few digits, so that formulas can show them


@dataclass(frozen=True)
class SecondDerivative:
    """The range of g_uu away from kinks, and that of the sum of all jumps of g_u that a line of constant v meets.

    Where g_uu is not known, a kink stands for it.
    """

    bend: Ends
    kink: Ends


@dataclass(frozen=True)
class CertifiedKernel:
    """g(u, v) on [-radius, radius]^2 with certified ranges, a little wider than the least ones.

    Raises UsageError for a g that is not known to be finite and Lipschitz continuous there.
    """

    function: sp.Expr
    variables: tuple[sp.Symbol, sp.Symbol]
    radius: float

    def __post_init__(self) -> None:
        if self.function.has(*STEPS):
            raise self._refused("may jump")
        if self._range(self.function) is None:
            raise self._refused("is not known to be finite")
        if None in self._slopes:
            raise self._refused("has no Lipschitz constant that is found")

    def _refused(self, why: str) -> UsageError:
        box = f"[-{self.radius:g}, {self.radius:g}]^2"
        return UsageError(f"{sp.sstr(self.function)} {why} on {box}; give a smaller radius or another function")

    @cached_property
    def size(self) -> sp.Rational:
        """At least sup |g|."""
        found = self._range(self.function)
        assert found is not None  # checked
        return _largest(found)

    @property
    def slopes(self) -> tuple[Ends, Ends]:
        """The ranges of g_u and g_v."""
        first, second = self._slopes
        assert first is not None and second is not None  # checked  # noqa: PT018
        return first, second

    @property
    def slope_u(self) -> sp.Rational:
        """At least sup |g_u|."""
        return _largest(self.slopes[0])

    @property
    def slope_v(self) -> sp.Rational:
        """At least sup |g_v|."""
        return _largest(self.slopes[1])

    @cached_property
    def _slopes(self) -> tuple[Ends | None, Ends | None]:
        u, v = (self._range(self.function.diff(x)) for x in self.variables)
        return u, v

    @cached_property
    def second(self) -> tuple[SecondDerivative, SecondDerivative]:
        """Of u and of v."""
        u, v = (
            second_derivative(self.function, x, self.variables, self.radius)
            or SecondDerivative((sp.S.Zero, sp.S.Zero), kink_of_slopes(slope))
            for x, slope in zip(self.variables, self.slopes, strict=True)
        )
        return u, v

    @property
    def bends(self) -> sp.Rational:
        """The lengths of the ranges of g_uu and of g_vv together, each with 0."""
        return sp.Add(*(sp.Max(each.bend[1], 0) - sp.Min(each.bend[0], 0) for each in self.second))

    @property
    def kinks(self) -> sp.Rational:
        """The same of the jumps of g_u and of g_v."""
        return sp.Add(*(sp.Max(each.kink[1], 0) - sp.Min(each.kink[0], 0) for each in self.second))

    def _range(self, expression: sp.Expr) -> Ends | None:
        return range_on_box(expression, self.variables, self.radius)

    def interpolation_range(self, cells: int) -> tuple[sp.Expr, sp.Expr]:
        """Of I g - g for that number of cells in each direction."""
        width = 2 * sp.Rational(self.radius) / cells
        found = [secant_range(width, each.bend, each.kink) for each in self.second]
        low, high = (sp.Add(*each) for each in zip(*found, strict=True))
        return low, high

    def interpolation_error(self, cells: Any) -> sp.Expr:
        """At least sup |I g + c - g|, with c the middle of that range; in letters too."""
        return centred_error(2 * sp.Rational(self.radius) / cells, self.bends, self.kinks)

    def values(self, cells: int) -> BallArray:
        """g at the knots, the first variable in rows: (cells + 1, cells + 1)."""
        with working_precision(BITS):
            knots = BallArray.exactly(np.arange(cells + 1.0), BITS) * 2 * self.radius / cells - self.radius
            return ArrayFunction(self.function, *self.variables)(knots.unsqueeze(-1), knots)


# SymPy's second derivative of abs(u - v) is 2 DiracDelta(u - v). A kink along a u + b(v) = 0, with a number a,
# meets each line of constant v once, and g_u jumps there by the coefficient of the delta over |a|.
def second_derivative(
    function: sp.Expr, x: sp.Symbol, variables: tuple[sp.Symbol, ...], radius: float
) -> SecondDerivative | None:
    """In x, on [-radius, radius]^n; None where it is not known."""
    derivative, jumps = function.diff(x, 2), [(sp.S.Zero, sp.S.Zero)]
    for delta in derivative.atoms(sp.DiracDelta):
        mass, slope = sp.Dummy("mass"), delta.args[0].diff(x)
        share = derivative.xreplace({delta: mass}).diff(mass)
        plain = len(delta.args) == 1 and slope.is_number and slope != 0
        regular = plain and not share.has(mass, sp.DiracDelta)
        jump = range_on_box(share / abs(slope), variables, radius) if regular else None
        if jump is None:
            return None
        jumps.append((sp.Min(jump[0], 0), sp.Max(jump[1], 0)))
    smooth = derivative.xreplace(dict.fromkeys(derivative.atoms(sp.DiracDelta), sp.S.Zero))
    bend = range_on_box(smooth, variables, radius)
    low, high = (sp.Add(*each) for each in zip(*jumps, strict=True))
    return None if bend is None else SecondDerivative(bend, (low, high))


def _largest(ends: Ends) -> sp.Rational:
    return sp.Max(-ends[0], ends[1])


@lru_cache(maxsize=512)
def range_on_box(expression: sp.Expr, variables: tuple[sp.Symbol, ...], radius: float) -> Ends | None:
    """Numbers below and above the values of the expression on [-radius, radius]^n; None without finite ones."""
    box = dict.fromkeys(variables, (-radius, radius))
    ends = np.linspace(-radius, radius, SAMPLES)
    try:
        points = np.meshgrid(*(ends for _ in variables))
        scale = float(np.abs(evaluate(expression, dict(zip(variables, points, strict=True)))).max())
        low, high = (least_of(each, box, tolerance=TIGHTNESS * scale).lower for each in (expression, -expression))
    except (LoweringError, UsageError):
        return None
    return (_outwards(low), -_outwards(high)) if np.isfinite([scale, low, high]).all() else None


def _outwards(low: float) -> sp.Rational:
    """At most the number, of few digits."""
    if low == 0:
        return sp.S.Zero
    unit = sp.Integer(10) ** (math.floor(math.log10(abs(low))) - DIGITS + 1)
    return sp.floor(sp.Rational(low) / unit) * unit


@dataclass(frozen=True, eq=False)
class KernelGrid:
    """`grid` in the place of a kernel: |grid - g| <= kernel.interpolation_error(cells) + residual, certified."""

    grid: LowRankGrid
    residual: float


@lru_cache(maxsize=64)
def kernel_grid(kernel: CertifiedKernel, cells: int, rank: int | None = None) -> KernelGrid:
    """The grid of so many cells and of that rank (the numerical one), and its residual entry by entry in balls.

    Raises UsageError for less than one cell or more than MOST_CELLS, and for a rank that is not between 1 and the
    numerical rank of the values at the knots.
    """
    name = sp.sstr(kernel.function)
    if not 1 <= cells <= MOST_CELLS:
        raise UsageError(f"{name}: {cells} cells; give 1 to {MOST_CELLS}")
    exact = kernel.values(cells)
    middles = exact.midpoint()
    most = max(1, numerical_rank(middles))
    rank = most if rank is None else rank
    if not 1 <= rank <= most:
        raise UsageError(
            f"{name}: rank {rank}; its values at {cells + 1} knots have the numerical rank {most}: give 1 to {most}"
        )
    queries, keys = factors(middles, rank)
    with working_precision(BITS):
        product = BallArray.exactly(queries.T, BITS) @ BallArray.exactly(keys, BITS)
        rest = (product - exact).balls
        low, high = min(float_below(each) for each in rest), max(float_above(each) for each in rest)
        shift = evaluate_ball(-sp.Add(sp.Rational(low), sp.Rational(high), *kernel.interpolation_range(cells)) / 2, {})
        offset = float(shift.mid())
        off = abs(shift - flint.arb(offset))
        residual = float_above((flint.arb(high) - flint.arb(low)) / 2 + off)
    return KernelGrid(LowRankGrid(kernel.radius, queries, keys, offset), residual)


# Fewer cells than the least number leave nothing to the rank; more of them leave it more.
def cheapest_grid(kernel: CertifiedKernel, error: float) -> tuple[int, int]:
    """Cells and rank of a certified error of at most that, with few weights, rank times cells + 1, among those tried.

    Raises UsageError for an error that is not positive, and where MOST_CELLS are too few.
    """
    name = sp.sstr(kernel.function)
    if not error > 0:
        raise UsageError(f"{name}: error={error}; give a positive number")
    least, found = _least_cells(kernel, error), list[tuple[int, int]]()
    for cells in sorted({math.ceil(least * growth) for growth in GROWTHS}):
        rank = _least_rank(kernel, cells, error) if cells <= MOST_CELLS else None
        found += [] if rank is None else [(cells, rank)]
    if not found:
        raise UsageError(f"{name}: error={error:g} takes more than {MOST_CELLS} cells; give a larger one")
    return min(found, key=lambda each: (each[0] + 1) * each[1])


def _least_cells(kernel: CertifiedKernel, error: float) -> int:
    """The least number for which the error of the interpolation is at most that."""
    low, high = 0, 1
    while kernel.interpolation_error(high) > error and high <= MOST_CELLS:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if kernel.interpolation_error(middle) <= error else (middle, high)
    return high


def _least_rank(kernel: CertifiedKernel, cells: int, error: float) -> int | None:
    """The least rank that is enough, in floats by the values at the knots, and certified; None without one."""
    spare, values = error - float(kernel.interpolation_error(cells)), kernel.values(cells).midpoint()
    queries, keys = factors(values, max(1, numerical_rank(values)))
    rest = values.copy()
    for rank, (query, key) in enumerate(zip(queries, keys, strict=True), start=1):
        rest -= np.outer(query, key)
        if np.ptp(rest) / 2 <= spare and _error(kernel, cells, rank) <= error:
            return rank
    return None


def _error(kernel: CertifiedKernel, cells: int, rank: int) -> sp.Rational:
    return kernel.interpolation_error(cells) + sp.Rational(kernel_grid(kernel, cells, rank).residual)
