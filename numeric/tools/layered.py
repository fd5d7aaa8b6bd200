"""Networks of N layers, p(0) = x and p(j) = r(V_j p(j-1)), with all weights in one vector w = (V_1, ..., V_N).

Each matrix lies in w row by row. What `symbolic.gradients.LayeredNetwork` is in letters, this is in numbers: the sizes,
the outputs, the empirical risk and its gradient by automatic differentiation. The functions run on tensors, batched or
under vmap, and on arrays of balls; r and the loss of one coordinate are functions that act entry by entry.

Shapes: ... prompts, n examples, D_w weights.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import numpy as np
import torch
from jaxtyping import Float, Float64
from torch import Tensor

from numeric.networks.stream import StreamError

Array: TypeAlias = Any  # a tensor or an array of balls
Function: TypeAlias = Callable[..., Any]  # entry by entry


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

    def half_widths(self, row_norm: float) -> tuple[float, ...]:
        """For each layer row_norm / sqrt(columns), rounded down: the half width of a box for its entries.

        Every row of V_j with entries in the box then has a 2-norm of at most `row_norm`, exactly.
        """
        if not (row_norm > 0 and math.isfinite(row_norm)):
            raise StreamError(f"{self}.half_widths", f"row_norm={row_norm}", "Give a finite row_norm > 0.")
        return tuple(_half_width(float(row_norm), columns) for _, columns in self.sizes)

    def box(self, row_norm: float) -> Float64[np.ndarray, " D_w"]:
        """The half width of the box for each coordinate of w."""
        return np.repeat(self.half_widths(row_norm), [rows * columns for rows, columns in self.sizes])


@lru_cache(maxsize=256)
def _half_width(row_norm: float, columns: int) -> float:
    width = row_norm / math.sqrt(columns)
    while Fraction(width) ** 2 * columns > Fraction(row_norm) ** 2:
        width = math.nextafter(width, 0.0)
    return width


def predict(shape: Shape, w: Array, x: Array, r: Callable[..., Any]) -> Array:
    """f(w, x) = p(N), (..., n, d_y): p(j) = r(V_j p(j-1))."""
    return _outputs(shape.matrices(w), x, r)


def _outputs(matrices: Sequence[Array], x: Array, r: Function) -> Array:
    for V in matrices:
        x = r(x @ V.mT)
    return x


def empirical_loss(
    shape: Shape, w: Array, x: Array, y: Array, r: Callable[..., Any], loss: Callable[..., Any]
) -> Array:
    """L_n(w) = (1/2n) sum_i sum_k loss(p_i(N)[k], y_i[k]), (...); on tensors and on balls."""
    return loss(predict(shape, w, x, r), y).sum((-2, -1)) / (2 * x.shape[-2])


def autograd_gradient(
    shape: Shape, w: Float[Tensor, "*B D_w"], x: Tensor, y: Tensor, r: Callable[..., Any], loss: Callable[..., Any]
) -> Float[Tensor, "*B D_w"]:
    """The gradient of L_n by automatic differentiation."""
    gradient: Tensor = torch.func.grad(lambda at: empirical_loss(shape, at, x, y, r, loss).sum())(w)
    return gradient


def descend(
    shape: Shape, w: Tensor, x: Tensor, y: Tensor, r: Function, loss: Function, eta: float, row_norm: float, steps: int
) -> Float[Tensor, "steps D_w"]:
    """The weights after each step of gradient descent on L_n, projected onto the box of `row_norm`, from w (D_w)."""
    V, widths = [each.detach() for each in shape.matrices(w)], shape.half_widths(row_norm)
    found, shares = list[list[Tensor]](), torch.full_like(y, 1 / (2 * x.shape[-2]))  # of each loss in L_n
    for _ in range(steps):
        at = [each.requires_grad_() for each in V]
        gradients = torch.autograd.grad(loss(_outputs(at, x, r), y), at, shares)
        moved = (each.detach() - eta * gradient for each, gradient in zip(at, gradients, strict=True))
        V = [each.clamp(-width, width) for each, width in zip(moved, widths, strict=True)]
        found.append(V)
    with torch.no_grad():
        return torch.cat([torch.stack(each).flatten(1) for each in zip(*found, strict=True)], 1)


# By the definition of a derivative: moving V_j[a, b] by t moves z(j)[a] by t p(j-1)[b]; the tangent of z(j)[a] then
# runs through the later layers, T(i) = diag(slopes) V_i T(i-1), and through the loss.
def tangent_gradient(shape: Shape, w: Array, x: Array, y: Array, r: Function, slope: Function, pull: Function) -> Array:
    """The gradient of L_n (D_w) at one prompt in forward mode, on tensors or balls: with `slope` for r' and `pull` for
    d loss / dp, as callers know them (difference quotients, say), so that nothing here differentiates.
    """
    V, p, slopes = shape.matrices(w), [x], []
    for matrix in V:
        z = p[-1] @ matrix.mT  # (n, rows)
        slopes.append(slope(z))
        p.append(r(z))
    pulled = pull(p[-1], y)[:, None, :]  # (n, 1, d_y)
    blocks = []
    for j, before in enumerate(p[:-1]):
        T = torch.diag_embed(slopes[j])  # (n, rows, rows)
        for matrix, later in zip(V[j + 1 :], slopes[j + 1 :], strict=True):
            T = later[..., None] * (matrix @ T)
        by_argument = (pulled @ T).mT  # (n, rows, 1): the loss by z(j)[a]
        blocks.append((by_argument * before[:, None, :]).sum(0).reshape(-1))
    return torch.cat(blocks) / (2 * len(x))


FLOOR = 2.0**-500  # of norms of blocks, against 0/0 and underflow


def relative_distance(found: Array, truth: Array, shape: Shape) -> Array:
    """The largest over the blocks of w of ||a - b|| / max(||a||, ||b||, FLOOR), for two vectors of D_w entries."""
    norm = torch.linalg.vector_norm
    blocks = [(found[where], truth[where]) for where in shape.slices]
    return torch.stack([norm(a - b) / torch.maximum(norm(a), norm(b)).clamp(min=FLOOR) for a, b in blocks]).amax(0)


def require_sizes(call: str, expected: Sequence[tuple[str, tuple[int, ...], tuple[int, ...]]]) -> None:
    """Raise one `StreamError` that names every tensor (name, shape, shape wanted) that does not fit."""
    wrong = [f"{name} of shape {shape}, expected {wanted}" for name, shape, wanted in expected if shape != wanted]
    if wrong:
        raise StreamError(call, "; ".join(wrong), "Give tensors of these shapes.")
