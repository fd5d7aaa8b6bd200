"""Three parts of one layer each as one layer in a loop: the same output, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from numeric.networks.construction import Construction
from numeric.networks.fused import fused
from numeric.networks.layers import FeedForward, Head, Layer, SoftmaxAttention
from numeric.networks.loops import Looped, LoopSize, looped
from numeric.networks.maps import BlockMap, LowRank
from numeric.networks.network import Network
from numeric.networks.stream import Block, Stream, StreamError
from numeric.topics.looped import gradient_descent as descent

STREAM = Stream.of(a=3, b=2, c=2)


def attention(generator: np.random.Generator, *names: str) -> SoftmaxAttention:
    scores = Stream([Block("s", 2)])

    def head(name: str) -> Head:
        query, key = (BlockMap(STREAM, scores, {("s", each): generator.normal(size=(2, STREAM.size(each)))})
                      for each in ("a", "b"))  # fmt: skip
        values = {("b", "a"): generator.normal(size=(2, 3)) / 3, ("c", "b"): LowRank(*generator.normal(size=(2, 2, 2)))}
        return Head(name, query, key, BlockMap(STREAM, STREAM, values))

    return SoftmaxAttention(tuple(map(head, names)), residual=True)


def feed_forward(generator: np.random.Generator) -> FeedForward:
    hidden = Stream.of(u=4, v=2)
    inner = {("u", "b"): generator.normal(size=(4, 2)), ("v", "c"): 1.5, ("u", "a"): generator.normal(size=(4, 3))}
    outer = {("a", "u"): generator.normal(size=(3, 4)) / 4, ("b", "v"): -0.5}
    bias = {"u": generator.normal(size=4)}
    return FeedForward(BlockMap(STREAM, hidden, inner), bias, BlockMap(hidden, STREAM, outer), residual=True)


def three_parts(T: int, seed: int = 0, **parts: tuple[Layer, ...]) -> Looped:
    g = np.random.default_rng(seed)
    own = {"pre": (attention(g, "h"), feed_forward(g)), "loop": (attention(g, "h", "k"), feed_forward(g)),
           "post": (attention(g, "h"), feed_forward(g))}  # fmt: skip
    return looped("three parts", STREAM, T=T, **{**own, **parts})


def apart(one: Construction, other: Construction, x: torch.Tensor) -> float:
    outputs = [Network(each).run(x, ("output",))["output"] for each in (one, other)]
    return float((outputs[0] - outputs[1]).abs().max() / outputs[0].abs().max())


X = torch.randn(4, 5, STREAM.width, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


@pytest.mark.parametrize("T", [1, 3])
@pytest.mark.parametrize("empty", [(), ("pre", "post")])
def test_one_layer_in_a_loop_computes_what_three_parts_do(T: int, empty: tuple[str, ...]) -> None:
    parts: dict[str, tuple[Layer, ...]] = dict.fromkeys(empty, ())
    network = three_parts(T, **parts)
    one = fused(network)
    assert one.sizes == {"pre": LoopSize(0, 0), "loop": LoopSize(1, 4 - len(empty)), "post": LoopSize(0, 0)}
    assert (one.T, len(one.loop)) == (T + 2, 2)
    assert apart(network, one, X) < 1e-14
    for T_wrong in (one.T - 1, one.T + 1):  # a part more or less
        assert empty or apart(network, replace(one, T=T_wrong), X) > 1e-3


def test_feed_forward_or_attention_alone_is_a_part() -> None:
    g = np.random.default_rng(1)
    network = three_parts(2, pre=(feed_forward(g),), post=(attention(g, "h"),))
    assert apart(network, fused(network), X) < 1e-14


def test_gradient_descent_in_one_layer_of_four_heads() -> None:
    at = descent.DescentSetting(5, 2, 3, 0.9, 2.0**-12, 30.0, 24.0, 1.0, 1.0)
    x, y = (torch.rand(n, size, generator=torch.Generator().manual_seed(n), dtype=torch.float64) - 0.5
            for n, size in ((6, 2), (5, 3)))  # fmt: skip
    network = descent.transformer(at, 4)
    assert fused(network).sizes["loop"] == LoopSize(1, 4)
    assert apart(network, fused(network), descent.tokens(x, y)[None]) < 1e-15


def test_a_bound_below_what_units_take_is_noticed() -> None:
    assert apart(three_parts(2), fused(three_parts(2), bound=0.1), X) > 1e-3


def test_parts_of_more_than_one_layer_are_refused() -> None:
    g = np.random.default_rng(2)
    for layers in ((feed_forward(g), attention(g, "h")), (feed_forward(g),) * 2, (attention(g, "h"),) * 2):
        with pytest.raises(
            StreamError, match=r"fused: pre.*2 layers, among them .*Give softmax attention and then a fe"
        ):
            fused(three_parts(1, pre=layers))
