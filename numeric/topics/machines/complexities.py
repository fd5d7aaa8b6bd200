"""Classes small enough to know exactly: Rademacher complexities, failures of minimisers, covers and packings.

n is the number of samples, q that of inputs that are drawn alike, p the dimension. The 2-norm throughout.
"""

from itertools import combinations_with_replacement, product

import numpy as np
from jaxtyping import Float64
from scipy.special import poch
from scipy.stats import beta, binom

WIDE = 10  # standard deviations: what lies beyond has a share below 1e-20
MOST = 1_000_000  # counts that are summed over
NEAR = 1e-9  # relative: how well an error is to be known


def mean_absolute_sum(steps: np.ndarray) -> np.ndarray:
    """E |xi_1 + ... + xi_K| for each number K of random signs: 2m binomial(2m, m) / 4^m for K = 2m and K = 2m - 1."""
    m = (steps + 1) // 2
    return 2.0 * poch(m, 0.5) / np.sqrt(np.pi) * (m > 0)


def mean_absolute_walk(n: int, chance: float) -> float:
    """E |S| of n independent steps, each +-1 with probability chance/2 and 0 else; from below where n is very large."""
    middle, spread = n * chance, WIDE * np.sqrt(n * chance * (1 - chance)) + WIDE
    low, high = max(0, int(middle - spread)), min(n, int(middle + spread))
    if high - low > MOST:  # E |S_K| grows with K, which is at least `low` but for a share below 1e-20
        return float(mean_absolute_sum(np.array([low]))[0]) * (1 - 1e-15)
    counts = np.arange(low, high + 1)
    return float(binom.pmf(counts, n, chance) @ mean_absolute_sum(counts))


def cube_complexity(q: int, n: int, height: float = 1.0) -> float:
    """Rad of all functions from q inputs, equally likely, to [0, height].

    S_j sums the signs at input j: E sup (1/n) sum_j S_j u_j = (height/n) sum_j E max(S_j, 0) = q height E |S_1| / (2n).
    """
    return q * height * mean_absolute_walk(n, 1.0 / q) / (2 * n)


def pair_complexity_above(constant: float, chance: float, n: int) -> float:
    """At least Rad of a constant c and an indicator 1_B: E |sum_i xi_i (c - 1_B(x_i))| / (2n), by Jensen."""
    return float(np.sqrt((constant**2 - 2 * constant * chance + chance) / n) / 2)


def missed_error(constant: float, n: int, delta: float) -> float | None:
    """The largest error b of a function whose empirical error is below `constant` with probability delta at least.

    Its losses are the indicator of an event B; P(Bin(n, b) < constant n) = delta. None where float64 does not confirm
    that from the side of the binomial.
    """
    fewer = int(np.ceil(constant * n)) - 1
    b = float(beta.isf(delta, float(fewer + 1), float(n - fewer)))
    within = b * (1 - NEAR), min(1.0, b * (1 + NEAR))
    low, high = (float(binom.cdf(fewer, n, chance)) for chance in reversed(within))
    return b if low <= delta <= high else None


def vertex_averages(p: int, k: int) -> Float64[np.ndarray, "averages p"]:
    """All averages of k of the vertices +-e_j of the l1 ball."""
    vertices = np.concatenate([np.eye(p), -np.eye(p)])
    return np.array([vertices[list(chosen)].mean(axis=0) for chosen in combinations_with_replacement(range(2 * p), k)])


def l1_grid(p: int, parts: int) -> Float64[np.ndarray, "points p"]:
    """The points of the l1 ball whose coordinates are multiples of 1/parts."""
    grid = np.array(list(product(range(-parts, parts + 1), repeat=p)), dtype=np.float64)
    return grid[np.abs(grid).sum(axis=1) <= parts] / parts


def farthest(points: Float64[np.ndarray, "points p"], centres: Float64[np.ndarray, "centres p"]) -> float:
    """The largest distance of a point to the nearest centre."""
    apart = np.linalg.norm(points[:, None] - centres[None], axis=-1)  # (points, centres)
    return float(apart.min(axis=1).max())


def packing(points: Float64[np.ndarray, "points p"], radius: float) -> int:
    """How many points were chosen, each more than 2 radius from all before: no cover at that radius has fewer balls."""
    left = points[np.argsort(-np.abs(points).max(axis=1), kind="stable")]  # from the vertices inwards
    chosen = 0
    while len(left):
        chosen += 1
        left = left[np.linalg.norm(left - left[0], axis=1) > 2 * radius]
    return chosen
