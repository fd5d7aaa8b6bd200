"""Induction heads of Wang et al. 2024 (wang2024): references computed directly, and the networks of Theorem 4.1.

The reference never passes through a construction. Both name the same intermediate quantities:
`y` (the token before each key), `scores` and `attention` (of the last query over the keys s = 2..L-1), `output`.

Shapes: B prompts, L tokens, d their width, S = L - 2 keys.
"""

import math
from collections.abc import Mapping
from typing import TypeVar

import flint
import numpy as np
import torch
from jaxtyping import Float, Float64
from torch import Tensor

from numeric.balls import BallArray, working_precision
from numeric.construction import (
    AttentionTap,
    Construction,
    Embedding,
    Head,
    RelativePositions,
    ScoresTap,
    SoftmaxAttention,
    StreamTap,
)
from numeric.exact import ball_matrix, exact_softmax
from numeric.maps import BlockMap, Number
from numeric.stream import Block, Stream, StreamError

Taps = TypeVar("Taps", Tensor, BallArray)


def induction_head(
    x: Float[Tensor, "B L d"], W_star: Float[Tensor, "d d"] | Float64[np.ndarray, "d d"]
) -> Float[Tensor, "B d"]:
    """IH_2(X_L) = sum_{s=2}^{L-1} softmax_s(x_L^T W* x_{s-1}) x_s for each prompt (wang2024, eq. (4)); needs L >= 3."""
    return induction_head_taps(x, W_star)["output"]


def induction_head_taps(
    x: Float[Tensor, "B L d"], W_star: Float[Tensor, "d d"] | Float64[np.ndarray, "d d"]
) -> dict[str, Tensor]:
    """The exact quantities behind IH_2: y (B, S, d), scores (B, S), attention (B, S), output (B, d)."""
    _require_length("induction_head", x.shape[1])
    matrix = torch.as_tensor(np.array(W_star) if isinstance(W_star, np.ndarray) else W_star).to(x)  # (d, d)
    last, keys, previous = x[:, -1], x[:, 1:-1], x[:, :-2]  # (B, d), (B, S, d), (B, S, d)
    scores = torch.einsum("bi,ij,bsj->bs", last, matrix, previous)  # (B, S)
    attention = torch.softmax(scores, dim=-1)  # (B, S)
    output = torch.einsum("bs,bsd->bd", attention, keys)  # (B, d)
    return {"y": previous, "scores": scores, "attention": attention, "output": output}


def induction_head_exact(
    x: Float64[np.ndarray, "L d"], W_star: Float64[np.ndarray, "d d"], bits: int = 128
) -> dict[str, BallArray]:
    """The same quantities of one prompt in balls: y (S, d), scores (S), attention (S), output (d)."""
    _require_length("induction_head_exact", x.shape[0])
    with working_precision(bits):
        last, keys, previous = ball_matrix(x[-1:]), ball_matrix(x[1:-1]), ball_matrix(x[:-2])
        scores = (last * ball_matrix(W_star) * previous.transpose()).entries()  # x_L^T W* x_{s-1}
        attention = exact_softmax(scores)
        output = flint.arb_mat(1, len(attention), attention) * keys
        size = (len(attention),)
        return {
            "y": BallArray.of_matrix(previous, bits),
            "scores": BallArray(scores, size, bits),
            "attention": BallArray(attention, size, bits),
            "output": BallArray(output.entries(), (x.shape[1],), bits),
        }


def vanilla(p: Number, W_star: Float64[np.ndarray, "d d"], *, gate: Number = math.inf) -> Construction:
    """The two-layer one-head network of the proof of Theorem 4.1 (wang2024, Appendix A.1), with slope p >= 0.

    Under the paper's own mask the last query also attends to key 1, whose y_1 is empty, while the proof's sum starts
    at s = 2. Three networks differ in how they treat key 1:
    - gate = inf: key 1 is masked in the second layer, so that the sum is the proof's (D = 2d);
    - gate = 0: as printed, key 1 is attended with y_1 = 0 (D = 2d);
    - 0 < gate < inf: a constant block `one` lowers the score of key 1 by exactly `gate` against all others, with the
      printed mask and Alibi positions only (D = 2d + 1).
    """
    d = W_star.shape[0]
    if W_star.shape != (d, d) or not gate >= 0:
        raise StreamError("vanilla", f"W_star of shape {W_star.shape}, gate={gate}", "Give (d, d) and a gate >= 0.")
    gate = float(gate)
    gated = is_gated(gate)
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


def is_gated(gate: float) -> bool:
    """Whether `vanilla` holds the constant block `one` for this gate."""
    return 0 < gate < math.inf


def _previous_token_layer(stream: Stream, p: Number, gated: bool) -> SoftmaxAttention:
    # W_V^(1) = [[0, 0], [I, 0]], no dot product: y_s = sum_{tau < s} softmax_tau(-p (s - 1 - tau)) x_tau, and y_1 = 0.
    moves = {("y", "x"): 1.0}
    # `one` averages to 1 where something is attended: after the residual it is c_1 = 1 and c_s = 2 for s >= 2.
    copies = {("one", "one"): 1.0} if gated else {}
    value = BlockMap(stream, stream, {**moves, **copies})
    return SoftmaxAttention((Head("previous", None, None, value, RelativePositions(p)),), residual=True)


