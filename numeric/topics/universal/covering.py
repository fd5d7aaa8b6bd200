"""Separated sets: how many points are pairwise further apart than a radius, found greedily."""

from collections.abc import Callable

import torch
from torch import Tensor


def separated(points: Tensor, radius: float) -> int:
    """The size of a subset of `points` (P, m) whose members are more than `radius` apart in the 2-norm."""
    return _greedy(
        lambda place, kept: torch.linalg.vector_norm(points[kept] - points[place], dim=1), len(points), radius
    )


def separated_functions(values: Tensor, radius: float) -> int:
    """The same of functions by their values (P, X), in the sup norm."""
    return _greedy(lambda place, kept: (values[kept] - values[place]).abs().amax(1), len(values), radius)


def _greedy(distances: Callable[[int, list[int]], Tensor], count: int, radius: float) -> int:
    kept = [0]
    for place in range(1, count):
        if bool((distances(place, kept) > radius).all()):
            kept.append(place)
    return len(kept)


def in_ball(count: int, d: int, generator: torch.Generator) -> Tensor:
    """Points of the unit ball, many of them on its sphere, (count, d)."""
    normal = torch.randn(count, d, generator=generator, dtype=torch.float64, device="cpu")
    share = torch.rand(count, 1, generator=generator, dtype=torch.float64, device="cpu")
    return normal / torch.linalg.vector_norm(normal, dim=1, keepdim=True) * (1.3 * share).clamp(max=1) ** (1 / d)
