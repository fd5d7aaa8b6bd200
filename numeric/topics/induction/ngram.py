"""Induction heads over n-grams, IH_n of Wang et al. 2024 (wang2024): the reference, and the network of Theorem 4.3.

Shapes: L tokens, d their width, S = L - n keys s = n..L-1, m = n - 1 lags, H heads of layer 1.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from numeric.networks.construction import AttentionTap, Construction, Embedding, ScoresTap, StreamTap
from numeric.networks.exponential_heads import exponential_heads
from numeric.networks.layers import Head, RelativePositions, SoftmaxAttention
from numeric.networks.maps import BlockMap, Number
from numeric.networks.stream import Block, Stream, StreamError


def last_patch(x: Any, n: int) -> Any:
    """(x_L, ..., x_{L-n+2}), (m d)."""
    return torch.cat([x[-1 - lag] for lag in range(n - 1)], dim=-1)


def patches(x: Any, n: int) -> Any:
    """(x_{s-1}, ..., x_{s-n+1}) of the keys s = n..L-1, (S, m d)."""
    length = x.shape[0]
    return torch.cat([x[n - 1 - lag : length - 1 - lag] for lag in range(1, n)], dim=-1)


def ngram_head(x: Any, W_star: Any, n: int) -> dict[str, Any]:
    """IH_n(X_L) = sum_{s=n}^{L-1} softmax_s(q^T W* k_s) x_s of one prompt x (L, d) (wang2024, eq. (14)); L > n.

    q = (x_L, ..., x_{L-n+2}) and k_s = (x_{s-1}, ..., x_{s-n+1}). Tensors or balls: keys (S, m d), scores (S),
    attention (S), output (d).
    """
    if not 2 <= n < x.shape[0]:
        found, remedy = f"n = {n} and a prompt of {x.shape[0]} tokens", "Give n of at least 2, and more tokens than n."
        raise StreamError("ngram_head", found, remedy)
    keys = patches(x, n)  # (S, m d)
    scores = keys @ (last_patch(x, n) @ W_star)  # (S)
    attention = torch.softmax(scores, dim=0)  # (S)
    return {"keys": keys, "scores": scores, "attention": attention, "output": attention @ x[n - 1 : -1]}


def ngram(slopes: Sequence[Number], weights: np.ndarray, W_star: Any) -> Construction:
    """The two-layer network of the proof of Theorem 4.3 (wang2024, Appendix A.2), with one family of heads.

    `weights` (m, H): of what the heads average, for the lags 1..m. Layer 1 writes the tokens at these lags beside each
    token, D = n d; layer 2 compares the last patch with the keys s = n..L-1, the terms of IH_n.
    """
    lags, size = len(weights), W_star.shape[0]
    d = size // lags
    if tuple(W_star.shape) != (size, size) or size % lags:
        found = f"W_star of shape {tuple(W_star.shape)} for {lags} lags"
        raise StreamError("ngram", found, "Give ((n-1) d, (n-1) d) for the lags 1..n-1.")
    tokens, stream, patch = Stream([Block("x", d)]), Stream([Block("x", d), Block("y", size)]), Block("patch", size)
    # x_s -> (x_s, 0) -> (x_s, x_{s-1}, ..., x_{s-n+1}). W_Q^(2) shifts the last patch by one token, (x_L, ...).
    shift = {("patch", "x"): np.eye(size, d), **({("patch", "y"): np.eye(size, k=-d)} if lags > 1 else {})}
    query = BlockMap(stream, Stream([patch]), shift)
    key = BlockMap(stream, Stream([patch]), {("patch", "y"): W_star})
    value = BlockMap(stream, stream, {("x", "x"): 1.0})
    match = Head("match", query, key, value, RelativePositions(0.0, first_key=lags + 1))
    return Construction(
        name="induction.ngram",
        source=tokens,
        embedding=Embedding(BlockMap(tokens, stream, {("x", "x"): 1.0})),
        layers=(exponential_heads(stream, "x", "y", slopes, weights), SoftmaxAttention((match,), residual=False)),
        readout=BlockMap(stream, tokens, {("x", "x"): 1.0}),
        taps={
            "keys": StreamTap(layer=1, block="y"),
            "scores": ScoresTap(layer=2, head="match"),
            "attention": AttentionTap(layer=2, head="match"),
        },
        last_token_only=True,
    )


# The quantities of the reference, read off the taps: those of the keys s = n..L-1, of the last query.
READ = {
    "keys": lambda keys, n: keys[n - 1 : -1],
    "scores": lambda scores, n: scores[0, n - 1 : -1],
    "attention": lambda attention, n: attention[0, n - 1 : -1],
}


def prompt_starts(L: int, n: int, d: int, W_star: Tensor, count: int, generator: torch.Generator) -> dict[str, Tensor]:
    """Prompts in [-1, 1] from which an attack on `ngram` starts: uniform, signs, and runs of one sign vector.

    A key errs most where all earlier tokens are the same, and a change of scores takes keys that err differently.
    """
    x = 2 * torch.rand(count, L, d, generator=generator, dtype=torch.float64, device="cpu") - 1  # (count, L, d)
    x[1::3] = x[1::3].sign()
    for index in range(2, count, 3):
        places = torch.arange(L, dtype=torch.int64, device="cpu")
        signs = 1.0 - 2.0 * ((places // (n + index % 5)) % 2)  # (L)
        x[index] = signs[:, None] * x[index, 0].sign()
    return {"x": x}
