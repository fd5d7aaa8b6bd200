"""Mean squares E|e(x)|^2 under a Gaussian mixture: enclosed in one dimension, with a confidence interval beyond.

Shapes: G knots, n draws.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float64
from torch import Tensor

from numeric.networks.stream import StreamError
from numeric.tools.mixtures import Mixture

Field = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class MeanSquare:
    """Ends of an enclosure, rounded apart by the share ROUNDED of the upper one."""

    low: float
    high: float


ROUNDED = 2.0**-36


# On the knots' range e is the piecewise-linear interpolant l and a rest of size at most h^2 sup|e''| / 8 + `off`: the
# norms in L^2(p) of e and of l differ by that at most. The integral of l^2 p over a cell is exact by the moments of p.
# Beyond the last knots |e| <= slope |x| + offset, whose square has the moments' integral too.
def enclosed_on_line(
    mixture: Mixture,
    knots: Float64[Tensor, " G"],
    values: Float64[Tensor, " G"],
    *,
    bend: float,
    off: float = 0.0,
    slope: float,
    offset: float,
) -> MeanSquare:
    """E e(x)^2 for d = 1, from values of e at increasing knots; `bend` is at least |e''| between them.

    `values` may be off by `off`; beyond the knots |e(x)| is at most slope |x| + offset. Raises StreamError for knots on
    one side of 0 alone.
    """
    first, last = float(knots[0]), float(knots[-1])
    if not first <= 0 <= last:  # else x has both signs beyond an end
        raise StreamError("enclosed_on_line", f"knots from {first} to {last}", "Give knots on both sides of 0.")
    widths = knots[1:] - knots[:-1]
    slopes = (values[1:] - values[:-1]) / widths
    starts = values[:-1] - slopes * knots[:-1]
    m0, m1, m2 = mixture.moments(knots[:-1], knots[1:])
    inside = math.sqrt(max(0.0, float((starts**2 * m0 + 2 * starts * slopes * m1 + slopes**2 * m2).sum())))
    rest = bend * float(widths.max()) ** 2 / 8 + off
    ends = knots.new_tensor([[-torch.inf, last], [first, torch.inf]])
    t0, t1, t2 = mixture.moments(*ends)
    tails = float((offset**2 * t0 + 2 * offset * slope * t1.abs() + slope**2 * t2).sum())
    high = (inside + rest) * (inside + rest) + max(0.0, tails)
    return MeanSquare(max(0.0, inside - rest) ** 2 - ROUNDED * high, high * (1 + ROUNDED))


# Maurer and Pontil 2009, Theorem 4, for numbers in [0, cap], on both sides: each fails with probability failure / 2.
def empirical_bernstein(values: Float64[Tensor, " n"], cap: float, failure: float) -> MeanSquare:
    """The mean of independent numbers in [0, cap] is inside with probability at least 1 - failure."""
    n, log = len(values), math.log(4 / failure)
    mean, margin = float(values.mean()), math.sqrt(2 * float(values.var()) * log / n) + 7 * cap * log / (3 * (n - 1))
    return MeanSquare(max(0.0, mean - margin), mean + margin)


# |z| of a standard normal vector has the moments 2^(m/2) Gamma((d + m)/2, r^2/2) / Gamma(d/2) beyond r.
def normal_tail(d: int, order: int, radius: float) -> float:
    """E |z|^order over |z| > radius, z standard normal in d dimensions."""
    half = torch.tensor([(d + order) / 2, radius**2 / 2], dtype=torch.float64, device="cpu")
    gammas = math.lgamma((d + order) / 2) - math.lgamma(d / 2)
    return 2 ** (order / 2) * math.exp(gammas) * float(torch.special.gammaincc(half[0], half[1]))
