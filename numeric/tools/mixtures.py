"""Gaussian mixtures: density, score, draws, moments over intervals; and under the Ornstein-Uhlenbeck process.

dX = -X dt + sqrt(2) dW takes a draw x_0 to x_t = a x_0 + sqrt(1 - a^2) z, a = e^(-t), and a mixture to a mixture.

Shapes: ... times or points, c components, d coordinates, I intervals.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float64
from torch import Tensor

from numeric.networks.stream import StreamError

SUMS = 1e-9  # how far the weights may be from adding up to 1


@dataclass(frozen=True, eq=False)
class Mixture:
    """Weights (c), means (..., c, d), covariances (..., c, d, d), in float64; the dots are those of times.

    Raises StreamError for weights that are not those of a mixture and for a covariance that is not positive definite.
    """

    weights: Float64[Tensor, " c"]
    means: Float64[Tensor, "*t c d"]
    covariances: Float64[Tensor, "*t c d d"]

    def __post_init__(self) -> None:
        total = float(self.weights.sum())
        if not (bool((self.weights > 0).all()) and abs(total - 1) <= SUMS):
            raise StreamError("Mixture", f"weights that add up to {total!r}", "Give weights above 0 that add up to 1.")
        if bool((self.covariances != self.covariances.mT).any()) or bool(self._factored[1].any()):
            wanted = "Give symmetric matrices with eigenvalues above 0."
            raise StreamError("Mixture", "a covariance that is not positive definite", wanted)

    @cached_property
    def _factored(self) -> tuple[Tensor, Tensor]:
        return torch.linalg.cholesky_ex(self.covariances)

    @cached_property
    def _precisions(self) -> Tensor:
        return torch.cholesky_inverse(self._factored[0])  # (..., c, d, d)

    def at(self, t: Float64[Tensor, "*t"] | float) -> "Mixture":
        """The law of x_t. Raises StreamError for a time that is not above 0."""
        times = torch.as_tensor(t, dtype=torch.float64, device="cpu")
        if not bool((times > 0).all()):
            raise StreamError("Mixture.at", f"t = {float(times.min())!r}", "Give times above 0.")
        a = torch.exp(-times)[..., None, None]  # (..., 1, 1)
        identity = torch.eye(self.means.shape[-1], dtype=torch.float64, device="cpu")
        noise = -torch.expm1(-2 * times)[..., None, None, None] * identity
        return Mixture(self.weights, a * self.means, (a * a)[..., None] * self.covariances + noise)

    def log_density(self, x: Float64[Tensor, "*t d"]) -> Float64[Tensor, "*t"]:
        found: Tensor = torch.logsumexp(self._terms(x)[0], -1)
        return found

    # grad p / p for p = sum_k w_k N(x; m_k, C_k): the mean of -C_k^(-1) (x - m_k) over the shares of the terms.
    def score(self, x: Float64[Tensor, "*t d"]) -> Float64[Tensor, "*t d"]:
        """The gradient of the log density."""
        terms, pulls = self._terms(x)
        return -(torch.softmax(terms, -1)[..., None] * pulls).sum(-2)

    def _terms(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """log w_k N(x; m_k, C_k), (..., c), and C_k^(-1) (x - m_k), (..., c, d)."""
        apart = x[..., None, :] - self.means  # (..., c, d)
        pulls = (self._precisions @ apart[..., None])[..., 0]
        determinants = 2 * torch.log(self._factored[0].diagonal(dim1=-2, dim2=-1)).sum(-1)  # (..., c)
        squares = (apart * pulls).sum(-1) + x.shape[-1] * math.log(2 * math.pi)
        return torch.log(self.weights) - (squares + determinants) / 2, pulls

    def drawn(self, uniform: Float64[Tensor, " n"], normal: Float64[Tensor, "n d"]) -> Float64[Tensor, "n d"]:
        """Draws, from a uniform number and a standard normal vector each; of a mixture at one time."""
        ends = torch.cumsum(self.weights, 0)[:-1]
        of = torch.bucketize(uniform.contiguous(), ends)  # (n)
        return self.means[of] + (self._factored[0][of] @ normal[..., None])[..., 0]

    # With z = (x - m)/s: the integrals of 1, z, z^2 times the normal density f are F, -f, F - z f.
    def moments(self, low: Float64[Tensor, " I"], high: Float64[Tensor, " I"]) -> Float64[Tensor, "3 I"]:
        """For d = 1 and one time: the integrals of p, x p and x^2 p over [low, high], ends infinite or not."""
        m, s = self.means[:, 0, None], self.covariances[:, 0, 0, None].sqrt()  # (c, 1)
        ends = [(each - m) / s for each in (low, high)]  # (c, I)
        density = [torch.exp(-z * z / 2) / math.sqrt(2 * math.pi) for z in ends]
        tail = ends[0] > 0  # there 1 - F is taken, which is not the difference of two numbers near 1
        masses = [torch.special.ndtr(torch.where(tail, -z, z)) for z in ends]
        zeroth = torch.where(tail, masses[0] - masses[1], masses[1] - masses[0])
        first = density[0] - density[1]
        lifted = [torch.where(z.isinf(), 0.0, z * f) for z, f in zip(ends, density, strict=True)]
        second = zeroth + lifted[0] - lifted[1]
        each = [zeroth, m * zeroth + s * first, m * m * zeroth + 2 * m * s * first + s * s * second]
        return torch.stack([self.weights @ moment for moment in each])


def isotropic(weights: Float64[Tensor, " c"], means: Float64[Tensor, "c d"], deviation: float) -> Mixture:
    """The mixture whose components all have the covariance deviation^2 I."""
    identity = torch.eye(means.shape[-1], dtype=torch.float64, device="cpu")
    return Mixture(weights, means, (deviation**2 * identity).expand(len(means), -1, -1))


@dataclass(frozen=True)
class Noised:
    """Points x (n, d) at the times t (n), and the scores (n, d) of x given x_0, -(x - a x_0)/(1 - a^2)."""

    x: Float64[Tensor, "n d"]
    t: Float64[Tensor, " n"]
    given: Float64[Tensor, "n d"]


def numbers(n: int, d: int, seed: int) -> Float64[Tensor, "n k"]:
    """Two uniform numbers and 2d standard normal ones for each of n points."""
    generator = torch.Generator().manual_seed(seed)
    uniform = torch.rand(n, 2, generator=generator, dtype=torch.float64, device="cpu")
    return torch.cat([uniform, torch.randn(n, 2 * d, generator=generator, dtype=torch.float64, device="cpu")], 1)


def noised(mixture: Mixture, numbers: Float64[Tensor, "n k"], T_0: float, T: float) -> Noised:
    """Draws of x_t at times that are uniform in [T_0, T], from numbers as above."""
    d = mixture.means.shape[-1]
    clean, noise = mixture.drawn(numbers[:, 0], numbers[:, 2 : 2 + d]), numbers[:, 2 + d :]
    t = T_0 + (T - T_0) * numbers[:, 1]
    a = torch.exp(-t)[:, None]  # (n, 1)
    deviation = torch.sqrt(-torch.expm1(-2 * t))[:, None]
    return Noised(a * clean + deviation * noise, t, -noise / deviation)
