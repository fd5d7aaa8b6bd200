"""A hard-max layer at a tie: moved parameters, and two inputs close to one another whose outputs are not.

Shapes: i tokens, w width of the stream.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from numeric.machines.modules import DecoderLayer


@dataclass(frozen=True)
class TieJump:
    """||f(h, theta') - f(h', theta')|| = `output` at max_t ||h_t - h'_t|| = `input`, ||theta' - theta|| = `move`."""

    layer: str
    move: float
    input: float
    output: float


# The layer's self-attention is unused: Q = K = V = 0, so that all tokens tie. Moved a little, the query asks for a
# coordinate that two tokens s, t share, and the value reads one in which they differ. Whichever of the two has the
# shared coordinate larger, by however little, is attended to alone.
def tie_jump(
    layer: DecoderLayer, tokens: Float64[np.ndarray, "i w"], *, target: int, radius: float, distance: float
) -> TieJump:
    """The jump of a layer without self-attention at the exact `tokens`; the moved value writes coordinate `target`.

    Parameters move by `radius` in the 2-norm, the inputs lie `distance` apart. Raises ValueError where no two tokens
    share one coordinate and differ in another.
    """
    if layer.decoder_attention is not None:
        raise ValueError(f"tie_jump: the self-attention of layer '{layer.name}' is used, so that its scores do not tie")
    shared, different, pair = _tied_pair(tokens)
    part = radius / np.sqrt(3.0)  # of each of the three parameters that move: one of W_Q's bias, one of W_K, one of W_V
    outputs = []
    for winner in pair:
        moved = tokens.copy()
        moved[winner, shared] += distance / 2  # the two inputs differ in two tokens, by distance / 2 each
        scores = np.concatenate([[0.0], part * part * moved[:, shared]])  # the null key has score 0
        best = scores == scores.max()
        values = np.concatenate([[0.0], part * moved[:, different]])
        stream = moved[-1].copy()
        stream[target] += values[best].mean()
        W, b = layer.feedforward[0].dense()
        outputs.append(np.maximum(W @ stream + b, 0.0))
    return TieJump(layer.name, radius, distance / 2, float(np.linalg.norm(outputs[0] - outputs[1])))


def _tied_pair(tokens: np.ndarray) -> tuple[int, int, tuple[int, int]]:
    """A coordinate that two tokens (the last one aside) share as 1, one in which they differ, and the two."""
    for s in range(len(tokens) - 1):
        for t in range(s + 1, len(tokens) - 1):
            shared = np.flatnonzero((tokens[s] == 1) & (tokens[t] == 1))
            different = np.flatnonzero(tokens[s] != tokens[t])
            if len(shared) and len(different):
                return int(shared[0]), int(different[0]), (s, t)
    raise ValueError("tie_jump: no two of the tokens share one coordinate and differ in another; give a longer run")
