"""Bounds of the decoder: per loop what two heads leave, of second order in c; the printed layer to first order."""

import math

import pytest

from symbolic.topics.looped import decoder as theory

AT = {theory.eta: 0.7, theory.B_x: 1.3, theory.B_y: 0.9, theory.T: 8, theory.N: 10}


@pytest.mark.parametrize("size", [0.5, 4.0])
def test_each_loop_adds_what_the_heads_leave_of_the_largest_residual(size):
    at = {**AT, theory.S: size, theory.c: 1e-3, theory.C: 1e3}
    r = 1e-3 * size
    left = r**3 * (9 + math.cosh(r)) / 60 / 1e-3
    assert theory.T in theory.derive_weights().error.free_symbols
    assert float(theory.derive_weights().error.subs(at)) == pytest.approx(8 * 0.7 * 1.3 * left, rel=1e-12)


def test_three_keys_of_each_example_leak():
    at = {**AT, theory.S: 1.0, theory.c: 1e-9, theory.C: 20.0}
    left = 3 * math.exp(-20.0) * math.sinh(2e-9) / 1e-9
    assert float(theory.derive_weights().error.subs(at)) == pytest.approx(8 * 0.7 * 1.3 * left, rel=1e-9)


def test_the_largest_residual_of_the_network_covers_its_own_bound():
    at = {**AT, theory.c: 1e-4, theory.C: 30.0, theory.R: theory.LARGEST.subs(AT)}
    S = theory.largest_residual().subs(at)
    error = theory.derive_weights().error.subs({**at, theory.S: S})
    assert float(at[theory.R] + 1.3 * error) < float(S) < 1.01 * float(at[theory.R])


def test_predictions_add_the_leak_of_other_tokens():
    at = {**AT, theory.S: 1.0, theory.V: 2.0, theory.c: 1e-9, theory.C: 20.0}
    own = 20 * math.exp(-20.0) * math.sinh(4e-9) / 1e-9
    others = 9 * math.exp(-20.0) * (2.0 + own)
    weights = float(theory.derive_weights().error.subs(at))
    assert {theory.T, theory.V} <= theory.derive_prediction().error.free_symbols
    found = float(theory.derive_prediction().error.subs(at))
    assert found == pytest.approx(1.3 * weights + own + others, rel=1e-9)


def test_the_printed_layer_errs_to_first_order_in_c():
    at = {**AT, theory.Z: 2.0, theory.C: 1e3}
    off = [float(theory.derive_printed().error.subs({**at, theory.c: c})) for c in (2e-4, 1e-4)]
    assert off[1] == pytest.approx(2 * 9 * 1.3 * 2.0**2 * 1e-4 / 2, rel=1e-3)
    assert off[0] / off[1] == pytest.approx(2, rel=1e-3)
