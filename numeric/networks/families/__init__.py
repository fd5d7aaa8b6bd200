"""Layers whose heads or hidden units come in families: the few numbers that they hold, their counts and norms."""

from numeric.networks.families.layers import (
    ActivationHeads,
    AttentionFamily,
    BoxAndClear,
    FamilyAttention,
    FamilyLayer,
    FamilyMultiplication,
    HadamardHeads,
    MaskedUnits,
    MultiplicationFamily,
    OuterProductHeads,
    TransposeHeads,
)
from numeric.networks.families.norms import LayerSize, layer_size

__all__ = [
    "ActivationHeads",
    "AttentionFamily",
    "BoxAndClear",
    "FamilyAttention",
    "FamilyLayer",
    "FamilyMultiplication",
    "HadamardHeads",
    "LayerSize",
    "MaskedUnits",
    "MultiplicationFamily",
    "OuterProductHeads",
    "TransposeHeads",
    "layer_size",
]
