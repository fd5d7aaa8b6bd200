"""Lemma 5: the exact error beside the definition, integrated by mpmath, and the constants that follow from it."""

import mpmath
import pytest
import sympy as sp

from symbolic.universal import sigmoid as theory

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
