"""Sums of hinges: piecewise-linear interpolants with the coefficients of each ReLU (Wu et al. 2024, Definition 4).

Shapes: M cells, H ReLUs.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import flint
import numpy as np
from jaxtyping import Float64

from numeric.balls import Arb
from numeric.networks.maps import Number

# 1 - 4 ulp: the four roundings on the way to (a_0, a_1) leave spread |a_0| + |a_1| <= 1 in exact arithmetic.
SHRINK = 1 - 2.0**-51


class ReluSumError(ValueError):
    """A sum of ReLUs cannot be built from these arguments."""


@dataclass(frozen=True, eq=False)
class Hinges:
    """Hinges c max(0, slope t + offset), one a knot, from the middle knot outwards in one direction."""

    weights: Float64[np.ndarray, " hinges"]
    slopes: Float64[np.ndarray, " hinges"]
    offsets: Float64[np.ndarray, " hinges"]
    knots: Float64[np.ndarray, " hinges"]

    def active_lines(self) -> Iterator[tuple[Arb, Arb]]:
        """Slope and intercept of the first 0, 1, 2, ... hinges, all of them active; at Arb's working precision."""
        lines = zip(self.weights.tolist(), self.slopes.tolist(), self.offsets.tolist(), strict=True)
        zero = (flint.arb(0), flint.arb(0))
        products = ((flint.arb(c) * slope, flint.arb(c) * offset) for c, slope, offset in lines)
        return accumulate(products, lambda sums, more: (sums[0] + more[0], sums[1] + more[1]), initial=zero)

    def at(self, place: int, t: Arb) -> Arb:
        """The one hinge at that place; 0 beyond the last."""
        if not 0 <= place < len(self.weights):
            return flint.arb(0)
        inner = t * float(self.slopes[place]) + float(self.offsets[place])
        return float(self.weights[place]) * inner.max(flint.arb(0))

    def active_at(self, place: int, t: Arb) -> bool | None:
        """Whether that hinge is beyond its kink at t; None if the ball of t contains the kink."""
        if not 0 <= place < len(self.weights):
            return False
        inner = t * float(self.slopes[place]) + float(self.offsets[place])
        return True if inner > 0 else False if inner < 0 else None

    def slope_of(self, place: int) -> Arb:
        """The slope of that hinge beyond its kink."""
        return flint.arb(float(self.weights[place])) * float(self.slopes[place])

    def kink(self, place: int) -> Arb:
        """Where the hinge at that place opens, -offset / slope."""
        return -flint.arb(float(self.offsets[place])) / flint.arb(float(self.slopes[place]))


@dataclass(frozen=True, eq=False)
class HingeSum:
    """The interpolant through `values` (M + 1,) at M + 1 uniform knots on [-radius, radius], linear beyond.

    Value and slopes at the middle knot, hinges that open to the right on its right and to the left on its left:
    M hinges and a constant, those of weight 0 left out. `spread` >= 1 is the 1-norm of the combination of inputs that
    the argument stands for (2 for t - y), so that spread |a_0| + |a_1| <= 1.
    """

    radius: Number
    values: Float64[np.ndarray, " knots"]
    spread: Number = 1.0

    def __post_init__(self) -> None:
        finite = np.isfinite(self.values).all() and math.isfinite(self.radius)
        if self.values.ndim != 1 or len(self.values) < 3 or not finite or not self.radius > 0 or not self.spread >= 1:
            raise ReluSumError(
                f"ReluSum: radius {self.radius}, spread {self.spread}, values of shape {self.values.shape}. "
                "Give a radius > 0, a spread >= 1 and at least 3 finite values."
            )

    @property
    def cells(self) -> int:
        return len(self.values) - 1

    @cached_property
    def knots(self) -> Float64[np.ndarray, " knots"]:
        return uniform_knots(self.radius, self.cells)

    @property
    def middle(self) -> int:
        """The knot from which the hinges open; it is 0 where the number of cells is even."""
        return self.cells // 2

    @cached_property
    def slopes(self) -> Float64[np.ndarray, " cells"]:
        """The slope of each cell, rounded."""
        slopes: np.ndarray = np.diff(self.values) / np.diff(self.knots)
        return slopes

    # f(t) = f(x_m) + s_m (t - x_m)_+ - s_{m-1} (x_m - t)_+ + sum_{i > m} j_i (t - x_i)_+ + sum_{i < m} j_i (x_i - t)_+
    # with the slopes s_i of the cells [x_i, x_{i+1}] and the jumps j_i = s_i - s_{i-1}: right of x_m each (t - x_i)_+
    # turns the slope s_{i-1} into s_i, left of it each (x_i - t)_+ turns s_i into s_{i-1}.
    @cached_property
    def right(self) -> Hinges:
        """The hinges that open to the right, at x_m, x_{m+1}, ..., x_{M-1}."""
        jumps = np.diff(self.slopes[self.middle :], prepend=0.0)
        return self._hinges(jumps, self.knots[self.middle : -1], opening=1.0)

    @cached_property
    def left(self) -> Hinges:
        """The hinges that open to the left, at x_m, x_{m-1}, ..., x_1."""
        jumps = np.diff(-self.slopes[: self.middle][::-1], prepend=0.0)
        return self._hinges(jumps, self.knots[1 : self.middle + 1][::-1], opening=-1.0)

    # (t - tau)_+ = (spread + |tau|) max(0, (t - tau) / (spread + |tau|)), so that the direction has 1-norm 1.
    def _hinges(self, jumps: np.ndarray, knots: np.ndarray, *, opening: Number) -> Hinges:
        size = float(self.spread) + np.abs(knots)
        slopes = np.where(knots == 0, _power_of_two_below(1 / float(self.spread)), SHRINK / size)
        return Hinges(jumps / slopes, opening * slopes, -opening * (knots * slopes), knots)

    @property
    def constant(self) -> float:
        """f(x_m), the weight of the ReLU with direction (0, 1)."""
        return float(self.values[self.middle])

    @cached_property
    def weights(self) -> Float64[np.ndarray, " H"]:
        """The weights c of all ReLUs that are not 0."""
        every = self._every_weight
        return every[every != 0]

    @cached_property
    def directions(self) -> Float64[np.ndarray, "H 2"]:
        """The directions a: ReLU h is c_h max(0, a_h0 t + a_h1)."""
        slopes = np.concatenate([[0.0], self.right.slopes, self.left.slopes])
        offsets = np.concatenate([[1.0], self.right.offsets, self.left.offsets])
        return np.stack([slopes, offsets], axis=1)[self._every_weight != 0]

    @cached_property
    def _every_weight(self) -> Float64[np.ndarray, " all"]:
        return np.concatenate([[self.constant], self.right.weights, self.left.weights])

    @property
    def relus(self) -> int:
        """H."""
        return len(self.weights)

    @cached_property
    def one_norm(self) -> float:
        """C = sum |c_h|, correctly rounded."""
        return math.fsum(np.abs(self.weights).tolist())


def uniform_knots(radius: Number, cells: int) -> Float64[np.ndarray, " knots"]:
    """cells + 1 points from -radius to radius, symmetric about 0."""
    knots: np.ndarray = uniform_knot(radius, cells, np.arange(cells + 1))
    return knots


def uniform_knot(radius: Number, cells: int, place: Any) -> Any:
    """The one at that place of 0 .. cells, or those at several."""
    return float(radius) * ((2 * place - cells) / cells)


def _power_of_two_below(number: float) -> float:
    """The largest power of two that is at most `number`: a scale that rounds nothing."""
    return 2.0 ** (math.frexp(number)[1] - 1)
