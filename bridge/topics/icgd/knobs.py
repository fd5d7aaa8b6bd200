"""From the target accuracy of the gradient to those of the three sums of ReLUs, and to their numbers of ReLUs.

The derived bound grows with each accuracy. The direction in which they are raised is the one that takes the fewest
ReLUs to first order (`cheapest_split`); how far is found by bisection on the bound itself.
"""

from dataclasses import astuple, dataclass

import flint
import sympy as sp

from bridge.lowering.accuracies import accuracies_within
from bridge.lowering.activations import argument_radius, piece_supremum
from bridge.lowering.ball_values import BASE_BITS, bits_for
from bridge.lowering.relu_accuracies import ReluTarget, most_relus, relu_costs
from bridge.lowering.relu_sums import MOST_RELUS
from bridge.theorems.numbers import plain
from bridge.topics.icgd.emulation import Accuracies, Ranges, ranges
from bridge.topics.icgd.setting import StepSetting
from bridge.topics.icgd.values import problem_values, suprema_values
from symbolic.topics.icgd import symbols as letters

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
    costs, half = relu_costs(_curves(setting, needed), ACCURACIES), sp.Rational(1, 2)
    found = accuracies_within(gradient_bound, values, costs, eps, power=half, most={letters.eps_r: cap})
    return Accuracies(*(found[symbol] for symbol in ACCURACIES))


def _curves(setting: StepSetting, needed: Ranges) -> list[ReluTarget]:
    """What sums of ReLUs approximate; a u that is linear is represented exactly."""
    r, t, R, loss = setting.activation, setting.activation.t, needed.largest, setting.loss
    radii = (needed.outputs, setting.B_y)
    of_loss = (
        (piece.function, piece.variable, argument_radius(loss, piece, *radii), piece_supremum(loss, piece, 2, *radii))
        for piece in setting.pieces
        if not piece.linear
    )
    return [
        ReluTarget(letters.eps_r, r.expr, t, R, setting.supremum(2, R)),
        ReluTarget(letters.eps_r1, r.derivative(1), t, R, setting.supremum(3, R)),
        *(ReluTarget(letters.eps_l, *piece) for piece in of_loss),
    ]


def _affordable(setting: StepSetting, chosen: Accuracies) -> Accuracies | NotRepresentable:
    accuracies = dict(zip(ACCURACIES, astuple(chosen), strict=True))
    relus = most_relus(_curves(setting, ranges(setting, chosen.eps_r)), accuracies)
    if chosen.eps_r >= FINEST and relus <= MOST_RELUS:
        return chosen
    bits = bits_for(flint.arb(chosen.eps_r)) - BASE_BITS + 53
    reason = (
        f"eps takes eps_r = {plain(chosen.eps_r)}, eps_r' = {plain(chosen.eps_r1)}, eps_l = {plain(chosen.eps_l)}: "
        f"{relus:,} ReLUs for one function (at most {MOST_RELUS:,}) in numbers of {bits} bits"
    )
    return NotRepresentable(chosen, relus, reason)
