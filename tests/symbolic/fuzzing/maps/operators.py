"""Linear operators at the limit of their norm. Shapes: P points, T tokens, D numbers."""

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from symbolic.calculus import Norm
from tests.symbolic.fuzzing.maps.map import Pair
from tests.symbolic.fuzzing.program import Program
from tests.symbolic.fuzzing.vectors import lengths, units


@dataclass
class Operator:
    """v -> norm phi(v) y at each point: the operator norm is exactly `norm` where phi and y are of (dual) norm 1."""

    functional: np.ndarray  # (P, D)
    direction: np.ndarray  # (P, D_out)
    norm: Any = 1.0

    def __call__(self, vectors: np.ndarray) -> np.ndarray:
        values = np.einsum("ptd,pd->pt", vectors, self.functional) * np.asarray(self.norm).reshape(-1, 1)
        return values[..., None] * self.direction[:, None, :]


def extreme_operator(program: Program, pair: Pair, norm: Norm, target: Norm, dim: int, size: Any) -> Operator:
    return Operator(program.functional(*pair, norm), program.compass(dim, target), size)


def operator_norm(matrix: np.ndarray, source: Norm, target: Norm) -> float:
    """Exactly: the unit balls of the 1-norm and the sup norm have finitely many corners."""
    rows, columns = matrix.shape
    if source is Norm.ONE:
        return float(lengths(matrix.T, target).max())
    if source is Norm.INF:
        return float(max(lengths(matrix @ corner, target) for corner in _corners(columns)))
    if target is Norm.TWO:
        return float(np.linalg.norm(matrix, 2))
    if target is Norm.INF:
        return float(lengths(matrix, Norm.TWO).max())
    return float(max(lengths(matrix.T @ corner, Norm.TWO) for corner in _corners(rows)))


def _corners(dim: int) -> list[np.ndarray]:
    return [np.array(corner) for corner in itertools.product((-1.0, 1.0), repeat=dim)]


def signed_permutation(program: Program, dim: int, size: float) -> np.ndarray:
    """A multiple of a permutation with signs: it multiplies all norms by its size."""
    return size * program.signs(dim)[:, None] * np.eye(dim)[program.rng.permutation(dim)]


# Each step takes the error d to A d + offset along A d.
def contracted(moved: np.ndarray, matrix: np.ndarray, offset: float, steps: int, norm: Norm) -> np.ndarray:
    for _ in range(steps):
        moved = moved @ matrix.T
        moved = moved + offset * units(moved, norm)
    return moved


def along(moved: np.ndarray, norm: Norm) -> np.ndarray:
    """Unit vectors along the errors: what a perturbation adds to an error to make it longest."""
    return units(moved, norm)
