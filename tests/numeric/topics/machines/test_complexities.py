"""Exact complexities against enumeration over all samples and signs, covers against a second way to count."""

from itertools import product
from math import comb

import numpy as np
import pytest
from scipy.stats import binom

from numeric.topics.machines import complexities as exact


def enumerated(functions: np.ndarray, n: int) -> float:
    """Rad of finitely many functions (functions, inputs) on equally likely inputs: every sample and every sign."""
    inputs = functions.shape[1]
    total = 0.0
    for sample in product(range(inputs), repeat=n):
        signs = np.array(list(product((-1, 1), repeat=n)))  # (2^n, n)
        total += (signs @ functions[:, sample].T).max(axis=1).mean() / n
    return total / inputs**n


def corners(q: int) -> np.ndarray:
    return np.array(list(product((0.0, 1.0), repeat=q)))


@pytest.mark.parametrize(("q", "n"), [(1, 1), (1, 5), (2, 4), (3, 4), (3, 5)])
def test_the_complexity_of_a_cube_is_the_enumerated_one(q: int, n: int) -> None:
    truth = enumerated(corners(q), n)  # a linear function of u is largest at a corner
    assert exact.cube_complexity(q, n) == pytest.approx(truth, rel=1e-12)
    assert exact.cube_complexity(q, n, 0.3) == pytest.approx(0.3 * truth, rel=1e-12)
    assert exact.cube_complexity(q, n + 1) < truth or n == 1  # the check would notice another n


@pytest.mark.parametrize("steps", [0, 1, 2, 7, 8])
def test_mean_absolute_sums_are_those_of_all_signs(steps: int) -> None:
    truth = sum(abs(2 * ones - steps) * comb(steps, ones) for ones in range(steps + 1)) / 2**steps
    assert exact.mean_absolute_sum(np.array([steps]))[0] == pytest.approx(truth)


def test_long_walks_are_bounded_from_below_and_near() -> None:
    for n in (10**12, 10**15):
        normal = np.sqrt(2 * n * 0.5 / np.pi)
        assert normal * (1 - 1e-4) < exact.mean_absolute_walk(n, 0.5) < normal


def test_two_functions_are_no_more_complex_than_said() -> None:
    functions = np.array([[0.2] * 5, [1.0, 0, 0, 0, 0]])
    for n in (1, 3, 4):
        truth = enumerated(functions, n)
        assert truth <= exact.pair_complexity_above(0.2, 0.2, n) * (1 + 1e-12)
        assert truth > 0.7 * exact.pair_complexity_above(0.2, 0.2, n)


def test_the_missed_error_is_missed_as_often_as_said() -> None:
    for n, delta in ((37, 0.05), (1000, 0.01), (1000, 1e-20)):  # 1 - 1e-20 is 1 in float64
        error = exact.missed_error(0.1, n, delta)
        assert binom.cdf(np.ceil(0.1 * n) - 1, n, error) == pytest.approx(delta)
        assert error > 0.1


def test_averages_cover_the_ball_as_near_as_maurey_says() -> None:
    for p, k in ((1, 3), (2, 1), (2, 2), (2, 5), (3, 2), (3, 4)):
        centres = exact.vertex_averages(p, k)
        assert len(centres) == comb(2 * p + k - 1, k) <= (2 * p) ** k
        assert np.abs(centres).sum(axis=1).max() == pytest.approx(1)
        assert exact.farthest(exact.l1_grid(p, 10), centres) <= 1 / np.sqrt(k)
    assert exact.farthest(exact.l1_grid(2, 10), exact.vertex_averages(2, 1)) == 1  # the centre: sharp
    assert exact.farthest(exact.l1_grid(2, 10), exact.vertex_averages(2, 2)[1:2]) > 1 / np.sqrt(2)  # it can fail


def test_grids_and_packings() -> None:
    grid = exact.l1_grid(2, 6)
    assert len(grid) == 2 * 6 * 7 + 1
    assert exact.packing(grid, 1.0) == 1
    assert exact.packing(grid, 0.99) == 2
    assert exact.packing(grid, 0.7) == 4  # the four vertices, sqrt(2) apart
    assert exact.packing(grid, 0.01) == len(grid)
