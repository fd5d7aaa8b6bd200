"""Newton's iteration for the inverse by a looped transformer (algoformer, Appendix A.4), and the iteration itself.

Shapes: X (N, d), y (N), x (d). Tokens come in pairs, 2 N + 2 of them: (x_i, 0), (0, y_i) of each example, x, the sink.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from numeric.networks.construction import StreamTap
from numeric.networks.feed_forward import Select, clear, terms_layer
from numeric.networks.layers import Head, SoftmaxAttention
from numeric.networks.loops import Looped, looped
from numeric.networks.maps import BlockMap, Number
from numeric.networks.sinks import Sink, linear_heads
from numeric.networks.stream import Block, Stream
from numeric.topics.looped.positions import digits

# The network.


def transformer(N: int, d: int, T: int, alpha: Number, c: Number, C: Number, tau: Number, second: str) -> Looped:
    """TF_pre of one layer, T times TF_loop of one, TF_post of two; two heads but in the first layer of TF_post.

    All tokens but those of x_i have M_k x = 0. The indicator of these others keeps it so: an error at the sink, whose
    weight is about 1, would count e^C times.
    """
    stream, sink = stream_of(N, d), Sink(1.0, C, marked="sink", one="one")
    products = _heads(stream, sink, second, query={"m": 1.0}, key={"x": c}, value={("r", "m"): 1.0})
    prediction = _heads(stream, sink, second, query={"x": c}, key={"m": 1.0}, value={("y_hat", "label"): 1.0})
    return looped(
        "looped.newton",
        stream,
        pre=(products, terms_layer(stream, clear("m"), _examples("m", "r", alpha / c), clear("r"))),
        loop=(products, terms_layer(stream, Select("m", "m"), _examples("m", "r", -1 / c), clear("r"))),
        post=(_neighbours(stream, tau), prediction, terms_layer(stream, Select("y_hat", "y_hat", 1 / c - 1))),
        T=T,
        states=("m",),
        taps={
            "m": StreamTap(2 * T + 2, "m"),
            "labels": StreamTap(2 * T + 3, "label"),
            "y_hat": StreamTap(2 * T + 5, "y_hat"),
        },
    )


def stream_of(N: int, d: int) -> Stream:
    """m holds M_k x_i, r what two heads add up, p the position of a pair, label the label of a pair."""
    sizes = {
        "x": d,
        "y": 1,
        "m": d,
        "p": N.bit_length(),
        "one": 1,
        "other": 1,
        "sink": 1,
        "r": d,
        "label": 1,
        "y_hat": 1,
    }
    return Stream(Block(name, size) for name, size in sizes.items())


def _heads(stream: Stream, sink: Sink, second: str, **maps: Any) -> SoftmaxAttention:
    return SoftmaxAttention(linear_heads(stream, sink, second, **maps), residual=True)


# Of the others r is 0, up to rounding.
def _examples(target: str, source: str, weight: Number) -> Select:
    return Select(target, source, weight, unless=("other",), bound=1.0)


# W_K = W_Q = p and W_V = 2 y: half of the weight is on each token of the own pair, and the label of the other one is 0.
def _neighbours(stream: Stream, tau: Number) -> SoftmaxAttention:
    scores = Stream([Block("p", stream.size("p"))])
    key, query = (BlockMap(stream, scores, {("p", "p"): weight}) for weight in (1.0, tau))
    return SoftmaxAttention(
        (Head("label", query, key, BlockMap(stream, stream, {("label", "y"): 2.0})),), residual=True
    )


# M_0 reads x_i off m: W_Q P of TF_pre is 0 at x, which no linear map of the x block is.
def tokens(X: Any, y: Any, x: Any) -> Any:
    """(2 N + 2, width of the stream). Positions are the digits of the number of the pair, as signs."""
    N = len(y)
    nothing, none = torch.zeros_like(X), torch.zeros_like(x)[None]
    features = torch.cat([paired(X, nothing), x[None], none])
    states = torch.cat([paired(X, nothing), none, none])
    labels = torch.cat([paired(0 * y[:, None], y[:, None]), none[:, :1], none[:, :1]])
    zero, zeros = torch.zeros_like(labels), torch.zeros_like(features)
    places = zero + digits(N + 1).to(X.device, torch.float64).repeat_interleave(2, 0)
    number = torch.arange(2 * N + 2, dtype=torch.int64, device=X.device)[:, None]
    other, last = (zero + chosen.double() for chosen in ((number % 2 == 1) | (number == 2 * N), number == 2 * N + 1))
    return torch.cat([features, labels, states, places, zero + 1, other, last, zeros, zero, zero], 1)


def paired(odd: Any, even: Any) -> Any:
    """The rows of both in turn."""
    return torch.stack([odd, even], 1).reshape(2 * len(odd), -1)


# The iteration.


# (4): I - M_k S = (I - alpha S^2)^(2^k), which needs no product that could amplify rounding.
def reference(X: Any, y: Any, x: Any, alpha: Any, T: int) -> dict[str, Any]:
    """M_k x_i of each token, (2 N + 2, d), 0 elsewhere, for k = 0 .. T; labels; w_T^T x."""
    S = X.mT @ X
    none, residual = (
        0 * torch.cat([x[None], x[None]]),
        torch.eye(len(x), dtype=torch.float64, device=x.device) - alpha * (S @ S),
    )
    found = {}
    for k in range(T + 1):
        state = torch.linalg.solve(S, X.mT - residual @ X.mT).mT  # (N, d)
        found[f"m[{k}]"] = torch.cat([paired(state, torch.zeros_like(state)), none])
        residual = residual @ residual
    labels = torch.cat([paired(y[:, None], y[:, None]), none[:, :1]])
    return {**found, "m": found[f"m[{T}]"], "labels": labels, "y_hat": ((state @ x) @ y)[None]}


# What bounds and floors depend on.


def least_eigenvalue(S: Any, squarings: int = 5) -> Any:
    """At most that of a positive definite S, and at least d^(-1/2^squarings) of it: 1/(tr S^(-n))^(1/n)."""
    inverse = torch.linalg.inv(S)
    root, n = inverse / torch.trace(inverse), 2**squarings
    return 1 / (torch.trace(inverse) * torch.trace(torch.linalg.matrix_power(root, n)) ** (1 / n))


def leverages(X: Any) -> Any:
    """x_i^T S^(-1) x_i, (N)."""
    return (X * torch.linalg.solve(X.mT @ X, X.mT).mT).sum(1)


@dataclass(frozen=True)
class Spectrum:
    """Of each eigenvector of S: eigenvalue, and the norms of its rows of V^T (X X^T)^p and V^T P^p, powers by entry."""

    values: Tensor
    start: Tensor
    spread: Tensor

    @classmethod
    def of(cls, X: Tensor, power: int) -> "Spectrum":
        V, singular, _ = torch.linalg.svd(X, full_matrices=False)
        rows = (torch.linalg.vector_norm(V.mT @ each**power, dim=1) for each in (X @ X.mT, V @ V.mT))
        return cls(singular**2, *rows)

    def combined(self, errors: Tensor) -> float:
        """Of Y, whose part along an eigenvector has the size lambda^(-1/2), from relative errors of these parts."""
        return float(((errors**2 / self.values).sum() / (1 / self.values).sum()).sqrt())
