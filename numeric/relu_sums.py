"""Sums of ReLUs (Wu et al. 2024, Definition 4): piecewise-linear interpolants with their literal ReLUs.

A sum of H ReLUs, f(z) = sum_h c_h max(0, a_h . [z; 1]) with ||a_h||_1 <= 1, is *defined* by its float64 coefficients
(c, a). `heads` adds them up one by one and `exact` encloses that sum in a ball; `__call__` finds the cell of z and
applies its line, which is the same function up to rounding.

Shapes: M cells, H ReLUs, ... any shape of points.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any

import flint
import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor

from numeric.balls import Arb, BallArray
from numeric.balls.elementwise import entrywise
from numeric.maps import Number

POINTS_AT_ONCE = 1 << 22  # entries of the (points, ReLUs) table that `heads` holds at a time

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
        products = ((_exactly(c) * slope, _exactly(c) * offset) for c, slope, offset in lines)
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
        return _exactly(float(self.weights[place])) * float(self.slopes[place])

    def kink(self, place: int) -> Arb:
        """Where the hinge at that place opens, -offset / slope."""
        return -flint.arb(float(self.offsets[place])) / flint.arb(float(self.slopes[place]))


@dataclass(frozen=True, eq=False)
class ReluSum:
    """The interpolant through `values` (M + 1,) at M + 1 uniform knots on [-radius, radius], linear beyond.

    Value and slopes at the middle knot, hinges that open to the right on its right and to the left on its left:
    M hinges and a constant, those of weight 0 left out. `spread` >= 1 is the 1-norm of the combination of inputs that
    the argument stands for (2 for t - y), so that spread |a_0| + |a_1| <= 1.
    """

    radius: Number
    values: Float64[np.ndarray, " knots"]
    spread: Number = 1.0
    _tables: dict[tuple[torch.dtype, torch.device], tuple[Tensor, Tensor]] = field(default_factory=dict, repr=False)
    _balls: dict[tuple[int, bool], list[tuple[Arb, Arb]]] = field(default_factory=dict, repr=False)

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
        cell = self.cell_of(t)  # (...)
        return torch.addcmul(_at(cell, intercepts), _at(cell, slopes), t)

    def slope(self, t: Any) -> Any:
        """The slope of the cell of each point (at a knot: of the one on its right; of exact balls: both slopes)."""
        if isinstance(t, BallArray):
            return entrywise(self.exact_slope)(t)
        return _at(self.cell_of(t), self.lines(t.dtype, t.device)[0])

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

    def exact(self, t: Arb) -> Arb:
        """Encloses the literal sum, its coefficients taken exactly, at every point of the ball t."""
        if not t.is_finite():
            return flint.arb("nan")
        if t.is_exact():
            return self._exact_at(t)
        low, high = t.lower(), t.upper()
        ends = self._exact_at(low).union(self._exact_at(high))
        first, last = self._knots_around(low, high)
        if first > last:
            return ends
        # Linear between its kinks, f takes its extreme values at the ends of the ball or at a kink within it.
        inside = self.values[first : last + 1]
        slack = self._kink_slack
        low_inside, high_inside = (flint.arb(float(edge)) for edge in (inside.min(), inside.max()))
        return ends.union(low_inside - slack).union(high_inside + slack)

    def _knots_around(self, low: Arb, high: Arb) -> tuple[int, int]:
        """The first and last knot with a kink between the two points; the first is beyond the last if there is none."""
        width = 2 * self.radius / self.cells
        # Floats place the ends to within a cell; the kinks there are compared exactly.
        first = max(math.floor((float(low) + self.radius) / width) - 1, 0)
        last = min(math.ceil((float(high) + self.radius) / width) + 1, self.cells)
        while first <= last and not self._kink_between(first, low, high):
            first += 1
        while first <= last and not self._kink_between(last, low, high):
            last -= 1
        return first, last

    def _kink_between(self, knot: int, low: Arb, high: Arb) -> bool:
        """Whether a hinge of that knot may open between the two points."""
        kinks = (hinges.kink(place) for hinges, place in self._hinges_of(knot))
        return any(not (kink < low or kink > high) for kink in kinks)

    def _hinges_of(self, knot: int) -> Iterator[tuple[Hinges, int]]:
        if self.middle <= knot < self.cells:
            yield self.right, knot - self.middle
        if 1 <= knot <= self.middle:
            yield self.left, self.middle - knot

    @cached_property
    def _kink_slack(self) -> Arb:
        """Bounds how far f at any kink lies from the value stored for its knot."""
        return self.deviation(map(flint.arb, self.values.tolist())) + self.kink_size()

    # Each kink -a_1/a_0 lies within 4 ulp of its knot. For the knot next to t every other knot is at least half a cell
    # away, so all hinges before it are active at t, none behind it is, and its own is evaluated directly.
    def _exact_at(self, t: Arb) -> Arb:
        toward_right = t >= float(self.knots[self.middle])
        hinges, other = (self.right, self.left) if toward_right else (self.left, self.right)
        place = self._place(t, hinges)
        slope, intercept = self._active(toward_right)[place]
        total = self.constant + slope * t + intercept + hinges.at(place, t)
        return total + other.at(0, t) if place == 0 else total

    def exact_slope(self, t: Arb) -> Arb:
        """Encloses the slope of the literal sum at the exact point t; at a kink, and next to it, both slopes."""
        if not (t.is_finite() and t.is_exact()):
            return flint.arb("nan")
        toward_right = t >= float(self.knots[self.middle])
        hinges, other = (self.right, self.left) if toward_right else (self.left, self.right)
        place = self._place(t, hinges)
        before, active = self._active(toward_right)[place][0], hinges.active_at(place, t)
        if active is False and place > 0:
            return before
        beyond = before + hinges.slope_of(place) if place < len(hinges.weights) else before
        if active is True:
            return beyond
        # The two hinges at the middle knot have one kink: on its other side the other one is active alone.
        return beyond.union(other.slope_of(0) if place == 0 else before)

    def _place(self, t: Arb, hinges: Hinges) -> int:
        """The knot next to t, counted from the middle; the number of hinges beyond the end."""
        distance = abs(float(t) - float(self.knots[self.middle])) * (self.cells / (2 * self.radius))
        return min(len(hinges.weights), round(min(distance, self.cells)))

    def _active(self, toward_right: bool) -> list[tuple[Arb, Arb]]:
        bits = max(128, 1 << (flint.ctx.prec - 1).bit_length())
        if (bits, toward_right) not in self._balls:
            with flint.ctx.workprec(bits):
                hinges = self.right if toward_right else self.left
                self._balls[bits, toward_right] = list(hinges.active_lines())
        return self._balls[bits, toward_right]

    def exact_values(self) -> Iterator[Arb]:
        """The exact function at the knots, from the first to the last, in balls."""
        middle = self.middle
        leftwards = list(self._along(self.left, self.right, self.knots[:middle][::-1].tolist()))
        yield from reversed(leftwards)
        at_middle = flint.arb(float(self.knots[middle]))
        yield self.constant + self.right.at(0, at_middle) + self.left.at(0, at_middle)
        yield from self._along(self.right, self.left, self.knots[middle + 1 :].tolist())

    def _along(self, hinges: Hinges, other: Hinges, knots: list[float]) -> Iterator[Arb]:
        lines = hinges.active_lines()
        next(lines)  # no hinge is active at the middle
        for place, (knot, (slope, intercept)) in enumerate(zip(knots, lines, strict=True), start=1):
            yield self.constant + slope * knot + intercept + hinges.at(place, flint.arb(knot))

    def deviation(self, exact_function: Iterator[Arb]) -> Arb:
        """Encloses from above the largest distance of this sum from the given values, over the knots."""
        pairs = zip(self.exact_values(), exact_function, strict=True)
        return _largest(abs(ours - theirs) for ours, theirs in pairs)

    def kink_size(self) -> Arb:
        """How large a single hinge is at its own knot (0, were kinks exactly at the knots), from above."""
        return _largest(
            abs((_exactly(slope) * knot + offset) * c)
            for hinges in (self.right, self.left)
            for c, slope, offset, knot in _rows(hinges)
        )

    def kink_shift(self) -> Arb:
        """How far a kink lies from its knot, from above."""
        return _largest(
            abs((_exactly(slope) * knot + offset) / slope)
            for hinges in (self.right, self.left)
            for c, slope, offset, knot in _rows(hinges)
            if c != 0
        )


@dataclass(frozen=True, eq=False)
class LossSum:
    """ubar(t, y) = sum over the pieces (alpha, beta, f) of f(alpha t + beta y), with alpha and beta in {-1, 0, 1}.

    As a sum of ReLUs in (t, y, 1) its directions have 1-norm at most 1.
    """

    pieces: tuple[tuple[int, int, ReluSum], ...]

    def __post_init__(self) -> None:
        for alpha, beta, piece in self.pieces:
            if {alpha, beta} - {-1, 0, 1} or piece.spread < abs(alpha) + abs(beta):
                raise ReluSumError(
                    f"LossSum: a piece in {alpha} t + {beta} y with spread {piece.spread}. "
                    "Give factors -1, 0 or 1 and a spread of at least the sum of their absolute values."
                )

    @cached_property
    def weights(self) -> Float64[np.ndarray, " H"]:
        return np.concatenate([np.zeros(0), *(piece.weights for _, _, piece in self.pieces)])

    @cached_property
    def directions(self) -> Float64[np.ndarray, "H 3"]:
        """ReLU h is c_h max(0, a_h . (t, y, 1))."""
        parts = [
            np.stack([alpha * a[:, 0], beta * a[:, 0], a[:, 1]], axis=1)
            for alpha, beta, a in ((alpha, beta, piece.directions) for alpha, beta, piece in self.pieces)
        ]
        return np.concatenate([np.zeros((0, 3)), *parts])

    @property
    def relus(self) -> int:
        return len(self.weights)

    @cached_property
    def one_norm(self) -> float:
        return math.fsum(np.abs(self.weights).tolist())

    def heads(self, t: Tensor, y: Tensor) -> Tensor:
        """The literal sum over all ReLUs at each pair."""
        return literal_sum(self.weights, self.directions, torch.stack(torch.broadcast_tensors(t, y), dim=-1))

    def __call__(self, t: Any, y: Any) -> Any:
        """The same function by look-up, differentiable in both; arrays of balls are enclosed pair by pair."""
        return self._total(t, y, lambda piece, z: piece(z))

    def slope(self, t: Tensor, y: Tensor) -> Tensor:
        """d ubar / dt."""
        return self._total(t, y, lambda piece, z: piece.slope(z), by_factor=True)

    def _total(self, t: Any, y: Any, part: Callable[[ReluSum, Any], Any], *, by_factor: bool = False) -> Any:
        total = None
        for alpha, beta, piece in self.pieces:
            if by_factor and alpha == 0:
                continue
            found = part(piece, _combined(alpha, t, beta, y))
            found = -found if by_factor and alpha < 0 else found
            total = found if total is None else total + found
        shape = np.broadcast_shapes(t.shape, y.shape)  # that of torch imports its compiler
        return torch.zeros_like(t).expand(shape) if total is None else total.expand(shape)

    def exact(self, t: Arb, y: Arb) -> Arb:
        """Encloses the literal sum at every pair of the two balls."""
        return sum((piece.exact(alpha * t + beta * y) for alpha, beta, piece in self.pieces), start=flint.arb(0))


def uniform_knots(radius: Number, cells: int) -> Float64[np.ndarray, " knots"]:
    """cells + 1 points from -radius to radius, symmetric about 0."""
    steps = np.arange(-cells, cells + 1, 2, dtype=np.float64)
    knots: np.ndarray = float(radius) * (steps / cells)
    return knots


def literal_sum(weights: np.ndarray, directions: np.ndarray, z: Tensor) -> Tensor:
    """sum_h c_h max(0, a_h . [z; 1]) for z (..., k), in z's dtype, a block of ReLUs at a time."""
    total = z.new_zeros(z.shape[:-1])  # (...)
    block = max(1, POINTS_AT_ONCE // max(1, total.numel()))
    for start in range(0, len(weights), block):
        a = torch.tensor(directions[start : start + block], dtype=z.dtype, device=z.device)  # (h, k + 1)
        c = torch.tensor(weights[start : start + block], dtype=z.dtype, device=z.device)  # (h)
        total = total + torch.relu(z @ a[:, :-1].T + a[:, -1]) @ c
    return total


def _at(index: Tensor, table: Tensor) -> Tensor:
    """The entries of the table at an index of any shape; unlike `take`, it has a rule for vmap."""
    return table.index_select(0, index.flatten()).view(index.shape)


def _combined(alpha: int, t: Any, beta: int, y: Any) -> Any:
    """alpha t + beta y for factors in {-1, 0, 1}."""
    if alpha == 0 or beta == 0:
        factor, only = (alpha, t) if beta == 0 else (beta, y)
        return only if factor == 1 else factor * only
    return alpha * t + beta * y


def _exactly(number: Number) -> Arb:
    return flint.arb(number)


def _rows(hinges: Hinges) -> Iterator[tuple[float, float, float, float]]:
    columns = (hinges.weights, hinges.slopes, hinges.offsets, hinges.knots)
    return zip(*(column.tolist() for column in columns), strict=True)


def _largest(balls: Iterator[Arb]) -> Arb:
    """An upper bound of numbers that are not negative: the largest upper end."""
    largest = flint.arb(0)
    for ball in balls:
        end = ball.upper()
        if not end <= largest:
            largest = end
    return largest


def _power_of_two_below(number: float) -> float:
    """The largest power of two that is at most `number`: a scale that rounds nothing."""
    return 2.0 ** (math.frexp(number)[1] - 1)
