"""Norms and extremes over the last axes, on tensors (with finite gradients) and on arrays of balls.

Shapes: ... tokens, m coordinates; a matrix carries its rows and columns last.
"""

from collections.abc import Callable, Sequence
from typing import Any

import flint
import numpy as np
import torch

from numeric.balls import BallArray
from numeric.balls.errors import undecided
from numeric.networks.norms import spectral_norm_upper
from symbolic.derivations.derivation import Norm

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


NORMS = {Norm.INF: lambda a: largest(abs(a)), Norm.ONE: one_norm, Norm.TWO: two_norm}


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


def rounding(size: Array) -> Array:
    """What the rounding of a few operations on floats of that size stays far below; balls are not rounded."""
    return 0 * size if isinstance(size, BallArray) else 2.0**-40 * size


def at_each(function: Callable[..., Array], *points: Sequence[Array]) -> list[Array]:
    """The function at the first point of each sequence, at the second, ...: on tensors at all of them at once."""
    if isinstance(points[0][0], torch.Tensor):
        return list(torch.func.vmap(function)(*(torch.stack(list(each)) for each in points)))
    return [function(*each) for each in zip(*points, strict=True)]


def is_number(matrix: Any) -> bool:
    return isinstance(matrix, int | float) or matrix.ndim == 0


def spectral(a: Array) -> Array:
    """At least the largest singular value of the last two axes, (..., m, k) to (...); on tensors up to rounding.

    Of tensors with more than EXACT_SIDE rows and columns it is the cheaper bound of `_by_squaring`.
    """
    if isinstance(a, BallArray):
        return _spectral_of_balls(a)
    if min(a.shape[-2:]) <= EXACT_SIDE:
        return _largest_singular_value(a)
    unit = _divisor(torch.amax(abs(a.detach()), (-2, -1)))
    scaled = a / unit[..., None, None]
    gram = scaled @ scaled.mT if a.shape[-2] <= a.shape[-1] else scaled.mT @ scaled
    size = _size(gram.diagonal(dim1=-2, dim2=-1))
    return unit * size.sqrt() * _by_squaring((gram / size[..., None, None]).to(_working(gram)))


def spectral_of_scaled(rows: Array, matrix: Array) -> Array:
    """The same of diag(d) A for the d of each token, (..., m) and (m, k) to (...)."""
    m, k = matrix.shape
    if isinstance(rows, BallArray) or m > k or m <= EXACT_SIDE:
        return spectral(rows.unsqueeze(-1) * matrix)
    sizes = _divisor(torch.amax(abs(matrix.detach()), -1))  # (m,): M, in float32, would be 0 for small matrices
    rows, matrix = rows * sizes, matrix / sizes.unsqueeze(-1)
    gram = matrix @ matrix.mT
    unit = _divisor(torch.amax(abs(rows.detach()), -1))
    scaled = rows / unit.unsqueeze(-1)
    root = _size(scaled**2 * gram.diagonal()).sqrt()
    scaled, gram = (each.to(_working(gram)) for each in (scaled / root.unsqueeze(-1), gram))
    return unit * root * _by_squaring(scaled.unsqueeze(-1) * gram * scaled.unsqueeze(-2))


EXACT_SIDE, FLOAT32_SIDE = 8, 128  # up to so many rows
SQUARINGS = 4
ROOT = 0.5 / 2**SQUARINGS


def _largest_singular_value(a: torch.Tensor) -> torch.Tensor:
    """Infinite for a matrix with an entry that is not finite, which LAPACK refuses."""
    # Its gradient is u v^T; through autograd's own rule it is undefined at ties.
    finite = torch.isfinite(a.detach())
    held = torch.where(finite, a, torch.zeros_like(a))
    u, _, vh = torch.linalg.svd(held.detach(), full_matrices=False)
    found = (u[..., :, 0].unsqueeze(-2) @ held @ vh[..., 0, :].unsqueeze(-1))[..., 0, 0]
    return torch.where(finite.all(-1).all(-1), found, torch.inf)


# With s_1 >= s_2 >= ... the singular values of A and M = A A^T, ||M^q||_F = (s_1^(4q) + ... + s_m^(4q))^(1/2): its root
# of order 2q, here q = 16, is between s_1 and m^(1/(4q)) s_1.
# Rounding to float32, u = 2^-24: the computed P^T P is within m u ||P||_F^2 <= m^2 u ||P||_2^2 of the exact one, and
# ||P^T P||_2 = ||P||_2^2. A relative error in the j-th square counts 2^-(j+1) times in the root, so that all of them
# lower it by less than m^2 u, and those of M (5 m u ||M||_2) by less than as much again for m > 8.
def _by_squaring(gram: torch.Tensor) -> torch.Tensor:
    """At least ||A||_2, for M = A A^T of `_size` 1, (..., m, m) to (...)."""
    power = gram
    for _ in range(SQUARINGS):
        power = power.mT @ power
    norm = torch.linalg.matrix_norm(power).double()
    above = 1 + gram.shape[-1] ** 2 * 2.0**-23 if gram.dtype == torch.float32 else 1.0
    return torch.where(norm > 0, above * _divisor(norm) ** ROOT, norm)


