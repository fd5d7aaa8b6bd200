"""A lower bound of the total variation of two laws, from draws of both.

Shapes: m draws, d coordinates.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float64
from torch import Tensor

CELLS = 16  # of a grid in the first coordinates, together


@dataclass(frozen=True)
class Apart:
    """The total variation is at least `sure`, with the probability that was asked for; `seen` is its estimate."""

    seen: float
    sure: float


# TV >= P(A) - Q(A) for every set A. The first halves choose A, a union of cells; the second halves are independent and
# give both shares of A. Each is off by sqrt(log(2/failure)/(2 m)) with probability at most failure/2 (Hoeffding).
def apart(one: Float64[Tensor, "m d"], other: Float64[Tensor, "k d"], failure: float) -> Apart:
    """At least the total variation of the laws of `one` and `other`, with probability at least 1 - failure."""
    halves = [(each[: len(each) // 2], each[len(each) // 2 :]) for each in (one, other)]
    coordinates = min(one.shape[-1], 2)
    each = round(CELLS ** (1 / coordinates))
    levels = torch.arange(1, each, dtype=torch.float64, device="cpu") / each
    ends = torch.quantile(halves[1][0][:, :coordinates], levels, dim=0).T.contiguous()  # (coordinates, each - 1)

    def shares(points: Tensor) -> Tensor:
        places = torch.searchsorted(ends, points[:, :coordinates].T.contiguous())  # (coordinates, m)
        powers = each ** torch.arange(coordinates, dtype=torch.int64, device="cpu")[:, None]
        return torch.bincount((places * powers).sum(0), minlength=each**coordinates).double() / len(points)

    chosen = shares(halves[0][0]) > shares(halves[1][0])
    seen = float((shares(halves[0][1]) - shares(halves[1][1]))[chosen].sum())
    margins = sum(math.sqrt(math.log(2 / failure) / (2 * len(second))) for _, second in halves)
    return Apart(seen, max(0.0, seen - margins))
