"""A hard-max layer at a tie: moved parameters, and beside an exact input one whose output is far off.

Definition D.2 compares f(h, theta') with f(h', theta'), where h is exact and h' close to it. At h two tokens tie, so
that the mean of their moved values is added; at h' one of them is ahead, by however little, and its value alone is.

Shapes: i tokens, w width of the stream, K width of query and key.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float64

from numeric.machines.modules import Attention, DecoderLayer

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
    """A layer's self-attention, its parameters moved, and W_1, b_1 behind it."""

    query: tuple[np.ndarray, np.ndarray]  # (K, w), (K,)
    key: tuple[np.ndarray, np.ndarray]
    value: tuple[np.ndarray, np.ndarray]  # (w, w), (w,)
    null_key: np.ndarray  # (K,)
    null_value: np.ndarray  # (w,)
    first: tuple[np.ndarray, np.ndarray]

    def asks(self, tokens: Tokens) -> np.ndarray:
        return _affine(self.query, tokens[-1])  # (K,)

    def best(self, tokens: Tokens) -> np.ndarray:
        """Which of the null key and the tokens have the best score: (i + 1,) bool."""
        keys = np.vstack([self.null_key, tokens @ self.key[0].T + self.key[1]])
        scores = keys @ self.asks(tokens)
        return np.asarray(scores == scores.max())

    def output(self, tokens: Tokens) -> np.ndarray:
        """phi(W_1 (h + the mean of the best values) + b_1) at the last token: (w,)."""
        values = np.vstack([self.null_value, tokens @ self.value[0].T + self.value[1]])
        return np.maximum(_affine(self.first, tokens[-1] + values[self.best(tokens)].mean(0)), 0.0)


def _affine(module: tuple[np.ndarray, np.ndarray], h: np.ndarray) -> np.ndarray:
    return np.asarray(module[0] @ h + module[1])


# The self-attention is unused: Q = K = V = 0, so that all tokens tie. Moved a little, the query asks for a coordinate
# that two tokens share, and the value reads one in which they differ.
def unused_jump(layer: DecoderLayer, tokens: Tokens, *, target: int, radius: float, distance: float) -> TieJump | None:
    """The jump of a layer without self-attention at the exact `tokens`; the moved value writes coordinate `target`.

    Parameters move by `radius` in the 2-norm, h' lies `distance` from h. None where no two tokens share one coordinate
    and differ in another. Raises ValueError for a layer whose self-attention is used.
    """
    if layer.decoder_attention is not None:
        raise ValueError(f"unused_jump: the self-attention of layer '{layer.name}' is used, so that not all scores tie")
    w = tokens.shape[1]
    part = radius / np.sqrt(3.0)  # of each of the three parameters that move: one of W_Q's bias, one of W_K, one of W_V
    for s, t in _pairs(range(len(tokens) - 1)):
        shared = np.flatnonzero((tokens[s] == 1) & (tokens[t] == 1))
        if not len(shared):
            continue
        matrix, one, none = np.zeros((1, w)), np.array([part]), np.zeros(1)
        matrix[0, shared[0]] = part
        zero = np.zeros((w, w)), np.zeros(w)
        at_rest = _Moved((np.zeros((1, w)), one), (matrix, none), zero, none, zero[1], layer.feedforward[0].dense())
        if found := _largest(layer.name, at_rest, tokens, (s, t), target, (part, radius, distance)):
            return found
    return None


# Two tokens with one key tie by themselves (Claim C.4: the head was at this place twice). Only W_V is moved.
def used_jump(layer: DecoderLayer, tokens: Tokens, *, target: int, radius: float, distance: float) -> TieJump | None:
    """The same of a layer that attends to itself, at the first of the tokens for which two others tie."""
    attention = layer.decoder_attention
    if attention is None:
        raise ValueError(f"used_jump: layer '{layer.name}' has no self-attention")
    at_rest = _at_rest(layer, attention)
    for step in range(3, len(tokens) + 1):
        seen = tokens[:step]
        best = np.flatnonzero(at_rest.best(seen)[1:-1])
        for pair in _pairs(best.tolist()):
            if found := _largest(layer.name, at_rest, seen, pair, target, (radius, radius, distance)):
                return found
    return None


def _at_rest(layer: DecoderLayer, attention: Attention) -> _Moved:
    modules = (attention.query.dense(), attention.key.dense(), attention.value.dense())
    return _Moved(*modules, attention.null_key, attention.null_value, layer.feedforward[0].dense())


def _largest(
    layer: str, moved: _Moved, tokens: Tokens, pair: tuple[int, int], target: int, sizes: tuple[float, float, float]
) -> TieJump | None:
    """The larger of the two jumps at a tie: W_V moves at one entry, and either token of the pair is put ahead."""
    part, radius, distance = sizes
    different = np.flatnonzero(tokens[pair[0]] != tokens[pair[1]])
    if not len(different):
        return None
    W, b = moved.value[0].copy(), moved.value[1]
    W[target, different[0]] += part
    at = replace(moved, value=(W, b))
    pull = at.key[0].T @ at.asks(tokens)  # (w,): how a token's score depends on it
    place = int(np.abs(pull).argmax())
    exact, outputs = at.output(tokens), []
    for winner in pair:
        near = tokens.copy()
        near[winner, place] += distance * np.sign(pull[place])
        outputs.append(float(np.linalg.norm(at.output(near) - exact)))
    return TieJump(layer, len(tokens), radius, distance, max(outputs))


def _pairs(places: range | list[int]) -> Iterator[tuple[int, int]]:
    for index, s in enumerate(places):
        for t in places[index + 1 :]:
            yield s, t
