"""Gradient descent of each token on its own past, by a causal transformer in a loop (algoformer, A.5).

Tokens: a start, the sink of all heads, then x_1, y_1, ..., x_N, y_N. Token x_i holds its weight w^i, log(i - 1) and
the digits of i, token y_j holds x_j beside y_j. Shapes: N examples, d coordinates, m digits, L = 2 N + 1 tokens.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from numeric.networks.construction import Embedding, StreamTap
from numeric.networks.layers import Causal, Head, SoftmaxAttention
from numeric.networks.loops import Looped, looped
from numeric.networks.maps import BlockMap, Number
from numeric.networks.sinks import Dot, Sink, linear_heads
from numeric.networks.stream import Block, Stream
from numeric.topics.looped.positions import digits


@dataclass(frozen=True)
class DecoderSetting:
    """Step size `eta`, scores c (w^T x - y), and C, the score of the start token (plus log(i - 1) for token x_i)."""

    d: int
    eta: Number
    c: Number
    C: Number


# Prompts.


def tokens(x: Any, y: Any) -> Any:
    """(2 N + 1, 2 d + 2 m + 4): x_i, x_i beside y_i, y_i, log(i - 1), digits, and indicators of x and of the start."""
    count = len(x)
    places = _places(x)
    features = torch.cat([x, 0 * x, 0 * y[:, None], _log_before(x), places, 0 * x[:, :1] + 1], 1)
    labels = torch.cat([0 * x, x, y[:, None], 0 * x[:, :1], 0 * places, 0 * x[:, :1]], 1)
    rows = torch.stack([features, labels], 1).reshape(2 * count, features.shape[1])
    start = torch.cat([0 * rows[:1], 0 * rows[:1, :1] + 1], 1)
    return torch.cat([start, torch.cat([rows, 0 * rows[:, :1]], 1)])


def _places(x: Any) -> Any:
    """The digits of 0, ..., N - 1 and their complements, (N, 2 m)."""
    ones = (1 + digits(len(x)).to(x.device)) // 2
    return torch.cat([ones, 1 - ones], 1) + 0 * x[:, :1]


def _log_before(x: Any) -> Any:
    """log(i - 1), (N, 1); 0 for i = 1, which sees no example."""
    before = torch.clamp(torch.arange(len(x), dtype=torch.int64, device=x.device), min=1)
    return torch.log(before + 0 * x[:, 0])[:, None]


def at_features(found: Any) -> Any:
    """Rows x_1, ..., x_N of (2 N + 1, ...)."""
    return found[1::2]


# The network.


def stream_of(d: int, N: int) -> tuple[Stream, Stream]:
    """Of a prompt, and of the network."""
    sizes = {"x": d, "past": d, "y": 1, "log": 1, "place": 2 * digits(N).shape[1], "feature": 1, "start": 1}
    prompt = Stream(Block(name, size) for name, size in sizes.items())
    return prompt, prompt.extend(Block("w", d), Block("one", 1), Block("y_hat", 1))


# Token x_i sees x_j beside y_j for j < i. Its score of the start, C + log(i - 1), makes (1 + score) / (i - 1) of
# e^C softmax, up to second order: the factor of (5) takes no product.
def transformer(at: DecoderSetting, N: int, T: int) -> Looped:
    """A loop and a post-transformer of one layer with two heads each, whose feed-forward layers do nothing."""
    prompt, stream = stream_of(at.d, N)
    copied = {(name, name): 1.0 for name in prompt.names}
    return looped(
        "looped.decoder",
        stream,
        loop=(_descent(stream, at),),
        post=(_prediction(stream, at),),
        T=T,
        states=("w",),
        taps={"w": StreamTap(T, "w"), "y_hat": StreamTap(T + 1, "y_hat")},
        embedding=Embedding(BlockMap(prompt, stream, copied), {"one": np.ones(1)}),
    )


def _descent(stream: Stream, at: DecoderSetting) -> SoftmaxAttention:
    whole = torch.eye(at.d + 1, dtype=torch.float64, device="cpu")
    vectors, number = whole[:, : at.d], whole[:, at.d :]
    heads = linear_heads(
        stream, Sink(at.c, at.C, "start", "one"), "opposite",
        query={"w": vectors, "feature": number}, key={"past": vectors, "y": -1 * number},
        value={("w", "past"): -1 * at.eta / at.c}, shared=Dot({"log": 1.0}, {"start": 1.0}),
    )  # fmt: skip
    return SoftmaxAttention(causal(heads), residual=True)


def causal(heads: tuple[Head, ...], *, strict: bool = False) -> tuple[Head, ...]:
    return tuple(replace(head, positions=Causal(strict=strict)) for head in heads)


# The scores c w^iT x_i of x_i itself; of x_j they are C less for each digit in which i and j differ.
def _prediction(stream: Stream, at: DecoderSetting) -> SoftmaxAttention:
    half = stream.size("place") // 2
    differ = torch.eye(2 * half, dtype=torch.float64, device="cpu").roll(half, 0)
    heads = linear_heads(
        stream, Sink(at.c, at.C, "start", "one"), "opposite",
        query={"w": 1.0}, key={"x": 1.0}, value={("y_hat", "feature"): 1 / at.c},
        shared=Dot({"place": 1.0}, {"place": -1 * at.C * differ}),
    )  # fmt: skip
    return SoftmaxAttention(causal(heads), residual=True)


# The paper's layer, one step from any weights.


def printed_tokens(x: Any, y: Any, v: Any) -> Any:
    """The prompt of Lemma A.5, (2 N, 3 d + 5), v_i at x_i; `first` and `second` are the paper's last rows."""
    count, d = x.shape
    zero, one = 0 * x[:, :1], 0 * x[:, :1] + 1
    first = torch.cat([one[:1], zero[1:]])
    features = torch.cat([x, zero, 0 * x, v, one, first, zero], 1)
    labels = torch.cat([0 * x, y[:, None], x, 0 * x, zero, zero, first], 1)
    return torch.stack([features, labels], 1).reshape(2 * count, 3 * d + 4)


