"""Draws of (t, omega) from Lambda of (79), for a spectrum given by parts: a radial density, lines, limits omega -> 0.

Shapes: n draws, d coordinates, G points of a table.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

LIMIT = 2.0**-100  # |omega| in place of 0: ridges are lines in float64
LEAST, MOST, POINTS = -24.0, 24.0, 1 << 14  # of log |omega|, for the table of a law
LEFT, RIGHT = -2.0, 1.0  # the range of t


@dataclass(frozen=True)
class FeatureDraw:
    """n features: t (n), |omega| `radius` (n), omega/|omega| `direction` (n, d), and the `part` (n) of the spectrum.

    Tensors, or arrays of balls.
    """

    t: Any
    radius: Any
    direction: Any
    part: Any


@dataclass(frozen=True)
class Part:
    """A part of the measure |omega| F^sup d omega: its mass and, for each |omega|, what its law is proportional to.

    Without a `direction` (d) it is isotropic; with one it lies on that line, both ways. Without a `law` it is a limit.
    """

    mass: float
    law: Callable[[Tensor], Tensor] | None
    direction: Tensor | None = None


def draw(parts: Sequence[Part], d: int, count: int, generator: torch.Generator) -> FeatureDraw:
    """Independent draws: the part by its mass, then |omega| and direction, and t uniform in [-2, 1]."""
    masses = torch.tensor([part.mass for part in parts], dtype=torch.float64, device="cpu")
    chosen = torch.multinomial(masses, count, replacement=True, generator=generator)
    normal = torch.randn(count, d, generator=generator, dtype=torch.float64, device="cpu")
    shares = torch.rand(3, count, generator=generator, dtype=torch.float64, device="cpu")
    direction = normal / torch.linalg.vector_norm(normal, dim=1, keepdim=True)
    radius = torch.full((count,), LIMIT, dtype=torch.float64, device="cpu")
    for place, part in enumerate(parts):
        mine = chosen == place
        if part.law is not None:
            radius[mine] = quantile(part.law, shares[0][mine])
        if part.direction is not None:
            direction[mine] = (2 * (shares[1][mine] >= 0.5).double() - 1).unsqueeze(1) * part.direction
    return FeatureDraw(LEFT + (RIGHT - LEFT) * shares[2], radius, direction, chosen)


def quantile(law: Callable[[Tensor], Tensor], share: Tensor) -> Tensor:
    """The radii below which these shares of the law lie; its table is linear in log |omega|."""
    logs = torch.linspace(LEAST, MOST, POINTS, dtype=torch.float64, device="cpu")  # (G)
    weight = torch.nan_to_num(law(logs.exp()) * logs.exp(), nan=0.0, posinf=0.0)
    below = torch.cumulative_trapezoid(weight, logs)
    below = torch.cat([below.new_zeros(1), below]) / below[-1]
    place = torch.searchsorted(below, share, right=True).clamp(1, POINTS - 1)
    low, high = below[place - 1], below[place]
    inside = (share - low) / (high - low).clamp_min(torch.finfo(torch.float64).tiny)
    return torch.lerp(logs[place - 1], logs[place], inside.clamp(0, 1)).exp()
