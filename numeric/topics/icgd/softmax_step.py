"""Gradient steps by feed-forward layers and uniform softmax heads (wu2024, Theorem 6): L_n = (1/2n) sum ||p - y||^2.

Every token holds x, y and w, and computes the gradient of its own example by sums of ReLUs of one argument: those for
r and r', and two squares for each product. Shapes: n examples, D_w weights, m rows and c columns of a layer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from numeric.networks.products import ProductSum
from numeric.tools.layered import Array, Function, Shape


@dataclass(frozen=True, eq=False)
class ReluLayers:
    """`r` and `slope` stand for r and r'; `slope` is a number where r is linear. Products, one a layer j = 1, ..., N:

    forward: an entry of V_j times one of p(j-1). slopes: r' times a signal. backward: an entry of V_j and one of s(j).
    outer: an entry of s(j) times one of p(j-1).
    """

    shape: Shape
    r: Function
    slope: Any
    forward: Sequence[ProductSum]
    slopes: Sequence[ProductSum]
    backward: Sequence[ProductSum]
    outer: Sequence[ProductSum]

    def gradients(self, w: Array, x: Array, y: Array) -> Array:
        """What each token computes, (n, D_w)."""
        V, p, slopes = self.shape.matrices(w), [x], []
        for j, matrix in enumerate(V):
            z = self.forward[j].relus(matrix[None], p[-1][:, None, :]).sum(-1)  # (n, m)
            slopes.append(self.slope(z) if callable(self.slope) else self.slope)
            p.append(self.r(z))
        signal, blocks = self._sloped(-1, slopes[-1], p[-1] - y), []
        for j in range(len(V) - 1, -1, -1):
            outer = self.outer[j].relus(signal[:, :, None], p[j][:, None, :])  # (n, m, c)
            blocks.append(outer.reshape(len(x), -1))
            if j:
                back = self.backward[j].relus(V[j][None], signal[:, :, None]).sum(1)  # (n, c)
                signal = self._sloped(j - 1, slopes[j - 1], back)
        return torch.cat(blocks[::-1], -1)

    def _sloped(self, j: int, slope: Any, signal: Array) -> Array:
        return self.slopes[j].relus(slope, signal) if callable(self.slope) else slope * signal

    def step(self, w: Array, x: Array, y: Array, eta: Any, box: Array) -> Array:
        """One step: the tokens' gradients, one uniform softmax head, the projection."""
        weights = torch.softmax(0 * x[:, 0], dim=-1)  # of a head with scores 0, the same for every token
        return clipped(w - eta * (weights @ self.gradients(w, x, y)), box)


def clipped(w: Array, box: Array) -> Array:
    return torch.minimum(torch.maximum(w, -box), box)


def exact_step(shape: Shape, w: Array, x: Array, y: Array, eta: Any, box: Array, r: Function, slope: Function) -> Array:
    """The same with r, r' and products themselves, by the definition of the gradient, in forward mode."""
    V, p, slopes = shape.matrices(w), [x], []
    for matrix in V:
        slopes.append(slope(p[-1] @ matrix.mT))
        p.append(r(p[-1] @ matrix.mT))
    blocks = []
    for j in range(len(V)):
        signal = p[-1] - y
        for matrix, later in zip(V[:j:-1], slopes[:j:-1], strict=True):
            signal = (later * signal) @ matrix
        blocks.append(((slopes[j] * signal).mT @ p[j]).reshape(-1) / len(x))
    return clipped(w - eta * torch.cat(blocks), box)
