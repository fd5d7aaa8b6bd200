"""Means over random inputs that a run samples: rows with a confidence interval."""

import math

import flint
import torch
from jaxtyping import Float64
from torch import Tensor

from bridge.judging.binomial import LEVEL
from bridge.theorems.check import Sides
from bridge.theorems.numbers import plain
from numeric.tools.mean_squares import empirical_bernstein


def uniform(samples: int, seed: int, *shape: int) -> Tensor:
    """Numbers in [0, 1], (samples, *shape)."""
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(samples, *shape, generator=generator, dtype=torch.float64, device="cpu")


def root_mean_square(errors: Float64[Tensor, " n"], cap: float) -> Sides:
    """The root of the mean square of independent errors in [0, cap], as an interval of confidence 1 - LEVEL."""
    found = empirical_bernstein(errors**2, cap**2, LEVEL)
    low, high = math.sqrt(found.low), math.sqrt(found.high)
    words = (
        f"between {plain(low)} and {plain(high)} at a confidence of 1 - {LEVEL:g}, as no error is above {plain(cap)}"
    )
    measured = float((errors**2).mean().sqrt())
    return Sides(flint.arb(low).union(flint.arb(high)), measured, samples=len(errors), remark=words)
