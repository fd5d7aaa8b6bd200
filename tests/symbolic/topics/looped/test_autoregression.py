"""Bounds of AR(q): the sharpness meets the accuracy exactly, and the closed forms solve their recursions."""

import math

import pytest
import sympy as sp

from symbolic.topics.looped import autoregression as theory

AT = {theory.N: 12, theory.B: 1.0, theory.eps: 0.5}


@pytest.mark.parametrize("accuracy", [1e-3, 1e-9, 1e-14])
def test_the_sharpness_is_the_least_that_meets_the_accuracy(accuracy):
    knob = theory.sharpness()
    beta = float(knob.value.subs({**AT, theory.accuracy: sp.Float(accuracy, 40)}))
    others = 14 * math.exp(-0.5 * beta)  # 15 keys
    assert 2 * others / (1 + others) == pytest.approx(accuracy, rel=1e-9)
    bound = theory.derive_copy().error
    assert float(bound.subs({**AT, theory.beta: beta * 0.99})) > accuracy


PATH = {theory.N: 9, theory.eta: 0.4, theory.delta: 1e-3, theory.P: 2.0, theory.X_hat: 0.7, theory.T: 6}


def test_states_solve_their_recursion():
    error = 0.0
    for _ in range(6):
        error += 0.4 * 1e-3 * (9 * (2.0 + error) + 3 * 0.7)
    assert float(theory.derive_state().error.subs(PATH)) == pytest.approx(error, rel=1e-12)


def test_predictions_add_up_steps():
    at = {**PATH, theory.G: 0.5, theory.E: 0.01}
    step = 0.4 * ((0.5 + 3 * 1e-3) * 0.01 + 3 * 1e-3 * 2.0 + 1e-3 * 0.7)
    assert float(theory.derive_prediction().error.subs(at)) == pytest.approx(6 * step, rel=1e-12)


def test_weights_err_to_second_order_in_c_without_leak_and_copies():
    at = {theory.N: 12, theory.q: 3, theory.d: 1, theory.B: 1.0, theory.eps: 0.5, theory.beta: 1e4, theory.X: 3.0}
    off = [float(theory.DELTA.subs({**at, theory.C: 1e3, theory.c: c})) for c in (2e-3, 1e-3)]
    assert off[1] == pytest.approx((3.0 / 12) ** 3 * 1e-6 / 6, rel=1e-3)
    assert off[0] / off[1] == pytest.approx(4, rel=1e-6)


def test_errors_of_copies_enter_by_the_products_of_features():
    at = {theory.N: 12, theory.q: 3, theory.d: 2, theory.B: 1.0, theory.eps: 0.5, theory.X: 6.0, theory.c: 1e-9}
    beta, C = 60.0, 1e3
    copy = float(theory.derive_copy().error.subs({**at, theory.beta: beta}))
    found = float(theory.DELTA.subs({**at, theory.beta: beta, theory.C: C}))
    assert found == pytest.approx(6 * (2 * copy + copy**2) / 12, rel=1e-3)
