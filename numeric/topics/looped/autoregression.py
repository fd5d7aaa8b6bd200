"""Autoregression by a looped transformer (algoformer, A.2): copies of the q values before each, then gradient descent.

Times t = 0, 1, ..., M, and a sink behind them; 1..N are the examples (features of t, x_t), later times are queries.
Shapes: M times, d coordinates of x, m coordinates of a position, F features (q d without a representation).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from numeric.networks.construction import Embedding, StreamTap
from numeric.networks.feed_forward import Select, clear, terms_layer
from numeric.networks.layers import FeedForward, Head, Layer, SoftmaxAttention
from numeric.networks.loops import Looped, looped
from numeric.networks.maps import BlockMap, Number, frozen_array
from numeric.networks.sinks import Sink, linear_heads
from numeric.networks.stream import Block, Stream, StreamError
from numeric.topics.looped import gradient_descent

SLOPE = 0.125  # of the leaky ReLU


@dataclass(frozen=True)
class SeriesSetting:
    """`signs` (q + M + 1, m) are the positions of t = -q..M, up to a factor, and `beta` their sharpness at norm 1.

    Series lie in [-B, B]. `layers` are the matrices of the representation, none for the identity.
    """

    signs: Any
    N: int
    q: int
    beta: Number
    B: Number
    eta: Number
    c: Number
    C: Number
    d: int = 1
    layers: tuple[Any, ...] = ()

    @property
    def features(self) -> int:
        return len(self.layers[-1]) if self.layers else self.q * self.d


# Prompts.


def labels(x: Any, N: int) -> Any:
    """x_t of the examples, else 0, (M + 1, d)."""
    return x * _examples(x, N)


def _examples(x: Any, N: int) -> Any:
    t = torch.arange(len(x), dtype=torch.int64, device=x.device)[:, None]
    return 1 * ((t >= 1) & (t <= N))


def tokens(x: Any, N: int, signs: Any) -> Any:
    """Times and the sink, (M + 2, width), of x (M + 1, d); x may be 0 where it is not known.

    Raises StreamError for too few positions.
    """
    count, q = len(x), len(signs) - len(x)
    if q < 1:
        raise StreamError(
            f"tokens of {count} times", f"too few positions: {len(signs)}", f"Give q + {count}, for q >= 1 lags."
        )
    shifted = [signs[q - lag : q - lag + count] for lag in range(q + 1)]
    ones, times = 0 * x[:, :1] + 1, torch.arange(count, dtype=torch.int64, device=x.device)[:, None]
    rows = torch.cat([x, labels(x, N), *shifted, ones * times, ones * _examples(x, N), 0 * ones], 1)
    sink = torch.cat([0 * rows[:1, :-1], ones[:1]], 1)
    return torch.cat([rows, sink])


# The network.


def stream_of(at: SeriesSetting) -> tuple[Stream, Stream]:
    """Of a prompt, and of the network."""
    m, width = at.signs.shape[1], at.q * at.d
    given = (
        Block("x", at.d), Block("y", at.d), *(Block(f"p[{lag}]", m) for lag in range(at.q + 1)),
        Block("t", 1), Block("example", 1), Block("sink", 1),
    )  # fmt: skip
    hidden = (Block(f"h[{place}]", len(layer)) for place, layer in enumerate(at.layers, start=1))
    own = (
        Block("h[0]", width),
        *hidden,
        Block("key", at.features),
        Block("r", at.d),
        Block("u", at.d),
        Block("one", 1),
        Block("x_hat", at.d),
    )
    return Stream(given), Stream([*given, *own])


def transformer(at: SeriesSetting, T: int) -> Looped:
    """Pre: L + 2 layers, the first with q heads; loop: one with two heads; post: one."""
    prompt, stream = stream_of(at)
    copied = {(name, name): 1.0 for name in prompt.names} | {("r", "y"): -1.0}  # A_0 = 0
    pre: list[Layer] = [_copying(stream, at), _clearing(stream, at), *_representation(stream, at), _keys(stream, at)]
    return looped(
        "looped.autoregression",
        stream,
        pre=pre,
        loop=_descent(stream, at),
        post=(terms_layer(stream, Select("x_hat", "r")),),
        T=T,
        states=("r",),
        taps={
            "copy": StreamTap(2, "h[0]"),
            "state": StreamTap(len(pre) + 2 * T, "r"),
            "x_hat": StreamTap(len(pre) + 2 * T + 1, "x_hat"),
        },
        embedding=Embedding(BlockMap(prompt, stream, copied), {"one": np.ones(1)}),
    )


# Lemma A.3. <p_s, p_(t - i)> is largest at s = t - i; the sink has the position 0.
def _copying(stream: Stream, at: SeriesSetting) -> SoftmaxAttention:
    m = at.signs.shape[1]
    scores = Stream([Block("dot", m)])
    key = BlockMap(stream, scores, {("dot", "p[0]"): 1.0})

    def head(lag: int) -> Head:
        query = BlockMap(stream, scores, {("dot", f"p[{lag}]"): at.beta / m})
        return Head(f"lag {lag}", query, key, BlockMap(stream, stream, {("h[0]", "x"): _slot(at, lag)}))

    return SoftmaxAttention(tuple(head(lag) for lag in range(1, at.q + 1)), residual=True)


def _slot(at: SeriesSetting, lag: int) -> np.ndarray:
    """Places a lag among the features, (q d, d)."""
    return np.eye(at.q * at.d)[:, (lag - 1) * at.d : lag * at.d]


# With l = 2 B (t - i + 1/2), which is at least B for t >= i and at most -B below, (relu(z - l) - relu(-z - l)) / 2 is 0
# for t >= i and z for t < i, if |z| <= B: z less that is the lag where it is defined, and 0 elsewhere.
def _clearing(stream: Stream, at: SeriesSetting) -> FeedForward:
    width = at.q * at.d
    hidden = Stream([Block("+", width), Block("-", width)])
    lags = torch.tensor([lag for lag in range(1, at.q + 1) for _ in range(at.d)], dtype=torch.float64, device="cpu")
    inner: dict[tuple[str, str], Any] = {("+", "h[0]"): 1.0, ("-", "h[0]"): -1.0}
    inner |= {(sign, "t"): -2 * at.B * torch.ones_like(lags)[:, None] for sign in "+-"}
    bias = dict.fromkeys("+-", frozen_array(2 * at.B * (lags - 0.5)))
    outer = BlockMap(hidden, stream, {("h[0]", "+"): -0.5, ("h[0]", "-"): 0.5})
    return FeedForward(BlockMap(stream, hidden, inner), bias, outer, residual=True)


# leaky(z) = relu(z) - SLOPE relu(-z).
def _representation(stream: Stream, at: SeriesSetting) -> Iterator[FeedForward]:
    for place, matrix in enumerate(at.layers, start=1):
        hidden = Stream([Block("+", len(matrix)), Block("-", len(matrix))])
        inner = {("+", f"h[{place - 1}]"): matrix, ("-", f"h[{place - 1}]"): -1 * matrix}
        outer = {(f"h[{place}]", "+"): 1.0, (f"h[{place}]", "-"): -SLOPE}
        yield FeedForward(BlockMap(stream, hidden, inner), {}, BlockMap(hidden, stream, outer), residual=True)


def _keys(stream: Stream, at: SeriesSetting) -> FeedForward:
    """Features / N at examples, 0 elsewhere."""
    source = f"h[{len(at.layers)}]"
    return terms_layer(stream, Select("key", source, 1 / at.N, when=("example",), bound=largest_feature(at)))


# Lemma A.2, with A_k Phi - y of the examples in r, A_k Phi of the queries. What the sink gets is 0 up to rounding; as
# its value it would count e^C / c times, so that its state is kept at 0.
def _descent(stream: Stream, at: SeriesSetting) -> tuple[SoftmaxAttention, FeedForward]:
    heads = linear_heads(
        stream, Sink(at.c, at.C, "sink", "one"), "opposite",
        query={f"h[{len(at.layers)}]": 1.0}, key={"key": 1.0}, value={("u", "r"): 1.0},
    )  # fmt: skip
    step = Select("r", "u", -1 * (at.eta / at.c), unless=("sink",), bound=at.B)
    return SoftmaxAttention(heads, residual=True), terms_layer(stream, step, clear("u"))


# The regression, computed directly.


def lagged(x: Any, q: int) -> Any:
    """(x_(t - 1), ..., x_(t - q)) for each t, (M + 1, q d), of x (M + 1, d), with x_t = 0 for t < 0."""
    before = torch.cat([0 * x[:1]] * q + [x])  # (M + 1 + q, d)
    return torch.cat([before[q - lag : q - lag + len(x)] for lag in range(1, q + 1)], 1)


def represented(features: Any, layers: Any) -> Any:
    """Phi of each row."""
    return gradient_descent.represented(features, [(matrix, 0) for matrix in layers], SLOPE)


def largest_feature(at: SeriesSetting) -> Any:
    """At least each |Phi| of lags in [-B, B]."""
    found: Any = at.B
    for matrix in at.layers:
        found = found * matrix.abs().sum(1).max()
    return found


def path(features: Any, x: Any, N: int, eta: Any, T: int) -> list[Any]:
    """A_k Phi, (M + 1, d), for k = 0..T from A_0 = 0 on the sum over t = 1..N of |A Phi_t - x_t|^2 / (2 N)."""
    examples, targets = features[1 : N + 1], x[1 : N + 1]
    A = [0 * targets[:1].mT * examples[:1]]  # (d, F)
    for _ in range(T):
        A.append(gradient_descent.descend(A[-1], examples, targets, eta))
    return [features @ each.mT for each in A]
