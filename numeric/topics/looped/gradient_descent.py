"""The transformer of algoformer, Lemma A.2 and Theorem 3.1, that runs gradient descent in context, and the algorithm.

Of a prompt x_1, y_1, ..., x_N, y_N, x_test it fits Y = A Phi(X) by T steps from A = 0 and predicts A Phi(x_test).

Shapes: N examples, d coordinates of x, m outputs, L = 2N + 2 tokens, D coordinates of Phi(x).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from numeric.networks.construction import Embedding, StreamTap
from numeric.networks.feed_forward import Select, clear, terms_layer
from numeric.networks.layers import FeedForward, Head, Layer, SoftmaxAttention
from numeric.networks.loops import Looped, looped
from numeric.networks.maps import BlockMap, Number, identity_map, injection
from numeric.networks.sinks import Sink, linear_heads
from numeric.networks.stream import Block, Stream, StreamError
from numeric.topics.looped.positions import digits

NO_BIAS: dict[str, np.ndarray] = {}
KEPT = 0.75  # of the norm, by a layer of a seeded MLP
INDICATORS = "feature", "label", "test", "sink", "one"

# The prompt.


def tokens(x: Any, y: Any) -> Any:
    """(x_i, 0), (0, y_i) in turns, x_test and a last token, with positions and indicators: x (N + 1, d), y (N, m)."""
    require_prompt(x, y)
    count, m = len(x), y.shape[1]
    positions = digits(count).to(x.device, torch.float64)
    ones = torch.ones(count, 1, dtype=torch.float64, device=x.device)
    zeros = 0 * ones
    test = torch.cat([zeros[:-1], ones[:1]])
    no_y, no_x = (
        torch.zeros(count, m, dtype=torch.float64, device=x.device),
        torch.zeros(count, x.shape[1], dtype=torch.float64, device=x.device),
    )
    labels = torch.cat([y, 0 * y[:1]])
    features = torch.cat([x, no_y, positions, ones, zeros, test, zeros, ones], 1)
    others = torch.cat([no_x, labels, positions, zeros, ones, zeros, test, ones], 1)
    return torch.cat([features, others], 1).reshape(2 * count, features.shape[1])


def require_prompt(x: Any, y: Any) -> None:
    """Raises StreamError for a prompt of fewer than two examples, and for x and y that do not match."""
    call = f"prompt of x {tuple(x.shape)}, y {tuple(y.shape)}"
    if len(x) != len(y) + 1:
        raise StreamError(call, "x and y that do not match", "Give N examples and N + 1 x, the last one the query.")
    if len(y) < 2:
        raise StreamError(call, f"{len(y)} example", "Give two examples at least: a line fits one exactly.")


# The network.


@dataclass(frozen=True)
class DescentSetting:
    """What the weights depend on.

    `eta` is the step size, c, C and `second` are those of `linear_heads`, and `tau` is the inverse temperature of heads
    that read the neighbouring token. |Phi(x)_j| <= `reach` and |y_ij| <= `labels`. The `representation` is an MLP, the
    pairs (W, b) of its layers, z -> relu(W z + b) - `leak` relu(-W z - b); without layers it is the identity.
    """

    N: int
    d: int
    m: int
    eta: Number
    c: Number
    C: Number
    tau: Number
    reach: Number
    labels: Number
    second: str = "opposite"
    representation: Sequence[tuple[Any, Any]] = ()
    leak: Number = 0.0

    @property
    def phi(self) -> str:
        """The block of Phi(x)."""
        return _layer(len(self.representation))

    @property
    def features(self) -> int:
        """D."""
        return len(self.representation[-1][1]) if self.representation else self.d


def _layer(number: int) -> str:
    return f"phi[{number}]" if number else "x"


def streams(at: DescentSetting) -> tuple[Stream, Stream]:
    """Those of a prompt and of the layers."""
    of_positions = Block("p", digits(int(at.N) + 1).shape[1])
    prompt = Stream([Block("x", at.d), Block("y", at.m), of_positions, *(Block(name, 1) for name in INDICATORS)])
    hidden = [Block(_layer(k), len(b)) for k, (_, b) in enumerate(at.representation, start=1)]
    outputs = [Block(name, at.m) for name in ("copy", "r", "g", "out")]
    return prompt, prompt.extend(*hidden, Block("key", at.features), *outputs)


def transformer(at: DescentSetting, T: int) -> Looped:
    """The output is A_T Phi(x_test), (m); the block r holds A_k Phi(x_i) - y_i, and A_k Phi(x_test) at x_test."""
    prompt, stream = streams(at)
    answer = Stream([Block("out", at.m)])
    pre: tuple[Layer, ...] = (*representation_layers(stream, at), *pairing_layers(stream, at))
    return looped(
        "looped.gradient_descent",
        stream,
        pre=pre,
        loop=step_layers(stream, at),
        post=(_neighbours(stream, at, "out", "r"), terms_layer(stream, Select("out", "out"))),
        T=T,
        states=("r",),
        taps={"residuals": StreamTap(len(pre) + 2 * T, "r")},
        embedding=Embedding(injection(prompt, stream)),
        readout=BlockMap(stream, answer, identity_map(answer).action),
        last_token_only=True,
    )


# An indicator in the place of the bias: where x = 0 for a label, so is Phi.
def representation_layers(stream: Stream, at: DescentSetting) -> tuple[FeedForward, ...]:
    """One layer for each of the MLP, whose attention is the identity."""
    return tuple(_mlp_layer(stream, at, k, W, b) for k, (W, b) in enumerate(at.representation, start=1))


def _mlp_layer(stream: Stream, at: DescentSetting, k: int, W: Any, b: Any) -> FeedForward:
    hidden = Stream([Block("up", len(b)), Block("down", len(b))])
    column = b.reshape(-1, 1)
    before = _layer(k - 1)
    inner = {
        ("up", before): W, ("up", "feature"): column, ("down", before): -1 * W, ("down", "feature"): -1 * column,
    }  # fmt: skip
    outer = {(_layer(k), "up"): 1.0, (_layer(k), "down"): -1 * at.leak}
    return FeedForward(BlockMap(stream, hidden, inner), NO_BIAS, BlockMap(hidden, stream, outer), residual=True)


# Both tokens of a pair get half of y_i; twice that is selected. The weights know N: a product with a token's entry 1/N,
# as printed, would be one of ReLUs, with an error.
def pairing_layers(stream: Stream, at: DescentSetting) -> tuple[SoftmaxAttention, FeedForward]:
    """Phi(x_i)/N as keys, 0 for the query, and -y_i beside x_i: A_0 = 0."""
    keys = Select("key", at.phi, 1 / at.N, unless=("test",), bound=at.reach)
    residuals = Select("r", "copy", -2.0, unless=("label", "test"), bound=at.labels)
    return _neighbours(stream, at, "copy", "y"), terms_layer(stream, keys, residuals, clear("copy"))


def _neighbours(stream: Stream, at: DescentSetting, target: str, source: str) -> SoftmaxAttention:
    """Each token gets the mean of `source` over its pair."""
    scores = stream.only(["p"])
    query, key = (BlockMap(stream, scores, {("p", "p"): factor}) for factor in (at.tau, 1.0))
    return SoftmaxAttention(
        (Head("pair", query, key, BlockMap(stream, stream, {(target, source): 1.0})),), residual=True
    )


# Lemma A.2: g = c sum_j r_j Phi(x_j)^T Phi(x_i) / N, and r - (eta/c) g. At labels all scores but the sink's are 0, and
# the two heads cancel, so that any bound is large enough there.
def step_layers(stream: Stream, at: DescentSetting) -> tuple[SoftmaxAttention, FeedForward]:
    """One step of gradient descent."""
    heads = linear_heads(
        stream, Sink(at.c, at.C, "sink", "one"), at.second,
        query={at.phi: 1.0}, key={"key": 1.0}, value={("g", "r"): 1.0},
    )  # fmt: skip
    step = Select("r", "g", -1 * (at.eta / at.c), unless=("label",), bound=at.labels)
    return SoftmaxAttention(heads, residual=True), terms_layer(stream, step, clear("g"))


# The algorithm, computed directly.


def represented(x: Any, representation: Sequence[tuple[Any, Any]], leak: Number = 0.0) -> Any:
    """Phi of the rows of x, (N + 1, D)."""
    for W, b in representation:
        z = x @ W.mT + b
        x = torch.relu(z) - leak * torch.relu(-z)
    return x


def descend(A: Any, phi: Any, y: Any, eta: Any) -> Any:
    """A - eta (1/N) (A Phi - Y) Phi^T, from A (m, D), phi (N, D), y (N, m)."""
    residuals = A @ phi.mT - y.mT  # (m, N)
    return A - eta * (residuals @ phi) / len(y)


def descended(phi: Any, y: Any, eta: Any, T: int) -> Any:
    """A_T (m, D), from A_0 = 0."""
    A = 0 * (y.mT @ phi)
    for _ in range(T):
        A = descend(A, phi, y, eta)
    return A


def seeded_mlp(L: int, d: int, B_x: float, seed: int) -> Any:
    """(L, d, d + 1), the layers [W, b] of an MLP that keeps the ball of radius B_x."""
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randn(L, d, d + 1, generator=generator, dtype=torch.float64, device="cpu")
    W, b = torch.linalg.qr(drawn[..., :d])[0], drawn[..., d:]
    return torch.cat([KEPT * W, (1 - KEPT) * B_x * b / torch.linalg.vector_norm(b, dim=1, keepdim=True)], -1)


def features(x: Any, mlp: Any) -> Any:
    """Phi of the rows of x, by such layers."""
    return represented(x, [(each[:, :-1], each[:, -1]) for each in mlp])


# Ridge regression.


# lamda ||A||^2/2 is the loss of d examples sqrt(N lamda) e_i with labels 0, over 2 N: over N + d examples the gradient
# is N/(N + d) times that of the penalised loss over N.
def penalised(phi: Any, y: Any, lamda: float) -> tuple[Any, Any]:
    """phi (N + 1, D) and y (N, m) with D more examples, before the query: least squares on them is ridge regression."""
    count, size = len(y), phi.shape[1]
    more = (count * lamda) ** 0.5 * torch.eye(size, dtype=phi.dtype, device=phi.device)
    return torch.cat([phi[:-1], more, phi[-1:]]), torch.cat([y, torch.zeros_like(y[:1]).repeat(size, 1)])


def ridge_descended(phi: Any, y: Any, eta: Any, lamda: float, T: int) -> Any:
    """A_T (m, D) of gradient descent on the mean of ||A Phi(x_i) - y_i||^2/2, plus lamda ||A||^2/2, from A_0 = 0."""
    A = 0 * (y.mT @ phi)
    for _ in range(T):
        A = descend(A, phi, y, eta) - eta * lamda * A
    return A
