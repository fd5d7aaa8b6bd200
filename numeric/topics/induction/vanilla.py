"""Induction heads of Wang et al. 2024 (wang2024): the networks of Theorem 4.1.

Shapes: L tokens, d their width; the keys are s = 2..L-1.
"""

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from numeric.networks.construction import AttentionTap, Construction, Embedding, ScoresTap, StreamTap
from numeric.networks.layers import Head, RelativePositions, SoftmaxAttention
from numeric.networks.maps import BlockMap, Number, as_weight
from numeric.networks.stream import Block, Stream, StreamError


def vanilla(p: Number, W_star: Any, *, gate: Number = math.inf) -> Construction:
    """The two-layer one-head network of the proof of Theorem 4.1 (wang2024, Appendix A.1), with slope p >= 0.

    Under the paper's own mask the last query also attends to key 1, whose y_1 is empty, while the proof's sum starts
    at s = 2. Three networks differ in how they treat key 1:
    - gate = inf: key 1 is masked in the second layer, so that the sum is the proof's (D = 2d);
    - gate = 0: as printed, key 1 is attended with y_1 = 0 (D = 2d);
    - 0 < gate < inf: a constant block `one` lowers the score of key 1 by exactly `gate` against all others, with the
      printed mask and Alibi positions only (D = 2d + 1).
    """
    d = W_star.shape[0]
    gate = as_weight(gate)
    if tuple(W_star.shape) != (d, d) or not gate >= 0:
        raise StreamError("vanilla", f"W_star of shape {W_star.shape}, gate={gate}", "Give (d, d) and a gate >= 0.")
    gated = 0 < gate < math.inf
    tokens = Stream([Block("x", d)])
    stream = Stream([Block("x", d), Block("y", d), *([Block("one", 1)] if gated else [])])
    return Construction(
        name="induction.vanilla",
        source=tokens,
        # x_s -> (x_s, 0); with a gate, (x_s, 0, 1).
        embedding=Embedding(BlockMap(tokens, stream, {("x", "x"): 1.0}), {"one": np.ones(1)} if gated else {}),
        layers=(_previous_token_layer(stream, p, gated), _matching_layer(stream, W_star, gate)),
        # W_O = (I 0).
        readout=BlockMap(stream, tokens, {("x", "x"): 1.0}),
        taps={
            "y": StreamTap(layer=1, block="y"),
            "scores": ScoresTap(layer=2, head="match"),
            "attention": AttentionTap(layer=2, head="match"),
        },
        last_token_only=True,
    )


def _previous_token_layer(stream: Stream, p: Number, gated: bool) -> SoftmaxAttention:
    # W_V^(1) = [[0, 0], [I, 0]], no dot product: y_s = sum_{tau < s} softmax_tau(-p (s - 1 - tau)) x_tau, and y_1 = 0.
    # `one` averages to 1 where something is attended: after the residual it is c_1 = 1 and c_s = 2 for s >= 2.
    value = BlockMap(stream, stream, {("y", "x"): 1.0, **({("one", "one"): 1.0} if gated else {})})
    return SoftmaxAttention((Head("previous", None, None, value, RelativePositions(p)),), residual=True)


def _matching_layer(stream: Stream, W_star: Any, gate: Any) -> SoftmaxAttention:
    gated = 0 < gate < math.inf
    # W_Q^(2) = [[0, 0], [I, 0]], W_K^(2) = [[0, 0], [0, W*]]: the scores are x_L^T W* y_s.
    # The query reads c_L = 2 and the key factor is gate / 2: scores gain gate * c_s, so key 1 falls behind by gate.
    query = BlockMap(stream, stream, {("y", "x"): 1.0, **({("one", "one"): 1.0} if gated else {})})
    key = BlockMap(stream, stream, {("y", "y"): W_star, **({("one", "one"): gate / 2} if gated else {})})
    # W_V^(2) = [[I, 0], [0, 0]], p^(2) = 0, no residual.
    value = BlockMap(stream, stream, {("x", "x"): 1.0})
    positions = RelativePositions(0.0, first_key=2 if gate == math.inf else 1)
    return SoftmaxAttention((Head("match", query, key, value, positions),), residual=False)


# The quantities of the reference, read off the taps: those of the keys s = 2..L-1, of the last query.
READ = {
    "y": lambda y: y[1:-1],
    "scores": lambda scores: scores[0, 1:-1],
    "attention": lambda attention: attention[0, 1:-1],
}


def prompt_starts(L: int, d: int, W_star: Tensor, count: int, generator: torch.Generator) -> dict[str, Tensor]:
    """Prompts in [-1, 1] from which an attack on `vanilla` starts: uniform, signs, and of period 2 to 6 along W*.

    y_s - x_{s-1} is first of all e^-p (x_{s-2} - x_{s-1}): alternating tokens make it as large as it can be, and sign
    vectors s, t with a large s^T W* t turn it into a change of the scores.
    """
    x = 2 * torch.rand(count, L, d, generator=generator, dtype=torch.float64, device="cpu") - 1  # (count, L, d)
    query, direction = _matching_signs(W_star, x[:, 0].sign())  # (count, d) each
    x[1::4] = x[1::4].sign()
    x[2::4] = torch.tensor([-1.0, 1.0], dtype=torch.float64, device="cpu").repeat(L)[:L, None] * direction[2::4, None]
    for index in range(3, count, 4):
        pattern = x[index, : 2 + index % 5] * direction[index]  # (period, d)
        x[index] = pattern.repeat(L, 1)[:L]
    x[2::4, -1], x[3::4, -1] = query[2::4], query[3::4]
    return {"x": x}


def _matching_signs(W_star: Tensor, direction: Tensor) -> tuple[Tensor, Tensor]:
    """Sign vectors s, t with a large s^T W* t: alternate between the best s for t and the best t for s, (count, d)."""
    for _ in range(10):
        query = _signs(direction @ W_star.T)
        direction = _signs(query @ W_star)
    return query, direction


def _signs(vector: Tensor) -> Tensor:
    return 1 - 2 * (vector < 0).double()
