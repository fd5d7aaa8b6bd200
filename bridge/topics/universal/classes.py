"""A class of functions by its spectrum, ready to be drawn from."""

from collections.abc import Callable

import sympy as sp
import torch
from torch import Tensor

from bridge.lowering import lower
from bridge.lowering.ball_values import evaluate_ball
from numeric.topics.universal.sampling import Part
from symbolic.topics.universal.barron_derivation import BarronClass, Direction, r


def parts_of(spectrum: BarronClass) -> list[Part]:
    """The parts of |omega| F^sup in the order of `BarronClass.masses`, those of mass 0 among them."""
    d = int(spectrum.d)
    masses = [float(evaluate_ball(mass, {}).upper()) for mass in spectrum.masses]
    laws = [_law(spectrum.radial * r**d), *(_law(part) for _, part in spectrum.lines), *(None for _ in spectrum.limits)]
    directions = [None, *(_vector(u) for u, _ in (*spectrum.lines, *spectrum.limits))]
    return [Part(*each) for each in zip(masses, laws, directions, strict=True)]


def _law(density: sp.Expr) -> Callable[[Tensor], Tensor]:
    lowered = lower(density, "torch", args=(r,), watch=False)
    return lambda radius: lowered(radius) * torch.ones_like(radius)


def _vector(direction: Direction) -> Tensor:
    return torch.tensor([float(each) for each in direction], dtype=torch.float64, device="cpu")
