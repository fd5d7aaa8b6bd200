"""Heads from the actions of their maps, and pairs of ReLU heads that are linear attention."""

import numpy as np
import pytest
import torch

from numeric.networks.construction import Construction
from numeric.networks.layers import Head, LinearAttention, ReluAttention
from numeric.networks.maps import BlockMap, LowRank
from numeric.networks.network import Network
from numeric.networks.stream import Stream, StreamError

STREAM = Stream.of(x=3, y=2)
RNG = np.random.default_rng(0)
WIDE = RNG.normal(size=(2, 3))
MAPS = {
    "query": {("a", "x"): WIDE, ("b", "y"): 1.0},
    "key": {("a", "y"): 2.0, ("b", "x"): LowRank(WIDE[:, :1], WIDE[:1])},
    "value": {("x", "y"): WIDE.T, ("y", "y"): LowRank(WIDE[:, :1], WIDE[:1, :2])},
}


def test_queries_and_keys_lie_in_the_blocks_that_the_query_names() -> None:
    head = Head.of("h", STREAM, **MAPS)
    assert head.query.target == head.key.target == Stream.of(a=2, b=2)
    assert head.value.source == head.value.target == STREAM
    assert head.query.dense().tolist() == BlockMap(STREAM, Stream.of(a=2, b=2), MAPS["query"]).dense().tolist()


def test_a_low_rank_query_is_as_large_as_its_left_factor() -> None:
    query = {("a", "x"): LowRank(WIDE[:, :1], WIDE[:1])}
    assert Head.of("h", STREAM, query=query, key={("a", "y"): 1}, value={}).query.target == Stream.of(a=2)


# sum_j <q_i, k_j> v_j / n, by numpy alone: no head of ours computes it.
def test_relu_heads_with_opposites_are_linear_attention() -> None:
    head = Head.of("h", STREAM, **MAPS)
    tokens = torch.from_numpy(RNG.normal(size=(4, 5)))
    layer = ReluAttention(head.with_opposite(), residual=False)
    found = Network(Construction.of("pair", STREAM, layer))(tokens[None])[0]
    q, k, v = (tokens.numpy() @ each.dense().T for each in (head.query, head.key, head.value))
    assert found.numpy() == pytest.approx(((q @ k.T) @ v / 4)[-1], abs=1e-12)
    linear = Network(Construction.of("linear", STREAM, LinearAttention((head,), residual=False)))(tokens[None])[0]
    assert linear.numpy() == pytest.approx(((q @ k.T) @ v)[-1], abs=1e-12)


def test_an_opposite_needs_a_query() -> None:
    head = Head("mean", None, None, BlockMap(STREAM, STREAM, {("x", "x"): 1.0}))
    with pytest.raises(StreamError, match=r"Head\('mean'\).with_opposite: there is no query. Give query and key."):
        head.with_opposite()


def test_a_block_that_the_stream_lacks_is_refused() -> None:
    with pytest.raises(StreamError, match="no such block"):
        Head.of("h", STREAM, query={("a", "z"): 1}, key={("a", "x"): 1}, value={})
