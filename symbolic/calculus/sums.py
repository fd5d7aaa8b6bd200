"""Rule 4: sums, means, concatenations and changes of norm."""

from dataclasses import dataclass
from typing import Any

import sympy as sp

from symbolic.derivations.derivation import Approximated, DerivationError, Norm, NormName, as_expr, as_norm, rule_step
from symbolic.derivations.obligations import real
from symbolic.derivations.operations import Operation


@dataclass(frozen=True)
class Combination(Operation):
    """sum_i c_i x_i; the coefficients are evaluated at the letters of the instance."""

    coefficients: tuple[sp.Expr, ...]


@dataclass(frozen=True)
class TokenMean(Operation):
    """The mean over the tokens."""


@dataclass(frozen=True)
class Concatenation(Operation):
    """(x_1, x_2, ...) along the coordinates."""


@dataclass(frozen=True)
class AsTokens(Operation):
    """x_1, x_2, ... as the tokens of one value: (..., m) each to (..., k, m)."""


@dataclass(frozen=True)
class Restated(Operation):
    """The same value in another norm."""


# What entries that add up to 0 have in each norm, at most, if the positive ones add up to 1, and so the negative ones
# to -1: no entry exceeds 1, their absolute values add up to 2, and ||d||_2^2 <= ||d||_inf ||d||_1. Equality: (1, -1).
OF_WEIGHTS = {Norm.INF: sp.Integer(1), Norm.TWO: sp.sqrt(2), Norm.ONE: sp.Integer(2)}


def norm_of_ones(norm: Norm, dim: sp.Expr) -> sp.Expr:
    """The norm of (1, ..., 1) in R^dim: the factor from the sup norm to this norm."""
    return {Norm.INF: sp.Integer(1), Norm.ONE: dim, Norm.TWO: sp.sqrt(dim)}[norm]


def _common_norm(rule: str, values: tuple[Approximated, ...]) -> Norm:
    if not values:
        raise DerivationError(f"{rule}: no values to combine")
    norms = {value.norm for value in values}
    if len(norms) > 1:
        names = ", ".join(f"'{value.name}' in {value.norm}" for value in values)
        raise DerivationError(f"{rule}: the values are stated in different norms ({names}); apply change_norm first")
    return values[0].norm


def _require_one_dimension(rule: str, values: tuple[Approximated, ...]) -> None:
    if any(sp.simplify(value.dim - values[0].dim) != 0 for value in values):
        dims = ", ".join(f"'{value.name}' in R^{value.dim}" for value in values)
        raise DerivationError(f"{rule}: the values differ in dimension ({dims})")


# ||sum c_i (x_hat_i - x_i)|| <= sum |c_i| e_i, the triangle inequality. Equality: errors that all point one way.
def add(
    *values: Approximated, name: str, coefficients: tuple[Any, ...] | None = None, reason: str = ""
) -> Approximated:
    """sum_i c_i x_i of values of one dimension and one norm; the coefficients are 1 by default."""
    norm = _common_norm("add", values)
    _require_one_dimension("add", values)
    given = coefficients if coefficients is not None else (1,) * len(values)
    signed = tuple(as_expr(c) for c in given)
    factors = [abs(c) for c in signed]
    if len(factors) != len(values):
        raise DerivationError(f"add: {len(values)} values but {len(factors)} coefficients")
    for coefficient in signed:
        real("add", name, coefficient=coefficient)
    step = rule_step(
        name,
        norm,
        "sum",
        sp.Add(*(c * value.error_symbol for c, value in zip(factors, values, strict=True))),
        reason=reason or "by the triangle inequality",
        operation=Combination(signed),
    )
    size = sp.Add(*(c * value.size_symbol for c, value in zip(factors, values, strict=True)))
    return values[0].follows(step, *values[1:], dim=values[0].dim, size=size)


# ||(1/n) sum_i (x_hat_i - x_i)|| <= (1/n) sum e = e: a mean of n values that share one bound keeps it, whatever n is.
# Equality: all errors the same.
def mean(x: Approximated, name: str, *, reason: str = "") -> Approximated:
    """The mean (or any convex combination with exact weights) of values that each obey the bounds of x."""
    step = rule_step(
        name,
        x.norm,
        "mean",
        x.error_symbol,
        reason=reason or "since a mean is at most the largest",
        operation=TokenMean(),
    )
    return x.follows(step, dim=x.dim, size=x.size_symbol, radius=x.own_radius)


