"""Layers whose heads or hidden units come in families: the few numbers that they hold, two interpreters, and norms."""

from numeric.families.dense import dense_layer
from numeric.families.layers import (
    ActivationHeads,
    AttentionFamily,
    BoxAndClear,
    ElementwiseMultiplication,
    FamilyAttention,
    FamilyLayer,
    HadamardHeads,
    MaskedUnits,
    MultiplicationFamily,
    OuterProductHeads,
    TransposeHeads,
)
from numeric.families.norms import LayerSize, layer_size
from numeric.families.tokens import Tokens, apply_layer

__all__ = [
    "ActivationHeads",
    "AttentionFamily",
    "BoxAndClear",
    "ElementwiseMultiplication",
    "FamilyAttention",
    "FamilyLayer",
    "HadamardHeads",
    "LayerSize",
    "MaskedUnits",
    "MultiplicationFamily",
    "OuterProductHeads",
    "Tokens",
    "TransposeHeads",
    "apply_layer",
    "dense_layer",
    "layer_size",
]
