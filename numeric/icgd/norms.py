"""Sizes and parameter norms of the icgd network, layer by layer, from the few numbers that its families hold.

||.||_1 of a matrix is the operator norm of l1: its largest column sum. A ReLU-attention or MLP layer has the norm
max over heads of max(||Q||_1, ||K||_1) + sum over heads of ||V||_1 + ||W_1||_1 + ||W_2||_1 (wu2024, (C.1)); a
multiplication layer the largest of all ||Q||_1, ||K||_1, ||V||_1 (wu2024, (3.18)).
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from numeric.families import (
    ActivationHeads,
    AttentionFamily,
    BoxAndClear,
    ElementwiseMultiplication,
    FamilyAttention,
    FamilyLayer,
    MaskedUnits,
)
from numeric.icgd.construction import IcgdConstruction


@dataclass(frozen=True)
class LayerSize:
    """One layer of the block: its number in 1..2N+4, heads (0 for an MLP), hidden width (0 but for an MLP), norm."""

    number: int
    kind: str
    heads: int
    hidden_width: int
    query_key: float  # max over heads of ||Q||_1, ||K||_1
    value: float  # sum over heads of ||V||_1; in a multiplication layer the largest
    inner: float  # ||W_1||_1
    outer: float  # ||W_2||_1

    @property
    def norm(self) -> float:
        if self.kind == "multiplication":
            return max(self.query_key, self.value)
        return self.query_key + self.value + self.inner + self.outer


class NetworkSize(NamedTuple):
    """The whole network: (2N+4)L layers, width D of the stream, most heads and hidden units of a layer, B_theta."""

    layers: int
    width: int
    heads: int
    hidden_width: int
    norm: float


def layer_sizes(construction: IcgdConstruction) -> tuple[LayerSize, ...]:
    """The 2N+4 layers of one step. Sums of float64 numbers are rounded once."""
    return tuple(_layer_size(number, layer) for number, layer in enumerate(construction.block, start=1))


def network_size(construction: IcgdConstruction) -> NetworkSize:
    """The maxima over all layers that Theorem 1 bounds."""
    sizes = layer_sizes(construction)
    return NetworkSize(
        construction.layer_count,
        construction.stream.width,
        max(each.heads for each in sizes),
        max(each.hidden_width for each in sizes),
        max(each.norm for each in sizes),
    )


def _layer_size(number: int, layer: FamilyLayer) -> LayerSize:
    if isinstance(layer, FamilyAttention):
        query_key = max(_query_key_norm(family) for family in layer.families)
        value = math.fsum(_value_norms(layer, family) for family in layer.families)
        return LayerSize(number, "attention", layer.head_count, 0, query_key, value, 0.0, 0.0)
    if isinstance(layer, ElementwiseMultiplication):
        # All three matrices of each head hold ones, at most one in a column.
        return LayerSize(number, "multiplication", layer.head_count, 0, 1.0, 1.0, 0.0, 0.0)
    inner, outer = _masked_norms(layer) if isinstance(layer, MaskedUnits) else _box_norms(layer)
    return LayerSize(number, "mlp", 0, layer.hidden_width, 0.0, 0.0, inner, outer)


def _query_key_norm(family: AttentionFamily) -> float:
    # Columns of Q: a_m[0] at the source, a_m[1] at `one`, never in the same column; of K: ones. Q = [+-one] otherwise.
    return max(1.0, float(np.abs(family.relus.directions).max())) if isinstance(family, ActivationHeads) else 1.0


def _value_norms(layer: FamilyAttention, family: AttentionFamily) -> float:
    # V holds c_m in one place, for each k; or scale once in each column, for each k and both signs.
    if isinstance(family, ActivationHeads):
        return layer.stream.size(family.target) * math.fsum(np.abs(family.relus.weights).tolist())
    return family.count(layer.stream) * float(family.scale)


def _masked_norms(layer: MaskedUnits) -> tuple[float, float]:
    # Columns of W_1: at t[k] and y[k] the units of k alone; at `one` and at the mask the units of all k.
    copies, directions = layer.stream.size(layer.target), layer.relus.directions
    blocks = [math.fsum(np.abs(directions[:, column]).tolist()) for column in (0, 1)]
    shifts = copies * math.fsum(np.abs(directions[:, 2] - layer.bound).tolist())
    mask = copies * len(directions) * layer.bound
    return max(*blocks, shifts, mask), float(np.abs(layer.relus.weights).max(initial=0.0))


def _box_norms(layer: BoxAndClear) -> tuple[float, float]:
    # Each coordinate enters two units with +-1; `one` enters both units of each clipped coordinate with -b.
    shifts = 2 * math.fsum(layer.stream.size(name) * width for name, width in layer.boxes)
    return max(2.0, shifts), 1.0
