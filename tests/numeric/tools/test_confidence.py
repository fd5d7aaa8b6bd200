"""Confidence intervals of a few values: their level by simulation and by exact laws, and what gives none."""

import math
from itertools import combinations

import numpy as np
import pytest

from numeric.tools.confidence import SIGN, largest_centre, mean_below, median_below

RUNS = 2000


def misses(draw, n: int, k: int, level: float, method: str, centre: float) -> tuple[float, float]:  # type: ignore[no-untyped-def]
    """How often each end is on the wrong side of the largest centre."""
    generator = np.random.default_rng(n * k)
    found = [largest_centre(draw(generator, (n, k)), level, method) for _ in range(RUNS)]
    return tuple(float(np.mean(each)) for each in zip(*((i.low > centre, i.high < centre) for i in found), strict=True))


# Of k equal centres the high end is the largest of k, so that it misses less often than half of the level.
@pytest.mark.parametrize(("n", "k", "level"), [(3, 1, 0.05), (5, 1, 0.2), (3, 4, 0.2)])
def test_students_interval_of_normal_values_keeps_its_level(n: int, k: int, level: float) -> None:
    low, high = misses(lambda g, shape: g.normal(2, 3, shape), n, k, level, "t", 2)
    spare = 4 * math.sqrt(level / 2 / RUNS)
    assert abs(low - level / 2) < spare if k == 1 else level / 8 < low < level / 2 + spare
    assert abs(high - level / 2) < spare if k == 1 else high < level / 8


def test_students_interval_is_that_of_the_tables() -> None:
    """t_(0.975, 2) = 4.302653; mean and deviation of 1, 2, 3 are 2 and 1."""
    assert mean_below([1.0, 2.0, 3.0], 0.025) == pytest.approx(2 - 4.302653 / math.sqrt(3), abs=1e-6)


def test_the_interval_by_signs_keeps_its_level_for_a_skew_law() -> None:
    low, high = misses(lambda g, shape: g.exponential(1, shape) ** 3, 7, 1, 0.05, SIGN, math.log(2) ** 3)
    exact = 2.0**-7  # its ends are the smallest and the largest value
    assert low == pytest.approx(exact, abs=4 * math.sqrt(exact / RUNS))
    assert high == pytest.approx(exact, abs=4 * math.sqrt(exact / RUNS))


@pytest.mark.parametrize("n", range(1, 13))
def test_the_end_by_signs_is_the_one_that_all_2_to_the_n_signs_allow(n: int) -> None:
    share, values = 0.025, np.arange(n, dtype=float)
    signs = [sum(1 for r in range(k) for _ in combinations(range(n), r)) / 2**n for k in range(n + 2)]
    most = max(k for k in range(n + 1) if signs[k] <= share)  # P(Bin <= k - 1)
    assert median_below(values, share) == (values[most - 1] if most else -math.inf)


def test_too_few_or_equal_values_give_no_end() -> None:
    for values in ([1.0], [2.0, 2.0, 2.0], [0.0, 0.0], [1e9, 1e9 + 1e-7]):
        assert mean_below(values, 0.025) == -math.inf
    assert median_below([1.0] * 5, 0.025) == -math.inf
    assert median_below([1.0] * 6, 0.025) == 1.0
