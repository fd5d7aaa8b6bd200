"""Sums of exponentials: closed forms and brute force, rates and a search, the threshold and a linear program."""

import random
import re

import flint
import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from bridge.lowering.exponential_sums import BITS, ExponentialSums, best_rates
from bridge.lowering.formula import evaluate
from numeric.balls import Arb, working_precision
from symbolic.calculus import exponential_sums as theory
from symbolic.words.errors import UsageError

LONGEST = 400  # lags that are summed; rates are at most 0.9


def random_rates(generator: random.Random, most: int) -> list[float]:
    return sorted(generator.uniform(0.02, 0.9) for _ in range(generator.randint(1, most)))


def solved(sums: ExponentialSums, lag: int) -> list[Arb]:
    """The coefficients from the equations that they meet: 1 at the lag, 0 at the others up to H."""
    rows = [[rate**t for rate in sums.rates] for t in range(sums.heads)]
    right = [[int(t == lag - 1)] for t in range(sums.heads)]
    return [row[0] for row in flint.arb_mat(rows).solve(flint.arb_mat(right)).tolist()]


def summed(rates: list[Arb], weights: list[Arb], lag: int, count: int) -> float:
    """The l1 distance over the first lags, one after the other."""
    total, powers = flint.arb(0), list(weights)
    for t in range(1, count + 1):
        total += abs(sum(powers, start=flint.arb(0)) - int(t == lag))
        powers = [power * rate for power, rate in zip(powers, rates, strict=True)]
    return float(total)


def test_the_closed_forms_are_those_of_the_equations_and_of_the_sum() -> None:
    generator = random.Random(0)
    for _ in range(1000):
        sums = ExponentialSums.of_rates(random_rates(generator, 6))
        lag = generator.randint(1, sums.heads)
        with working_precision(BITS):
            coefficients = solved(sums, lag)
            pairs = zip(sums.coefficients(lag), coefficients, strict=True)
            assert all(abs(float(mine / other) - 1) < 1e-13 for mine, other in pairs)
            expected = summed(list(sums.rates), coefficients, lag, LONGEST)
        assert float(sums.distance(lag)) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("s", [3, 4, 5, 9, 40])
def test_heads_that_average_have_the_same_distance_at_every_token_with_the_lag(s: int) -> None:
    sums = ExponentialSums.of_rates([0.05, 0.3, 0.6, 0.61])
    for lag in (1, 2):
        rates = np.array([float(rate) for rate in sums.rates])
        logits = np.log(rates)[:, None] * np.arange(s - 1)  # (H, s-1)
        weights = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
        mixed = np.array([float(c) for c in sums.combined(lag)]) @ weights
        mixed[lag - 1] -= 1
        assert np.abs(mixed).sum() == pytest.approx(float(sums.distance(lag)), rel=1e-9)
        assert (mixed <= 1e-12).all() or (mixed >= -1e-12).all()  # attained by constant tokens


# A tail of rates near 1 is too long to be summed: geometric sums take its place.
@pytest.mark.parametrize("rates", [[0.05, 0.3, 0.6], [0.2, 0.9, 0.9999]], ids=["summed", "geometric"])
def test_gaps_are_what_softmax_over_earlier_tokens_differs_by(rates: list[float]) -> None:
    sums, last = ExponentialSums.of_rates(rates), 12
    for lag in (1, 2, 3):
        found = sums.gaps(lag, lag + 1, last)
        for s in range(lag + 1, last + 1):
            logits = np.log(rates)[:, None] * np.arange(s - 1)  # (H, s-1), by lag
            weights = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
            expected = np.zeros(last)
            expected[: s - 1] = (np.array([float(c) for c in sums.combined(lag)]) @ weights)[::-1]
            expected[s - 1 - lag] -= 1  # the token at the lag
            assert found[s - lag - 1] == pytest.approx(expected, rel=1e-6, abs=1e-10 * float(sums.size(lag)))


@pytest.mark.parametrize(("heads", "lag"), [(1, 2), (1, 3), (2, 3), (3, 4)])
def test_fewer_heads_than_the_lag_have_a_distance_of_at_least_1(heads: int, lag: int) -> None:
    generator = np.random.default_rng(0)
    for _ in range(20):
        rates = generator.uniform(0.01, 0.95, heads)
        assert least_distance(rates, lag) >= 1 - 1e-7
    assert least_distance(generator.uniform(0.01, 0.2, lag), lag) < 1  # with one for each lag it falls