# The largest M_ii is at most ||M||_2, and that at most the trace, at most m M_ii: divided by the root of their product,
# ||M||_2 is between m^(-1/2) and m^(1/2), and the square of ||M^16||_F neither overflows nor underflows in float32.
def _size(diagonal: torch.Tensor) -> torch.Tensor:
    """Of M, (..., m) to (...): what to divide M by before it is squared."""
    held = diagonal.detach()
    return _divisor((torch.amax(held, -1) * held.sum(-1)).sqrt())


def _working(a: torch.Tensor) -> torch.dtype:
    """Float32 where that is faster and its rounding small."""
    small = a.shape[-1] <= FLOAT32_SIDE and a.device.type == "cpu"
    return torch.float32 if small and torch.get_float32_matmul_precision() == "highest" else torch.float64


def _divisor(a: torch.Tensor) -> torch.Tensor:
    """1 in the place of 0."""
    return torch.where(a > 0, a, torch.ones_like(a))


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
    """What is not a number (infinity times 0, where a bound overflows) bounds nothing."""
    return a if isinstance(a, BallArray) else torch.where(a.isnan(), torch.inf, a)


def all_hold(truths: Any) -> Any:
    """Whether all of them certainly hold: a bool of balls, a tensor of one truth value of tensors."""
    return truths.all() if isinstance(truths, torch.Tensor) else all(each is True for each in truths.entries.flat)


def unit_vector(scores: Array) -> Array:
    """1 at the largest score, 0 elsewhere; at ties at the first of them."""
    if isinstance(scores, BallArray):
        return _unit_vector_of_balls(scores)
    places = torch.arange(scores.shape[-1], device=scores.device, dtype=torch.int64)
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
    decided = all(score < best for score in scores[:leader]) and all(best >= score for score in scores[leader + 1 :])
    return leader if decided else None


def largest_places(scores: Array, count: int) -> Array:
    """1 at the `count` largest scores, 0 elsewhere; of equal scores the first ones count as larger.

    Raises BallsError where balls do not tell the last that is kept from the first that is not.
    """
    if isinstance(scores, BallArray):
        return _largest_places_of_balls(scores, count)
    order = torch.argsort(torch.argsort(scores, dim=-1, descending=True, stable=True), dim=-1)
    return (order < count).to(scores.dtype)


def _largest_places_of_balls(scores: BallArray, count: int) -> BallArray:
    rows = scores.entries.reshape(-1, scores.shape[-1])
    found = np.zeros(rows.shape)
    for place, row in enumerate(rows.tolist()):
        middles = [float(score.mid()) for score in row]
        order = sorted(range(len(row)), key=middles.__getitem__, reverse=True)
        kept, left = order[:count], order[count:]
        if not all(_leads(row, one, other) for one in kept for other in left):
            raise undecided("which scores are the largest", scores.bits)
        found[place, kept] = 1.0
    return BallArray.exactly(found.reshape(tuple(scores.shape)), scores.bits)


def cut_weights(weights: Array, kept: Array) -> Array:
    """Those of the keys where `kept` is 1, in proportion; where it is 1 for all of them, the very same weights."""
    found = weights * kept
    return torch.where(torch.amin(kept, -1, keepdim=True) > 0, weights, found / found.sum(-1, keepdim=True))


def _leads(scores: list[flint.arb], one: int, other: int) -> bool:
    """Whether that score surely counts as larger: equal ones do in their order."""
    return bool(scores[one] > scores[other] or (one < other and scores[one] >= scores[other]))


def turned(x: Array, angles: Array) -> Array:
    """Coordinates 2 k and 2 k + 1 by the k-th angle: (..., d) and (..., d/2) to (..., d)."""
    cos, sin, first, second = torch.cos(angles), torch.sin(angles), x[..., 0::2], x[..., 1::2]
    return torch.stack([cos * first - sin * second, sin * first + cos * second], -1).flatten(-2)


def attended(weights: Array, values: Array) -> Array:
    """(..., n) and (..., n, m) to (..., m)."""
    return (weights.unsqueeze(-2) @ values).squeeze(-2) if weights.ndim == values.ndim - 1 else weights @ values


def attended_norms(weights: Array, norms: Array) -> Array:
    """sum_i w_i n_i: (..., n) and (..., n) to (...)."""
    return (weights * norms).sum(-1)


def between(function: Callable[[Array], Array], middle: Array, r: Array) -> tuple[Array, Array]:
    """A function that does not decrease: its value at the middle, and by how much it differs within r of it."""
    found = function(middle)
    return found, torch.maximum(function(middle + r) - found, found - function(middle - r))
