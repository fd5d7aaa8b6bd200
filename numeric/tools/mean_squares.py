"""Mean squares E|e(x)|^2 under a Gaussian mixture: enclosed in one dimension, with a confidence interval beyond.

Shapes: G knots, n draws.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float64
from torch import Tensor

from numeric.networks.stream import StreamError
from numeric.tools.mixtures import Mixture
from numeric.tools.normal import falling_exponential, normal_distribution

Field = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class MeanSquare:
    """Ends of an enclosure."""

    low: float
    high: float


ROUNDED = 2.0**-36  # what the roundings of a sum of at most 2^15 terms add to it, relatively


# Its floats c and s are off by a relative u = `rounded` >= 2^-51. That moves z = (x - c)/s at a float x by at most
# 2 u (|z| + k), k = max |c|/s; and Phi(z), phi(z), z phi(z) by at most 0.4, 0.25 and 1 times 2 u k, and 0.25, 0.3 and
# 0.8 times 2 u: by 4 u (1 + k), with what they are off by themselves.
@dataclass(frozen=True, eq=False)
class MixtureOnLine:
    """A mixture for d = 1 at points (G), increasing: z, Phi(z) and phi(z), (c, G), and what they may be off by.

    Raises ValueError for components of several variances.
    """

    mixture: Mixture
    points: Float64[Tensor, " G"]
    rounded: float = 2.0**-51

    def __post_init__(self) -> None:
        if not bool((self.mixture.covariances == self.mixture.covariances[0]).all()):
            raise ValueError("MixtureOnLine: the components have several variances; give components of one")

    @cached_property
    def centres(self) -> Float64[Tensor, "c one"]:
        return self.mixture.means[:, 0, None]

    @cached_property
    def deviations(self) -> Float64[Tensor, "c one"]:
        return self.mixture.covariances[:, 0, 0, None].sqrt()

    @cached_property
    def shift(self) -> float:
        """1 + k."""
        return 1 + float((self.centres.abs() / self.deviations).max())

    @cached_property
    def z(self) -> Float64[Tensor, "c G"]:
        return (self.points - self.centres) / self.deviations

    @cached_property
    def distribution(self) -> Float64[Tensor, "c G"]:
        return normal_distribution(self.z)

    @cached_property
    def density(self) -> Float64[Tensor, "c G"]:
        return falling_exponential(self.z**2 / 2) / math.sqrt(2 * math.pi)

    # With y = (x - c)/s on [z, z'] the integrals of 1, y, y^2 times phi are F = Phi(z') - Phi(z), f = phi(z) - phi(z'),
    # F + z phi(z) - z' phi(z'); about z they are F, f - z F and F + z phi(z) - z' phi(z') - 2 z f + z^2 F. By the above
    # the n-th is off by at most 32 u (1 + k) (1 + |z|)^n.
    @cached_property
    def moments(self) -> tuple[Tensor, Tensor, Tensor]:
        """The integrals of p, (x - x_j) p and (x - x_j)^2 p over [x_j, x_{j+1}], (G - 1) each."""
        z, phi = self.z[:, :-1], self.density
        mass, first = self.distribution.diff(dim=-1), -phi.diff(dim=-1)
        second = mass - (self.z * phi).diff(dim=-1)
        local = (mass, first - z * mass, second - 2 * z * first + z * z * mass)
        found = [self.mixture.weights @ (self.deviations**n * each) for n, each in enumerate(local)]
        return found[0], found[1], found[2]

    @cached_property
    def reach(self) -> Float64[Tensor, " G"]:
        """s (1 + |z|), the largest of all components."""
        return (self.deviations * (1 + self.z.abs())).amax(0)

    @property
    def off(self) -> float:
        """Of the n-th moment, in units of reach^n."""
        return 32 * self.rounded * self.shift

    @cached_property
    def _ends(self) -> list[list[float]]:
        """Of each component beyond each end: weight, c outwards, s, 1 + |z|, the integrals of 1, y and y^2 outwards."""
        found = []
        for sign, end, mass in ((1.0, -1, 1 - self.distribution[:, -1]), (-1.0, 0, self.distribution[:, 0])):
            z, phi = sign * self.z[:, end], self.density[:, end]
            c, s = sign * self.centres[:, 0], self.deviations[:, 0]
            found += torch.stack([self.mixture.weights, c, s, 1 + z.abs(), mass, phi, mass + z * phi], -1).tolist()
        return found

    def beyond(self, slope: float, offset: float) -> float:
        """At least the integral of (offset + slope |x|)^2 p beyond both ends, which lie on both sides of 0."""
        total = largest = 0.0
        for weight, c, s, reach, mass, first, second in self._ends:
            start, grows = offset + slope * c, slope * s
            total += weight * (start**2 * mass + 2 * start * grows * first + grows**2 * second)
            largest = max(largest, abs(start) + grows * reach)
        return total + 2 * self.off * largest**2

    # The shares are exp(-(z_k^2 - z_m^2)/2) w_k, z_m the nearest. Each square is off by 4 u (|z|^2 + k |z|), a share by
    # r = 8 u (1 + |z|^2 + k |z|), relatively or beside that of z_m, which is its weight. The z/s are off by
    # 4 u (|z| + k)/s; their mean by this, and by 2 r times the largest |z|/s over the least weight.
    @cached_property
    def score(self) -> tuple[Float64[Tensor, " G"], float]:
        """The score at the points, and what it may be off by."""
        half = self.z**2 / 2
        shares = self.mixture.weights[:, None] * falling_exponential(half - half.amin(0))
        pulls = self.z / self.deviations
        farthest, least = float(self.z.abs().max()), float(self.deviations.min())
        off = 32 * self.rounded * (1 + farthest**2 + self.shift * farthest) * float(pulls.abs().max())
        off = off / float(self.mixture.weights.min()) + 8 * self.rounded * (farthest + self.shift) / least
        return -(shares * pulls).sum(0) / shares.sum(0), off


# On the knots' range e is the piecewise-linear interpolant l and a rest of size at most h^2 sup|e''| / 8 + `off`: the
# norms in L^2(p) of e and of l differ by that at most. The integral of l^2 p over a cell is exact by the moments of p.
# Beyond the last knots |e| <= slope |x| + offset, whose square has the moments' integral too. In floats l is off by
# 2^-48 of its largest value.
def enclosed_on_line(
    line: MixtureOnLine, values: Float64[Tensor, " G"], *, bend: float, off: float = 0.0, slope: float, offset: float
) -> MeanSquare:
    """E e(x)^2 for d = 1, from values of e at the points of the line; `bend` is at least |e''| between them.

    `values` may be off by `off`; beyond the points |e(x)| is at most slope |x| + offset. Raises StreamError for points
    on one side of 0 alone.
    """
    first, last = float(line.points[0]), float(line.points[-1])
    if not first <= 0 <= last:  # else x has both signs beyond an end
        raise StreamError("enclosed_on_line", f"knots from {first} to {last}", "Give knots on both sides of 0.")
    widths = line.points.diff()
    slopes, starts = values.diff() / widths, values[:-1]
    m0, m1, m2 = line.moments
    terms = torch.stack([starts**2 * m0, 2 * starts * slopes * m1, slopes**2 * m2])
    lost = line.off * float(((starts.abs() + slopes.abs() * line.reach[:-1]) ** 2).sum())
    lost += ROUNDED * float(terms.abs().sum())
    inside = float(terms.sum())
    rest = (bend * float(widths.max()) ** 2 / 8 + off + 2.0**-48 * float(values.abs().max())) * (1 + ROUNDED)
    low, high = math.sqrt(max(0.0, inside - lost)), math.sqrt(max(0.0, inside + lost))
    most = (high + rest) ** 2 + max(0.0, line.beyond(slope, offset))
    return MeanSquare(max(0.0, low - rest) ** 2 * (1 - ROUNDED), most * (1 + ROUNDED))


# Maurer and Pontil 2009, Theorem 4, for numbers in [0, cap], on both sides: each fails with probability failure / 2.
def empirical_bernstein(values: Float64[Tensor, " n"], cap: float, failure: float) -> MeanSquare:
    """The mean of independent numbers in [0, cap] is inside with probability at least 1 - failure."""
    n, log = len(values), math.log(4 / failure)
    if n == 1:  # it has no variance
        return MeanSquare(0.0, cap)
    mean, margin = float(values.mean()), math.sqrt(2 * float(values.var()) * log / n) + 7 * cap * log / (3 * (n - 1))
    return MeanSquare(max(0.0, mean - margin), mean + margin)


# |z| of a standard normal vector has the moments 2^(m/2) Gamma((d + m)/2, r^2/2) / Gamma(d/2) beyond r.
def normal_tail(d: int, order: int, radius: float) -> float:
    """E |z|^order over |z| > radius, z standard normal in d dimensions."""
    half = torch.tensor([(d + order) / 2, radius**2 / 2], dtype=torch.float64, device="cpu")
    gammas = math.lgamma((d + order) / 2) - math.lgamma(d / 2)
    return 2 ** (order / 2) * math.exp(gammas) * float(torch.special.gammaincc(half[0], half[1]))
