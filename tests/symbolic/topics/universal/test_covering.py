"""Sizes of covers: formulas, the Lipschitz constant of a bump in its centre, refusals."""

import pytest
import sympy as sp

from symbolic import UsageError
from symbolic.topics.universal import covering


def test_a_line_is_covered_by_its_separated_points() -> None:
    assert covering.ball_cover(1, sp.Rational(1, 10)) == 21  # -1, -0.9, ..., 1
    assert covering.parametric_cover(1, sp.Rational(1, 10), 2, 3) == covering.ball_cover(1, sp.Rational(1, 20), 3)


def test_a_product_counts_functions_times_points_and_shares_the_radius() -> None:
    assert covering.product_cover(7, 2, sp.Rational(1, 4)) == 7 * 81
    assert covering.product_cover(7, 2, sp.Rational(1, 2), sp.Rational(1, 2)) == 7 * 81
    assert covering.union_cover() == (covering.functions + covering.bumps_cover()) * covering.ball_cover(
        covering.d, covering.eps / 2
    )


def test_a_bump_moves_by_at_most_its_steepest_slope_at_two_points() -> None:
    constant = float(covering.bump_lipschitz().subs(covering.width, 2))
    assert abs(constant - 2 * 2.718281828459045**-0.5 / 2) < 1e-15
    step, at = 1e-6, 2.0  # the steepest slope of a bump at 0 is at its width
    moved = sp.exp(-((at - step) ** 2) / 8.0) - sp.exp(-(at**2) / 8.0)
    assert 0.999 < float(moved) / step / (constant / 2) < 1.001


@pytest.mark.parametrize("share", [-1, 1, sp.Rational(3, 2)])
def test_refusals(share: object) -> None:
    with pytest.raises(UsageError, match=rf"share = {share}; give the functions' part of eps, at least 0 and below 1"):
        covering.product_cover(3, 2, sp.Rational(1, 4), share)
