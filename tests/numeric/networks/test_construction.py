import numpy as np
import pytest

from numeric.networks.construction import AttentionTap, Construction, Embedding, OutputTap, ScoresTap, StreamTap
from numeric.networks.layers import (
    Causal,
    FeedForward,
    Head,
    LinearAttention,
    RelativePositions,
    ReluAttention,
    SoftmaxAttention,
)
from numeric.networks.maps import BlockMap, identity_map
from numeric.networks.stream import Block, Stream, StreamError
from tests.numeric.cases import CASES, HIDDEN, INPUT, STREAM, D, dot_product_head, embedding, free_head, readout

MOVE = BlockMap(STREAM, STREAM, {("y", "x"): 1.0})
NARROW = BlockMap(STREAM, INPUT, {("x", "x"): 1.0})
ATTENTION = SoftmaxAttention((free_head("free", None),), residual=True)


def construction(taps=(), layers=(ATTENTION,), read=None) -> Construction:
    return Construction("case", INPUT, embedding(), layers, read or readout(), dict(taps))


REFUSED = {
    "query without key": (lambda: Head("h", MOVE, None, MOVE), r"Head\('h'\): only one of query and key is given"),
    "query and key apart": (lambda: Head("h", MOVE, NARROW, MOVE), "target of query is .* but target of key is"),
    "sources apart": (
        lambda: Head("h", identity_map(INPUT), identity_map(INPUT), MOVE),
        "source of query is .* but source of value is",
    ),
    "no heads": (lambda: SoftmaxAttention((), True), "SoftmaxAttention: no heads"),
    "heads of one name": (
        lambda: SoftmaxAttention((free_head("h", None), free_head("h", None)), True),
        r"repeated head names \['h', 'h'\]",
    ),
    "heads to different streams": (
        lambda: SoftmaxAttention((free_head("a", None), Head("b", None, None, NARROW)), False),
        "target of head 'a' is .* but of head 'b' is",
    ),
    "residual onto another stream": (
        lambda: SoftmaxAttention((Head("h", None, None, NARROW),), residual=True),
        r"residual=True\): source is .* but target is \[x:3\]",
    ),
    "relu with positions": (
        lambda: ReluAttention((dot_product_head("h", RelativePositions(1.0), 0),), True),
        "ReLU attention is defined with a dot product and without positions",
    ),
    "relu without dot product": (lambda: ReluAttention((free_head("h", None),), True), "no query and key"),
    "linear with positions": (
        lambda: LinearAttention((dot_product_head("h", RelativePositions(1.0), 0),), True),
        "LinearAttention, head 'h': .* Linear attention is defined with a dot product and without positions",
    ),
    "linear without dot product": (lambda: LinearAttention((free_head("h", None),), True), "no query and key"),
    "linear without heads": (lambda: LinearAttention((), True), "LinearAttention: no heads"),
    "feed-forward misfit": (
        lambda: FeedForward(NARROW, {}, BlockMap(HIDDEN, STREAM, {}), False),
        "target of inner is .* but source of outer is",
    ),
    "bias of another size": (
        lambda: Embedding(identity_map(STREAM), {"one": np.ones(2)}),
        r"Embedding.bias\['one'\]: an array of shape \(2,\) for a block of size 1",
    ),
    "bias on no block": (lambda: Embedding(identity_map(STREAM), {"ones": np.ones(1)}), r"Did you mean 'one'\?"),
    "negative slope": (lambda: RelativePositions(-1.0), "slope=-1.0. Give a finite slope of at least 0"),
    "infinite slope": (lambda: RelativePositions(np.inf), "slope=inf"),
    "key 0": (lambda: RelativePositions(1.0, first_key=0), "first_key=0. Positions are numbered from 1"),
    "mask from key 0": (lambda: Causal(first_key=0), "Causal: first_key=0. Positions are numbered from 1"),
    "relu with a mask": (
        lambda: ReluAttention((dot_product_head("h", Causal(), 0),), True),
        "ReLU attention is defined with a dot product and without positions",
    ),
    "no layers": (lambda: construction(layers=()), r"Construction\('case'\): no layers"),
    "layers apart": (
        lambda: construction(layers=(SoftmaxAttention((Head("h", None, None, NARROW),), False), ATTENTION)),
        r"stream after layer 1 is \[x:3\] but source of layer 2 is",
    ),
    "readout misfit": (
        lambda: construction(read=identity_map(INPUT)),
        "stream after layer 1 is .* but source of the readout",
    ),
    "tap of no block": (lambda: construction({"y": StreamTap(1, "yy")}), r"Did you mean 'y'\?"),
    "tap of no layer": (lambda: construction({"y": StreamTap(2, "y")}), "no layer 2. Layers are numbered 0 to 1"),
    "tap of no head": (lambda: construction({"a": AttentionTap(1, "fre")}), r"no head 'fre' in layer 1.*'free'"),
    "scores without dot product": (
        lambda: construction({"s": ScoresTap(1, "free")}),
        "has no dot product. Tap its attention",
    ),
    "output renamed": (lambda: construction({"out": OutputTap()}), "The name 'output' is reserved"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_misfits_are_refused(case):
    build, message = REFUSED[case]
    with pytest.raises(StreamError, match=message):
        build()


@pytest.mark.parametrize("case", CASES)
def test_cases_expose_their_output(case):
    assert isinstance(CASES[case]().taps["output"], OutputTap)


def test_unknown_tap_names_the_nearest():
    with pytest.raises(StreamError, match=r"no tap 'scors'. Did you mean 'scores'\?"):
        CASES["vanilla, masked"]().select_taps(["scors"])


def test_a_stream_of_another_size_does_not_fit():
    wider = Stream([Block("x", D + 1)])
    with pytest.raises(StreamError, match=r"source is \[x:4\] but source of the embedding is \[x:3\]"):
        Construction("case", wider, embedding(), (ATTENTION,), readout())
