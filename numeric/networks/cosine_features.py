"""Random cosine features: a similarity of vectors as a mean of cos(w^T (u - v)), in ReLUs of w^T u and of w^T v.

Shapes: K features, m coordinates, n keys. A feature is a row (sign, w), (K, 1 + m).
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor

from numeric.balls import BallArray
from numeric.networks.hats import interpolated, like

SPARE = 1 + 2.0**-30  # times the largest frequency: so that rounding leaves no w^T u outside the knots


@dataclass(frozen=True, eq=False)
class FrequencyLaw:
    """sum_j a_j cos(j w z), w the spacing, and the law by which it is an expectation.

    Let each coordinate of w be j w or -j w, j with the probability |a_j|/mass, and the sign of the feature the product
    of the signs of the a_j. Then the expectation of mass^m sign cos(w^T z) is the product over the m coordinates.
    """

    spacing: float
    coefficients: Float64[np.ndarray, " terms"]

    @property
    def mass(self) -> float:
        return float(abs(self.coefficients).sum())

    @property
    def largest(self) -> float:
        """At least the largest frequency."""
        return self.spacing * (len(self.coefficients) - 1) * SPARE

    @property
    def curvature(self) -> float:
        """At least the largest absolute second derivative of the sum."""
        return float(abs(self.coefficients) @ (self.spacing * np.arange(len(self.coefficients))) ** 2) * SPARE

    def __call__(self, z: Any) -> Any:
        """The sum at each z, of an array of floats or of balls."""
        if isinstance(z, BallArray):
            places = like(np.arange(len(self.coefficients)) * self.spacing, z)
            return torch.cos(z.unsqueeze(-1) * places) @ like(self.coefficients, z)
        return np.cos(z[..., None] * (np.arange(len(self.coefficients)) * self.spacing)) @ self.coefficients

    def draw(self, count: int, dim: int, seed: int) -> Tensor:
        """`count` features, (count, 1 + dim)."""
        generator = torch.Generator().manual_seed(seed)
        shares = torch.from_numpy(abs(self.coefficients))
        if self.mass == 0:
            shares = torch.ones_like(shares)
        places = torch.multinomial(shares, count * dim, replacement=True, generator=generator).reshape(count, dim)
        signs = 2 * torch.randint(0, 2, (count, dim), generator=generator, dtype=torch.int64, device="cpu") - 1
        frequencies = torch.from_numpy(np.arange(len(self.coefficients)) * self.spacing)[places] * signs
        own = torch.from_numpy(np.where(self.coefficients < 0, -1.0, 1.0))[places].prod(1, keepdim=True)
        return torch.cat([own, frequencies], 1)


def cosine_scores(
    query: Any, keys: Any, features: Any, law: FrequencyLaw, radius: float, cells: int | None = None
) -> Any:
    """mass^m times the mean of sign cos(w^T (u - v)): queries (..., m) and keys (n, m) to (..., n).

    Arguments are clipped to [-radius, radius]. With `cells`, cos and sin of w^T u are those of a network of `cells` + 1
    ReLUs for each feature: straight lines between knots in the range of all w^T u.
    """
    signs, directions, dim = features[:, 0], features[:, 1:], keys.shape[-1]
    of_query, of_keys = (
        _waves(torch.clamp(each, -radius, radius) @ directions.mT, radius * dim * law.largest, cells)
        for each in (query, keys)
    )  # (..., 2 K), (n, 2 K)
    mass = like(np.asarray(law.mass), query)
    return (of_query * torch.cat([signs, signs])) @ of_keys.mT * (mass**dim / len(features))


def _waves(at: Any, reach: float, cells: int | None) -> Any:
    """cos, then sin: (..., K) to (..., 2 K)."""
    if cells is None:
        return torch.cat([torch.cos(at), torch.sin(at)], -1)
    found = interpolated(at, _table(reach, cells), reach)
    return torch.cat([found[..., 0], found[..., 1]], -1)


@lru_cache(maxsize=16)
def _table(reach: float, cells: int) -> Float64[np.ndarray, "knots 2"]:
    knots = np.linspace(-reach, reach, cells + 1)
    return np.stack([np.cos(knots), np.sin(knots)], 1)
