"""The distance of two runs of one quantity: on tensors, for each prompt, and enclosed."""

from collections.abc import Sequence

import flint
import torch
from torch import Tensor

from numeric.balls import BallArray, ball_maximum, working_precision
from symbolic.words.errors import UsageError

ORDERS = {"inf": torch.inf, "1": 1, "2": 2}


def distance(norm: str, name: str, found: Tensor, truth: Tensor, *, tokens: bool = False) -> Tensor:
    """The norm of each difference, over all entries as one vector, or of the largest token, (B).

    Raises UsageError for shapes that differ.
    """
    if found.shape != truth.shape:
        raise UsageError(
            f"'{name}' has the shape {tuple(found.shape[1:])} in the network and {tuple(truth.shape[1:])} in the "
            f"reference; return arrays of one shape"
        )
    if tokens and found.ndim > 2:
        return torch.linalg.vector_norm(found - truth, ord=ORDERS[norm], dim=-1).flatten(1).amax(-1)
    return torch.linalg.vector_norm((found - truth).reshape(len(found), -1), ord=ORDERS[norm], dim=1)


def exact_distance(norm: str, one: BallArray, other: BallArray | Tensor, *, tokens: bool = False) -> flint.arb:
    """The norm of the difference, or of its largest token, enclosed. Raises UsageError for shapes that differ."""
    if tuple(one.shape) != tuple(other.shape):
        raise UsageError(
            f"two runs of one quantity give arrays of the shapes {tuple(one.shape)} and {tuple(other.shape)}"
        )
    apart = one - (other.double().cpu().numpy() if isinstance(other, Tensor) else other)
    with working_precision(one.bits):
        sizes = [abs(ball) for ball in apart.balls]
        width = apart.shape[-1] if tokens and apart.ndim > 1 else max(1, len(sizes))
        return ball_maximum([_norm(norm, sizes[start : start + width]) for start in range(0, len(sizes), width)])


def _norm(norm: str, sizes: Sequence[flint.arb]) -> flint.arb:
    if norm == "inf":
        return ball_maximum(sizes)
    if norm == "1":
        return sum(sizes, start=flint.arb(0))
    total = sum((size * size for size in sizes), start=flint.arb(0))
    return total.sqrt() if total > 0 else flint.arb(0).union(total.abs_upper().sqrt())  # all may be 0
