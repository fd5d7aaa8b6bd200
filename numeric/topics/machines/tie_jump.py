"""A hard-max layer at a tie: at moved parameters, an exact input and a near one whose output is far off.

Definition D.2 compares f(h, theta') with f(h', theta'), where h is exact and h' close to it. At h two tokens tie, so
that the mean of their moved values is added; at h' one of them is ahead, by however little, and its value alone is.

Shapes: i tokens, w width of the stream, K width of query and key.
"""

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from jaxtyping import Float64

from numeric.topics.machines.modules import DecoderLayer, NullKeyAttention

Tokens = Float64[np.ndarray, "i w"]


@dataclass(frozen=True)
class TieJump:
    """||f(h, theta') - f(h', theta')|| = `output` at max_t ||h_t - h'_t|| = `input`, ||theta' - theta|| = `move`.

    h is exact; `step` is the token that attends.
    """

    layer: str
    step: int
    move: float
    input: float
    output: float

    @property
    def ratio(self) -> float:
        return self.output / self.input


@dataclass(frozen=True, eq=False)
class _Moved:
    """The self-attention of a layer, its parameters moved, and W_1, b_1 after it."""

    query: tuple[np.ndarray, np.ndarray]  # (K, w), (K,)
    key: tuple[np.ndarray, np.ndarray]
    value: tuple[np.ndarray, np.ndarray]  # (w, w), (w,)
    null_key: np.ndarray  # (K,)
    null_value: np.ndarray  # (w,)
    first: tuple[np.ndarray, np.ndarray]

    def asks(self, tokens: Tokens) -> np.ndarray:
        return _affine(self.query, tokens[-1])  # (K,)

    def best(self, tokens: Tokens) -> np.ndarray:
        """Which of the null key and the tokens have the largest score: (i + 1,) bool."""
        keys = np.vstack([self.null_key, tokens @ self.key[0].T + self.key[1]])
        scores = keys @ self.asks(tokens)
        return np.asarray(scores == scores.max())

    def output(self, tokens: Tokens) -> np.ndarray:
        """phi(W_1 (h + the mean of the attended values) + b_1) at the last token: (w,)."""
        values = np.vstack([self.null_value, tokens @ self.value[0].T + self.value[1]])
        return np.maximum(_affine(self.first, tokens[-1] + values[self.best(tokens)].mean(0)), 0.0)


def _affine(module: tuple[np.ndarray, np.ndarray], h: np.ndarray) -> np.ndarray:
    return np.asarray(module[0] @ h + module[1])


# Two tokens with one key tie (Claim C.4: the head has visited this location twice). Only W_V is moved.
def tie_jump(layer: DecoderLayer, tokens: Tokens, *, target: int, radius: float, distance: float) -> TieJump | None:
    """The jump at the first of the exact `tokens` for which two others tie; the moved value writes coordinate `target`.

    Parameters move by `radius` in the 2-norm, h' lies `distance` from h. None where no two tokens tie and differ.
    Raises ValueError for a layer without self-attention.
    """
    attention = layer.decoder_attention
    if attention is None:
        raise ValueError(f"tie_jump: layer '{layer.name}' has no self-attention")
    at_rest = _at_rest(layer, attention)
    for step in range(3, len(tokens) + 1):
        seen = tokens[:step]
        best = np.flatnonzero(at_rest.best(seen)[1:-1])
        for pair in combinations(best.tolist(), 2):
            if found := _largest(layer.name, at_rest, seen, pair, target, radius, distance):
                return found
    return None


def _at_rest(layer: DecoderLayer, attention: NullKeyAttention) -> _Moved:
    modules = (attention.query.dense(), attention.key.dense(), attention.value.dense())
    return _Moved(*modules, attention.null_key, attention.null_value, layer.feedforward[0].dense())


def _largest(
    layer: str, moved: _Moved, tokens: Tokens, pair: tuple[int, int], target: int, radius: float, distance: float
) -> TieJump | None:
    """The larger of the two jumps at a tie: W_V moves at one entry, and either token of the pair is put ahead."""
    different = np.flatnonzero(tokens[pair[0]] != tokens[pair[1]])
    if not len(different):
        return None
    W, b = moved.value[0].copy(), moved.value[1]
    W[target, different[0]] += radius
    at = replace(moved, value=(W, b))
    pull = at.key[0].T @ at.asks(tokens)  # (w,): the gradient of the score of a token
    place = int(np.abs(pull).argmax())
    exact, outputs = at.output(tokens), []
    for winner in pair:
        near = tokens.copy()
        near[winner, place] += distance * np.sign(pull[place])
        outputs.append(float(np.linalg.norm(at.output(near) - exact)))
    return TieJump(layer, len(tokens), radius, distance, max(outputs))