def least_distance(rates: np.ndarray, lag: int, count: int = 80) -> float:
    """min over c of sum_t |sum_h c_h r_h^(t-1) - [t = lag]|, t <= count: a linear program."""
    powers = rates ** np.arange(count)[:, None]  # (T, H)
    right = (np.arange(1, count + 1) == lag).astype(float)
    identity = np.eye(count)
    above, below = np.hstack([powers, -identity]), np.hstack([-powers, -identity])
    costs = np.concatenate([np.zeros(len(rates)), np.ones(count)])
    bounds = [(None, None)] * len(rates) + [(0, None)] * count
    found = linprog(costs, np.vstack([above, below]), np.concatenate([right, -right]), bounds=bounds)
    return float(found.fun)


@pytest.mark.parametrize(("heads", "lag"), [(2, 2), (3, 2), (4, 2)])
def test_no_search_over_all_rates_finds_better_ones(heads: int, lag: int) -> None:
    most = 1e4
    ours = best_rates(heads, lag, most=most)

    def objective(point: np.ndarray) -> float:
        sums = ExponentialSums(tuple(np.abs(point)))
        excess = max(0.0, float(np.log(float(sums.size(lag)) / most)))
        return float(np.log(float(sums.distance(lag)))) + 50 * excess

    start = np.array(ours.slopes)
    found = minimize(objective, start, method="Nelder-Mead", options={"maxfev": 600})
    assert np.exp(found.fun) >= float(ours.distance(lag)) * 0.99


def least_error(heads: int, lag: int, unit: float) -> float:
    return float(evaluate(theory.LEAST_ERROR, {theory.H: heads, theory.i: lag, theory.unit: unit}))


def error_of(rates: np.ndarray, lag: int, unit: float) -> float:
    """The first entry of the tail, and the loss of averages that are off by the unit, by a Vandermonde matrix."""
    c = np.linalg.solve(np.vander(rates, increasing=True).T, np.eye(len(rates))[lag - 1])
    return abs(c @ rates ** len(rates)) + unit * abs(c).sum()


@pytest.mark.parametrize(
    ("heads", "lag", "unit"), [(2, 2, 1e-4), (3, 2, 1e-5), (3, 3, 1e-6), (4, 3, 1e-6), (5, 4, 1e-8)]
)
def test_no_rates_err_less_than_the_law_and_the_extremal_points_do_not_err_more(
    heads: int, lag: int, unit: float
) -> None:
    law, end = least_error(heads, lag, unit), 4 * (unit / 2) ** (1 / heads)
    best = end / 2 * (1 - np.cos(np.pi * np.arange(heads) / heads))
    assert error_of(best, lag, unit) == pytest.approx(law, rel=1e-6)
    generator = np.random.default_rng(0)
    for _ in range(2000):
        near = best * np.exp(generator.normal(scale=0.3, size=heads)) + (best == 0) * generator.uniform(0, end / 20)
        assert error_of(near, lag, unit) >= law * (1 - 1e-6)
        assert error_of(generator.uniform(0, 1, heads), lag, unit) >= law * (1 - 1e-6)


@pytest.mark.parametrize(("heads", "lag", "unit"), [(2, 2, 1e-3), (3, 2, 1e-4), (4, 3, 1e-6)])
def test_no_coefficients_of_rates_up_to_the_end_err_less_than_the_law(heads: int, lag: int, unit: float) -> None:
    """By a linear program over all coefficients."""
    generator, end, lags = np.random.default_rng(0), 4 * (unit / 2) ** (1 / heads), 40
    for _ in range(20):
        rates = generator.uniform(0, end, heads)
        basis = rates ** np.arange(lags)[:, None]  # (lags, H)
        one, cost = np.eye(lags)[lag - 1], np.r_[np.zeros(heads), np.ones(lags), np.full(heads, unit)]
        rows = [[basis, -np.eye(lags), 0 * basis], [np.eye(heads), 0 * basis.T, -np.eye(heads)]]
        above = np.block([rows[0], [-basis, -np.eye(lags), 0 * basis], rows[1], [-rows[1][0], *rows[1][1:]]])
        limits = np.r_[one, -one, np.zeros(2 * heads)]
        found = linprog(cost, above, limits, bounds=[(None, None)] * heads + [(0, None)] * (lags + heads))
        assert found.fun >= least_error(heads, lag, unit) * (1 - 1e-6)


