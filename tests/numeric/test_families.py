"""Layers of families beyond any one network: residual, on several tokens, as the matrices that they describe."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from numeric.balls import BallArray, working_precision
from numeric.families import (
    ActivationHeads,
    BoxAndClear,
    ElementwiseMultiplication,
    FamilyAttention,
    FamilyLayer,
    HadamardHeads,
    MaskedUnits,
    OuterProductHeads,
    Tokens,
    TransposeHeads,
    apply_layer,
    dense_layer,
)
from numeric.relu_sums import LossSum, ReluSum, uniform_knots
from numeric.stream import Block, Stream

T, K, D = 4, 3, 2  # tokens, rows and columns of the matrix V
STREAM = Stream([Block("x", D), Block("z", K), Block("y", K), Block("V", K * D), Block("one", 1), Block("t", 1)])
BENT = ReluSum(2.0, np.tanh(uniform_knots(2.0, 6)))
PAIR = LossSum(((1, -1, ReluSum(4.0, 2 * uniform_knots(4.0, 2), spread=2.0)),))

# "z" and "y" hold values before each layer: what a layer gives is added, also by two families to one target.
LAYERS: dict[str, FamilyLayer] = {
    "activation": FamilyAttention(STREAM, (ActivationHeads("x", "V", "z", BENT), ActivationHeads("x", "V", "z", BENT))),
    "outer products": FamilyAttention(STREAM, (OuterProductHeads("z", "x", "V", Fraction(1, 3)),)),
    "both, from the old values": FamilyAttention(
        STREAM, (ActivationHeads("x", "V", "z", BENT), OuterProductHeads("z", "x", "V", Fraction(1, 3)))
    ),
    "products": ElementwiseMultiplication(STREAM, (HadamardHeads("z", "y", "y"), HadamardHeads("z", "z", "y"))),
    "transposed": ElementwiseMultiplication(STREAM, (TransposeHeads("x", "V", "z", "x"),)),
    "masked units": MaskedUnits(STREAM, "z", "y", "z", PAIR, 4.0, mask="t"),
    "box": BoxAndClear(STREAM, (("V", 0.5), ("x", 0.25)), ("z",)),
}


def drawn(masked: int) -> tuple[dict[str, torch.Tensor], torch.Tensor, torch.Tensor]:
    """Blocks, the matrix (the same in all tokens), and all of it as one stream."""
    generator = torch.Generator().manual_seed(0)
    blocks = {name: torch.rand(T, STREAM.size(name), generator=generator) - 0.5 for name in ("x", "z", "y")}
    V = torch.rand(K, D, generator=generator) - 0.5
    t = (torch.arange(T) < T - masked).double()[:, None]
    H = torch.cat([*blocks.values(), V.flatten().expand(T, -1), torch.ones(T, 1), t], dim=-1)
    return blocks, V, H[None]


def after(layer: FamilyLayer, blocks: dict, V: object, masked: int) -> tuple[dict, object]:
    tokens = Tokens(dict(blocks), {"V": V}, masked=masked)
    tokens.scores("x", "V")  # what is kept must not outlive a change
    apply_layer(layer, tokens)
    apply_layer(layer, tokens)
    return tokens.blocks, tokens.matrices["V"]


@pytest.mark.parametrize("masked", [0, 1, 2])
@pytest.mark.parametrize("name", LAYERS)
def test_twice_a_layer_is_twice_its_matrices_on_tensors_and_on_balls(name: str, masked: int) -> None:
    blocks, V, H = drawn(masked)
    dense = dense_layer(LAYERS[name], dense_layer(LAYERS[name], H))[0]
    found, matrix = after(LAYERS[name], blocks, V, masked)
    balls = {each: BallArray.exactly(value, 128) for each, value in blocks.items()}
    with working_precision(128):
        exact, exact_matrix = after(LAYERS[name], balls, BallArray.exactly(V, 128), masked)
    for block in ("x", "z", "y"):
        wanted = dense[:, STREAM.slice(block)]
        assert torch.allclose(found.get(block, torch.zeros_like(wanted)), wanted, atol=1e-12)
        if block in exact:
            assert float(exact[block].radius().max()) < 1e-25
            assert np.allclose(exact[block].midpoint(), wanted, atol=1e-12)
    rows = dense[:, STREAM.slice("V")].reshape(T, K, D)
    assert torch.allclose(matrix.expand(T, K, D), rows, atol=1e-12)
    assert np.allclose(exact_matrix.midpoint(), matrix, atol=1e-12)
    assert not torch.equal(dense, H[0])
