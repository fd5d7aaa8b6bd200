"""What samples tell, against classes small enough to go through every sign and every sample."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest
import sympy as sp

from symbolic.calculus.samples import (
    chained,
    hull_distance,
    level_cost,
    log_averages,
    massart,
    minimiser_risk,
    never_drawn,
    samples_that_miss,
    uniform_deviation,
)
from symbolic.derivations.derivation import DerivationError

TOO_SMALL = 0.999
LARGEST_RATIO = 1 / math.sqrt(2 * math.log(2))  # of a complexity to Massart's bound, for small classes
level = sp.Symbol("j", integer=True, positive=True)


def complexity(values: np.ndarray) -> float:
    """values: functions x points. The mean over all signs of the sup."""
    points = values.shape[1]
    signs = np.array(list(itertools.product((-1, 1), repeat=points)))
    return float((signs @ values.T / points).max(axis=1).mean())


def sign_patterns(points: int) -> np.ndarray:
    return np.array(list(itertools.product((-1.0, 1.0), repeat=points)))


def averages(vectors: np.ndarray, count: int) -> np.ndarray:
    return np.array([vectors[list(each)].mean(axis=0) for each in itertools.product(range(len(vectors)), repeat=count)])


def nearest(point: np.ndarray, others: np.ndarray) -> float:
    return float(np.linalg.norm(others - point, axis=1).min())


CROSS = np.vstack([np.eye(3), -np.eye(3)])


def test_a_point_of_a_hull_is_that_near_to_an_average() -> None:
    draw = np.random.default_rng(0)
    for count in (1, 2, 3):
        bound, here = float(hull_distance(1, count)), averages(CROSS, count)
        for _ in range(50):
            assert nearest(draw.dirichlet(np.ones(6)) @ CROSS, here) <= bound


def test_the_centre_attains_it_with_one_vector_and_no_smaller_distance_does() -> None:
    assert float(hull_distance(sp.Rational(5, 2), 1)) == nearest(np.zeros(3), 2.5 * CROSS)
    assert TOO_SMALL * float(hull_distance(1, 1)) < nearest(np.zeros(3), CROSS)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_there_are_at_most_so_many_averages(count: int) -> None:
    different = len(np.unique(averages(CROSS, count), axis=0))
    bound = math.exp(float(log_averages(6, count)))
    assert different <= round(bound)
    assert (count == 1) == (different > TOO_SMALL * bound)


@pytest.mark.parametrize("points", [1, 2, 3, 6])
def test_all_sign_patterns_attain_the_largest_known_ratio_of_massart(points: int) -> None:
    values = 0.3 * sign_patterns(points)
    bound = float(massart(sp.log(len(values)), sp.Rational(3, 10), points))
    found = complexity(values)
    assert found == pytest.approx(0.3)
    assert found == pytest.approx(LARGEST_RATIO * bound)
    assert found > TOO_SMALL * LARGEST_RATIO * bound


def test_random_classes_stay_below_massart_whatever_interval_their_values_lie_in() -> None:
    draw = np.random.default_rng(1)
    for _ in range(100):
        functions, points = draw.integers(2, 9), draw.integers(1, 8)
        values = draw.uniform(-1, 1, size=(functions, points)) + draw.uniform(-3, 3)
        assert complexity(values) < float(massart(sp.log(int(functions)), 1, int(points)))


def lines() -> Iterator[np.ndarray]:
    """9 losses on a line, at 8 points: 4; 2, 6; 1, 3, 5, 7 of them cover it at the radii 1/2, 1/4, 1/8."""
    line = np.linspace(0.0, 1.0, 9)
    draw = np.random.default_rng(2)
    for _ in range(20):
        shapes = draw.uniform(-1, 1, size=8)
        yield line[:, None] * shapes[None, :]


def test_a_chain_bounds_the_complexity_of_what_it_covers() -> None:
    radius, log_size = 2 ** -(level + 1), level * sp.log(2)
    rest = radius.subs(level, 2)
    costs = level_cost(radius, log_size, level, 8)
    bound = float(chained(massart(0, 1, 8), costs, level, 2, rest).doit())
    assert bound == pytest.approx(0.5 * math.sqrt(math.log(2) / 4) + 0.25 * math.sqrt(2 * math.log(2) / 4) + 1 / 8)
    for values in lines():
        assert complexity(values) <= bound


def test_levels_that_cost_the_same_add_up_without_a_sum() -> None:
    J, n = sp.symbols("J n", positive=True)
    cost = level_cost(2**-level, 4**level, level, n)
    assert not cost.has(level)
    assert sp.simplify(chained(1, cost, level, J, 2) - 3 - J * 2 * sp.sqrt(2 / n)) == 0


def losses_of(draw: np.random.Generator) -> np.ndarray:
    """Functions x points, losses in {0, 1}; the distribution is uniform on the points."""
    return draw.integers(0, 2, size=(4, 3)).astype(float)


@pytest.mark.parametrize("samples", [2, 4])
@pytest.mark.parametrize("failure", [0.4, 0.1])
def test_risks_exceed_their_bounds_no_more_often_than_they_may(samples: int, failure: float) -> None:
    draw = np.random.default_rng(3)
    for _ in range(10):
        losses = losses_of(draw)
        risk, drawn = losses.mean(axis=1), list(itertools.product(range(3), repeat=samples))
        mean = float(np.mean([complexity(losses[:, each]) for each in drawn]))
        known = {"samples": samples, "failure": failure}
        excess, apart = (float(bound) for bound in (minimiser_risk(0, mean, **known), uniform_deviation(mean, **known)))
        empirical = np.array([losses[:, each].mean(axis=1) for each in drawn])
        chosen = risk[empirical.argmin(axis=1)]
        assert np.mean(chosen > risk.min() + excess) <= failure
        assert np.mean((risk - empirical).max(axis=1) > apart) <= failure


def test_the_deviation_of_one_coin_is_mcdiarmids() -> None:
    """With no complexity what is left is Hoeffding's bound: for a fair coin not far from the truth."""
    n, failure = 100, sp.Rational(1, 20)
    apart = float(uniform_deviation(0, samples=n, failure=failure))
    beyond = sum(math.comb(n, heads) for heads in range(n + 1) if 0.5 - heads / n > apart) / 2**n
    assert 0.1 * failure < beyond <= failure
    assert float(minimiser_risk(0, 0, samples=n, failure=failure)) == pytest.approx(2 * apart)


def test_a_set_is_missed_exactly_that_often() -> None:
    drawn = list(itertools.product(range(4), repeat=5))
    assert never_drawn(sp.Rational(1, 4), 5) == sp.Rational(sum(0 not in each for each in drawn), len(drawn))
    few = float(samples_that_miss(sp.Rational(1, 4), sp.Rational(1, 2)))
    assert never_drawn(0.25, math.floor(few)) > 0.5 > never_drawn(0.25, math.ceil(few))
    assert never_drawn(0.25, few) == pytest.approx(0.5)
    for mass in (0, -1, 1, 2):
        with pytest.raises(DerivationError, match=r"give one in \(0, 1\)"):
            samples_that_miss(mass, 0.5)
