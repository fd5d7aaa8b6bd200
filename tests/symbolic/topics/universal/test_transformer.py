"""Lemma 4 (li2025): its bounds beside closed forms, its temperatures beside a search, the bits of the printed tau."""

import math

import pytest
import sympy as sp
from mpmath import mp

from symbolic.topics.universal import transformer_derivation as theory
from symbolic.topics.universal.transformer import TRANSFORMER
from symbolic.topics.universal.transformer_derivation import B, L, N, P, R, S, n, tau_1, tau_2

AT = {N: 64, n: 16, L: 21, B: 1, P: 2, R: 3, S: 6, tau_1: 2, tau_2: 512, theory.bits: 24}


def difference(z: float, tau: float) -> mp.mpf:
    """|z - 4 tau (sigma(z/tau) - sigma(0))| itself."""
    with mp.workdps(40):
        return abs(z - 4 * mp.mpf(tau) * (1 / (1 + mp.exp(-mp.mpf(z) / tau)) - mp.mpf(1) / 2))


@pytest.mark.parametrize("tau", [0.01, 0.3, 2.0, 1000.0])
@pytest.mark.parametrize("z", [0.01, 0.7, 3.0])
def test_the_error_of_the_logistic_function_is_below_the_cubic_and_tends_to_it(tau, z):
    bound = float(theory.logistic_error(sp.Float(z), sp.Float(tau)))
    assert difference(z, tau) <= bound
    assert difference(z, tau) <= 2 * z**2 / tau  # (119)
    if z < tau / 100:
        assert difference(z, tau) > 0.999 * bound


def test_residuals_are_the_sums_of_their_parts():
    eta = sp.Rational(1, 32)
    cubes = 2 * eta * (1 + 8) * eta**2 / (12 * 4) + 2 * eta / 64 * sp.Rational(8, 12 * 512**2)
    assert theory.derive_step().error.subs(AT) == cubes == theory.derive_residual().error.subs(AT)
    assert theory.derive_y_residual().error.subs(AT) == sp.Rational(8, 12 * 512**2)
    assert theory.derive_printed_y_residual().error.subs(AT) == 2 * (1 - sp.Rational(1, 64)) + sp.Rational(
        8, 12 * 512**2 * 64
    )


def test_residuals_add_up_over_the_blocks():
    step = theory.derive_step().error.subs({**AT, P: 6})
    rho, y_hat = theory.derive_rho(), theory.derive_y_hat()
    assert rho.error.free_symbols >= {L, n, N, S}  # the number of blocks is a letter
    assert sp.simplify(rho.error.subs(AT) - 10 * 17 * step) == 0
    assert sp.simplify(y_hat.error.subs(AT) - 10 * 17 * step - sp.Rational(6**3, 12 * 512**2)) == 0
    assert {str(rho.norm), str(y_hat.norm)} == {"1", "inf"}
    assert any(each.open for each in y_hat.derivation.obligations)  # the range S


def test_printed_residuals_are_above_the_derived_ones():
    for name in ("residual", "y_residual"):
        quantity = TRANSFORMER.quantity(name)
        assert quantity.derived().subs(AT) < quantity.printed.bound.subs(AT)


def test_each_temperature_is_the_power_of_two_next_to_the_minimum():
    errors = (
        lambda tau: 4 * theory.logistic_error(theory.eta * B, tau) + theory.rounding_1(tau),
        lambda tau: theory.logistic_error(B, tau) + theory.rounding_2(tau),
    )
    for chosen, error in zip(theory.best_temperatures(), errors, strict=True):
        power = math.log2(chosen.subs(AT))
        assert power == int(power)
        values = {k: float(error(sp.Integer(2) ** (int(power) + k)).subs(AT)) for k in (-2, -1, 0, 1, 2)}
        assert values[0] <= 1.1 * min(values.values())
        assert values[-2] > values[0] < values[2]


def test_the_printed_temperature_needs_more_bits_than_float64_has():
    at = {N: 1024, n: 256, L: 401, B: 1}
    assert theory.PRINTED_TAU.subs(at) == 1024 * 256**2 * 657 * 1280
    needed = theory.bits_of_printed_tau().subs(at)
    assert needed == 90
    rounding = 257 * theory.rounding_1(theory.PRINTED_TAU).subs({**at, theory.bits: needed})
    assert rounding <= sp.Rational(1, 657 * 256 * 1024) < 2 * rounding


def test_the_bits_that_hold_a_block_are_the_least():
    for needed, tau, size, rounding in zip(
        theory.bits_to_hold(),
        (tau_1, tau_2),
        (2 * theory.eta * B, B),
        (theory.rounding_1, theory.rounding_2),
        strict=True,
    ):
        least = needed.subs(AT)
        assert rounding(tau).subs({**AT, theory.bits: least}) <= size.subs(AT)
        assert rounding(tau).subs({**AT, theory.bits: least - 1}) > size.subs(AT)
