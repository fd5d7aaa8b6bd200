"""Mixtures fitted to rows: known ones are recovered, coordinates change nothing else, and rows are draws."""

import builtins
import math
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal
from sklearn.mixture import GaussianMixture

from bridge.theorems.data import Table
from bridge.theorems.tables import load_table
from bridge.topics.tools.fitted_mixtures import FittedMixture, fit_by_components, fitted_mixture
from numeric.tools.mixtures import Mixture, isotropic, noised, numbers
from symbolic.words.errors import UsageError

WEIGHTS = np.array([0.5, 0.3, 0.2])
MEANS = {1: np.array([[0.0], [5.0], [-4.0]]), 2: np.array([[0.0, 0.0], [60.0, 1.0], [-30.0, 4.0]])}
COVARIANCE = {1: np.array([[0.5]]), 2: np.array([[64.0, 5.0], [5.0, 0.7]])}
UNITS = {1: np.array([3.0]), 2: np.array([0.01, 200.0])}


def of(rows: Any) -> Table:
    found = np.asarray(rows, dtype=float)
    return Table(found, np.empty((len(found), 0)), ("a", "b")[: found.shape[1]], "drawn")


def drawn(d: int, count: int) -> np.ndarray:
    generator = np.random.default_rng(d)
    chosen = generator.choice(3, count, p=WEIGHTS)
    found: np.ndarray = MEANS[d][chosen] + generator.multivariate_normal(np.zeros(d), COVARIANCE[d], count)
    return found


def fitted(d: int) -> tuple[np.ndarray, FittedMixture]:
    rows = drawn(d, 20_000)
    return rows, fitted_mixture(of(rows), 3, 0)


def whole_mixture(found: FittedMixture) -> Mixture:
    """As the parameters give it."""
    return isotropic(found.mixture.weights, found.means, found.s)


@pytest.mark.parametrize("d", [1, 2])
def test_a_known_mixture_is_recovered_within_standard_errors(d: int) -> None:
    rows, found = fitted(d)
    means = rows.mean(0) + rows.std(0) * found.mixture.means.numpy()
    assert np.abs(found.mixture.weights.numpy() - WEIGHTS).max() < 4 * math.sqrt(0.25 / len(rows))
    errors = np.sqrt(np.diag(COVARIANCE[d]) / (len(rows) * WEIGHTS[:, None]))
    assert (np.abs(means - MEANS[d]) < 4 * errors).all()
    spread = (WEIGHTS[:, None] * MEANS[d]).T @ MEANS[d] - np.outer(WEIGHTS @ MEANS[d], WEIGHTS @ MEANS[d])
    whole = COVARIANCE[d] + spread
    expected = math.sqrt(d / np.trace(np.linalg.solve(COVARIANCE[d], whole)))
    assert found.s == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("d", [1, 2])
def test_coordinates_are_a_linear_map_in_which_components_are_round(d: int) -> None:
    rows, found = fitted(d)
    apart = whole_mixture(found).log_density(found.points) - found.mixture.log_density(found.rows)
    assert float(apart.std()) < 1e-9
    assert float((found.mixture.weights @ found.means).abs().max()) < 1e-12
    total = d * found.s**2 + float(found.mixture.weights @ (found.means**2).sum(-1))
    assert total == pytest.approx(d)
    known = torch.cat([found.rows, torch.ones(len(rows), 1, dtype=torch.float64)], 1)
    back = known @ torch.linalg.lstsq(known, found.points).solution
    torch.testing.assert_close(back, found.points, rtol=0, atol=1e-10)


@pytest.mark.parametrize("d", [1, 2])
def test_units_of_columns_do_not_matter(d: int) -> None:
    rows, found = fitted(d)
    other = fitted_mixture(of(rows * UNITS[d] - 7), 3, 0)
    assert other.weights == found.weights
    assert other.s == pytest.approx(found.s, rel=1e-9)
    torch.testing.assert_close(other.means, found.means, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("d", [1, 2])
def test_rows_are_draws_of_the_mixture(d: int) -> None:
    found = fitted_mixture(of(drawn(d, 300)), 3, 0)
    draws, usual = found.numbers(50, 4), numbers(50, d, 4)
    start = whole_mixture(found).drawn(draws[:, 0], draws[:, 2 : 2 + d])
    nearest = torch.cdist(start, found.points).min(-1)
    assert float(nearest.values.max()) < 1e-6  # of cdist
    assert len(set(nearest.indices.tolist())) == 50
    torch.testing.assert_close(start, found.points[nearest.indices], rtol=0, atol=1e-12)
    assert bool((draws[:, [1]] == usual[:, [1]]).all() and (draws[:, 2 + d :] == usual[:, 2 + d :]).all())
    at = noised(whole_mixture(found), draws, 0.2, 2.0)
    a = torch.exp(-at.t)[:, None]
    torch.testing.assert_close(at.x, a * start + torch.sqrt(1 - a * a) * draws[:, 2 + d :])
    assert not torch.equal(found.numbers(50, 5), draws)
    assert torch.equal(found.numbers(50, 4), draws)


def test_the_fit_is_told_as_statisticians_do() -> None:
    table = load_table("diabetes", None, None, "bmi,bp")
    rows = (table.features - table.features.mean(0)) / table.features.std(0)
    named = fit_by_components(table, 3, 0)
    assert named.columns == ["components", "weights", "rows likeliest of each", "mean log-likelihood of a row", "BIC"]
    for count, (components, weights, own, likelihood, bic) in enumerate(named.rows, 1):
        mixture = fitted_mixture(table, count, 0).mixture
        densities = [
            weight * multivariate_normal(mean, mixture.covariances[0]).pdf(rows)
            for weight, mean in zip(map(float, str(weights).split(",")), mixture.means, strict=True)
        ]
        assert components == count
        whose = np.argmax(densities, axis=0)
        assert own == ", ".join(str(int((whose == k).sum())) for k in range(count))
        assert likelihood == pytest.approx(np.log(sum(densities)).mean(), abs=1e-9)
        free = {1: 2 + 3, 2: 1 + 4 + 3, 3: 2 + 6 + 3}[count]
        assert bic == pytest.approx(free * math.log(442) - 2 * 442 * likelihood)
    other = GaussianMixture(2, covariance_type="tied", n_init=5, tol=1e-6, max_iter=1000, random_state=7).fit(rows)
    assert named.rows[1][3:] == pytest.approx([other.score(rows), other.bic(rows)], rel=1e-5)
    one = -math.log(2 * math.pi) - 1 - math.log(np.linalg.det(np.cov(rows.T, bias=True))) / 2
    assert named.rows[0][3] == pytest.approx(one, abs=1e-5)


def test_what_cannot_be_fitted_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="drawn has 3 rows for 4 components; give fewer weights or more rows"):
        fitted_mixture(of([[0], [1], [3]]), 4, 0)
    with pytest.raises(UsageError, match="drawn: one of 3 fitted components is empty; give fewer weights"):
        fitted_mixture(of([[0], [1], [0], [1], [1]]), 3, 0)
    whole = builtins.__import__

    def without(name: str, *more: Any) -> Any:
        if name.startswith("sklearn"):
            raise ImportError(name)
        return whole(name, *more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UsageError, match=r"a mixture is fitted by scikit-learn, .*: pip install 'boundsmith\[data\]'"):
        fitted_mixture(of([[0], [1], [4]]), 2, 0)
