"""Piecewise smooth functions: where they are cut, which branch holds, and which functions are refused."""

import pytest
import sympy as sp

from symbolic import UsageError
from symbolic.calculus.approximation import hinge_count, hinge_norm, hinge_norm_bound, secant_cells, smooth_parts

t = sp.Symbol("t", real=True)
a, b, c, R = sp.symbols("a b c R", positive=True)
HALF, THIRD = sp.Rational(1, 2), sp.Rational(1, 3)


def cuts(f: sp.Expr, radius: object) -> list[tuple]:
    return [(part.low, part.high, part.expr) for part in smooth_parts(f, t, radius)]


@pytest.mark.parametrize(
    ("f", "radius", "parts"),
    [
        (t**2, 2, [(-2, 2, t**2)]),
        (sp.Abs(t), 2, [(-2, 0, -t), (0, 2, t)]),
        (sp.Abs(2 * t - 1), 2, [(-2, HALF, 1 - 2 * t), (HALF, 2, 2 * t - 1)]),
        (sp.Min(t, 1 - t), 2, [(-2, HALF, t), (HALF, 2, 1 - t)]),
        (sp.Max(t, -t, 1), 2, [(-2, -1, -t), (-1, 0, 1), (0, 1, 1), (1, 2, t)]),
        (sp.Max(-1, sp.Min(1, t)) ** 2, 2, [(-2, -1, 1), (-1, 1, t**2), (1, 2, 1)]),
        (sp.Max(sp.Abs(t), 1), 2, [(-2, -1, -t), (-1, 0, 1), (0, 1, 1), (1, 2, t)]),
        (sp.Max(sp.Abs(t - 1), 1), 4, [(-4, 0, 1 - t), (0, 1, 1), (1, 2, 1), (2, 4, t - 1)]),
        (sp.Abs(sp.Abs(t) - 1), 2, [(-2, -1, -t - 1), (-1, 0, t + 1), (0, 1, 1 - t), (1, 2, t - 1)]),
        (sp.exp(sp.Abs(t)), 1, [(-1, 0, sp.exp(-t)), (0, 1, sp.exp(t))]),
    ],
    ids=str,
)
def test_a_function_is_cut_where_its_branches_meet(f: sp.Expr, radius: object, parts: list[tuple]) -> None:
    found = cuts(f, radius)
    assert [(low, high) for low, high, _ in found] == [(low, high) for low, high, _ in parts]
    assert all(sp.expand(one[2] - other[2]) == 0 for one, other in zip(found, parts, strict=True))


def test_branches_that_meet_at_an_end_or_outside_cut_nothing() -> None:
    for f in (sp.Abs(t - 2), sp.Abs(t + 2), sp.Abs(t - 3)):
        assert len(smooth_parts(f, t, 2)) == 1
    assert len(smooth_parts(sp.Max(t, t + 1), t, 2)) == 1  # parallel: they never meet


def test_the_caller_gets_its_own_symbol_back() -> None:
    plain = sp.Symbol("t")
    (low, high) = smooth_parts(sp.Max(plain, 0), plain, 1)
    assert (low.expr, high.expr) == (0, plain)


@pytest.mark.parametrize(
    ("f", "why"),
    [
        (sp.Heaviside(t), "it may jump"),
        (sp.sign(t), "it may jump"),
        (sp.floor(t), "it may jump"),
        (sp.ceiling(t), "it may jump"),
        (sp.Mod(t, 2), "it may jump"),
        (sp.Piecewise((t, t < 0), (1, True)), "it may jump"),
        (sp.Max(t**2, 1), "its branches meet at points that no linear equation gives"),
        (sp.Max(sp.sin(t), 0), "its branches meet at points that no linear equation gives"),
        (sp.Abs(t**2 - 2), "its branches meet at points that no linear equation gives"),
        (sp.Max(1 / (t - 5), 0), "its branches meet at points that no linear equation gives"),
    ],
    ids=str,
)
def test_jumps_and_kinks_at_unknown_places_are_refused_with_the_reason(f: sp.Expr, why: str) -> None:
    with pytest.raises(UsageError, match=f"finitely many known kinks: {why}"):
        smooth_parts(f, t, 2)


# --- the price of the interpolant ------------------------------------------------------------------------------------