def printed_layer(at: DecoderSetting, *, strict: bool) -> Looped:
    """Its two heads, which leave the sum over j of (w^iT x_j - y_j) x_j at x_i; `strict`: x_i does not see itself."""
    d = at.d
    numbers = (Block(name, 1) for name in ("feature", "first", "second"))
    stream = Stream([Block("x", d), Block("y", 1), Block("past", d), Block("w", d), *numbers])
    whole = stream.extend(Block("one", 1), Block("gradient", d))
    (predictions,) = linear_heads(
        whole, Sink(at.c, at.C, "second", "one"), "none",
        query={"w": 1.0}, key={"x": 1.0}, value={("gradient", "x"): 1 / at.c},
    )  # fmt: skip
    (labels,) = linear_heads(
        whole, Sink(at.c, at.C, "first", "feature"), "none",
        query={"feature": 1.0}, key={"y": 1.0}, value={("gradient", "past"): -1 / at.c},
    )  # fmt: skip
    heads = causal((replace(predictions, name="predictions"), replace(labels, name="labels")), strict=strict)
    copied = {(name, name): 1.0 for name in stream.names}
    return looped(
        "looped.decoder as printed", whole, loop=(SoftmaxAttention(heads, residual=True),), T=1,
        taps={"gradient": StreamTap(1, "gradient")},
        embedding=Embedding(BlockMap(stream, whole, copied), {"one": np.ones(1)}),
    )  # fmt: skip


# The regressions, computed directly.


def residuals(w: Any, x: Any, y: Any) -> Any:
    """w^iT x_j - y_j for j < i, else 0: (N, N), of w, x (N, d) and y (N)."""
    return torch.tril(w @ x.mT - y, -1)


def gradients(w: Any, x: Any, y: Any) -> Any:
    """Sum over j < i of (w^iT x_j - y_j) x_j, (N, d)."""
    return residuals(w, x, y) @ x


def path(x: Any, y: Any, eta: Any, T: int) -> list[Any]:
    """w_0^i = 0, ..., w_T^i by gradient descent on (5), (N, d) each; w^1, without an example, stays."""
    before = torch.clamp(torch.arange(len(x), dtype=torch.int64, device=x.device), min=1)[:, None]
    found = [0 * x]
    for _ in range(T):
        found.append(found[-1] - eta * gradients(found[-1], x, y) / before)
    return found
