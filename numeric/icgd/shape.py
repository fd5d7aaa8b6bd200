"""The network f whose gradient steps are emulated: its layer sizes and where its parameters lie in w.

p(0) = x, p(j) = r(V_j p(j-1)) for j = 1..N, and w = (V_1, ..., V_N), each matrix row by row (wu2024, eq. (3.2)).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from jaxtyping import Float64

from numeric.stream import StreamError


@dataclass(frozen=True)
class Shape:
    """N layers of width K from R^{d_x} to R^{d_y}: V_1 is K x d_x, V_j is K x K, V_N is d_y x K (N = 1: d_y x d_x)."""

    N: int
    K: int
    d_x: int
    d_y: int

    def __post_init__(self) -> None:
        if min(self.N, self.K, self.d_x, self.d_y) < 1:
            raise StreamError(str(self), "a size below 1", "Give N, K, d_x, d_y of at least 1.")

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """Sizes of p(0), ..., p(N)."""
        return (self.d_x, *[self.K] * (self.N - 1), self.d_y)

    @cached_property
    def sizes(self) -> tuple[tuple[int, int], ...]:
        """(rows, columns) of V_1, ..., V_N."""
        return tuple(zip(self.widths[1:], self.widths[:-1], strict=True))

    @cached_property
    def parameters(self) -> int:
        """The length D_w of w."""
        return sum(rows * columns for rows, columns in self.sizes)

    @cached_property
    def slices(self) -> tuple[slice, ...]:
        """Where V_1, ..., V_N lie in w."""
        ends = np.cumsum([rows * columns for rows, columns in self.sizes]).tolist()
        return tuple(slice(start, end) for start, end in zip([0, *ends[:-1]], ends, strict=True))

    def matrices(self, w: Any) -> list[Any]:
        """V_1, ..., V_N of w (..., D_w), a tensor or an array of balls, each (..., rows, columns)."""
        if w.shape[-1] != self.parameters:
            raise StreamError(f"{self}.matrices", f"w of shape {tuple(w.shape)}", f"Give (..., {self.parameters}).")
        pieces = zip(self.slices, self.sizes, strict=True)
        return [w[..., where].reshape(*w.shape[:-1], *size) for where, size in pieces]  # each (..., rows, columns)

    def half_widths(self, B_v: float) -> tuple[float, ...]:
        """For each layer the half width B_v / sqrt(columns) of the box W, rounded down.

        Every row of V_j with entries in the box then has ||v_jk||_2 <= B_v, exactly.
        """
        if not (B_v > 0 and math.isfinite(B_v)):
            raise StreamError(f"{self}.half_widths", f"B_v={B_v}", "Give a finite B_v > 0.")
        return tuple(_half_width(float(B_v), columns) for _, columns in self.sizes)

    def box(self, B_v: float) -> Float64[np.ndarray, " D_w"]:
        """The half width of the box for each coordinate of w."""
        sizes = [rows * columns for rows, columns in self.sizes]
        return np.repeat(self.half_widths(B_v), sizes)


@lru_cache(maxsize=256)
def _half_width(B_v: float, columns: int) -> float:
    width = B_v / math.sqrt(columns)
    while Fraction(width) ** 2 * columns > Fraction(B_v) ** 2:
        width = math.nextafter(width, 0.0)
    return width


def require_sizes(call: str, expected: Sequence[tuple[str, tuple[int, ...], tuple[int, ...]]]) -> None:
    """Raise one `StreamError` that names every tensor (name, shape, shape wanted) that does not fit."""
    wrong = [f"{name} of shape {shape}, expected {wanted}" for name, shape, wanted in expected if shape != wanted]
    if wrong:
        raise StreamError(call, "; ".join(wrong), "Give tensors of these shapes.")
