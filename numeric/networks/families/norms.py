"""Sizes and parameter norms of layers of families, in balls, from the few numbers that the families hold.

||.||_1 of a matrix is the operator norm of l1: its largest column sum. A ReLU-attention or MLP layer has the norm
max over heads of max(||Q||_1, ||K||_1) + sum over heads of ||V||_1 + ||W_1||_1 + ||W_2||_1 (wu2024, (C.1)); a
multiplication layer the largest of all ||Q||_1, ||K||_1, ||V||_1 (wu2024, (3.18)).
"""

from collections.abc import Iterable
from dataclasses import dataclass

import flint
import numpy as np

from numeric.balls import Arb, ball_maximum, working_precision
from numeric.balls.conversion import ball_of
from numeric.networks.families.layers import (
    ActivationHeads,
    AttentionFamily,
    BoxAndClear,
    FamilyAttention,
    FamilyLayer,
    FamilyMultiplication,
    MaskedUnits,
)

EXACT_BITS = 256  # of sums of float64 coefficients
NONE = flint.arb(0)


@dataclass(frozen=True)
class LayerSize:
    """A layer's heads (0 for an MLP), hidden width (0 but for an MLP) and norms.

    `query_key` is the largest ||Q||_1 or ||K||_1 of the heads, `value` the sum of their ||V||_1 (in a multiplication
    layer the largest), `inner` and `outer` are ||W_1||_1 and ||W_2||_1.
    """

    heads: int
    hidden_width: int
    norm: Arb
    query_key: Arb = NONE
    value: Arb = NONE
    inner: Arb = NONE
    outer: Arb = NONE


def layer_size(layer: FamilyLayer) -> LayerSize:
    with working_precision(EXACT_BITS):
        if isinstance(layer, FamilyMultiplication):
            # All three matrices of each head hold ones, at most one in a column.
            one = flint.arb(1)
            return LayerSize(layer.head_count, 0, one, query_key=one, value=one)
        if isinstance(layer, FamilyAttention):
            query_key = ball_maximum([_query_key_norm(family) for family in layer.families])
            value = _sum(_value_norms(layer, family) for family in layer.families)
            return LayerSize(layer.head_count, 0, query_key + value, query_key=query_key, value=value)
        inner, outer = _masked_norms(layer) if isinstance(layer, MaskedUnits) else _box_norms(layer)
        return LayerSize(0, layer.hidden_width, inner + outer, inner=inner, outer=outer)


def one_norm(weights: np.ndarray) -> Arb:
    """The sum of the absolute values of float64 coefficients, exactly."""
    with working_precision(EXACT_BITS):
        return _sum(abs(flint.arb(weight)) for weight in weights.tolist())


def _sum(balls: Iterable[Arb]) -> Arb:
    return sum(balls, start=flint.arb(0))


def _query_key_norm(family: AttentionFamily) -> Arb:
    # Columns of Q: a_m[0] at the source, a_m[1] at `one`, never in the same column; of K: ones. Q = [+-one] otherwise.
    return flint.arb(max(1.0, np.abs(family.relus.directions).max()) if isinstance(family, ActivationHeads) else 1)


def _value_norms(layer: FamilyAttention, family: AttentionFamily) -> Arb:
    # V holds c_m in one place, for each k; or scale once in each column, for each k and both signs.
    if isinstance(family, ActivationHeads):
        return layer.stream.size(family.target) * one_norm(family.relus.weights)
    return family.count(layer.stream) * ball_of(family.scale)


def _masked_norms(layer: MaskedUnits) -> tuple[Arb, Arb]:
    # Columns of W_1: at t[k] and y[k] the units of k alone; at `one` and at the mask the units of all k.
    copies, directions, bound = layer.stream.size(layer.into), layer.relus.directions, flint.arb(layer.bound)
    shifts = _sum(abs(flint.arb(shift) - bound) for shift in directions[:, 2].tolist())
    blocks = [one_norm(directions[:, column]) for column in (0, 1)]
    inner = ball_maximum([*blocks, copies * shifts, copies * len(directions) * bound])
    return inner, flint.arb(float(np.abs(layer.relus.weights).max(initial=0.0)))


def _box_norms(layer: BoxAndClear) -> tuple[Arb, Arb]:
    # Each coordinate enters two units with +-1; `one` enters both units of each clipped coordinate with -b.
    shifts = 2 * _sum(layer.stream.size(name) * flint.arb(width) for name, width in layer.boxes)
    return ball_maximum([flint.arb(2), shifts]), flint.arb(1)
