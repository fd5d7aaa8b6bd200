"""One step of gradient descent by a layer of two heads beside a sink (algoformer, Lemma A.2), from any residuals.

Shapes: N examples and a test token, d coordinates of x; each is followed by the token of its label, so that there are
2N + 2 tokens. The last one, the label of the test token, is the sink.
"""

from dataclasses import dataclass
from typing import Any

import torch

from numeric.networks.construction import AttentionTap, Construction, Embedding, StreamTap
from numeric.networks.feed_forward import Select, clear, terms_layer
from numeric.networks.layers import FeedForward, SoftmaxAttention
from numeric.networks.maps import BlockMap, Number, identity_map
from numeric.networks.sinks import Sink, linear_heads
from numeric.networks.stream import Block, Stream

MARKS = ("feature", "label", "test", "sink", "one")


@dataclass(frozen=True)
class LinearisedSetting:
    """c, C and the second head ("constant" or "opposite") of the layer, and the step size."""

    d: int
    c: Number
    C: Number
    second: str
    eta: Number


def stream_of(d: int) -> Stream:
    return Stream([Block("x", d), Block("key", d), *(Block(name, 1) for name in ("r", "gradient", *MARKS))])


# P of Lemma A.2 without its second row: the labels enter by the residuals.
def tokens(x: Any, r: Any) -> Any:
    """(2N + 2, 2d + 7), from x (N + 1, d) and r (N + 1): A x_i - y_i at the examples, A x at the test token."""
    N, zero = len(x) - 1, torch.zeros_like(x[:, :1])
    one, last = zero + 1, torch.arange(len(x), dtype=torch.int64, device=x.device)[:, None] == N
    key, test = torch.where(last, 0 * x, x) / N, torch.where(last, one, zero)
    features = torch.cat([x, key, r[:, None], zero, one, zero, test, zero, one], 1)
    labels = torch.cat([0 * x, 0 * x, zero, zero, zero, one, zero, test, one], 1)
    return torch.stack([features, labels], 1).flatten(0, 1)


def step(at: LinearisedSetting) -> Construction:
    """Attention, which writes c times the gradient, and the layer that takes eta/c of it away from r."""
    stream = stream_of(at.d)
    return Construction(
        name="looped.linearised",
        source=stream,
        embedding=Embedding(identity_map(stream)),
        layers=gradient_layers(stream, at),
        readout=BlockMap(stream, Stream([Block("r", 1)]), {("r", "r"): 1.0}),
        taps={
            "linear": AttentionTap(1, "linear"),
            "second": AttentionTap(1, at.second),
            "gradient": StreamTap(1, "gradient"),
            "step": StreamTap(2, "r"),
        },
    )


def gradient_layers(stream: Stream, at: LinearisedSetting) -> tuple[SoftmaxAttention, FeedForward]:
    heads = linear_heads(
        stream, Sink(at.c, at.C, marked="sink", one="one"), at.second,
        query={"x": 1.0}, key={"key": 1.0}, value={("gradient", "r"): 1.0},
    )  # fmt: skip
    descent = terms_layer(stream, Select("r", "gradient", -1 * at.eta / at.c), clear("gradient"))
    return SoftmaxAttention(heads, residual=True), descent


# What the layer is to compute.


def products(x: Any) -> Any:
    """z_ij = x_i^T x_j / N at the tokens 2i of features (N + 1) and all tokens j but the sink, 0 where there is no key:
    (N + 1, 2N + 1)."""
    N = len(x) - 1
    z = x @ x[:-1].mT / N
    between = torch.stack([z, 0 * z], -1).flatten(1)
    return torch.cat([between, 0 * z[:, :1]], 1)


def values(r: Any) -> Any:
    """r at the tokens of features, 0 at those of labels, without the sink: (1, 2N + 1)."""
    return torch.stack([r, 0 * r], 1).flatten()[None, :-1]


def stepped(x: Any, r: Any, eta: Any) -> Any:
    """r_i - (eta/N) sum_j r_j x_j^T x_i, (N + 1)."""
    N = len(x) - 1
    return r - eta * (x @ (r[:-1] @ x[:-1])) / N


# What the layer computes of it.


def at_features(rows: Any) -> Any:
    """Those of the tokens with features, (N + 1, ...) of (2N + 2, ...)."""
    return rows[0::2]


def scaled(weights: Any, C: Any) -> Any:
    """e^C times the weights of the tokens with features, but for the sink's: (N + 1, 2N + 1)."""
    return torch.exp(C) * at_features(weights)[:, :-1]
