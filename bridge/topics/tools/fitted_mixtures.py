"""Gaussian mixtures that are fitted to the rows of a table.

Shapes: m rows, n examples, c components, d coordinates.
"""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import torch
from torch import Tensor

from bridge.theorems.data import Table, standardised
from bridge.theorems.record import NamedTable
from bridge.theorems.sources.programs import gaussian_mixture
from numeric.tools.mixtures import Mixture, numbers
from symbolic.words.errors import UsageError

UNIT = 10_000  # weights are multiples of 1/UNIT


@dataclass(frozen=True, eq=False)
class FittedMixture:
    """A mixture of one covariance for standardised rows (m, d).

    `means` (c, d) and `points` (m, d), of the rows, are in coordinates in which a component has the covariance s^2 I,
    the mixture the mean 0, and the variances average 1.
    """

    rows: Tensor
    mixture: Mixture
    s: float
    means: Tensor
    points: Tensor

    # All components have the covariance C = L L^T, the mixture has the mean m and the covariance S; S - C, that of the
    # means, is not negative. With s^(-1) y = L^(-1) (x - m) a component has the covariance s^2 I, and the variances of
    # y add up to s^2 tr(C^(-1) S): to d for s^2 = d/tr(C^(-1) S) <= 1.
    @classmethod
    def of(cls, rows: Tensor, mixture: Mixture) -> "FittedMixture":
        factor, centre = torch.linalg.cholesky(mixture.covariances[0]), mixture.weights @ mixture.means
        means, points = (
            torch.linalg.solve_triangular(factor, (x - centre).mT, upper=False).mT for x in (mixture.means, rows)
        )
        d = rows.shape[1]
        s = math.sqrt(d / (d + float(mixture.weights @ (means**2).sum(-1))))
        return cls(rows, mixture, s, s * means, s * points)

    @property
    def weights(self) -> str:
        """As a parameter has them."""
        return ", ".join(f"{each:.4f}" for each in self.mixture.weights.tolist())

    @cached_property
    def apart(self) -> Tensor:
        """Rows from means, in standard deviations, (m, c, d)."""
        return (self.points[:, None] - self.means) / self.s

    @cached_property
    def likeliest(self) -> Tensor:
        """The component that each row most likely is of, (m)."""
        return (torch.log(self.mixture.weights) - (self.apart**2).sum(-1) / 2).argmax(-1)

    def numbers(self, n: int, seed: int) -> Tensor:
        """Those (n, 2 + 2 d) by which `noised` (numeric/tools/mixtures.py) starts at rows, which the seed chooses.

        A row is a draw of its likeliest component.
        """
        d, weights, generator = self.rows.shape[1], self.mixture.weights, torch.Generator().manual_seed(seed)
        chosen = torch.randperm(len(self.rows), generator=generator, dtype=torch.int64, device="cpu")[:n]
        apart, of = self.apart[chosen], self.likeliest[chosen]  # (n, c, d), (n)
        found = numbers(n, d, seed)
        found[:, 0] = (torch.cumsum(weights, 0) - weights / 2)[of]
        found[:, 2 : 2 + d] = torch.take_along_dim(apart, of[:, None, None], 1)[:, 0]
        return found

    @property
    def told(self) -> list[str | int | float | None]:
        """Components, weights, the rows that are likeliest of each, the mean log-likelihood of a row, and BIC."""
        rows = ", ".join(map(str, torch.bincount(self.likeliest, minlength=len(self.means)).tolist()))
        (m, d), c, mean = self.rows.shape, len(self.means), float(self.mixture.log_density(self.rows).mean())
        free = c - 1 + c * d + d * (d + 1) // 2
        return [c, self.weights, rows, mean, free * math.log(m) - 2 * m * mean]


@lru_cache(maxsize=8)
def fitted_mixture(table: Table, components: int, seed: int) -> FittedMixture:
    """Fitted to all rows, by scikit-learn. Raises UsageError for fewer rows than components, or for an empty one."""
    if len(table.features) < components:
        found = f"{len(table.features)} rows for {components} components"
        raise UsageError(f"{table.source} has {found}; give fewer weights or more rows")
    rows = torch.as_tensor(standardised(table.features, len(table.features)), dtype=torch.float64, device="cpu")
    weights, means, covariance = gaussian_mixture(rows, components, seed)
    order = weights.argsort(descending=True)
    units = torch.round(UNIT * weights[order])
    units[0] += UNIT - units.sum()
    if not bool((units > 0).all()):
        raise UsageError(f"{table.source}: one of {components} fitted components is empty; give fewer weights")
    mixture = Mixture(units / UNIT, means[order], covariance.expand(components, -1, -1))
    return FittedMixture.of(rows, mixture)


def fit_by_components(table: Table, components: int, seed: int) -> NamedTable:
    """How well that mixture fits the rows, beside one Gaussian and one and two components less."""
    counts = sorted({1, *range(max(1, components - 2), components + 1)})
    title = (
        f"fit of Gaussian mixtures of one covariance to the {len(table.features)} rows of {table.source}, standardised "
        f"columns {', '.join(table.names)}; the last is that of the bounds"
    )
    columns = ["components", "weights", "rows likeliest of each", "mean log-likelihood of a row", "BIC"]
    return NamedTable(title=title, columns=columns, rows=[fitted_mixture(table, each, seed).told for each in counts])
