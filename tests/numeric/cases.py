"""One table of constructions that every interpreter must run: each kind of layer, position, weight and tap."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import torch

from numeric.networks.construction import AttentionTap, ChangeTap, Construction, Embedding, ScoresTap, StreamTap
from numeric.networks.families import (
    ActivationHeads,
    BoxAndClear,
    FamilyAttention,
    FamilyMultiplication,
    HadamardHeads,
    MaskedUnits,
    OuterProductHeads,
    TransposeHeads,
)
from numeric.networks.feed_forward import Multiply, Select, clear, terms_layer
from numeric.networks.hinges import uniform_knots
from numeric.networks.layers import (
    Causal,
    ElementwiseMultiplication,
    FeedForward,
    Head,
    LinearAttention,
    Positions,
    RelativePositions,
    ReluAttention,
    SoftmaxAttention,
)
from numeric.networks.loops import looped
from numeric.networks.loss_sums import LossSum
from numeric.networks.maps import BlockMap, LowRank, identity_map
from numeric.networks.products import product_sum
from numeric.networks.relu_sums import ReluSum
from numeric.networks.stream import Block, Stream
from numeric.topics.induction.vanilla import vanilla

D = 3
INPUT = Stream([Block("x", D)])
STREAM = Stream([Block("x", D), Block("y", D), Block("one", 1)])
HIDDEN = Stream([Block("relu", 5)])
SCORE = Stream([Block("match", 2), Block("shift", 1)])


def generator() -> np.random.Generator:
    return np.random.default_rng(7)


def random_prompts(L: int, d: int, count: int, seed: int) -> torch.Tensor:
    """Uniform on [-1, 1], (count, L, d)."""
    drawn = torch.rand(count, L, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return 2 * drawn - 1


def w_star(d: int = D) -> np.ndarray:
    return generator().normal(size=(d, d))


def embedding() -> Embedding:
    return Embedding(
        BlockMap(INPUT, STREAM, {("x", "x"): 1.0, ("y", "x"): np.array([0.5, -1.0, 2.0])}), {"one": np.ones(1)}
    )


def readout() -> BlockMap:
    return BlockMap(STREAM, INPUT, {("x", "x"): -2.0, ("x", "y"): generator().normal(size=(D, D))})


def dot_product_head(name: str, positions: Positions | None, seed: int) -> Head:
    rng = np.random.default_rng(seed)
    query = BlockMap(STREAM, SCORE, {("match", "x"): rng.normal(size=(2, D)), ("shift", "one"): 1.0})
    factors = LowRank(rng.normal(size=(2, 1)), rng.normal(size=(1, D)))
    key = BlockMap(STREAM, SCORE, {("match", "y"): factors, ("match", "x"): rng.normal(size=(2, D))})
    value = BlockMap(STREAM, STREAM, {("y", "x"): np.array([1.0, 0.25, -3.0]), ("one", "one"): 0.5})
    return Head(name, query, key, value, positions)


def free_head(name: str, positions: Positions | None) -> Head:
    return Head(name, None, None, BlockMap(STREAM, STREAM, {("y", "x"): 1.0, ("x", "y"): -0.5}), positions)


def two_attentions(attention: type, positions: Positions | None, last_token_only: bool) -> Construction:
    first = attention((dot_product_head("a", positions, 1), dot_product_head("b", positions, 2)), residual=True)
    second = attention((dot_product_head("c", positions, 3),), residual=False)
    taps = {
        "embedded": StreamTap(0, "y"),
        "y[1]": StreamTap(1, "y"),
        "y[2]": StreamTap(2, "y"),
        "scores[1]": ScoresTap(1, "b"),
        "weights[1]": AttentionTap(1, "b"),
        "weights[2]": AttentionTap(2, "c"),
    }
    return Construction("two_attentions", INPUT, embedding(), (first, second), readout(), taps, last_token_only)


def free_attention(positions: Positions | None) -> Construction:
    layer = SoftmaxAttention((free_head("free", positions),), residual=True)
    taps = {"y": StreamTap(1, "y"), "kernel": AttentionTap(1, "free")}
    return Construction("free_attention", INPUT, embedding(), (layer,), readout(), taps)


def feed_forward(residual: bool) -> Construction:
    rng = generator()
    inner = BlockMap(STREAM, HIDDEN, {("relu", "x"): rng.normal(size=(5, D)), ("relu", "y"): rng.normal(size=(5, D))})
    outer = BlockMap(HIDDEN, STREAM, {("y", "relu"): rng.normal(size=(D, 5))})
    layer = FeedForward(inner, {"relu": rng.normal(size=5)}, outer, residual)
    return Construction("feed_forward", INPUT, embedding(), (layer,), readout(), {"y": StreamTap(1, "y")})


def in_a_loop(post: bool) -> Construction:
    """Causal attention and a feed-forward layer of terms, twice between two layers of attention."""
    attention = SoftmaxAttention((dot_product_head("a", Causal(), 1), dot_product_head("b", None, 2)), residual=True)
    terms = terms_layer(
        STREAM,
        Select("y", "x", generator().normal(size=(D, D)) / 4, unless=("one",), bound=0.5),
        Multiply("y", "x", "one", product_sum(2.0, 2.0, 4), -0.5),
        clear("x"),
    )
    taps = {"scores": ScoresTap(6, "c")} if post else {}
    last = SoftmaxAttention((dot_product_head("c", None, 3),), residual=False)
    return looped(
        "in_a_loop", STREAM, pre=(attention,), loop=(attention, terms), post=(last, terms) if post else (), T=2,
        states=("x", "y"), taps={**taps, "heads": AttentionTap(2, "b")}, embedding=embedding(), readout=readout(),
    )  # fmt: skip


def multiplication() -> Construction:
    layer = ElementwiseMultiplication((dot_product_head("a", None, 1), dot_product_head("b", None, 2)), residual=True)
    taps = {
        "y": StreamTap(1, "y"),
        "added": ChangeTap(1, "y"),
        "own": AttentionTap(1, "b"),
        "scores": ScoresTap(1, "b"),
    }
    return Construction("multiplication", INPUT, embedding(), (layer,), readout(), taps)


def families(*, given: bool = False) -> Construction:
    """One layer of each kind. The matrix V is a bias, or `given` with the prompt; the mask is 1, z and g start at 0."""
    prompt = Stream([Block("x", D), Block("V", D * D)]) if given else INPUT
    sizes = {"x": D, "V": D * D, "y": D, "z": D, "g": D, "one": 1, "t": 1}
    stream = Stream(Block(name, size) for name, size in sizes.items())
    bent, line = (ReluSum(2.0, function(uniform_knots(2.0, 6))) for function in (np.tanh, np.sin))
    difference = LossSum(((1, -1, ReluSum(4.0, 2 * uniform_knots(4.0, 2), spread=2.0)),))
    layers = (
        FamilyAttention(stream, (ActivationHeads("x", "V", "z", bent), ActivationHeads("x", "V", "g", line))),
        FamilyMultiplication(stream, (HadamardHeads("z", "g", "y"), TransposeHeads("x", "V", "z", "x"))),
        MaskedUnits(stream, "z", "y", "g", difference, 4.0, mask="t"),
        FamilyAttention(stream, (OuterProductHeads("g", "x", "V", Fraction(1, 4)),)),
        BoxAndClear(stream, (("V", 0.5), ("x", 0.25)), ("z", "g")),
    )
    taps = {f"{name}[{layer}]": StreamTap(layer, name) for layer in range(6) for name in ("x", "z", "g", "V")}
    bias = {"one": np.ones(1), "t": np.ones(1)} | ({} if given else {"V": generator().uniform(-1, 1, D * D)})
    entering = {(name, name): 1.0 for name in prompt.names} | {("y", "x"): generator().normal(size=(D, D)) / 4}
    return Construction(
        "families", prompt, Embedding(BlockMap(prompt, stream, entering), bias), layers, identity_map(stream),
        {**taps, "change": ChangeTap(4, "V"), "cut": ChangeTap(5, "x")},
    )  # fmt: skip


ALIBI = RelativePositions(0.7)
CASES: dict[str, Callable[[], Construction]] = {
    "vanilla, masked": lambda: vanilla(1.5, w_star()),
    "vanilla, printed": lambda: vanilla(1.5, w_star(), gate=0.0),
    "vanilla, gated": lambda: vanilla(1.5, w_star(), gate=6.0),
    "vanilla, steep": lambda: vanilla(40.0, w_star(), gate=math.inf),
    "softmax, alibi": lambda: two_attentions(SoftmaxAttention, ALIBI, False),
    "softmax, alibi, last": lambda: two_attentions(SoftmaxAttention, ALIBI, True),
    "softmax, alibi, from 3": lambda: two_attentions(SoftmaxAttention, RelativePositions(0.2, first_key=3), False),
    "softmax, full": lambda: two_attentions(SoftmaxAttention, None, False),
    "relu": lambda: two_attentions(ReluAttention, None, False),
    "relu, last": lambda: two_attentions(ReluAttention, None, True),
    "softmax, causal": lambda: two_attentions(SoftmaxAttention, Causal(), False),
    "softmax, causal, last": lambda: two_attentions(SoftmaxAttention, Causal(strict=True), True),
    "softmax, causal, from 3": lambda: two_attentions(SoftmaxAttention, Causal(first_key=3), False),
    "linear": lambda: two_attentions(LinearAttention, None, False),
    "linear, last": lambda: two_attentions(LinearAttention, None, True),
    "free, alibi": lambda: free_attention(ALIBI),
    "free, flat, from 4": lambda: free_attention(RelativePositions(0.0, first_key=4)),
    "free, causal": lambda: free_attention(Causal()),
    "free, causal, from 4": lambda: free_attention(Causal(first_key=4)),
    "free, full": lambda: free_attention(None),
    "feed-forward, residual": lambda: feed_forward(True),
    "loop": lambda: in_a_loop(False),
    "loop, post": lambda: in_a_loop(True),
    "feed-forward": lambda: feed_forward(False),
    "multiplication": multiplication,
    "families": families,
}
