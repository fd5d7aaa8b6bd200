"""Vectors and operators at the limits of their norms, for a batch of points. Shapes: P points, T tokens, D numbers."""

import numpy as np

from symbolic.calculus import Norm

ORDER = {Norm.INF: np.inf, Norm.ONE: 1, Norm.TWO: 2}


def lengths(vectors: np.ndarray, norm: Norm) -> np.ndarray:
    """The norms of the vectors along the last axis."""
    if norm is Norm.TWO:
        return np.sqrt(np.square(vectors).sum(-1))
    magnitudes = np.abs(vectors)
    return magnitudes.max(-1) if norm is Norm.INF else magnitudes.sum(-1)


def units(vectors: np.ndarray, norm: Norm) -> np.ndarray:
    """The vectors scaled to norm 1; a zero vector becomes the first axis."""
    size = lengths(vectors, norm)[..., None]
    first = np.zeros(vectors.shape[-1])
    first[0] = 1.0
    return np.where(size > 0, vectors / np.where(size > 0, size, 1.0), first)


# |phi(v)| <= ||v|| for all v and phi(v) = ||v|| at the given one: a coordinate for the sup norm, signs for the 1-norm,
# the direction for the 2-norm.
def supporting(vectors: np.ndarray, norm: Norm) -> np.ndarray:
    """The functional of dual norm 1 that attains the norm of each vector."""
    if norm is Norm.TWO:
        return units(vectors, norm)
    signs = np.where(vectors < 0, -1.0, 1.0)
    if norm is Norm.ONE:
        return signs
    largest = np.abs(vectors).argmax(-1)[..., None]
    return np.where(np.arange(vectors.shape[-1]) == largest, signs, 0.0)


def largest(vectors: np.ndarray, norm: Norm) -> np.ndarray:
    """(P, T, D) -> (P, D): the token of largest norm at each point."""
    token = lengths(vectors, norm).argmax(-1)
    return vectors[np.arange(len(vectors)), token]


def softmax_weights(scores: np.ndarray) -> np.ndarray:
    exponentials = np.exp(scores - scores.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def shrink(vectors: np.ndarray, threshold: np.ndarray) -> np.ndarray:
    """The soft threshold."""
    return np.sign(vectors) * np.maximum(np.abs(vectors) - threshold, 0.0)


def onto_ball(vectors: np.ndarray, radius: float) -> np.ndarray:
    """The projection onto the ball of the 2-norm around 0."""
    size = lengths(vectors, Norm.TWO)[..., None]
    return vectors * np.minimum(1.0, radius / np.where(size > 0, size, 1.0))


def over_root_mean_square(vectors: np.ndarray, shift: float) -> np.ndarray:
    return vectors / np.sqrt(np.square(vectors).mean(-1, keepdims=True) + shift)


def turned(vectors: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Each pair of coordinates, as a complex number."""
    pairs = (vectors[..., 0::2] + 1j * vectors[..., 1::2]) * np.exp(1j * angles)
    return np.stack([pairs.real, pairs.imag], -1).reshape(vectors.shape)


def layer_normalised(vectors: np.ndarray, shift: float) -> np.ndarray:
    return (vectors - vectors.mean(-1, keepdims=True)) / np.sqrt(vectors.var(-1, keepdims=True) + shift)
