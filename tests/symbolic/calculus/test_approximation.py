"""The secant bounds and what a sum of ReLUs costs: equality, mutants, and counts against the literal coefficients."""

import itertools

import mpmath as mp
import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from numeric.networks.hinges import uniform_knots
from numeric.networks.relu_sums import ReluSum
from symbolic import UsageError
from symbolic.calculus.approximation import (
    ROUNDING_SHARE,
    M,
    R,
    eps,
    hinge_count,
    hinge_norm,
    hinge_norm_bound,
    secant_cells,
    secant_error,
    secant_slope_error,
    smooth_parts,
    sup_f2,
)

t = sp.Symbol("t", real=True)


def of_the_secant(f: sp.Expr, low: sp.Rational, width: sp.Rational) -> tuple[float, float]:
    """sup |f - p| and sup |f' - p'| on a cell, by dense sampling."""
    slope = (f.subs(t, low + width) - f.subs(t, low)) / width
    line = f.subs(t, low) + slope * (t - low)
    points = np.linspace(float(low), float(low + width), 4001)
    distance, slopes = (sp.lambdify(t, expr) for expr in (f - line, sp.diff(f, t) - slope))
    return float(np.abs(distance(points)).max()), float(np.abs(slopes(points)).max())


def test_the_secant_bounds_are_attained_by_a_parabola_and_a_mutant_fails() -> None:
    for low, width in ((sp.Rational(-3), sp.Rational(1, 2)), (sp.Rational(1, 3), sp.Integer(2))):
        distance, slope = of_the_secant(t**2, low, width)
        for found, bound in ((distance, secant_error(width, 2)), (slope, secant_slope_error(width, 2))):
            assert found == pytest.approx(float(bound), rel=1e-9)
            assert found > 0.999 * float(bound)  # the permanent mutant


@pytest.mark.parametrize("f", [sp.sin(3 * t), sp.exp(t), sp.tanh(t), t**3 - t])
def test_the_secant_bounds_hold(f: sp.Expr) -> None:
    low, width = sp.Rational(-1, 2), sp.Rational(5, 4)
    bend = np.abs(sp.lambdify(t, sp.diff(f, t, 2))(np.linspace(-0.5, 0.75, 20_001))).max() * (1 + 1e-6)
    distance, slope = of_the_secant(f, low, width)
    assert distance <= float(secant_error(width, bend))
    assert slope <= float(secant_slope_error(width, bend))


@given(
    st.fractions(min_value="1/8", max_value=50),
    st.fractions(min_value="1/8", max_value=50),
    st.integers(min_value=1, max_value=9),
)
@settings(max_examples=30)
def test_cells_are_the_least_that_suffice(radius: object, bend: object, digits: int) -> None:
    accuracy = sp.Rational(1, 10**digits)
    cells = secant_cells(sp.Rational(radius), sp.Rational(bend), accuracy)
    target = accuracy * (1 - ROUNDING_SHARE)

    def error(count: sp.Expr) -> sp.Expr:
        return secant_error(2 * sp.Rational(radius) / count, sp.Rational(bend))

    assert error(cells) <= target
    assert cells == 1 or error(cells - 1) > target


def test_the_number_of_cells_grows_with_the_root_of_the_accuracy() -> None:
    counts = [secant_cells().subs({R: 4, sup_f2: 1, eps: sp.Rational(1, 10**k)}) for k in (4, 8, 12)]
    assert [float(later / earlier) for earlier, later in itertools.pairwise(counts)] == pytest.approx(
        [100, 100], rel=1e-2
    )


@pytest.mark.parametrize("cells", [2, 3, 8, 9])
@pytest.mark.parametrize("spread", [1, 2])
def test_count_and_norm_are_those_of_the_literal_coefficients(cells: int, spread: int) -> None:
    knots = uniform_knots(3.0, cells)
    values = np.tanh(knots) + 0.3 * np.cos(2 * knots) + 1
    relu_sum = ReluSum(3.0, values, float(spread))
    exact = hinge_norm([sp.Rational(float(value)) for value in values], 3, spread=spread)
    assert relu_sum.one_norm == pytest.approx(float(exact), rel=1e-12)
    assert relu_sum.relus == hinge_count(cells)


@pytest.mark.parametrize("cells", [2, 3, 7, 16, 65])
@pytest.mark.parametrize("spread", [1, 2])
@pytest.mark.parametrize("f", [mp.tanh, mp.sin, lambda x: x**2, lambda x: mp.exp(-x)])
def test_the_closed_bound_on_the_norm_holds(f: object, cells: int, spread: int) -> None:
    radius = 2
    points = np.linspace(-radius, radius, 1001)
    with mp.workdps(40):
        slope, bend = (max(abs(mp.diff(f, x, order)) for x in points[::10]) for order in (1, 2))
        values = [sp.Float(f(mp.mpf(-radius) + mp.mpf(2 * radius * i) / cells), 30) for i in range(cells + 1)]
    bound = hinge_norm_bound(
        radius,
        abs(values[cells // 2]),
        sp.Float(slope) * (1 + 1e-3),
        sp.Float(bend) * (1 + 1e-3),
        cells=cells,
        spread=spread,
    )
    assert hinge_norm(values, radius, spread=spread) <= bound


def test_the_bound_on_the_norm_is_nearly_attained() -> None:
    """f = t^2 at many knots: jumps of one sign everywhere, which is what the bound sums up."""
    values = [sp.Rational(2 * i - 400, 400) ** 2 * 100 for i in range(401)]  # on [-10, 10]
    bound = hinge_norm_bound(10, 0, 0, 2)
    assert 0.99 * bound <= hinge_norm(values, 10) <= bound


def test_kinks_cut_the_range_and_choose_the_branch() -> None:
    parts = smooth_parts(sp.Max(-1, sp.Min(1, t)), t, 3)
    assert [(part.low, part.high, part.expr) for part in parts] == [(-3, -1, -1), (-1, 1, t), (1, 3, 1)]
    assert [part.expr for part in smooth_parts(sp.Abs(t) + t, t, 1)] == [0, 2 * t]
    assert len(smooth_parts(sp.tanh(t), t, 8)) == 1
    assert len(smooth_parts(sp.Abs(t - 5), t, 2)) == 1


@pytest.mark.parametrize("f", [sp.Heaviside(t), sp.sign(t), sp.floor(t), sp.Max(sp.sin(t), 0)])
def test_jumps_and_kinks_at_unknown_places_are_refused(f: sp.Expr) -> None:
    with pytest.raises(UsageError, match="is not twice continuously differentiable"):
        smooth_parts(f, t, 2)


def test_the_count_is_a_formula_in_M() -> None:
    assert hinge_count() == M + 1
    assert secant_error(sp.Rational(1, 2), 8) == sp.Rational(1, 4)
