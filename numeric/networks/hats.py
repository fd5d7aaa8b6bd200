"""Hat functions of a uniform grid, and a matrix of low rank between two sets of them: g(u, v) by H(u)^T A^T B H(v)."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float64

from numeric.balls import BallArray

NEAR, FEW = 0.25, 3  # the largest radius of a small ball, in cells; the cells around it


# The knots are -R + 2 R i / M. Each hat is a sum of at most three ReLUs of the distances from neighbouring knots,
#   h H_i(u) = relu(u - t_(i-1)) - 2 relu(u - t_i) + relu(u - t_(i+1)),
# the first is 1 - (relu(u - t_0) - relu(u - t_1)) / h, and the last lacks its third ReLU: M + 1 ReLUs for all of them.
# So the first and the last are 1 beyond the ends of the grid, where all hats are what they are at the nearest end.
def hats(u: Any, radius: float, cells: int) -> Any:
    """The `cells` + 1 hat functions of the grid on [-radius, radius] at u, clipped to it: (...) to (..., cells + 1)."""
    return torch.relu(1 - abs(places(u, radius, cells).unsqueeze(-1) - like(np.arange(cells + 1.0), u)))


def places(u: Any, radius: float, cells: int) -> Any:
    """Where u, clipped to [-radius, radius], stands between the knots 0, 1, ..., `cells`."""
    return (torch.clamp(u, -radius, radius) + radius) * cells / (2 * radius)


@dataclass(frozen=True, eq=False)
class LowRankGrid:
    """A^T B + `offset` in the place of the values of a function at the knots, A of `queries` and B of `keys`.

    Of several coordinates it is added up over them or, `multiplied`, the product: one of rank (rank + 1)^m of products
    of m features, each of one coordinate.
    """

    radius: float
    queries: Float64[np.ndarray, "rank knots"]
    keys: Float64[np.ndarray, "rank knots"]
    offset: float
    multiplied: bool = False

    @property
    def rank(self) -> int:
        return len(self.queries)

    @property
    def cells(self) -> int:
        return self.queries.shape[1] - 1

    @property
    def neurons(self) -> int:
        """ReLUs for the hats of a query and of a key."""
        return 2 * (self.cells + 1)

    def __call__(self, u: Any, v: Any) -> Any:
        """H(u_i)^T (A^T B + offset) H(v_i) over all i, for each query u (..., m) and key v (n, m): (..., n)."""
        of_u, of_v = self._features(u, self.queries), self._features(v, self.keys)  # (..., m, rank), (n, m, rank)
        if not self.multiplied:
            return of_u.flatten(-2) @ of_v.flatten(-2).mT + v.shape[-1] * self.offset
        each = (of_u[..., i, :] @ of_v[:, i, :].mT + self.offset for i in range(v.shape[-1]))  # (..., n)
        return math.prod(each, start=1)

    def _features(self, u: Any, matrix: np.ndarray) -> Any:
        """A H(u), (...) to (..., rank)."""
        return interpolated(u, matrix.T, self.radius)


def interpolated(u: Any, values: Float64[np.ndarray, "knots size"], radius: float) -> Any:
    """sum_i H_i(u) values_i, straight lines between the values at the knots, constant beyond: (...) to (..., size)."""
    cells = len(values) - 1
    place = places(u, radius, cells)
    if isinstance(u, BallArray):
        near = cells >= FEW and bool((place.radius() <= NEAR).all())
        return _between(place, values) if near else hats(u, radius, cells) @ like(values, u)
    columns = like(values, u)
    before = torch.clamp(place.detach().floor(), 0, cells - 1)
    share, index = (place - before).unsqueeze(-1), before.long()
    return (1 - share) * columns[index] + share * columns[index + 1]


# A ball may not decide between which knots it lies. If it is small it meets four hats at most.
def _between(place: BallArray, values: np.ndarray) -> Any:
    first = np.clip(np.floor(place.midpoint()).astype(np.int64) - 1, 0, len(values) - FEW - 1)
    index = first[..., None] + np.arange(FEW + 1)  # (..., 4)
    met = torch.relu(1 - abs(place.unsqueeze(-1) - like(index.astype(float), place)))
    return (met.unsqueeze(-1) * like(values[index], place)).sum(-2)


def like(numbers: np.ndarray, array: Any) -> Any:
    """The numbers in the format of an array: a tensor, or balls."""
    if isinstance(array, BallArray):
        return BallArray.exactly(numbers, array.bits)
    return torch.as_tensor(numbers, dtype=array.dtype, device=array.device)


def factors(values: Float64[np.ndarray, "knots knots"], rank: int) -> tuple[np.ndarray, np.ndarray]:
    """A and B of `rank` rows with A^T B near the values, by the singular value decomposition."""
    left, sizes, right = np.linalg.svd(values)
    roots = np.sqrt(sizes[:rank, None])
    return roots * left.T[:rank], roots * right[:rank]


def numerical_rank(values: Float64[np.ndarray, "knots knots"]) -> int:
    """How many singular values floats tell from 0."""
    return int(np.linalg.matrix_rank(values))
