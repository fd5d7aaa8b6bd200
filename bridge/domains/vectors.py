"""Batches of vectors in float64, and the bounds on rounding that let a projection end inside.

Shapes: B vectors of N entries. u = 2^-53. Standard bounds: a sum of N rounded products has a relative error of at most
N u, whatever the order of summation, when its terms have one sign (Higham 2002, section 4.2).
"""

import torch
from jaxtyping import Float64
from torch import Tensor

from bridge.domains.rounding import UNIT
from symbolic.derivations.derivation import Norm

FLOAT64 = torch.finfo(torch.float64)
SHARPEST = 1e-12  # relative tolerance where floating point cannot meet an equation

Batch = Float64[Tensor, "B N"]
Numbers = Float64[Tensor, " B"]


def flattened(x: Tensor, entries: int) -> Batch:
    """The entries of each element as a vector, infinite ones replaced by the largest finite number."""
    return x.detach().reshape(len(x), entries).double().clamp(-FLOAT64.max, FLOAT64.max)


def normalised(points: Batch) -> tuple[Numbers, Batch]:
    """The largest absolute value of each vector, and the vector over it (0 stays 0): no square over- or underflows."""
    largest = points.abs().amax(1)  # (B)
    return largest, points / torch.where(largest == 0, 1.0, largest)[:, None]


def relative_norms(points: Batch, radius: float, norm: Norm) -> Numbers:
    """Norm over radius; its relative error is at most half of `band(N)` for a radius that is not subnormal."""
    largest, units = normalised(points)
    found = torch.linalg.vector_norm(units, float(norm), dim=1) * (largest / radius)  # (B)
    return torch.where(largest == 0, 0.0, found)


def band(entries: int) -> float:
    """Twice over, the relative error of a computed norm of so many entries.

    Entries over the largest: 1 u. 1-norm: N u. 2-norm: (N + 1) u / 2 from squares and sum, 1 u from the root. Largest
    over radius, product, and the radius itself, which is rounded down: 4 u. Together at most (N + 6) u.
    """
    return 2 * (entries + 8) * UNIT


def shrunk(radius: float, entries: int) -> float:
    """A radius to land on, three bands inside: one for errors of the landing, one for those of the next norm."""
    return radius * (1 - 3 * band(entries))


def onto_sphere(points: Batch, radius: float) -> Batch:
    """radius * point / ||point||_2; the zero vector goes to the first coordinate vector."""
    largest, units = normalised(points)
    units[largest == 0, 0] = 1.0
    return units * (radius / torch.linalg.vector_norm(units, dim=1))[:, None]


def onto_simplex(points: Batch) -> Batch:
    """The nearest vector of non-negative entries that add up to 1 (Held, Wolfe and Crowder 1974), by sorting.

    It is max(point - theta, 0), with theta = (sum of the k largest entries - 1) / k for the largest k at which the
    k-th largest entry is above theta. Entries 1 or more below the largest are 0 in it, which keeps the sums small.
    """
    points = (points - points.amax(1, keepdim=True)).clamp(min=-1.0)
    descending = points.sort(1, descending=True).values
    counts = torch.arange(1, points.shape[1] + 1, dtype=torch.float64, device=points.device)  # (N)
    thetas = (descending.cumsum(1) - 1) / counts  # (B, N)
    kept = (descending > thetas).sum(1, keepdim=True).clamp(min=1)  # (B, 1): a prefix, of at least the largest entry
    positive = (points - thetas.gather(1, kept - 1)).clamp(min=0)
    return positive / positive.sum(1, keepdim=True)


def onto_one_norm_ball(points: Batch, radius: float) -> Batch:
    """The nearest vector of 1-norm `radius`, for vectors outside that ball: signs times a scaled simplex."""
    sizes = points.abs()
    relative = (sizes - sizes.amax(1, keepdim=True)) / (radius or 1.0)
    return points.sign() * onto_simplex(relative) * radius


def tolerance(dtype: torch.dtype, entries: int) -> float:
    """Relative tolerance of a norm or a sum of entries of `dtype`: 1e-12, larger for coarse dtypes and many entries.

    Twice what a projection needs: rounding to the dtype costs eps / 2, float64 arithmetic (N + 8) 2^-52.
    """
    return max(SHARPEST, 2 * (torch.finfo(dtype).eps + (entries + 8) * FLOAT64.eps))


def smallest_step(dtype: torch.dtype) -> float:
    """The spacing of the numbers next to 0, which is what rounding costs there."""
    return torch.finfo(dtype).smallest_normal * torch.finfo(dtype).eps


def gaussians(count: int, entries: int, generator: torch.Generator) -> Batch:
    return torch.randn(count, entries, generator=generator, dtype=torch.float64, device="cpu")


def signs(count: int, entries: int, generator: torch.Generator) -> Batch:
    return 2 * torch.randint(0, 2, (count, entries), generator=generator, dtype=torch.int64, device="cpu").double() - 1


def exponentials(count: int, entries: int, generator: torch.Generator) -> Batch:
    return torch.empty(count, entries, dtype=torch.float64, device="cpu").exponential_(generator=generator)


def coordinate_vectors(count: int, entries: int, generator: torch.Generator) -> Batch:
    which = torch.randint(0, max(entries, 1), (count, 1), generator=generator, dtype=torch.int64, device="cpu")
    vectors = torch.zeros(count, max(entries, 1), dtype=torch.float64, device="cpu")
    return vectors.scatter(1, which, 1.0)[:, :entries]


def sphere_corners(count: int, entries: int, generator: torch.Generator) -> Batch:
    """Directions of norm 1 up to rounding, in turn: a signed coordinate vector, a sign vector, a random direction.

    The first two have the largest inf- and 1-norms.
    """
    flips = signs(count, entries, generator)
    spikes, normal = coordinate_vectors(count, entries, generator) * flips, gaussians(count, entries, generator)
    kind = torch.arange(count, dtype=torch.int64, device="cpu")[:, None] % 3
    chosen = torch.where(kind == 0, spikes, torch.where(kind == 1, flips, normal))
    return chosen / torch.linalg.vector_norm(chosen, dim=1, keepdim=True)
