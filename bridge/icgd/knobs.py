"""From the target accuracy of the gradient to those of the three sums of ReLUs, and to their numbers of ReLUs.

The derived bound grows with each accuracy. The direction in which they are raised is the one that takes the fewest
ReLUs to first order (`cheapest_split`); how far is found by bisection on the bound itself.
"""

from dataclasses import dataclass

import flint
import sympy as sp

from bridge.accuracies import accuracies_within
from bridge.activations import argument_radius, piece_supremum
from bridge.balls import BASE_BITS, bits_for
from bridge.export.numbers import plain
from bridge.icgd.emulation import Accuracies, Ranges, ranges
from bridge.icgd.setting import StepSetting
from bridge.icgd.values import problem_values, suprema_values
from bridge.relu_sums import MOST_RELUS, cells_for
from numeric.balls import float_above
from symbolic.approximation import hinge_count
from symbolic.icgd import symbols as letters

ACCURACIES = (letters.eps_r, letters.eps_r1, letters.eps_l)
FINEST = 1e-13  # below, the accuracy of r is lost in the rounding of float64 values of size 1
PASSES = 3
HEADROOM = 1.01  # of the range, over what the accuracies of the last pass need


@dataclass(frozen=True)
class NotRepresentable:
    """The accuracies that would be enough, and why no float64 network of at most MOST_RELUS ReLUs has them."""

    accuracies: Accuracies
    relus: int
    reason: str


def accuracies_for(setting: StepSetting, eps: float, gradient_bound: sp.Expr) -> Accuracies | NotRepresentable:
    """Accuracies at which `gradient_bound` (in the letters of the paper and the suprema) is at most `eps`.

    The suprema depend on the ranges, the ranges on eps_r: each pass takes the range that the last one's eps_r needs.
    """
    cap, chosen = eps, None
    for _ in range(PASSES):
        needed = ranges(setting, cap)
        chosen = _on_ranges(setting, eps, gradient_bound, needed, cap)
        cap = min(cap, HEADROOM * chosen.eps_r)
    assert chosen is not None  # there is at least one pass
    return _affordable(setting, chosen)


# The bound is (1/2) ||(h_1, ..., h_N)||_2, h_j a polynomial in the accuracies with coefficients >= 0 that vanishes with
# them. Its part of first order is (1/2) ||A eps||_2 with A_ji = d h_j / d eps_i at 0, and by Minkowski ||A eps||_2 is
# at most sum_i eps_i ||A_i||_2, A_i the i-th column. C_i = (1/2) ||A_i||_2 is thus the slope of the bound at 0 when
# accuracy i alone is not perfect.
def _on_ranges(setting: StepSetting, eps: float, gradient_bound: sp.Expr, needed: Ranges, cap: float) -> Accuracies:
    values = {**problem_values(setting, 1), **suprema_values(setting, needed)}
    costs, half = _costs(setting, needed), sp.Rational(1, 2)
    found = accuracies_within(gradient_bound, values, costs, eps, power=half, most={letters.eps_r: cap})
    return Accuracies(*(found[symbol] for symbol in ACCURACIES))


def _curved(setting: StepSetting, needed: Ranges) -> list[tuple[sp.Symbol, sp.Expr, sp.Symbol, float, flint.arb]]:
    """What sums of ReLUs approximate: the accuracy's letter, f, its variable, half its range and sup |f''| there."""
    r, t, R, outputs = setting.activation, setting.activation.t, needed.largest, needed.outputs
    of_loss = [
        (
            piece.function,
            piece.variable,
            argument_radius(setting.loss, piece, outputs, setting.B_y),
            piece_supremum(setting.loss, piece, 2, outputs, setting.B_y),
        )
        for piece in setting.pieces
        if not piece.linear
    ]
    return [
        (letters.eps_r, r.expr, t, R, setting.supremum(2, R)),
        (letters.eps_r1, r.derivative(1), t, R, setting.supremum(3, R)),
        *((letters.eps_l, *piece) for piece in of_loss),
    ]


def _costs(setting: StepSetting, needed: Ranges) -> dict[sp.Symbol, float]:
    """kappa = R sqrt(sup|f''| / 2): the cells that an accuracy of 1 takes; 0 for a u that is represented exactly."""
    costs = dict.fromkeys(ACCURACIES, 0.0)
    for letter, _, _, reach, bend in _curved(setting, needed):
        costs[letter] += reach * float_above((bend / 2).sqrt()) if bend > 0 else 0.0
    return costs


def _affordable(setting: StepSetting, chosen: Accuracies) -> Accuracies | NotRepresentable:
    relus = _relus(setting, chosen, ranges(setting, chosen.eps_r))
    if chosen.eps_r >= FINEST and relus <= MOST_RELUS:
        return chosen
    bits = bits_for(flint.arb(chosen.eps_r)) - BASE_BITS + 53
    reason = (
        f"eps takes eps_r = {plain(chosen.eps_r)}, eps_r' = {plain(chosen.eps_r1)}, eps_l = {plain(chosen.eps_l)}: "
        f"{relus:,} ReLUs for one function (at most {MOST_RELUS:,}) in numbers of {bits} bits"
    )
    return NotRepresentable(chosen, relus, reason)


def _relus(setting: StepSetting, chosen: Accuracies, needed: Ranges) -> int:
    """The most ReLUs that one function takes; the pieces of u share its accuracy."""
    functions = _curved(setting, needed)
    shares = {letters.eps_r: chosen.eps_r, letters.eps_r1: chosen.eps_r1, letters.eps_l: chosen.eps_l}
    shares[letters.eps_l] /= max(1, len(functions) - 2)
    return max(int(hinge_count(cells_for(f, z, reach, shares[letter]))) for letter, f, z, reach, _ in functions)
