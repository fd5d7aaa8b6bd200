"""The nine constants of Theorem D.6 for a circuit's network, each an enclosure of what the calculus derives."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from bridge.lowering.ball_values import evaluate_ball
from numeric.balls import float_above, float_below
from numeric.search.bisection import last_that_holds
from symbolic.topics.machines import margin as theory
from symbolic.topics.machines import perturbed_layers as p

READOUT = sp.Integer(2)  # z -> 2 z - 1
BISECTIONS = 50

NAMES = {
    "lambda": theory.lam,
    "mu_0": theory.mu_0,
    "mu": theory.mu,
    "kappa_theta": theory.kappa_theta,
    "kappa_xi": theory.kappa_xi,
    "sigma_zeta": p.sigma_zeta,
    "sigma_theta": theory.sigma_theta,
    "sigma_xi": theory.sigma_xi,
    "sigma_h": theory.sigma_h,
}


@dataclass(frozen=True)
class NineConstants:
    """Values of the nine symbols; those from above are rounded up. Infinite: nothing asks for it, nor for its terms."""

    values: Mapping[sp.Symbol, Any]

    def of(self, name: str) -> float:
        return float(self.values[NAMES[name]])

    def least(self, terms: Iterable[sp.Expr]) -> float:
        """The smallest of these terms, rounded down."""
        return min(float_below(evaluate_ball(term, self.values)) for term in terms if not self._drops_out(term))

    def least_known(self, terms: Iterable[sp.Expr]) -> float:
        """The same; infinite where nothing asks for any of them."""
        asked = [term for term in terms if not self._drops_out(term)]
        return self.least(asked) if asked else math.inf

    def _drops_out(self, term: sp.Expr) -> bool:
        """Whether nothing asks for it: sigma_h of layers that are Lipschitz everywhere, kappa_theta of no layer."""
        return any(self.values[symbol] == sp.oo for symbol in term.free_symbols)


def best_constants(
    widths: Sequence[int], norms: Sequence[tuple[float, float]], terms: Sequence[sp.Expr] = theory.PRINTED_TERMS
) -> NineConstants:
    """`widths` of the layers, inputs first, (||W_1||, ||W_2||) of each f_i; sigma_theta = sigma_xi best for `terms`.

    All other terms of the minimum fall as the radius grows: the best radius is the one that equals the least.
    """

    def below_all(radius: float) -> bool:
        return constants(widths, norms, radius).least(terms) >= radius

    return constants(widths, norms, last_that_holds(below_all, 0.0, 1.0, steps=BISECTIONS))


# What is asked of which layer: (D.3) bounds h_0, the first layer of gates, and all behind it, not the network's input;
# the last of them is F itself, 1 or -1. Condition D.3 wants mu_0 of f_0, and kappa_theta and mu of f_i for i >= 1; with
# f_0 alone there is no zeta either, so that D.6 is left with its terms in lambda, mu_0, sigma_zeta and sigma_theta.
#
# Exact layers are bits, r of them have size at most sqrt(r), and so have the hidden units of Proposition B.2, each of
# which is at most 1 on bits.
def constants(widths: Sequence[int], norms: Sequence[tuple[float, float]], radius: float) -> NineConstants:
    """The nine constants for every input, parameters moved by at most `radius`."""
    last = len(norms) - 1

    def above(formula: sp.Expr, i: int, size: sp.Expr = sp.S.One) -> float:
        root = sp.sqrt(widths[i + 1])
        known = {p.norm_1: norms[i][0], p.norm_2: norms[i][1], p.hidden: root, p.output: root, p.size: size}
        return float_above(evaluate_ball(formula, {**known, p.rho: radius}))

    def of_layer(i: int) -> sp.Expr | None:
        return READOUT if i == last else None

    values = {
        theory.lam: float_above(evaluate_ball(sp.sqrt(max((1, *widths[1:-1]))), {})),
        theory.mu_0: above(theory.layer_move(of_layer(0)), 0, sp.sqrt(widths[0])),
        theory.mu: max((above(theory.layer_lipschitz(of_layer(i)), i) for i in range(1, last + 1)), default=sp.oo),
        theory.kappa_theta: max((above(theory.layer_move(of_layer(i)), i) for i in range(1, last + 1)), default=sp.oo),
        theory.kappa_xi: float_above(evaluate_ball(theory.any_rounding_move(), {p.rho: radius})) if last else sp.oo,
        p.sigma_zeta: p.ROUNDING_RADIUS,
        theory.sigma_theta: radius,
        theory.sigma_xi: radius if last else sp.oo,
        theory.sigma_h: sp.oo,
    }
    return NineConstants(values)
