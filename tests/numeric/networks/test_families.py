"""Layers of families beyond any one network: residual, on several tokens, as the matrices that they describe."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from numeric.networks.construction import ChangeTap, Construction, Embedding, StreamTap
from numeric.networks.exact import run_exact
from numeric.networks.families import (
    ActivationHeads,
    BoxAndClear,
    FamilyAttention,
    FamilyLayer,
    FamilyMultiplication,
    HadamardHeads,
    MaskedUnits,
    OuterProductHeads,
    TransposeHeads,
)
from numeric.networks.hinges import uniform_knots
from numeric.networks.loss_sums import LossSum
from numeric.networks.maps import identity_map
from numeric.networks.network import Network
from numeric.networks.relu_sums import ReluSum
from numeric.networks.shared_blocks import SharedNetwork
from numeric.networks.stream import Block, Stream, StreamError

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
    "products": FamilyMultiplication(STREAM, (HadamardHeads("z", "y", "y"), HadamardHeads("z", "z", "y"))),
    "transposed": FamilyMultiplication(STREAM, (TransposeHeads("x", "V", "z", "x"),)),
    "masked units": MaskedUnits(STREAM, "z", "y", "z", PAIR, 4.0, mask="t"),
    "box": BoxAndClear(STREAM, (("V", 0.5), ("x", 0.25)), ("z",)),
}


def twice(layer: FamilyLayer) -> Construction:
    taps = {name: StreamTap(2, name) for name in ("x", "z", "y", "V")}
    same = identity_map(STREAM)
    return Construction("twice", STREAM, Embedding(same), (layer, layer), same, {**taps, "change": ChangeTap(2, "V")})


def drawn(masks: list[float]) -> dict[str, torch.Tensor]:
    """Blocks of one prompt; V and `one` once for all tokens."""
    generator = torch.Generator().manual_seed(0)
    blocks = {
        name: torch.rand(1, T, STREAM.size(name), generator=generator, dtype=torch.float64) - 0.5
        for name in ("x", "z", "y")
    }
    V = torch.rand(1, 1, K * D, generator=generator, dtype=torch.float64) - 0.5
    return {
        **blocks,
        "V": V,
        "one": torch.ones(1, 1, 1, dtype=torch.float64),
        "t": torch.tensor(masks, dtype=torch.float64)[None, :, None],
    }


@pytest.mark.parametrize(
    "masks", [[1.0] * 4, [1.0, 1.0, 1.0, 0.0], [0.0, 1.0, 1.0, 0.0], [1.0, 0.9, 0.9, 0.0]], ids=str
)
@pytest.mark.parametrize("name", LAYERS)
def test_twice_a_layer_is_twice_its_matrices_on_tensors_and_on_balls(name: str, masks: list[float]) -> None:
    construction, blocks = twice(LAYERS[name]), drawn(masks)
    tokens = torch.cat([each.expand(1, T, -1) for each in blocks.values()], -1)
    dense = Network(construction, dense=True).run(tokens)
    found = SharedNetwork(construction).run(blocks)
    exact = run_exact(construction, {name: each[0].numpy() for name, each in blocks.items()})
    for tap, wanted in dense.items():
        assert torch.allclose(found[tap], wanted, atol=1e-12), tap
        assert float(exact[tap].radius().max()) < 1e-25
        assert np.allclose(exact[tap].midpoint(), wanted[0], atol=1e-12), tap
    assert not torch.equal(dense["output"], tokens)


def test_masks_that_differ_between_prompts_are_refused() -> None:
    blocks = {name: torch.cat([each, each]) for name, each in drawn([1.0] * 4).items()}
    blocks["t"][1] = 0.0
    with pytest.raises(StreamError, match=r"'t': one that differs between prompts\. Run them one by one"):
        SharedNetwork(twice(LAYERS["masked units"])).run(blocks)
