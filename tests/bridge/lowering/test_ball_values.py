"""Formulas at numbers of every kind: the ball holds the exact value, and no number is rounded on the way in."""

from fractions import Fraction

import flint
import numpy as np
import pytest
import sympy as sp
from mpmath import mp

from bridge.lowering.ball_values import evaluate_ball
from numeric.balls import working_precision
from symbolic.words.errors import UsageError

x, y = sp.symbols("x y", real=True)
NUMBERS = [3, 0.1, Fraction(1, 3), sp.Rational(1, 3), sp.sqrt(2), sp.pi / 7, sp.exp(-30), np.float64(0.1), np.int64(3)]


@pytest.mark.parametrize("number", NUMBERS, ids=str)
def test_the_ball_holds_the_exact_value(number: object) -> None:
    exact = number if isinstance(number, sp.Basic) else sp.Rational(number)
    ball = evaluate_ball(sp.cos(x) * y - x**2, {x: number, y: 2})
    with mp.workdps(60), working_precision(200):
        true = flint.arb(str(sp.N(2 * sp.cos(exact) - exact**2, 50)))
    assert abs(ball - true) < 1e-25
    assert ball.rad() < 1e-20 * abs(float(true))


def test_a_float_is_the_binary_rational_that_it_is() -> None:
    assert evaluate_ball(10 * x - 1, {x: 0.1}) > 0
    assert evaluate_ball(10 * x - 1, {x: Fraction(1, 10)}).contains(0)


def test_an_irrational_number_gains_bits_where_the_formula_cancels() -> None:
    close = sp.Rational(17 * 10**60 + 1, 17 * 10**60) * sp.sqrt(2)
    ball = evaluate_ball(x - y, {x: close, y: sp.sqrt(2)})
    assert ball.rel_accuracy_bits() >= 40
    assert float(ball) == pytest.approx(2**0.5 / 17 * 1e-60, rel=1e-10)


def test_a_ball_stays_as_wide_as_it_is() -> None:
    wide = evaluate_ball(x - 1, {x: flint.arb(1, 0.5)})
    assert wide.contains(0.5)
    assert wide.contains(-0.5)


def test_what_is_no_number_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match="evaluate_ball: x = '1'; give a real number"):
        evaluate_ball(x + 1, {x: "1"})
