"""Sums of ReLUs (Wu et al. 2024, Definition 4): piecewise-linear interpolants with their literal ReLUs.

A sum of H ReLUs, f(z) = sum_h c_h max(0, a_h . [z; 1]) with ||a_h||_1 <= 1, is *defined* by its float64 coefficients
(c, a). `heads` adds them up one by one and `exact` encloses that sum in a ball; `__call__` finds the cell of z and
applies its line, which is the same function up to rounding. A sum is a function, not a layer: the layers that hold one
(`ActivationHeads`, `MaskedUnits`, `Multiply`) are run as layers of a `Construction`.

Shapes: M cells, H ReLUs, ... any shape of points.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from numeric.balls import BallArray
from numeric.balls.elementwise import entrywise
from numeric.networks.exact_hinges import ExactHingeSum

POINTS_AT_ONCE = 1 << 22  # entries of the (points, ReLUs) table that `heads` holds at a time


@dataclass(frozen=True, eq=False)
class ReluSum(ExactHingeSum):
    """A sum of hinges as a function of tensors and of arrays of balls."""

    _tables: dict[tuple[torch.dtype, torch.device], tuple[Tensor, Tensor]] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        return f"<ReluSum of {len(self.weights)} ReLUs on [-{self.radius:.6g}, {self.radius:.6g}]>"

    def heads(self, t: Tensor) -> Tensor:
        """The literal sum over all ReLUs at each point, in t's dtype."""
        return literal_sum(self.weights, self.directions, t.unsqueeze(-1))

    def __call__(self, t: Any) -> Any:
        """The same function by look-up: one cell's line a point; differentiable, its gradient the cell's slope.

        Arrays of balls are enclosed point by point, as by `exact`.
        """
        if isinstance(t, BallArray):
            return entrywise(self.exact)(t)
        slopes, intercepts = self.lines(t.dtype, t.device)
        flat = t.reshape(-1)
        cell = self.cell_of(flat)  # unlike `take`, `index_select` has a rule for vmap
        return torch.addcmul(intercepts.index_select(0, cell), slopes.index_select(0, cell), flat).view(t.shape)

    def slope(self, t: Any) -> Any:
        """The slope of the cell of each point (at a knot: of the one on its right; of exact balls: both slopes)."""
        if isinstance(t, BallArray):
            return entrywise(self.exact_slope)(t)
        return self.lines(t.dtype, t.device)[0].index_select(0, self.cell_of(t.reshape(-1))).view(t.shape)

    def cell_of(self, t: Tensor) -> Tensor:
        """The index of the cell of each point, those beyond the ends counting to the outermost; 0 for nan."""
        # Half floats cannot count to M: places are found in float64, everything else stays in t's dtype.
        place = (t.detach().double() + self.radius).mul_(self.cells / (2 * self.radius))  # (...)
        return place.clamp(0, self.cells - 1).long().clamp(min=0)

    def lines(self, dtype: torch.dtype, device: torch.device | str) -> tuple[Tensor, Tensor]:
        """Slope and intercept of each cell in the given dtype, on the given device; kept for the next call."""
        key = (dtype, torch.device(device))
        if key not in self._tables:
            # From the knot of the cell that is nearer to 0, where less cancels.
            inner = np.where(np.arange(self.cells) >= self.middle, 0, 1) + np.arange(self.cells)
            intercepts = self.values[inner] - self.slopes * self.knots[inner]
            self._tables[key] = (
                torch.tensor(self.slopes, dtype=dtype, device=device),
                torch.tensor(intercepts, dtype=dtype, device=device),
            )
        return self._tables[key]


def literal_sum(weights: np.ndarray, directions: np.ndarray, z: Tensor) -> Tensor:
    """sum_h c_h max(0, a_h . [z; 1]) for z (..., k), in z's dtype, a block of ReLUs at a time."""
    total = z.new_zeros(z.shape[:-1])  # (...)
    block = max(1, POINTS_AT_ONCE // max(1, total.numel()))
    for start in range(0, len(weights), block):
        a = torch.tensor(directions[start : start + block], dtype=z.dtype, device=z.device)  # (h, k + 1)
        c = torch.tensor(weights[start : start + block], dtype=z.dtype, device=z.device)  # (h)
        total = total + torch.relu(z @ a[:, :-1].T + a[:, -1]) @ c
    return total


def points_at_kinks(sums: ReluSum, count: int, generator: torch.Generator) -> Tensor:
    """`count` points (count,) where a secant errs most, to start a search from, in float64.

    The middle, or a point next to the left knot, of the cells beside the sharpest kinks and of random ones.
    """
    knots, slopes = (
        torch.tensor(sums.knots, dtype=torch.float64, device="cpu"),
        torch.tensor(sums.slopes, dtype=torch.float64, device="cpu"),
    )  # (M + 1), (M)
    kinks = torch.diff(slopes, prepend=slopes[:1]).abs()  # (M)
    sharpest = kinks.argsort(descending=True)
    which = torch.arange(count, dtype=torch.int64, device="cpu")
    random = torch.randint(sums.cells, (count,), generator=generator, dtype=torch.int64, device="cpu")
    cells = torch.where(which % 4 < 2, sharpest[which % sums.cells], random)
    share = knots.new_tensor([0.5, 0.001])[which % 2]  # of the cell, from its left end
    return torch.lerp(knots[cells], knots[cells + 1], share)
