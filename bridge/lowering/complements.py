"""Complements of functions that saturate, recognised: 1 + erf(u), 1 - tanh(u)^2, 1 - 1/(1 + exp(u)).

Written literally they cancel in the tail: 1 + erf(u) keeps no digit below u = -6. SymPy itself turns erfc(-u) back
into 2 - erfc(u), so the stable form is a node of ours.
"""

import sympy as sp

from .exponentials import exponents_of_sum
from .nodes import Erfc, Sigmoid


def complement(expr: sp.Add) -> sp.Expr | None:
    """The sum with one pair c (bound - f(u)) in stable form; None if there is no such pair."""
    for term in expr.args:
        for factor in sp.Mul.make_args(term):
            coefficient = term / factor if has_complement(factor) else None
            if coefficient is None:
                continue
            for constant, stable in complements(factor):
                partner = constant * coefficient
                if partner in expr.args:
                    rest = [other for other in expr.args if other not in (term, partner)]
                    return sp.Add(coefficient * stable, *rest)
    return None


def has_complement(factor: sp.Expr) -> bool:
    if sigmoid_exponent(factor) is not None:
        return True
    base = factor.base if factor.is_Pow and factor.exp == 2 else factor
    return isinstance(base, sp.tanh) or (base is factor and isinstance(factor, sp.erf | sp.erfc))


def sigmoid_exponent(factor: sp.Expr) -> sp.Expr | None:
    """u where the factor is 1/(1 + exp(-u)); None if it is not."""
    exponents = exponents_of_sum(factor.base) if factor.is_Pow and factor.exp == -1 else None
    if exponents is None or len(exponents) != 2 or sp.S.Zero not in exponents:
        return None
    return -next(w for w in exponents if w != 0)


def complements(factor: sp.Expr) -> list[tuple[sp.Expr, sp.Expr]]:
    """The pairs (constant, stable form of constant + factor)."""
    sigmoid = sigmoid_exponent(factor)
    if sigmoid is not None:
        return [(sp.S.NegativeOne, -Sigmoid(-sigmoid))]
    (u,) = (factor.base if factor.is_Pow else factor).args
    if isinstance(factor, sp.erf):
        return [(sp.S.One, Erfc(-u)), (sp.S.NegativeOne, -Erfc(u))]
    if isinstance(factor, sp.erfc):
        return [(sp.Integer(-2), -Erfc(-u)), (sp.S.NegativeOne, -sp.erf(u))]
    if factor.is_Pow:
        return [(sp.S.NegativeOne, -4 * Sigmoid(2 * u) * Sigmoid(-2 * u))]
    return [(sp.S.One, 2 * Sigmoid(2 * u)), (sp.S.NegativeOne, -2 * Sigmoid(-2 * u))]
