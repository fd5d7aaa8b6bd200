"""Heads beside a sink against softmax by definition, in torch and in balls."""

import math

import numpy as np
import pytest
import torch

from numeric.networks.construction import Construction
from numeric.networks.exact import run_exact
from numeric.networks.layers import SoftmaxAttention
from numeric.networks.network import Network
from numeric.networks.sinks import SECOND, Dot, Sink, linear_heads
from numeric.networks.stream import Block, Stream

C, c, n = 3.0, 0.25, 5
STREAM = Stream([Block("q", 2), Block("k", 3), Block("v", 2), Block("sink", 1), Block("one", 1), Block("out", 2)])
MIXED = torch.tensor([[1.0, -2.0], [0.5, 0.0], [0.0, 3.0]], dtype=torch.float64)


SHARED = {
    "alone": Dot(),
    "shared": Dot({"q": 2.0}, {"v": 1.0, "sink": torch.tensor([[0.5], [0.25]], dtype=torch.float64)}),
}


def construction(second: str, shared: str) -> Construction:
    heads = linear_heads(
        STREAM, Sink(c, C, "sink", "one"), second,
        query={"q": MIXED}, key={"k": 1.0}, value={("out", "v"): 1.0}, scale=2.0, shared=SHARED[shared],
    )  # fmt: skip
    return Construction.of("heads", STREAM, SoftmaxAttention(heads, residual=True))


def tokens() -> torch.Tensor:
    """n keys, and the sink, which asks."""
    found = torch.rand(n + 1, STREAM.width, generator=torch.Generator().manual_seed(0), dtype=torch.float64) - 0.5
    last, keys = [STREAM.slice(name) for name in ("sink", "one")], torch.arange(n + 1) == n
    found[:, last[0]], found[:, last[1]] = keys[:, None].double(), 1.0
    found[:, STREAM.slice("out")] = 0
    for name in ("k", "v"):
        found[-1, STREAM.slice(name)] = 0
    return found


def by_definition(second: str, shared: str) -> torch.Tensor:
    at = tokens()
    asked = 2 * at[-1, STREAM.slice("q")] if SHARED[shared].query else torch.zeros(2, dtype=torch.float64)
    beside = torch.cat(
        [at[:-1, STREAM.slice("v")] @ asked, (asked @ torch.tensor([0.5, 0.25], dtype=torch.float64))[None]]
    )
    scores = c * (MIXED @ at[-1, STREAM.slice("q")]) @ at[:-1, STREAM.slice("k")].mT

    def weights(scores: torch.Tensor) -> torch.Tensor:
        return math.exp(C) * torch.softmax(torch.cat([scores, torch.tensor([C], dtype=torch.float64)]) + beside, 0)[:-1]

    rest = {"none": 0 * scores, "constant": weights(0 * scores), "opposite": weights(-scores)}[second]
    return (2 - (second == "opposite")) * (weights(scores) - rest) @ at[:-1, STREAM.slice("v")]


@pytest.mark.parametrize("second", SECOND)
@pytest.mark.parametrize("shared", SHARED)
@pytest.mark.parametrize("dense", [False, True])
def test_heads_are_those_of_the_definition(second: str, shared: str, dense: bool) -> None:
    found = Network(construction(second, shared), dense=dense)(tokens()[None])[0, STREAM.slice("out")]
    assert torch.allclose(found, by_definition(second, shared), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("second", SECOND)
@pytest.mark.parametrize("shared", SHARED)
def test_balls_hold_the_same(second: str, shared: str) -> None:
    found = run_exact(construction(second, shared), tokens().numpy())["output"][STREAM.slice("out")]
    assert np.allclose(found.midpoint(), by_definition(second, shared).numpy(), rtol=1e-13, atol=1e-13)
