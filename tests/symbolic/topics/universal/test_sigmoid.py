"""Lemma 5: the exact error beside the definition, integrated by mpmath, and the constants that follow from it."""

import mpmath
import numpy as np
import pytest
import sympy as sp
from scipy.optimize import linprog

from symbolic.topics.universal import sigmoid as theory

POINTS = [(4, 3, 1, -1), (4, 3, 1, 1), (8, "0.25", "1.5", "-0.99"), (3, 7, 4, "0.3"), (16, 2, 6, "0.98")]


def by_definition(tau: float, omega: float, theta: float, z: float) -> float:
    """g(z) minus the integral of gamma of (82) against clipped ramps."""

    def g(at: float) -> float:
        return (mpmath.cos(omega * at + theta) - mpmath.cos(theta)) / omega

    def gamma(t: float) -> float:
        return -mpmath.sin(omega * t + theta) if t >= -1 else mpmath.sign(g(-1)) * (t >= -1 - abs(g(-1)))

    def integrand(t: float) -> float:
        return gamma(t) * min(max(tau * (z - t) + 0.5, 0), 1)

    kinks = [each for each in (-1 - abs(g(-1)), -1, z - 0.5 / tau, z + 0.5 / tau) if -2 < each < 1]
    return g(z) - mpmath.quad(integrand, sorted({-2, 1, *kinks}))


@pytest.mark.parametrize("point", POINTS)
def test_the_formula_is_the_error(point: tuple[float, ...]) -> None:
    values = [sp.Rational(str(each)) for each in point]
    letters = (theory.tau, theory.omega, theory.theta, theory.z)
    formula = theory.exact_error().subs(dict(zip(letters, values, strict=True)))
    assert abs(float(formula.evalf(20)) - float(by_definition(*map(mpmath.mpf, map(str, point))))) < 1e-12


def test_inside_the_error_is_that_of_a_mean_of_cosines() -> None:
    at = {theory.tau: 4, theory.omega: 5, theory.theta: 2, theory.z: sp.Rational(1, 3)}
    assert abs((theory.inner_error() - theory.exact_error()).subs(at).evalf(20)) < 1e-15
    other = {**at, theory.z: sp.Rational(99, 100)}
    assert abs((theory.inner_error() - theory.exact_error()).subs(other).evalf(20)) > 1e-3


def test_the_best_constant_is_a_twelfth_of_the_printed_one() -> None:
    assert theory.PRINTED_ERROR / theory.best_error() == 12
    assert theory.delta() == 1 / theory.tau


# At z = -1 gamma jumps from 1 to nearly -1.
def test_ridges_of_small_frequency_reach_it() -> None:
    at = {theory.theta: sp.pi / 2, theory.z: -1, theory.tau: 4}
    limit = theory.exact_error().subs(at).subs(theory.omega, sp.Rational(1, 1000)).evalf(20)
    assert 0 < 1 - abs(limit) / theory.best_error().subs(theory.tau, 4) < 1e-6


def ramps_with_printed_sign(tau: float, z: list[float], t: np.ndarray) -> np.ndarray:
    return np.clip(tau * (np.array(z)[:, None] + t) + 0.5, 0, 1)


def least_error(tau: float, omega: float, theta: float) -> float:
    """Over sums of ramps phi(tau (z + t)) with coefficients of 1-norm at most 3, by linear programming."""
    z, t = np.linspace(-1, 1, 101), np.linspace(-2, 1, 601)
    ramps, g = ramps_with_printed_sign(tau, list(z), t), (np.cos(omega * z + theta) - np.cos(theta)) / omega
    errors = [np.hstack([side * ramps, -side * ramps, -np.ones((len(z), 1))]) for side in (1, -1)]
    norm = np.hstack([np.ones((1, 2 * len(t))), np.zeros((1, 1))])
    cost = np.append(np.zeros(2 * len(t)), 1)
    return float(linprog(cost, np.vstack([*errors, norm]), np.concatenate([g, -g, [3]])).fun)


@pytest.mark.parametrize("tau", [2, 4, 64])
def test_two_points_bound_the_integral_with_the_printed_sign(tau: float) -> None:
    left, right = ramps_with_printed_sign(tau, [-1, 1], np.linspace(-2, 1, 3001))
    assert np.abs(4 * left - right).max() == 1


@pytest.mark.parametrize("omega", [0.125, 1.0])
def test_no_gamma_of_the_printed_norm_is_nearer_with_the_printed_sign(omega: float) -> None:
    bound = float(theory.error_with_printed_sign().subs({theory.omega: omega, theory.theta: sp.pi / 2}))
    assert least_error(16, omega, float(np.pi / 2)) == pytest.approx(bound, abs=1e-3)
    assert bound > float(theory.PRINTED_ERROR.subs(theory.tau, 16))


# (81b) admits a large gamma next to t = 1, which |gamma| <= 1 does not: g(-1) = 2/pi alone refutes nothing.
def test_the_printed_sign_does_not_fail_for_every_ridge() -> None:
    assert least_error(16, float(np.pi / 2), float(np.pi)) < float(theory.PRINTED_ERROR.subs(theory.tau, 16))