def test_figures_of_coefficients_and_bits() -> None:
    assert float(best_rates(4, 2, most=1e4).distance(2)) <= 1e-9
    assert float(best_rates(6, 2, most=1e4).distance(2)) <= 1e-13
    assert float(best_rates(6, 2, most=1e4).size(2)) <= 1e4
    twelve = best_rates(12, 4, unit=2.0**-64)
    assert float(twelve.distance(4)) < 1e-9
    assert 30 < twelve.bits(4, 1e-9) <= 64
    accurate = best_rates(5, 4, error=1e-9)
    assert 0.99e-9 < float(accurate.distance(4)) <= 1e-9
    for heads, least in ((5, 93), (12, 62)):
        assert erring(heads, least) <= 1e-9 < erring(heads, least - 1)


def erring(heads: int, bits: int) -> float:
    """Of the best rates for 5-grams in that format, with rounding."""
    sums = best_rates(heads, 4, unit=2.0**-bits)
    return float(sums.distance(4) + 2.0**-bits * sums.loss(4))


def test_a_large_error_takes_the_smallest_coefficients() -> None:
    """Beyond the rates that have them, larger ones err more with more."""
    smallest = min(float(ExponentialSums.spread(2, rho).size(2)) for rho in np.linspace(0.05, 0.95, 91))
    for error in (2.0, 10.0, 1e9):
        found = best_rates(2, 2, error=error)
        assert float(found.size(2)) <= smallest
        assert float(found.distance(2)) <= error


# r rounded once, the recursion of a head in float32 beside float64, and what the formula says of one head.
@pytest.mark.parametrize("rate", [0.01, 0.5, 0.9, 0.99])
def test_rounding_adds_no_more_than_its_formula(rate: float) -> None:
    generator, sums = np.random.default_rng(0), ExponentialSums.of_rates([rate])
    exact, weight = float(sums.rates[0]), float(sums.combined(1)[0])
    for _ in range(20):
        x = generator.choice([-1.0, 1.0], 400)
        averages = []
        for kind in (np.float32, np.float64):
            r, total, ones = kind(exact), kind(0), kind(0)
            for token in x.astype(kind):
                total, ones = kind(r * total) + token, kind(r * ones) + kind(1)
            averages.append(float(kind(weight) * kind(total / ones)))
        assert abs(averages[0] - averages[1]) <= 2.0**-24 * float(sums.loss(1))


def test_the_last_lag_errs_most() -> None:
    for heads in (2, 4, 7):
        sums = best_rates(heads, heads, unit=2.0**-53)
        distances = [float(sums.distance(lag)) for lag in range(1, heads + 1)]
        assert distances == sorted(distances)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ExponentialSums(()), "got the slopes []; give positive finite numbers"),
        (lambda: ExponentialSums((1.0, -1.0)), "got the slopes [1.0, -1.0]"),
        (lambda: ExponentialSums((1.0, 1.0)), "two of the slopes [1.0, 1.0] coincide; give each head its own"),
        (lambda: ExponentialSums.of_rates([0.5, 1.0]), "got the rates [0.5, 1.0]; give numbers above 0 and below 1"),
        (lambda: ExponentialSums.of_rates([0.5, 0.5]), "two of the rates [0.5, 0.5] coincide; give each head its own"),
        (lambda: ExponentialSums.spread(0, 0.5), "got 0 heads and the largest rate 0.5; give one head at least"),
        (lambda: ExponentialSums.spread(2, 1.0), "got 2 heads and the largest rate 1.0"),
        (lambda: ExponentialSums.of_rates([0.5]).distance(2), "got lag 2 of 1 heads; a lag takes as many heads, and "),
        (lambda: ExponentialSums.of_rates([0.5]).bits(1, 0.0), "got the accuracy 0.0; give a positive finite number"),
        (lambda: best_rates(2, 2), "got no bound; give error=, most= or unit="),
        (lambda: best_rates(2, 2, most=-1.0), "got most = -1.0; give positive finite numbers"),
        (
            lambda: best_rates(2, 2, most=1.0),
            "2 heads at lag 2 take coefficients of 5.83044 in all, above 1; give more heads",
        ),
        (
            lambda: best_rates(2, 2, error=1e-200),
            "2 heads leave an error of 1.47412e-150 at lag 2, above 1e-200; give more heads, larger coefficients or",
        ),
        (
            lambda: best_rates(4, 2, most=100.0, error=1e-9),
            "with coefficients of 100 in all, 4 heads leave an error of ",
        ),
    ],
)
def test_refusals(call: object, words: str) -> None:
    assert callable(call)
    with pytest.raises(UsageError, match=re.escape(words)):
        call()
