"""From the accuracy of the gradient to those of the three sums of ReLUs: the paper's thirds, and the cheapest split."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import sympy as sp

from symbolic.calculus.layers import written_out
from symbolic.derivation import DerivationError, as_expr
from symbolic.icgd import chain, printed
from symbolic.icgd.symbols import N, d_x, d_y, eps_l, eps_r, eps_r1, j

ACCURACIES = (eps_r, eps_r1, eps_l)


def printed_thirds() -> dict[sp.Symbol, sp.Expr]:
    """eps_i = 2 eps / (3 C_i), as D.7 chooses them."""
    return {symbol: chosen.bound for symbol, chosen in printed.KNOBS.items()}


# The gradient's bound is (1/2) ||(h_1, ..., h_N)||_2, h_j a polynomial in the accuracies with coefficients >= 0 that
# vanishes with them. Its part of first order is (1/2) ||A eps||_2 with A_ji = d h_j / d eps_i at 0, and by
# Minkowski ||A eps||_2 <= sum_i eps_i ||A_i||_2, A_i the i-th column. Hence C_i = (1/2) ||A_i||_2: what the bound is
# to first order when accuracy i alone is not perfect.
@cache
def derived_coefficients(depth: sp.Expr = N, inputs: sp.Expr = d_x, outputs: sp.Expr = d_y) -> dict[sp.Symbol, sp.Expr]:
    """C_r, C_r1, C_l of the derived bound under the paper's hypotheses: gradient <= sum C_i eps_i to first order."""
    worst = chain.worst_case(inputs, outputs)
    last = chain.derive_last_block(depth).error.xreplace(worst)
    if depth == 1:
        return {accuracy: _slope(last, accuracy) / 2 for accuracy in ACCURACIES}
    first, hidden = (
        written_out(chain.derive_block(layer, depth).error).xreplace(worst) for layer in (sp.Integer(1), j)
    )
    return {accuracy: _column_norm(first, hidden, last, accuracy, depth) / 2 for accuracy in ACCURACIES}


def _column_norm(first: sp.Expr, hidden: sp.Expr, last: sp.Expr, accuracy: sp.Symbol, depth: sp.Expr) -> sp.Expr:
    layer = sp.Symbol("i", integer=True, positive=True)
    inner = sp.Sum(_slope(hidden, accuracy).subs(j, layer) ** 2, (layer, 2, depth - 1))
    alone = _slope(last, accuracy)
    several = sp.sqrt(_slope(first, accuracy) ** 2 + inner + alone**2)
    return sp.Piecewise((alone, sp.Eq(depth, 1)), (several, True))


def _slope(bound: sp.Expr, accuracy: sp.Symbol) -> sp.Expr:
    """d bound / d accuracy where all accuracies are 0."""
    alone = bound.xreplace({other: sp.S.Zero for other in ACCURACIES if other != accuracy})
    return sp.diff(alone, accuracy).xreplace({accuracy: sp.S.Zero})


@dataclass(frozen=True)
class Split:
    """Accuracies `direction`, which meet sum C_i eps_i = eps at the least number of ReLUs `relus`."""

    direction: dict[sp.Symbol, sp.Expr]
    relus: sp.Expr


# An interpolant with M cells on [-R, R] is off by at most (2R/M)^2 sup|f''| / 8, so it takes M = kappa / sqrt(eps_i)
# cells, kappa = R sqrt(sup|f''| / 2). Minimise T = sum kappa_i eps_i^(-1/2) on sum C_i eps_i = eps: T is convex, so
# Lagrange's condition is sufficient; kappa_i eps_i^(-3/2) / 2 = lambda C_i gives eps_i = mu (kappa_i / C_i)^(2/3), and
# the constraint mu sum C_k^(1/3) kappa_k^(2/3) = eps. A function that its sum of ReLUs hits exactly has kappa_i = 0
# and gets eps_i = 0. One that the gradient does not feel (C_i = 0) may be as coarse as eps itself.
def cheapest(coefficients: Mapping[sp.Symbol, Any], costs: Mapping[sp.Symbol, Any], accuracy: Any) -> Split:
    """The accuracies that spend `accuracy` at the least total sum of costs_i / sqrt(eps_i).

    Numbers or expressions, all >= 0. Raises DerivationError for a negative one, or where the two have different
    accuracies.
    """
    if set(coefficients) != set(costs):
        raise DerivationError("cheapest: coefficients and costs have to name the same accuracies")
    share = {symbol: as_expr(value) for symbol, value in coefficients.items()}
    cost = {symbol: as_expr(value) for symbol, value in costs.items()}
    whole = as_expr(accuracy)
    if any(number.is_negative for number in (*share.values(), *cost.values(), whole)):
        raise DerivationError("cheapest: coefficients, costs and the accuracy are bounds and counts: give them >= 0")
    felt = [symbol for symbol, c in share.items() if c.is_zero is not True]
    third = sp.Rational(1, 3)
    total = sp.Add(*(share[symbol] ** third * cost[symbol] ** (2 * third) for symbol in felt))
    direction = dict.fromkeys(share, whole)
    for symbol in felt:
        exact = cost[symbol].is_zero is True
        direction[symbol] = sp.Integer(0) if exact else whole * (cost[symbol] / share[symbol]) ** (2 * third) / total
    spent = (cost[symbol] / sp.sqrt(e) for symbol, e in direction.items() if cost[symbol].is_zero is not True)
    return Split(direction, sp.Add(*spent))


def along(bound: sp.Expr, direction: Mapping[sp.Symbol, sp.Expr], scale: sp.Symbol) -> sp.Expr:
    """The bound at scale * direction: it grows with `scale` from 0, being built from terms with coefficients >= 0."""
    return bound.xreplace({symbol: scale * value for symbol, value in direction.items()})
