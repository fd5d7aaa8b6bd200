"""The formulas of `symbolic.gradients` on tensors, batched and differentiable, and on arrays of balls.

Shapes: matrices (..., rows, cols) that broadcast; a column has cols = 1.
"""

from typing import Any

import torch

from bridge.lowering.formula import ArrayFunction

Array = Any  # a tensor or an array of balls


class ArrayAlgebra:
    """The `Algebra` of arrays like `like`, with the activation r and its derivative r1."""

    def __init__(self, r: ArrayFunction, r1: ArrayFunction, like: Array) -> None:
        self.activation, self.slope = r, r1
        self._like = like

    def product(self, left: Array, right: Array) -> Array:
        return left @ right

    def transpose(self, matrix: Array) -> Array:
        return matrix.mT

    def hadamard(self, left: Array, right: Array) -> Array:
        return left * right

    def diagonal(self, column: Array) -> Array:
        return torch.diag_embed(column[..., 0])  # (..., rows, rows)

    def kronecker(self, left: Array, right: Array) -> Array:
        entries = left[..., :, None, :, None] * right[..., None, :, None, :]  # (..., a, b, c, d)
        a, b, c, d = entries.shape[-4:]
        return entries.reshape(*entries.shape[:-4], a * b, c * d)

    def identity(self, size: int) -> Array:
        return torch.eye(size, dtype=self._like.dtype, device=self._like.device)
