"""The bounds of linearised softmax: their orders in c, and a gradient step that follows from the weights."""

import pytest
import sympy as sp

from symbolic.calculus.heads import Second
from symbolic.topics.looped import linearised as theory

AT = {theory.N: 8, theory.d: 3, theory.B: sp.Rational(3, 2), theory.R: 2, theory.eta: sp.Rational(1, 4)}
SECONDS = list(theory.KNOBS)


def bound(value: sp.Expr, second: Second, c: sp.Expr, C: int = 80) -> float:
    letters = dict(zip(theory.KNOBS[second], (c, C), strict=True))
    return float(value.xreplace({**AT, **letters}).evalf())


def test_one_head_errs_by_the_second_order() -> None:
    errors = [bound(theory.derive_one().error, Second.CONSTANT, sp.Rational(1, k)) for k in (1000, 2000)]
    assert errors[0] / errors[1] == pytest.approx(4, rel=1e-3)


# |z| <= B^2 / N, the truncation is c z^2 / 2, or c^2 z^3 / 6, and the residuals of N examples and the test token count.
@pytest.mark.parametrize(("second", "power", "share"), [(Second.CONSTANT, 1, 2), (Second.OPPOSITE, 2, 6)])
def test_a_step_errs_by_the_weights_times_the_residuals(second: Second, power: int, share: int) -> None:
    c, size = sp.Rational(1, 10**4), sp.Rational(9, 32)
    expected = sp.Rational(1, 4) * 9 * 2 * c**power * size ** (power + 1) / share
    assert bound(theory.derive_step(second).error, second, c) == pytest.approx(float(expected), rel=1e-3)


@pytest.mark.parametrize("second", SECONDS)
def test_a_low_sink_leaks(second: Second) -> None:
    leaky, tight = (bound(theory.derive_step(second).error, second, sp.Rational(1, 10**6), C) for C in (4, 60))
    assert leaky > 100 * tight
