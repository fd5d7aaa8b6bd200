"""Lemma D.6: refuted as stated, true in two versions, and what the step before (29) gives."""

import random

import pytest
import sympy as sp

from symbolic.statements.exact_claims import ExactClaim
from symbolic.topics.induction import karamata as theory

half, one, zero = sp.Rational(1, 2), sp.Integer(1), sp.Integer(0)


def test_the_search_finds_nothing_against_equal_weights() -> None:
    weighted = theory.CLAIMS["weighted.square"]
    equal = ExactClaim(
        "equal", weighted.relation, weighted.sides, weighted.premises, {**weighted.grid, "w": ((half, half),)}
    )
    assert list(equal.points())
    assert equal.refutation() is None


def test_definition_d5_is_checked() -> None:
    assert theory.majorised((half, half), (one, zero))
    assert not theory.majorised((one, zero), (half, half))
    assert not theory.majorised((zero, zero), (one, zero))  # unequal totals
    premises = theory.CLAIMS["weighted"].premises({"x": (one, zero), "y": (half, half), "w": (one, one)})
    assert len(premises) == 2


@pytest.mark.parametrize("equal", [True, False])
def test_the_true_versions_hold_on_random_rationals(equal: bool) -> None:
    count, excess = theory.random_excess(60, 1, equal=equal)
    assert count == 60
    assert excess <= 0


def test_fuchs_condition_can_fail() -> None:
    draw, violated = random.Random(2), 0
    for _ in range(200):
        high = theory.decreasing([sp.Rational(draw.randint(-4, 4), 4) for _ in range(3)])
        low = theory.decreasing([sp.Rational(draw.randint(-4, 4), 4) for _ in range(3)])
        if not theory.fuchs((one, one, one), low, high):
            square = theory.CONVEX["x^2"]
            violated += bool(theory.weighted(square, (one,) * 3, low) > theory.weighted(square, (one,) * 3, high))
    assert violated > 0  # without the condition the inequality is false


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_abels_summation(size: int) -> None:
    assert theory.abel_difference(size) == 0


def test_the_printed_derivatives_of_c_are_right() -> None:
    assert [theory.derivative_difference(order) for order in (1, 2)] == [0, 0]
    at = {theory.x: sp.Rational(3, 5)}
    numeric = (theory.C.subs(theory.x, 0.6 + 1e-6) - theory.C.subs(theory.x, 0.6 - 1e-6)) / 2e-6
    assert float(theory.C_FIRST_PRINTED.subs(at)) == pytest.approx(float(numeric), rel=1e-8)


def test_the_gain_of_the_steps_is_the_least_on_the_range() -> None:
    assert sp.simplify(theory.GAIN - theory.beta * theory.v_star / (2 * theory.gamma + theory.beta - 1)) == 0
    values = {theory.beta: 2, theory.gamma: sp.Rational(33, 32), theory.v_star: sp.Rational(1, 8)}
    target, end = sp.Rational(1, 8), theory.LARGEST_V.subs(values)
    for k in range(1, 9):
        v = end * k / 8
        left = (theory.phi(v + target) - sp.Rational(33, 32) * theory.phi(2 * v)).evalf(40)
        assert left > theory.GAIN_FLOOR.subs({**values, theory.v: v}) >= theory.GAIN.subs(values)


def test_printed_and_derived_exponents_agree_at_gamma_one_only() -> None:
    at = {theory.beta: theory.CHOSEN_BETA}
    same = (theory.EXPONENT_PRINTED - theory.EXPONENT).subs(at)
    assert same.subs(theory.gamma, 1) == 0
    assert same.subs(theory.gamma, sp.Rational(11, 10)) > 0
    assert theory.EXPONENT.subs({**at, theory.gamma: sp.Rational(3, 2)}) == 1  # (29) needs gamma <= 3/2


def test_inequalities_about_c_are_stated_without_their_zeros() -> None:
    for each in theory.stated_inequalities()[:2]:
        assert each.expression.subs(theory.x, 0) > 0
        assert each.strict