# The norm of a concatenation is the max, the sum, or the root of the sum of squares of the parts' norms. Equality: any.
def concatenate(*values: Approximated, name: str, reason: str = "") -> Approximated:
    """The vector (x_1, x_2, ...) in the common norm of its parts."""
    norm = _common_norm("concatenate", values)
    step = rule_step(
        name,
        norm,
        "concatenation",
        _join(norm, [value.error_symbol for value in values]),
        reason=reason or "since its norm is that of the vector of the norms of its parts",
        operation=Concatenation(),
    )
    dim = sp.Add(*(value.dim for value in values))
    return values[0].follows(step, *values[1:], dim=dim, size=_join(norm, [value.size_symbol for value in values]))


def _join(norm: Norm, parts: list[sp.Expr]) -> sp.Expr:
    if norm is Norm.INF:
        return sp.Max(*parts)
    if norm is Norm.ONE:
        return sp.Add(*parts)
    return sp.sqrt(sp.Add(*(part**2 for part in parts)))


# Bounds on tokens hold for each of them. Equality: the value with the largest error, and that with the largest size.
def as_tokens(*values: Approximated, name: str, reason: str = "") -> Approximated:
    """Values of one dimension and one norm as the tokens of one: `attend` then weighs them, as experts."""
    norm = _common_norm("as_tokens", values)
    _require_one_dimension("as_tokens", values)
    step = rule_step(
        name,
        norm,
        "tokens",
        sp.Max(*(value.error_symbol for value in values)),
        reason=reason or "since the bound of tokens is that of the largest",
        operation=AsTokens(),
    )
    return values[0].follows(
        step, *values[1:], dim=values[0].dim, size=sp.Max(*(value.size_symbol for value in values))
    )


# ||v||_inf <= ||v||_2 <= ||v||_1 (equality: one non-zero coordinate), and towards the smaller exponents
# ||v||_1 <= sqrt(dim) ||v||_2 <= dim ||v||_inf, ||v||_2 <= sqrt(dim) ||v||_inf (equality: all coordinates equal).
#
# Weights, exact and approximate ones, add up to 1, so that the entries of their error add up to 0: the positive ones to
# ||d||_1 / 2, the negative ones to the opposite. `OF_WEIGHTS` says what that leaves in the sup norm and the 2-norm.
# Equality: what one entry gains another one loses.
def change_norm(x: Approximated, target: NormName, name: str, *, reason: str = "") -> Approximated:
    """The same value stated in another norm, with the factor that dimension costs.

    The error of weights in the 1-norm counts half in the sup norm, and 1/sqrt(2) times in the 2-norm. Weights stay
    weights: those of `softmax(..., target=Norm.INF)` go on to `attend` in the 1-norm.
    """
    target = as_norm(target)
    size_factor = norm_change_factor(x.norm, target, x.dim)
    of_weights = x.holds_weights and x.norm is Norm.ONE
    factor = OF_WEIGHTS[target] / 2 if of_weights else size_factor
    of = ", as the errors of weights add up to 0" if factor != size_factor else ""
    step = rule_step(
        name,
        target,
        "change of norm",
        factor * x.error_symbol,
        reason=reason or f"`||v||_{target} <= {factor_in_words(factor, f'||v||_{x.norm}')}`{of}",
        operation=Restated(),
    )
    flags = {"probabilities": x.probabilities, "affine": x.affine}
    return x.follows(step, dim=x.dim, size=size_factor * x.size_symbol, **flags)


def factor_in_words(factor: sp.Expr, what: str) -> str:
    if factor == 1:
        return what
    return f"{what} / {1 / factor}" if (1 / factor).is_Integer else f"{sp.sstr(factor)} {what}"


def norm_change_factor(source: Norm, target: Norm, dim: sp.Expr) -> sp.Expr:
    """The least c with ||v||_target <= c ||v||_source on R^dim."""
    exponents = {Norm.ONE: sp.Integer(1), Norm.TWO: sp.Rational(1, 2), Norm.INF: sp.Integer(0)}
    cost = exponents[target] - exponents[source]
    return dim**cost if cost > 0 else sp.Integer(1)
