"""The transformer of li2025, Appendix A.4.3, that runs proximal gradient for the Lasso, and the iterates themselves.

Shapes: N examples and a query, d coordinates of x, n features; the constant 1 makes them n + 1. With L = 2T + 1 layers
there are T blocks. In (11) token i of the sum is weighted by sigma((Q h_i)^T K h_j): the paper's K is the `query` of a
`Head` here, and its Q is the `key`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from numeric.balls.digits import apart
from numeric.networks.construction import Construction, Embedding, StreamTap
from numeric.networks.layers import FeedForward, Head, LogisticAttention
from numeric.networks.maps import BlockMap, Number
from numeric.networks.stream import Block, Stream, StreamError
from numeric.topics.universal.ramps import ramp

NO_BIAS: dict[str, np.ndarray] = {}


# Before the network.


def blocks_of(L: int) -> int:
    """T for L = 2T + 1 layers. Raises StreamError for an even L."""
    if L < 1 or L % 2 == 0:
        raise StreamError(
            f"L = {L}", "an even number of layers" if L > 0 else "no layers", "Take L = 2T + 1, T blocks."
        )
    return (L - 1) // 2


def tokens(x: Any, y: Any) -> Any:
    """The rows of (51) that are not constant: (x_i, y_i, w_i), (N + 1, d + 2), from x (N + 1, d) and y (N)."""
    shown = torch.cat([torch.ones_like(y), torch.zeros_like(y[:1])])
    return torch.cat([x, torch.cat([y, torch.zeros_like(y[:1])])[:, None], shown[:, None]], 1)


def require_prompt(x: Any, y: Any, directions: Any) -> None:
    """Raises StreamError for an empty prompt, an x outside the ball, and features of another dimension."""
    call = f"prompt of x {tuple(x.shape)}, y {tuple(y.shape)}"
    if len(y) == 0 or len(x) != len(y) + 1:
        raise StreamError(
            call, "an empty prompt" if len(y) == 0 else "x and y that do not match", "Give N >= 1, N + 1 x."
        )
    if x.shape[1] != directions.shape[1]:
        got = f"features of d = {directions.shape[1]} for data of d = {x.shape[1]}"
        raise StreamError(call, got, "Draw features of the dimension of the data.")
    longest = float(torch.linalg.vector_norm(x, dim=1).max())
    if not longest <= 1 + 1e-12:
        raise StreamError(call, f"an x of norm {apart(longest, 1.0)[0]}, outside the unit ball", "Scale the data.")


# The network.


@dataclass(frozen=True)
class LassoSetting:
    """What the weights depend on: features omega_i/|omega_i| `directions` (n, d) and t (n), and the paper's numbers.

    `tau_1` is tau of (118) and `tau_2` that of (124). `printed`: V of Attn2 lacks the factor N that (11) asks for.
    """

    directions: Any
    t: Any
    tau_ff: Number
    lam: Number
    eta: Number
    tau_1: Number
    tau_2: Number
    N: int
    printed: bool = False


def streams(at: LassoSetting) -> tuple[Stream, Stream]:
    """Those of a prompt and of (50); the latter has D = d + 2n + 7 coordinates."""
    n, d = at.directions.shape
    x, y, w = Block("x", d), Block("y", 1), Block("w", 1)
    sizes = {"phi": n + 1, "rho": n + 1, "lambda": 1, "y_hat": 1}
    return Stream([x, y, w]), Stream([x, Block("one", 1), y, w, *(Block(name, size) for name, size in sizes.items())])


def transformer(at: LassoSetting, L: int) -> Construction:
    """Attn0 FF0 (Attn1 FF1 Attn2 FF2)^T."""
    prompt, stream = streams(at)
    T = blocks_of(L)
    copied = {(name, name): 1.0 for name in prompt.names}
    return Construction(
        name="universal.transformer",
        source=prompt,
        embedding=Embedding(BlockMap(prompt, stream, copied), {"one": np.ones(1)}),
        layers=(_idle_attention(stream), features_layer(stream, at), *block_layers(stream, at) * T),
        # ReadOut of (16).
        readout=BlockMap(stream, Stream([Block("y_hat", 1)]), {("y_hat", "y_hat"): 1.0}),
        taps=taps_of(T),
        last_token_only=False,
    )


def taps_of(T: int) -> dict[str, StreamTap]:
    """phi and lambda after FF0; rho before and after FF1, y_hat after Attn2, of each block 1 .. T, and of the last."""
    found = {"phi": StreamTap(2, "phi"), "lambda": StreamTap(2, "lambda")}
    for number in range(1, T + 1):
        first = 4 * number - 1
        found[f"half[{number}]"] = StreamTap(first, "rho")
        found[f"rho[{number}]"] = StreamTap(first + 1, "rho")
        found[f"y_hat[{number}]"] = StreamTap(first + 2, "y_hat")
    return {**found, **{name: found[f"{name}[{T}]"] for name in ("rho", "y_hat") if T}}


def one_block(at: LassoSetting) -> Construction:
    """FF0 Attn2 (Attn1 FF1 Attn2): a block from any state rho, which the tokens hold, with the y_hat that it left."""
    prompt, stream = streams(at)
    with_state = prompt.extend(Block("rho", stream.size("rho")))
    attention_1, soft_threshold, attention_2, _ = block_layers(stream, at)
    names = {(name, name): 1.0 for name in with_state.names}
    layers = (features_layer(stream, at), attention_2, attention_1, soft_threshold, attention_2)
    return Construction(
        name="universal.transformer, one block",
        source=with_state,
        embedding=Embedding(BlockMap(with_state, stream, names), {"one": np.ones(1)}),
        layers=layers,
        readout=BlockMap(stream, Stream([Block("y_hat", 1)]), {("y_hat", "y_hat"): 1.0}),
        taps={
            "y_residual": StreamTap(2, "y_hat"),
            "residual": StreamTap(3, "rho"),
            "step": StreamTap(4, "rho"),
        },
    )


# (116): ramps are differences of two ReLUs, the constant 1 that of relu(1) and relu(-1), and lambda relu(lambda).
def features_layer(stream: Stream, at: LassoSetting) -> FeedForward:
    n, t, tau_ff = len(at.t), at.t, at.tau_ff
    hidden = stream.headed_by(Block("up", n + 1), Block("down", n + 1), Block("level", 1))
    rows = _with_last(tau_ff * at.directions, 0)
    offsets = {name: _with_last((side * 0.5 - tau_ff * t)[:, None], side) for name, side in (("up", 1), ("down", -1))}
    inner = {
        **{(name, "x"): rows for name in offsets},
        **{(name, "one"): offset for name, offset in offsets.items()},
        ("level", "one"): at.lam,
    }
    outer = {("phi", "up"): 1.0, ("phi", "down"): -1.0, ("lambda", "level"): 1.0}
    return FeedForward(BlockMap(stream, hidden, inner), NO_BIAS, BlockMap(hidden, stream, outer), residual=True)


def _with_last(rows: Any, last: int) -> Any:
    """The rows with a last one for the feature 1."""
    return torch.cat([rows, torch.zeros_like(rows[:1]) + last])


def block_layers(stream: Stream, at: LassoSetting) -> tuple[Any, ...]:
    """Attn1, FF1, Attn2 and FF2 (126)."""
    idle = BlockMap(stream, stream, {})
    return (
        _gradient_layer(stream, at),
        _threshold_layer(stream, at),
        _prediction_layer(stream, at),
        FeedForward(idle, NO_BIAS, idle, residual=True),
    )


# (118). Head 3 takes back the query's own term in head 2, head 4 the sigma(0) of the others.
def _gradient_layer(stream: Stream, at: LassoSetting) -> LogisticAttention:
    scores, number = stream.headed_by(Block("dot", len(at.t) + 1)), stream.headed_by(Block("dot", 1))
    per = at.eta / at.tau_1
    value = {sign: BlockMap(stream, stream, {("rho", "phi"): sign * 8 * at.tau_1}) for sign in (1, -1)}

    def head(name: str, target: Stream, Q: dict[str, Number], K: str, sign: int) -> Head:
        summed = BlockMap(stream, target, {("dot", source): weight for source, weight in Q.items()})
        return Head(name, BlockMap(stream, target, {("dot", K): 1.0}), summed, value[sign])

    return LogisticAttention(
        (
            head("labels", number, {"y": per}, "one", 1),
            head("predictions", scores, {"phi": per}, "rho", -1),
            head("query", number, {"one": per, "w": -1 * per}, "y_hat", 1),
            Head("half", None, None, value[-1]),
        ),
        residual=True,
    )


# (122): ST(z) = z + relu(eta lambda) - relu(z + eta lambda) + relu(z - eta lambda), and y_hat - relu(y_hat) +
# relu(-y_hat) = 0.
def _threshold_layer(stream: Stream, at: LassoSetting) -> FeedForward:
    ones, eta = _with_last(torch.ones_like(at.t)[:, None], 1), at.eta
    names = ("above", len(ones)), ("below", len(ones)), ("level", 1), ("plus", 1), ("minus", 1)
    hidden = stream.headed_by(*(Block(name, size) for name, size in names))
    inner = {
        ("above", "rho"): 1.0, ("above", "lambda"): eta * ones,
        ("below", "rho"): 1.0, ("below", "lambda"): -1 * eta * ones,
        ("level", "lambda"): eta, ("plus", "y_hat"): 1.0, ("minus", "y_hat"): -1.0,
    }  # fmt: skip
    outer = {
        ("rho", "above"): -1.0, ("rho", "below"): 1.0, ("rho", "level"): ones,
        ("y_hat", "plus"): -1.0, ("y_hat", "minus"): 1.0,
    }  # fmt: skip
    return FeedForward(BlockMap(stream, hidden, inner), NO_BIAS, BlockMap(hidden, stream, outer), residual=True)


# (124). The mean over the N examples in (11) leaves 1/N of the query's term: V has the factor `count` = N.
def _prediction_layer(stream: Stream, at: LassoSetting) -> LogisticAttention:
    scores, tau, count = stream.headed_by(Block("dot", len(at.t) + 1)), at.tau_2, 1 if at.printed else at.N
    key = BlockMap(stream, scores, {("dot", "phi"): 1 / tau})
    query = BlockMap(stream, scores, {("dot", "rho"): 1.0})
    plus, minus = (
        BlockMap(stream, stream, {("y_hat", "one"): factor * tau, ("y_hat", "w"): -factor * tau})
        for factor in (4 * count, -4 * count)
    )
    return LogisticAttention((Head("prediction", query, key, plus), Head("half", None, None, minus)), residual=True)


# (126).
def _idle_attention(stream: Stream) -> LogisticAttention:
    return LogisticAttention((Head("idle", None, None, BlockMap(stream, stream, {})),), residual=True)


# The iterates, computed directly.


def ramp_features(x: Any, directions: Any, t: Any, tau_ff: Any) -> Any:
    """(phi_1(x), ..., phi_n(x), 1) of (33), (N + 1, n + 1), of x (N + 1, d)."""
    phi = ramp(tau_ff * (x @ directions.mT - t))
    return torch.cat([phi, torch.ones_like(phi[:, :1])], 1)


def gradient_step(rho: Any, phi: Any, y: Any, eta: Any) -> Any:
    """rho + (2 eta/N) sum_i (y_i - phi_i^T rho) phi_i, from phi (N, n + 1) and y (N)."""
    return rho + 2 * eta * ((y - phi @ rho) @ phi) / len(y)


def soft_threshold(z: Any, level: Any) -> Any:
    """(39b)."""
    return torch.relu(z - level) - torch.relu(-z - level)


def proximal_step(rho: Any, phi: Any, y: Any, eta: Any, lam: Any) -> Any:
    """(38b) with e = 0."""
    return soft_threshold(gradient_step(rho, phi, y, eta), eta * lam)


def proximal_path(phi: Any, y: Any, eta: Any, lam: Any, T: int) -> Any:
    """rho_T, from rho_0 = 0."""
    rho = 0 * phi[0]
    for _ in range(T):
        rho = proximal_step(rho, phi, y, eta, lam)
    return rho
