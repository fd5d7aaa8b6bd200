"""The binomial test against exact sums, and the confidence limit of a mean against means that are known."""

from fractions import Fraction
from math import comb

import flint
import numpy as np
import pytest
from scipy.stats import binom

from bridge.judging.binomial import CAP, LEVEL, least_mean, p_value


def exact_tail(failures: int, draws: int, share: Fraction) -> Fraction:
    ways = (comb(draws, k) * share**k * (1 - share) ** (draws - k) for k in range(failures, draws + 1))
    return sum(ways, Fraction(0))


@pytest.mark.parametrize(("failures", "draws"), [(0, 5), (1, 1), (1, 7), (7, 7), (3, 40), (31, 40)])
def test_the_p_value_is_the_tail_of_the_binomial_distribution(failures: int, draws: int) -> None:
    share = Fraction(3, 16)
    tail = exact_tail(failures, draws, share)
    found = p_value(failures, draws, flint.arb(3) / 16)
    assert found.contains(flint.fmpq(tail.numerator, tail.denominator))
    assert found.rel_accuracy_bits() > 40


def test_it_is_that_of_scipy_for_many_draws() -> None:
    found = float(p_value(700, 10_000, flint.arb(0.05)))
    assert found == pytest.approx(binom.sf(699, 10_000, 0.05), rel=1e-6)


def test_a_share_that_is_only_enclosed_counts_with_its_upper_end() -> None:
    wide = p_value(5, 20, flint.arb(0.1, 0.05))
    assert float(wide) == pytest.approx(float(p_value(5, 20, flint.arb(0.15))), rel=1e-6)
    assert p_value(5, 20, flint.arb(1)) == 1


def test_a_mean_is_above_its_limit_and_the_limit_is_close_for_many_draws() -> None:
    draw = np.random.default_rng(0)
    errors = draw.uniform(0, 2, 20_000)
    assert 0.95 < least_mean(errors, 1.0) < errors.mean()
    assert least_mean(errors[:100], 1.0) < least_mean(errors, 1.0)


def test_a_heavy_tail_does_not_raise_the_limit_beyond_the_mean() -> None:
    """One draw in 1000 is 1000: the sample mean may be anything, the limit stays below the expectation, 1."""
    draw = np.random.default_rng(1)
    for _ in range(200):
        errors = 1000.0 * (draw.random(2000) < 1e-3)
        assert least_mean(errors, 0.5) < 1


def test_the_confidence_is_at_least_the_stated_one() -> None:
    """At a level of 1/5, of which the limit is beyond the mean in fewer than one of 5 runs."""
    draw = np.random.default_rng(2)
    beyond = sum(least_mean(draw.random(50), 0.5, level=0.2) > 0.5 for _ in range(2000))
    assert binom.sf(beyond - 1, 2000, 0.2) > LEVEL


def test_the_limit_is_that_of_maurer_and_pontil() -> None:
    """At a level of 2/e, where log(2/level) is 1: mean - sqrt(2 V / n) - 7 T / (3 (n - 1)), by hand for T = 2."""
    bound, level = 2 / CAP, 2 / np.e
    assert least_mean([1.0] * 8, bound, level) == pytest.approx(1 - 2 / 3)
    assert least_mean([0.0, 2.0] * 25, bound, level) == pytest.approx(1 - np.sqrt(2) / 7 - 2 / 21)
    assert least_mean([0.0, 9.0] * 25, bound, level) == pytest.approx(1 - np.sqrt(2) / 7 - 2 / 21)  # 9 counts as T


@pytest.mark.parametrize("errors", [[], [1.0]])
def test_fewer_than_two_draws_say_nothing(errors: list[float]) -> None:
    assert least_mean(errors, 1.0) == 0.0
    assert CAP > 1


def test_one_failure_refutes_a_share_below_zero() -> None:
    """A stated probability of failure of -delta: more than certainty is promised."""
    assert p_value(3, 20, flint.arb(-0.5)) == p_value(1, 20, flint.arb(0)) == 0
    assert p_value(0, 20, flint.arb(-0.5)) == 1
