"""The dense interpreter of layers of families: the definitions, with the D x D matrices of every head in turn.

For small sizes: it shows that the families describe these matrices.

Shapes: B prompts, T tokens, D width of the stream, S of what a matrix reads.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from numeric.construction import FeedForward, Head
from numeric.families.layers import BoxAndClear, ElementwiseMultiplication, FamilyLayer, MaskedUnits
from numeric.maps import BlockMap


def dense_layer(layer: FamilyLayer, H: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
    """The tokens after the layer."""
    if isinstance(layer, MaskedUnits | BoxAndClear):
        return dense_feed_forward(layer.feed_forward(), H)
    change = torch.zeros_like(H)
    for head in layer.heads():
        change = change + dense_head(head, H, multiplication=isinstance(layer, ElementwiseMultiplication))
    return H + change


def dense_head(head: Head, H: Float[Tensor, "B T D"], *, multiplication: bool) -> Float[Tensor, "B T D"]:
    """(1/n) (V H) relu((Q H)^T (K H)), or (V H) gamma((Q H)^T (K H)) (wu2024, Definitions 7 and 6)."""
    assert head.query is not None  # heads of families have a dot product
    assert head.key is not None
    queries, keys, values = (dense_map(H, each) for each in (head.query, head.key, head.value))
    scores = queries @ keys.mT  # (B, T, T): <Q h_i, K h_s>
    if multiplication:
        return torch.diagonal(scores, dim1=-2, dim2=-1)[..., None] * values  # gamma keeps the diagonal
    return torch.relu(scores) @ values / H.shape[1]


def dense_feed_forward(layer: FeedForward, H: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
    """H + W_2 relu(W_1 H) (wu2024, Definition 8)."""
    return H + dense_map(torch.relu(dense_map(H, layer.inner)), layer.outer)


def dense_map(H: Float[Tensor, "B T S"], matrix: BlockMap) -> Float[Tensor, "B T D"]:
    return H @ torch.as_tensor(matrix.dense(), dtype=H.dtype, device=H.device).T
