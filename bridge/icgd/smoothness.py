"""L_f in numbers: over all of W, with each layer's own range, and near one point.

The inequalities are those of symbolic.icgd.smoothness; here the suprema of r', r'' and u are certified, and near a
point they are enclosed by the values there.

Shapes: ... batch, n tokens, m coordinates of a layer.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import flint
import numpy as np
import sympy as sp
import torch

from bridge.balls import evaluate_ball
from bridge.enclosures import range_of
from bridge.icgd.arithmetic import Arithmetic, Array, Balls, root
from bridge.icgd.emulation import Ranges
from bridge.icgd.propagation import LossGradient, Smooth
from bridge.icgd.setting import Setting
from bridge.icgd.values import as_numbers, problem_values, suprema_values
from numeric.balls import ball_maximum, float_above
from symbolic.icgd.smoothness import WORST_CASE, b_r2, layer_norms, run_smoothness, smoothness


def smoothness_on_W(setting: Setting, ranges: Ranges) -> flint.arb:
    """L_f of the worst network in W, one bound for all layers."""
    expression = _of_the_worst(setting.shape.N)
    values = {
        **problem_values(setting, 1),
        **suprema_values(setting, ranges),
        b_r2: setting.supremum(2, ranges.largest),
    }
    return evaluate_ball(expression, as_numbers(values))


@cache
def _of_the_worst(layers: int) -> sp.Expr:
    return smoothness(layers).subs(WORST_CASE, simultaneous=True)


def smoothness_of_layers(setting: Setting, ranges: Ranges) -> flint.arb:
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
def gap_above(setting: Setting, ranges: Ranges) -> flint.arb:
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
def smoothness_near(
    ops: Arithmetic,
    weights: Sequence[Array],
    x: Array,
    y: Array,
    activation: Smooth,
    loss: LossGradient,
    caps: tuple[Any, Any],
    radius: Array,
) -> Array:
    """L_f near w = `weights` (..., rows, columns), `radius` (...); the mean over the tokens of x (..., n, d_x).

    `caps` are sup |r'| and sup |du/dt| on W.
    """
    tokens = ops.zeros(ops.norm(x))  # (..., n)
    near = tokens + _each_token(radius)
    p, c, sup = x, tokens, activation.suprema
    layers = []
    for V in weights:
        r, r1, r2 = (each(p @ ops.transpose(V)) for each in activation.derivatives[:3])  # (..., n, m)
        spectral, row = (_each_token(each + radius) for each in (ops.spectral(V), ops.largest(ops.norm(V))))
        argument = ops.norm(p) + c * near
        change = ops.joint([(row + tokens) * c, argument]) * near
        slope = ops.minimum(ops.largest(abs(r1)) + sup[2] * change, tokens + caps[0])
        curvature = ops.minimum(ops.largest(abs(r2)) + sup[3] * change, tokens + sup[2])
        layers.append(layer_norms(spectral + tokens, row + tokens, argument, slope, curvature))
        p, c = r, slope * ops.joint([spectral * c, argument])
    slope = ops.largest(abs(loss.slope(p, y))) + loss.second * c * near
    slope = ops.minimum(slope, tokens + caps[1])
    size = ops.norm(loss.value(p, y)) + slope * c * near
    found = run_smoothness(layers, size, slope, sqrt=_roots_of_balls if isinstance(ops, Balls) else root)
    return found.sum(-1) / found.shape[-1]


def _each_token(values: Array) -> Array:
    """(...) to (..., 1)."""
    return np.asarray(values, dtype=object)[..., None] if not isinstance(values, torch.Tensor) else values[..., None]


def _root_of_ball(square: flint.arb) -> flint.arb:
    """A sum of squares is not negative, but its ball may reach below 0."""
    return square.sqrt() if square > 0 else flint.arb(0).union(ball_maximum([flint.arb(0), square.upper()]).sqrt())


_roots_of_balls = np.frompyfunc(_root_of_ball, 1, 1)
