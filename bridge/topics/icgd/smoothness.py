"""L_f in numbers: over all of W, with each layer's own range, and near one point.

The inequalities are those of symbolic.topics.icgd.smoothness; here the suprema of r', r'' and u are certified, and
near a point they are enclosed by the values there.

Shapes, of one prompt: n tokens, m coordinates of a layer.
"""

from dataclasses import replace
from typing import Any

import flint
import sympy as sp
import torch

from bridge.lowering.ball_values import as_exact
from bridge.lowering.enclosures import range_of
from bridge.readings.arrays import Array, applied, joint, largest, spectral, two_norm
from bridge.readings.network import NormsAtHand, bound_network
from bridge.topics.icgd.chain import Chain
from bridge.topics.icgd.emulation import Emulation, Ranges
from bridge.topics.icgd.setting import StepSetting
from bridge.topics.icgd.values import norms, ranges_of
from numeric.balls import float_above
from symbolic.topics.icgd.chain import derive_layers
from symbolic.topics.icgd.smoothness import layer_norms, moved_by, run_smoothness
from symbolic.topics.icgd.symbols import eta


def smoothness_on_W(setting: StepSetting, ranges: Ranges) -> flint.arb:
    """L_f of the worst network in W, one bound for all layers."""
    return smoothness_of_layers(setting, replace(ranges, arguments=(ranges.largest,) * setting.shape.N))


def smoothness_of_layers(setting: StepSetting, ranges: Ranges) -> flint.arb:
    """L_f on W with each layer's own size and its own range of arguments."""
    B_v, arguments = flint.arb(setting.B_v), ranges.arguments
    sizes = [flint.arb(setting.B_x)]  # of p(0), ..., p(N-1)
    sizes += [flint.arb(setting.shape.K).sqrt() * setting.supremum(0, radius) for radius in arguments[:-1]]
    layers = [
        layer_norms(flint.arb(rows).sqrt() * B_v, B_v, size, setting.supremum(1, radius), setting.supremum(2, radius))
        for (rows, _), size, radius in zip(setting.shape.sizes, sizes, arguments, strict=True)
    ]
    loss = flint.arb(setting.shape.d_y).sqrt() * setting.loss_supremum(0, ranges.outputs)
    return run_smoothness(layers, loss, setting.loss_supremum(1, ranges.outputs), sqrt=flint.arb.sqrt)


# For one example with target y, from outputs t to t' both within the range: ell(t, y) - ell(t', y) is at most the
# oscillation of ell, and at most |t - t'| sup|u|. L_n has a half, and d_y coordinates.
def gap_above(setting: StepSetting, ranges: Ranges) -> flint.arb:
    """sup of L_n minus its infimum, over W and all prompts: at least f(w^0) - inf f from any start in W."""
    outputs, loss, d_y = ranges.outputs, setting.loss, setting.shape.d_y
    bound = 2 * flint.arb(outputs) * setting.loss_supremum(0, outputs)
    z = sp.Symbol("z", real=True)
    difference = sp.simplify(loss.expr.subs(loss.t, loss.y + z))
    if not difference.has(loss.y):
        reach = float_above(flint.arb(outputs) + flint.arb(setting.B_y))
        lowest, highest = range_of(difference, z, -reach, reach)
        bound = bound.min(flint.arb(highest) - flint.arb(lowest))
    return bound * d_y / 2


# Every pair of points of W within `radius` of w. With c(j) the Lipschitz constant of p(j) in w, p(j) moves by at most
# c(j) radius and each z(j)[k] by sqrt((row c(j-1))^2 + ||p(j-1)||^2) radius; r' is there at most
# |r'(z)| + sup|r''| times that, and never above its supremum on W.
def smoothness_near(chain: Chain, w: Array, x: Array, y: Array, radius: Array) -> Array:
    """L_f near w (D_w), at the prompt x (n, d_x), y (n, d_y): the mean over its tokens."""
    activation, loss = chain.functions["r"], chain.functions["u"]
    tokens = torch.zeros_like(two_norm(x))  # (n)
    slope_cap, bend_cap, pull_cap = (tokens + cap for cap in chain.caps)
    near, p, c = tokens + radius, x, tokens
    layers = []
    for V in chain.setting.shape.matrices(w):
        r, r1, r2 = (each(applied(V, p)) for each in (activation.exact, *activation.derivatives[:2]))  # (n, m)
        whole, row = spectral(V) + near, largest(two_norm(V)) + near
        argument = two_norm(p) + c * near
        change = joint([row * c, argument]) * near
        slope = torch.minimum(largest(abs(r1)) + activation.suprema[2] * change, slope_cap)
        curvature = torch.minimum(largest(abs(r2)) + activation.suprema[3] * change, bend_cap)
        layers.append(layer_norms(whole, row, argument, slope, curvature))
        p, c = r, moved_by(layers[-1], c, sqrt=torch.sqrt)
    pull = abs(loss.derivatives[0](p, y) + torch.zeros_like(p))
    slope = torch.minimum(largest(pull) + loss.suprema[2] * c * near, pull_cap)
    size = two_norm(loss.exact(p, y)) + slope * c * near
    return run_smoothness(layers, size, slope, sqrt=torch.sqrt).mean(-1)


# Of the network at hand.


def smoothness_here(setting: StepSetting, plan: Any) -> flint.arb:
    return smoothness_of_layers(setting, ranges_of(setting, plan))


def accuracy_here(setting: StepSetting, emulation: Emulation) -> flint.arb:
    """Of the gradient of this network, at every prompt."""
    known = NormsAtHand(norms(emulation), {eta: as_exact(setting.eta)})
    return bound_network(derive_layers(setting.shape.N), known, ["gradient"])["gradient"].error
