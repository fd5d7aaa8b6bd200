"""Gaussian means against numeric integration, and their conditions against where integrals settle."""

import math

import mpmath
import numpy as np
import pytest
import sympy as sp

from symbolic.derivations.derivation import DerivationError
from symbolic.dynamics import GaussianMean, gaussian_mean
from symbolic.dynamics.gaussian import positive, tidy

X, Y, Z, a, b = sp.symbols("X Y Z a b", real=True)


def by_quadrature(polynomial: sp.Expr, exponent: sp.Expr, variables: tuple[sp.Symbol, ...]) -> float:
    """The mean by Gauss-Legendre sums of the density on [-12, 12], which know nothing of matrices."""
    nodes, weights = np.polynomial.legendre.leggauss(120)
    density = sp.exp(-sum(x**2 for x in variables) / 2) / sp.sqrt(2 * sp.pi) ** len(variables)
    integrand = sp.lambdify(variables, polynomial * sp.exp(exponent) * density, "numpy")
    grid = np.meshgrid(*[12 * nodes] * len(variables))
    return float((integrand(*grid) * np.prod(np.meshgrid(*[12 * weights] * len(variables)), axis=0)).sum())


@pytest.mark.parametrize(
    ("polynomial", "exponent", "variables"),
    [
        (X**4, sp.Integer(0), (X,)),
        (1 + X**3, a * X**2 + b * X, (X,)),
        (Y**2, a * X * Y, (X, Y)),
        (X * Y, a * X * Y + b * X**2, (X, Y)),
        (X**2 * Y, b * X * Y + a * Y + X / 3 + sp.Rational(1, 5), (X, Y)),
    ],
    ids=["moment", "one", "square", "product", "shifted"],
)
def test_means_agree_with_integration(polynomial: sp.Expr, exponent: sp.Expr, variables: tuple[sp.Symbol, ...]) -> None:
    at = {a: sp.Rational(-3, 10), b: sp.Rational(1, 4)}
    found = gaussian_mean(polynomial, exponent, variables)
    assert found.condition.subs(at) == sp.true
    assert math.isclose(
        float(found.value.subs(at)), by_quadrature(polynomial, exponent.subs(at), variables), rel_tol=1e-8
    )


def test_lemma_d3_holds_for_the_modulus_of_a_below_1() -> None:
    found = gaussian_mean(Z**2, a * X * Y, (X, Y, Z))
    assert sp.simplify(found.value - (1 - a**2) ** sp.Rational(-1, 2)) == 0
    assert found.condition == sp.Lt(sp.Abs(a), 1)
    assert found.condition.subs(a, -2) == sp.false  # the printed condition, a < 1, holds there


@pytest.mark.parametrize("at", [sp.Rational(-6, 5), sp.Rational(-1, 2), sp.Rational(1, 2), sp.Rational(6, 5)], ids=str)
def test_truncated_integrals_settle_exactly_where_the_condition_holds(at: sp.Rational) -> None:
    # Integrated over Y first: E[exp(a X Y)] = E[exp(a^2 X^2 / 2)], whose integral over [-R, R] settles or does not.
    # a^2 > 1 makes the integrand grow.
    integrand = sp.lambdify(X, sp.exp((at**2 - 1) * X**2 / 2), "mpmath")
    near, far = (mpmath.quad(integrand, [-R, 0, R]) for R in (12, 24))
    condition = gaussian_mean(1, a * X * Y, (X, Y)).condition
    assert (condition.subs(a, at) == sp.true) == (abs(far - near) < 1e-6 * near)


def test_conditional_means_keep_the_other_variables() -> None:
    found = gaussian_mean(Y**2, a * X * Y, (Y,))
    assert found == GaussianMean((1 + a**2 * X**2) * sp.exp(a**2 * X**2 / 2), sp.true)


@pytest.mark.parametrize("split", [(X,), (Y,)], ids=str)
def test_integrating_one_variable_after_another_gives_the_joint_mean(split: tuple[sp.Symbol]) -> None:
    exponent = a * X * Y + b * X / 3
    inner = gaussian_mean(1, exponent, split)
    (rest,) = {X, Y} - set(split)
    outer = gaussian_mean(1, sp.expand(sp.expand_log(sp.log(inner.value), force=True)), (rest,))
    joint = gaussian_mean(1, exponent, (X, Y))
    assert sp.simplify(sp.log(outer.value / joint.value).subs({a: sp.Rational(1, 3), b: sp.Rational(2, 7)})) == 0


def test_a_mean_of_nothing_is_0_whatever_the_exponent() -> None:
    assert gaussian_mean(0, 7 * X**2, (X,)) == GaussianMean(sp.Integer(0), sp.true)
    assert gaussian_mean(1, 7 * X**2, (X,)).condition == sp.false
    assert gaussian_mean(X, 7 * X**2, (X,)).condition == sp.false  # its mean by symmetry does not exist either


def test_positivity_is_said_as_a_modulus_where_it_is_one() -> None:
    assert positive(1 - 4 * a**2) == sp.Lt(2 * sp.Abs(a), 1)
    assert positive(1 - a) == sp.Gt(1 - a, 0)
    assert positive(sp.Integer(1)) == sp.true
    assert tidy(sp.expand(1 - (a + b) ** 2)) == 1 - (a + b) ** 2


@pytest.mark.parametrize(
    ("polynomial", "exponent", "variables", "said"),
    [
        (1, X**3, (X,), "not of degree 2"),
        (sp.sin(X), X, (X,), "is not a polynomial in X"),
        (1, 1 / X, (X,), "is not a polynomial in X"),
        (1, X, (), "different variables"),
        (1, X, (X, X), "different variables"),
        ("X", X, (X,), "the string 'X'"),
    ],
    ids=["cubic", "sine", "quotient", "none", "twice", "string"],
)
def test_other_means_are_refused(polynomial: object, exponent: sp.Expr, variables: tuple, said: str) -> None:
    with pytest.raises(DerivationError, match=said):
        gaussian_mean(polynomial, exponent, variables)
