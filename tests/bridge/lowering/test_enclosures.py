"""Certified suprema: never below dense samples, within 10^-3 of them, and refused where there is none."""

import itertools
from fractions import Fraction

import flint
import mpmath as mp
import numpy as np
import pytest
import sympy as sp

from bridge.lowering import lower
from bridge.lowering.enclosures import bounds_of, range_of, suprema, supremum, with_slopes
from bridge.lowering.least_value import least_of
from symbolic import UsageError
from symbolic.calculus.activations import ACTIVATIONS, t

x = sp.Symbol("x")
EXPRESSIONS = [
    *(
        activation.derivative(order)
        for name, activation in ACTIVATIONS.items()
        if name != "relu"
        for order in (0, 2, 3)
    ),
    sp.Max(t, 0),
    sp.Abs(t) - t**2 / 3,
    sp.Heaviside(t - 1, 0) * t,
    (t - 1) ** 2 * (t + 2),
    sp.Integer(-3),
    t * 0,
]


def sampled(expr: sp.Expr, low: float, high: float) -> np.ndarray:
    return np.asarray(lower(expr, "numpy", args=(t,))(np.linspace(low, high, 20_001)))


@pytest.mark.parametrize("expr", EXPRESSIONS, ids=str)
@pytest.mark.parametrize(("low", "high"), [(-8, 8), (0.3, 2.1)])
def test_the_supremum_is_above_all_samples_and_within_a_thousandth(expr: sp.Expr, low: float, high: float) -> None:
    largest = float(np.abs(sampled(expr, low, high)).max())
    found = supremum(expr, t, low, high)
    assert found.is_exact()
    assert found >= largest * (1 - 1e-14)
    assert float(found) <= largest * (1 + 1e-3) + 1e-25


@pytest.mark.parametrize("expr", EXPRESSIONS, ids=str)
def test_the_range_holds_all_samples_and_is_tight(expr: sp.Expr) -> None:
    values = sampled(expr, -3, 2)
    low, high = range_of(expr, t, -3, 2)
    size = 1e-3 * np.abs(values).max() + 1e-25
    assert low - 1e-15 <= values.min() <= low + size
    assert high - size <= values.max() <= high + 1e-15


def test_a_known_maximum_is_enclosed_from_above() -> None:
    """sup |tanh''| = 4 / (3 sqrt 3), at tanh^2 = 1/3."""
    with mp.workdps(40):
        exact = Fraction(str(4 / (3 * mp.sqrt(3))))
    found = supremum(ACTIVATIONS["tanh"].derivative(2), t, -8, 8)
    assert found >= flint.arb(flint.fmpq(exact.numerator, exact.denominator))
    assert float(found) <= float(exact) * 1.001


def test_narrow_peaks_are_found() -> None:
    peak = sp.exp(-(((t - sp.Rational(1, 3)) * 1000) ** 2))
    assert 1 <= float(supremum(peak, t, -8, 8)) <= 1.001
    assert np.abs(sampled(peak, -8, 8)).max() < 0.99  # which samples do not


def test_cells_are_bounded_one_by_one() -> None:
    edges = np.linspace(-4, 4, 33).tolist()
    found = suprema(sp.tanh(t), t, edges)
    outer = [max(abs(np.tanh(a)), abs(np.tanh(b))) for a, b in itertools.pairwise(edges)]
    assert [float(one) for one in found] == pytest.approx(outer, rel=1e-3)


def test_ends_may_be_exact_numbers_or_balls_of_which_the_outer_ends_count() -> None:
    with flint.ctx.workprec(200):
        assert supremum(x, x, Fraction(1, 3), sp.Rational(2, 3)) > flint.arb(flint.fmpq(2, 3))
    wide = flint.arb(2, 0.5)
    assert float(supremum(x, x, wide, wide)) == pytest.approx(2.5, rel=1e-9)
    assert range_of(x, x, wide, wide) == pytest.approx((1.5, 2.5), rel=1e-3)


@pytest.mark.parametrize(
    ("expr", "low", "high", "message"),
    [
        (1 / x, -1, 1, "it has a pole there"),
        (sp.log(x), 0, 1, "it has a pole there"),
        (x, 1, 0, "is empty"),
        (x, 0, float("inf"), "not a valid end of a range"),
    ],
)
def test_what_has_no_bound_is_refused(expr: sp.Expr, low: float, high: float, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        supremum(expr, x, low, high)


def test_steps_have_no_slope_and_smooth_functions_have_one() -> None:
    assert with_slopes(sp.exp(t), (t,))[1] is not None
    assert with_slopes(sp.Abs(t), (t,))[1] is not None
    jumps = (sp.Heaviside(t), sp.sign(t), sp.floor(t), sp.ceiling(t), sp.Mod(t, 2), sp.Piecewise((0, t < 0), (1, True)))
    for jump in jumps:
        assert with_slopes(jump, (t,))[1] is None


@pytest.mark.parametrize("jump", [sp.atan(sp.tan(t)), sp.acot(t - 1)])
def test_a_slope_across_a_jump_bounds_nothing(jump: sp.Expr) -> None:
    with pytest.raises(UsageError, match="no finite bound"):
        range_of(jump, t, 0, 2)
    assert least_of(jump, {t: (0, 2)}, tolerance=0.1, most_boxes=50).lower < -1.57


@pytest.mark.parametrize(("expr", "at_start"), [(-sp.exp(-t), True), (sp.exp(t) - 1, False), (-sp.exp(t), False)])
def test_the_value_of_a_monotone_function_is_the_larger_of_its_ends(expr: sp.Expr, at_start: bool) -> None:
    low, high = flint.arb(0), flint.arb(1)
    below, above, value = bounds_of(expr, t)(low, high)
    assert value.overlaps(lower(expr, "arb")(low if at_start else high))
    assert below <= value <= above or value.overlaps(below) or value.overlaps(above)
