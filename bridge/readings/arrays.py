"""Norms and extremes over the last axes, on tensors (with finite gradients) and on arrays of balls.

Shapes: ... tokens, m coordinates; a matrix carries its rows and columns last.
"""

from typing import Any

import flint
import numpy as np
import torch

from numeric.balls import BallArray
from numeric.balls.errors import undecided
from numeric.norms import spectral_norm_upper

Array = Any  # a float64 tensor, or an array of balls


def two_norm(a: Array) -> Array:
    """Over the last axis; its gradient at 0 is 0."""
    return torch.linalg.vector_norm(a, dim=-1)


def one_norm(a: Array) -> Array:
    """Over the last axis."""
    return abs(a).sum(-1)


def largest(a: Array) -> Array:
    """Over the last axis."""
    return torch.amax(a, -1)


def joint(norms: list[Array]) -> Array:
    """The root of the sum of squares, token by token."""
    return two_norm(torch.stack(norms, -1))


def applied(matrix: Array, x: Array) -> Array:
    """A x for each token: (..., m) to (..., k). A number scales; a vector gives one number for each token: (...)."""
    if is_number(matrix):
        return x * matrix
    return x @ (matrix if matrix.ndim == 1 else matrix.mT)


def token_mean(x: Array) -> Array:
    """(..., n, m) to (..., m); a value without tokens counts as one token."""
    return torch.atleast_2d(x).mean(-2)


def is_number(matrix: Any) -> bool:
    return isinstance(matrix, int | float) or matrix.ndim == 0


def spectral(a: Array) -> Array:
    """At least the largest singular value of the last two axes; on tensors up to rounding."""
    if isinstance(a, BallArray):
        return _spectral_of_balls(a)
    # The gradient of the largest singular value is u v^T; through autograd's own rule it is undefined at ties.
    u, _, vh = torch.linalg.svd(a.detach(), full_matrices=False)
    return (u[..., :, 0].unsqueeze(-2) @ a @ vh[..., 0, :].unsqueeze(-1))[..., 0, 0]


# ||A||_2 <= ||middle||_2 + ||A - middle||_F.
def _spectral_of_balls(a: BallArray) -> BallArray:
    middle = a.midpoint()
    rest = torch.linalg.matrix_norm(a - BallArray.exactly(middle, a.bits))
    flat = middle.reshape(-1, *middle.shape[-2:])
    norms = np.array([spectral_norm_upper(each) for each in flat]).reshape(middle.shape[:-2])
    return BallArray.exactly(norms, a.bits) + rest


def flat_at_zero(a: Array) -> Array:
    """The same norms, with the gradient 0 where they are 0: a root of their squares has none there."""
    return a if isinstance(a, BallArray) else torch.where(a > 0, a, torch.zeros_like(a))


def bounding(a: Array) -> Array:
    """What is no number (infinity times 0, where a bound overflows) bounds nothing."""
    return a if isinstance(a, BallArray) else torch.where(a.isnan(), torch.inf, a)


def unit_vector(scores: Array) -> Array:
    """1 at the largest score, 0 elsewhere; at ties at the first of them."""
    if isinstance(scores, BallArray):
        return _unit_vector_of_balls(scores)
    places = torch.arange(scores.shape[-1], device=scores.device)
    return (places == scores.argmax(-1, keepdim=True)).to(scores.dtype)


# Middles that are rounded to floats do not tell close scores apart, so that the balls are compared.
def _unit_vector_of_balls(scores: BallArray) -> BallArray:
    rows = scores.entries.reshape(-1, scores.shape[-1])
    winners = [_winner(row.tolist()) for row in rows]
    if None in winners:
        raise undecided("the largest score", scores.bits)
    found = np.arange(rows.shape[1]) == np.array(winners)[:, None]
    return BallArray.exactly(found.reshape(tuple(scores.shape)), scores.bits)


def _winner(scores: list[flint.arb]) -> int | None:
    """The first place of the largest score; None where the balls do not decide it."""
    leader = 0
    for place, score in enumerate(scores):
        leader = place if score > scores[leader] else leader
    if all(scores[leader] > score for place, score in enumerate(scores) if place != leader):
        return leader
    return _winner_by_ends(scores)


def _winner_by_ends(scores: list[flint.arb]) -> int | None:
    lowest = [score.lower() for score in scores]
    leader = 0
    for place, low in enumerate(lowest):
        leader = place if low > lowest[leader] else leader
    best = scores[leader]
    if not all(best >= score for place, score in enumerate(scores) if place != leader):
        return None
    earlier = [place for place in range(leader) if not scores[place] < best]
    if not earlier:
        return leader
    return earlier[0] if scores[earlier[0]] >= best else None