def _matching_layer(stream: Stream, W_star: np.ndarray, gate: float) -> SoftmaxAttention:
    gated = is_gated(gate)
    # W_Q^(2) = [[0, 0], [I, 0]], W_K^(2) = [[0, 0], [0, W*]]: the scores are x_L^T W* y_s.
    # The query reads c_L = 2 and the key factor is gate / 2: scores gain gate * c_s, so key 1 falls behind by gate.
    query = BlockMap(stream, stream, {("y", "x"): 1.0, **({("one", "one"): 1.0} if gated else {})})
    key = BlockMap(stream, stream, {("y", "y"): W_star, **({("one", "one"): gate / 2} if gated else {})})
    # W_V^(2) = [[I, 0], [0, 0]], p^(2) = 0, no residual.
    value = BlockMap(stream, stream, {("x", "x"): 1.0})
    positions = RelativePositions(0.0, first_key=2 if gate == math.inf else 1)
    return SoftmaxAttention((Head("match", query, key, value, positions),), residual=False)


def aligned_taps(taps: Mapping[str, Taps], *, gate: Number = math.inf) -> dict[str, Taps]:
    """The taps of a `vanilla` construction in the reference's shapes, restricted to the keys s = 2..L-1.

    Takes the torch taps (batched) or the exact ones (one prompt). With a finite gate the constant 2 * gate, which
    all these scores share and softmax does not see, is taken off; in float64 that costs some digits of the scores.
    """
    offset = 2.0 * gate if gate < math.inf else 0.0
    aligned = dict(taps)
    if "y" in aligned:
        aligned["y"] = aligned["y"][..., 1:-1, :]  # (B, S, d)
    if "scores" in aligned:
        scores = aligned["scores"][..., 0, 1:-1]  # (B, S)
        aligned["scores"] = scores - offset if offset else scores
    if "attention" in aligned:
        aligned["attention"] = aligned["attention"][..., 0, 1:-1]  # (B, S)
    return aligned


def random_prompts(
    L: int, d: int, samples: int, seed: int, dtype: torch.dtype = torch.float64, device: torch.device | str = "cpu"
) -> Float[Tensor, "samples L d"]:
    """Prompts with independent entries, uniform on [-1, 1]; the same for a seed on every device."""
    generator = torch.Generator().manual_seed(seed)
    uniform = 2 * torch.rand(samples, L, d, generator=generator, dtype=torch.float64) - 1  # (samples, L, d)
    return uniform.to(device=device, dtype=dtype)


def prompt_starts(
    L: int,
    d: int,
    W_star: Float64[np.ndarray, "d d"],
    restarts: int,
    seed: int,
    dtype: torch.dtype = torch.float64,
    device: torch.device | str = "cpu",
) -> Float[Tensor, "restarts L d"]:
    """Prompts in [-1, 1] from which an attack on `vanilla` starts: random ones, and periodic ones along W*.

    y_s - x_{s-1} is first of all e^-p (x_{s-2} - x_{s-1}): alternating tokens make it as large as it can be, and sign
    vectors s, t with a large s^T W* t turn it into a change of the scores.
    """
    generator = np.random.default_rng(seed)
    kinds = (_uniform_start, _sign_start, _alternating_start, _periodic_start)
    starts = np.stack([kinds[index % len(kinds)](generator, L, d, W_star) for index in range(restarts)])
    return torch.tensor(starts, dtype=dtype, device=device)  # (restarts, L, d)


def _uniform_start(generator: np.random.Generator, L: int, d: int, W_star: np.ndarray) -> np.ndarray:
    return generator.uniform(-1, 1, (L, d))


def _sign_start(generator: np.random.Generator, L: int, d: int, W_star: np.ndarray) -> np.ndarray:
    return generator.choice([-1.0, 1.0], (L, d))


def _alternating_start(generator: np.random.Generator, L: int, d: int, W_star: np.ndarray) -> np.ndarray:
    """x_s = (-1)^s t, and x_L = s with a large s^T W* t, each entry scaled a little at random."""
    query, direction = _matching_signs(generator, W_star)
    prompt = np.resize([-1.0, 1.0], L)[:, None] * direction  # (L, d)
    prompt[-1] = query
    return prompt * generator.uniform(0.5, 1, (L, d))


def _periodic_start(generator: np.random.Generator, L: int, d: int, W_star: np.ndarray) -> np.ndarray:
    """A random pattern of signs of period 2 to 6 along t, the period's tokens disturbed alike; x_L as above."""
    query, direction = _matching_signs(generator, W_star)
    period = int(generator.integers(2, 7))
    pattern = generator.choice([-1.0, 1.0], (period, 1)) * direction * generator.uniform(0, 1, (period, d))
    prompt = np.resize(pattern, (L, d))  # (L, d)
    prompt[-1] = query
    return prompt


def _matching_signs(generator: np.random.Generator, W_star: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sign vectors s, t with a large s^T W* t: alternate between the best s for t and the best t for s."""
    direction = generator.choice([-1.0, 1.0], W_star.shape[1])
    query = _signs(W_star @ direction)
    for _ in range(10):
        direction = _signs(W_star.T @ query)
        query = _signs(W_star @ direction)
    return query, direction


def _signs(vector: np.ndarray) -> np.ndarray:
    return np.where(vector < 0, -1.0, 1.0)


def _require_length(call: str, length: int) -> None:
    if length < 3:
        raise StreamError(call, f"a prompt of {length} tokens", "The sum runs over s = 2..L-1: give at least 3 tokens.")
