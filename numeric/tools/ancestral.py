"""Ancestral sampling: from noise back along the Ornstein-Uhlenbeck process, by any score.

Shapes: m samples, d coordinates, M steps.
"""

import math
from collections.abc import Callable
from itertools import pairwise

import torch
from jaxtyping import Float64
from torch import Tensor

Score = Callable[[Tensor, float], Tensor]  # of x (m, d) at a time


def times(T: float, T_0: float, steps: int) -> list[float]:
    """t_0 = T, ..., t_M = T_0, equally far apart."""
    return [T_0 + (T - T_0) * (steps - k) / steps for k in range(steps + 1)]


def ancestral(
    score: Score, start: Float64[Tensor, "m d"], along: list[float], generator: torch.Generator
) -> Float64[Tensor, "m d"]:
    """y_{k+1} = e^h y_k + 2 sinh(h) score(y_k, t_k) + sqrt(e^(2h) - 1) z_k, h = t_k - t_{k+1}."""
    y = start
    for now, after in pairwise(along):
        h = now - after
        noise = torch.randn(y.shape, generator=generator, dtype=torch.float64, device="cpu")
        y = math.exp(h) * y + 2 * math.sinh(h) * score(y, now) + math.sqrt(math.expm1(2 * h)) * noise
    return y
