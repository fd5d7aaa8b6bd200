"""Means of polynomial * exp(quadratic form) over independent standard normals, in closed form and with their condition.

Variables that are not integrated over stay as they are, so that a mean given x_L is one over all the others.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import sympy as sp

from symbolic.derivations.derivation import DerivationError, as_expr

Powers = tuple[int, ...]  # of a monomial, in the order of the variables


@dataclass(frozen=True)
class GaussianMean:
    """A mean, and the condition on its symbols without which it does not exist (is no absolutely convergent integral).

    `condition` is a SymPy truth value: relations, or `true`.
    """

    value: sp.Expr
    condition: Any


@dataclass(frozen=True)
class _Tilted:
    """The normal density times exp(x^T A x + b^T x + c): a multiple of the density N(mean, covariance)."""

    variables: tuple[sp.Symbol, ...]
    precision: sp.Matrix  # I - 2 A
    slope: sp.Matrix  # b
    constant: sp.Expr  # c

    @cached_property
    def covariance(self) -> sp.Matrix:
        return (self.precision.adjugate() / self.determinant).applyfunc(sp.cancel)

    @cached_property
    def determinant(self) -> sp.Expr:
        return sp.expand(self.precision.det(method="berkowitz"))

    @cached_property
    def mean(self) -> sp.Matrix:
        return (self.covariance * self.slope).applyfunc(sp.cancel)

    # Complete the square: -x^T P x / 2 + b^T x = -(x - S b)^T P (x - S b) / 2 + b^T S b / 2 with S = P^-1.
    def mass(self) -> sp.Expr:
        """E[exp(x^T A x + b^T x + c)]."""
        completed = sp.expand(self.constant + (self.slope.T * self.mean)[0, 0] / 2)
        return tidy(self.determinant) ** sp.Rational(-1, 2) * sp.exp(sp.factor(completed))

    # Sylvester: a symmetric matrix is positive definite iff its leading minors are positive. Where it is not, the
    # integrand does not decay along some direction, and |polynomial| * exp has no finite integral for any but 0.
    def condition(self) -> Any:
        order = range(1, len(self.variables) + 1)
        return sp.And(*(positive(sp.expand(self.precision[:k, :k].det(method="berkowitz"))) for k in order))

    def moment(self, powers: Powers, known: dict[Powers, sp.Expr]) -> sp.Expr:
        """E[prod x_i^powers_i] under N(mean, covariance)."""
        if powers not in known:
            known[powers] = self._lowered(powers, known)
        return known[powers]

    # Stein (Wick's pairing, one factor at a time): E[x_i f] = mean_i E[f] + sum over j of S_ij E[df / dx_j].
    def _lowered(self, powers: Powers, known: dict[Powers, sp.Expr]) -> sp.Expr:
        first = next((i for i, power in enumerate(powers) if power), None)
        if first is None:
            return sp.Integer(1)
        rest = _less_one(powers, first)
        total = self.mean[first] * self.moment(rest, known)
        for j, power in enumerate(rest):
            if power:
                total += self.covariance[first, j] * power * self.moment(_less_one(rest, j), known)
        return sp.cancel(total)


def gaussian_mean(polynomial: Any, exponent: Any, variables: Sequence[sp.Symbol]) -> GaussianMean:
    """E[polynomial * exp(exponent)] over independent standard normal `variables`; other symbols are constants.

    `exponent` is of degree 2 at most in the variables. Raises DerivationError for anything else.
    """
    return _mean_of(as_expr(polynomial), as_expr(exponent), tuple(variables))


@lru_cache(maxsize=256)  # sums over pairs with other ends have the same means
def _mean_of(polynomial: sp.Expr, exponent: sp.Expr, variables: tuple[sp.Symbol, ...]) -> GaussianMean:
    tilted = _tilted(exponent, variables)
    terms = _as_polynomial("polynomial", polynomial, variables).terms()
    known: dict[Powers, sp.Expr] = {}
    moments = sp.Add(*(coefficient * tilted.moment(powers, known) for powers, coefficient in terms))
    if moments == 0 and all(coefficient == 0 for _, coefficient in terms):
        return GaussianMean(sp.Integer(0), sp.true)
    return GaussianMean(sp.factor(moments) * tilted.mass(), tilted.condition())


def positive(expression: sp.Expr) -> Any:
    """expression > 0, said as simply as there is: 1 - x^2 > 0 is |x| < 1."""
    root = _root(sp.expand(1 - expression))
    if root is None:
        return sp.Gt(expression, 0)
    return sp.true if root == 0 else sp.Lt(sp.Abs(root), 1)


def tidy(expression: sp.Expr) -> sp.Expr:
    """1 - x^2 with x^2 kept as a square where the expression is of this form."""
    root = _root(sp.expand(1 - expression))
    return sp.factor(expression) if root is None else 1 - root**2


def _root(square: sp.Expr) -> sp.Expr | None:
    """A polynomial whose square this is, with its first coefficient positive; None if there is none over Q."""
    if square == 0:
        return sp.Integer(0)
    if not square.is_polynomial():
        return None
    content, factors = sp.factor_list(square)
    if content.is_negative or not sp.sqrt(content).is_rational or any(power % 2 for _, power in factors):
        return None
    return sp.sqrt(content) * sp.Mul(*(factor ** (power // 2) for factor, power in factors))


def _tilted(exponent: sp.Expr, variables: tuple[sp.Symbol, ...]) -> _Tilted:
    form = _as_polynomial("exponent", exponent, variables)
    if form.total_degree() > 2:
        raise DerivationError(f"gaussian mean: the exponent {sp.sstr(exponent)} is not of degree 2 or less")
    at_zero = dict.fromkeys(variables, 0)
    slope = sp.Matrix([sp.diff(exponent, x) for x in variables]).subs(at_zero, simultaneous=True)
    precision = sp.eye(len(variables)) - sp.hessian(exponent, variables)
    return _Tilted(variables, precision, slope, exponent.subs(at_zero, simultaneous=True))


def _as_polynomial(what: str, expression: sp.Expr, variables: tuple[sp.Symbol, ...]) -> sp.Poly:
    if not variables or len(set(variables)) != len(variables):
        raise DerivationError(f"gaussian mean: needs different variables to integrate over, got {list(variables)}")
    if not expression.is_polynomial(*variables):
        raise DerivationError(
            f"gaussian mean: the {what} {sp.sstr(expression)} is not a polynomial in {', '.join(map(str, variables))}"
        )
    return sp.Poly(expression, *variables)


def _less_one(powers: Powers, place: int) -> Powers:
    return tuple(power - (i == place) for i, power in enumerate(powers))
