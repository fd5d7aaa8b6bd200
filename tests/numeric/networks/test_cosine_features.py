"""Cosine features: the law against all its outcomes, the scores and their straight lines against numpy, balls."""

import itertools

import flint
import numpy as np
import pytest
import torch

from numeric.balls import BallArray
from numeric.networks.cosine_features import FrequencyLaw, cosine_scores
from numeric.networks.hats import interpolated

LAW = FrequencyLaw(0.7, np.array([0.3, 0.4, -0.2]))


def test_the_expectation_of_a_feature_is_the_product_of_the_sums() -> None:
    z, shares = np.array([0.4, -1.3]), abs(LAW.coefficients) / abs(LAW.coefficients).sum()
    outcomes = list(itertools.product(range(3), (1, -1)))
    found = 0.0
    for pair in itertools.product(outcomes, outcomes):
        sign = np.prod([np.sign(LAW.coefficients[j]) for j, _ in pair])
        share = np.prod([shares[j] / 2 for j, _ in pair])
        found += share * sign * np.cos(sum(s * j * 0.7 * each for (j, s), each in zip(pair, z, strict=True)))
    assert LAW.mass**2 * found == pytest.approx(np.prod(LAW(z)), rel=1e-13)


def test_features_are_drawn_by_the_law() -> None:
    features = LAW.draw(20000, 2, seed=3).numpy()
    places = np.rint(features[:, 1:] / 0.7)
    for column in places.T:
        counts = np.array([(column == j).mean() for j in (-2, -1, 0, 1, 2)])
        assert np.allclose(counts, np.array([0.1, 0.2, 0.3, 0.2, 0.1]) / 0.9, atol=0.02)
    assert (features[:, 0] == np.prod(np.where(abs(places) == 2, -1, 1), 1)).all()
    assert torch.equal(LAW.draw(5, 2, seed=3), LAW.draw(5, 2, seed=3))
    assert not torch.equal(LAW.draw(5, 2, seed=3), LAW.draw(5, 2, seed=4))


@pytest.mark.parametrize("cells", [None, 2, 40])
def test_scores_are_those_of_numpy_and_arguments_are_clipped(cells: int | None) -> None:
    rng, features = np.random.default_rng(0), LAW.draw(7, 3, seed=1)
    query, keys = rng.uniform(-1.5, 1.5, (2, 3)), rng.uniform(-1.5, 1.5, (5, 3))
    reach = 3 * LAW.largest
    knots = np.linspace(-reach, reach, (cells or 0) + 1)

    def wave(function: np.ufunc, t: float) -> float:
        return function(t) if cells is None else np.interp(t, knots, function(knots))

    wanted = np.zeros((2, 5))
    for (i, u), (j, v), row in itertools.product(enumerate(query), enumerate(keys), features.numpy()):
        s, t = np.clip(u, -1, 1) @ row[1:], np.clip(v, -1, 1) @ row[1:]
        wanted[i, j] += 0.9**3 / 7 * row[0] * sum(wave(each, s) * wave(each, t) for each in (np.cos, np.sin))
    found = cosine_scores(torch.tensor(query), torch.tensor(keys), features, LAW, 1.0, cells)
    assert np.allclose(found, wanted, atol=1e-13)
    balls = [BallArray.exactly(each) for each in (query, keys, features.numpy())]
    enclosed = cosine_scores(*balls, LAW, 1.0, cells)
    assert enclosed.radius().max() < 1e-25
    assert np.allclose(enclosed.midpoint(), wanted, atol=1e-13)


@pytest.mark.parametrize("width", [1e-30, 0.01, 0.2, 3.0])
def test_straight_lines_on_balls_hold_those_at_every_point(width: float) -> None:
    rng, values = np.random.default_rng(1), np.random.default_rng(2).uniform(-1, 1, (9, 2))
    for middle in rng.uniform(-1.2, 1.2, 40):
        found = interpolated(BallArray([flint.arb(middle, width / 2)], (1,), 128), values, 1.0)
        for t in np.linspace(middle - width / 2, middle + width / 2, 7):
            at = np.array([[np.interp(t, np.linspace(-1, 1, 9), column) for column in values.T]])
            assert (abs(at - found.midpoint()) <= found.radius() + 1e-12).all()