@pytest.mark.parametrize("spread", [1, 2])
def test_the_norm_of_a_hat_is_counted_by_hand(spread: int) -> None:
    """Values 0, 0, 1, 0, 0 at -2, -1, 0, 1, 2: slopes 0, 1, -1, 0; the middle knot has one hinge for each side."""
    outer = (spread + 1) * 1  # at -1 and at 1, a jump of 1 each
    middle = spread * (1 + 1)  # slopes -1 and 1
    assert hinge_norm([0, 0, 1, 0, 0], 2, spread=spread) == 1 + 2 * outer + middle


def test_the_norm_of_a_kink_beside_the_middle_is_counted_by_hand() -> None:
    """Values 3, 0, 0, 6 at -3, -1, 1, 3: slopes -3/2, 0, 3; of three cells the middle knot is -1."""
    assert hinge_norm([3, 0, 0, 6], 3) == 0 + (1 + 1) * (sp.Rational(3, 2) + 0) + (1 + 1) * 3
    assert hinge_norm([3, -1, -1, 5], 3) == 1 + 2 * 2 + 2 * 3  # the constant counts with its absolute value
    assert hinge_norm([3, 0, 0, 6], 3, spread=2) == (2 + 1) * sp.Rational(3, 2) + (2 + 1) * 3


def test_the_bound_on_the_norm_has_its_three_parts() -> None:
    even = a + 2 * b + c * (2 * R + R**2)
    assert sp.expand(hinge_norm_bound(R, a, b, c) - even) == 0
    assert sp.expand(hinge_norm_bound(R, a, b, c, cells=8) - even) == 0
    assert sp.expand(hinge_norm_bound(R, a, b, c, cells=5) - even - 2 * R / 5 * b) == 0
    cells = sp.Symbol("cells", integer=True, positive=True)  # of either parity: the larger bound
    assert sp.expand(hinge_norm_bound(R, a, b, c, cells=cells) - even - 2 * R / cells * b) == 0
    assert sp.expand(hinge_norm_bound(R, a, b, c, spread=3) - (a + 6 * b + c * (6 * R + R**2))) == 0


def test_there_is_a_hinge_for_each_cell_and_a_constant() -> None:
    assert [hinge_count(cells) for cells in (2, 7)] == [3, 8]
    assert [hinge_count(4, middle) for middle in (0, sp.Integer(0), sp.Rational(1, 2))] == [4, 4, 5]


JUMPING = [1 / t, sp.atan(1 / t), sp.frac(t), sp.arg(t), sp.acos(sp.cos(t)), sp.sqrt(t), sp.log(t)]


@pytest.mark.parametrize("jumping", JUMPING, ids=str)
def test_what_may_jump_or_have_a_pole_is_refused(jumping: sp.Expr) -> None:
    with pytest.raises(UsageError, match="it may jump, or have a pole or another kink"):
        smooth_parts(jumping, t, 1)


def test_a_pole_outside_the_range_does_not_matter() -> None:
    for f in (1 / (t - 5), sp.log(t + 5), sp.sqrt(5 - t), 1 / (t + 5) ** 2):
        assert len(smooth_parts(f, t, 2)) == 1
        with pytest.raises(UsageError, match="it may jump, or have a pole"):
            smooth_parts(f, t, 5)


def test_one_cell_has_no_middle_knot() -> None:
    with pytest.raises(UsageError, match="got 2 values; give the values at 3 or more knots"):
        hinge_norm([0, 2], 1)


def test_an_odd_number_of_cells_costs_more() -> None:
    third = sp.Rational(1, 3)
    assert hinge_norm([-1, -third, third, 1], 1) <= hinge_norm_bound(1, third, 1, 0, cells=3)
    assert hinge_norm([-1, -third, third, 1], 1) > hinge_norm_bound(1, third, 1, 0)


@pytest.mark.parametrize("wrong", [{"accuracy": 0}, {"accuracy": -1}, {"curvature": -1}, {"radius": 0}])
def test_cells_are_counted_for_a_positive_accuracy(wrong: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="give a radius and an accuracy above 0, and a curvature that is not negative"):
        secant_cells(**{"radius": 1, "curvature": 1, "accuracy": 1, **wrong})
