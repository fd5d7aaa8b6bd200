"""The terms of Girsanov's bound for a score that is off by a known amount, by quadrature and by exact laws."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from bridge.topics.tools import sampled_scores as of
from bridge.topics.tools.sampled_scores import LearntScore, SampledScore
from numeric.tools.mixtures import Mixture, isotropic
from numeric.tools.two_samples import apart

T_0, T, M, S = 0.2, 1.4, 50, 0.3
RADIUS = 3.5


def mixture(d: int) -> Mixture:
    means = torch.tensor([[1.4], [-0.3], [-2.1]], dtype=torch.float64).expand(3, d).clone()
    return isotropic(torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64), means, S)


def sampled(d: int, shift: float, steps: int = M) -> SampledScore:
    """A score that is the exact one at the nearest point of the ball, and `shift` beside it in each coordinate."""
    clean = mixture(d)

    def learnt(x: Tensor, t: float) -> Tensor:
        norms = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
        return clean.at(t).score(x * torch.where(norms > RADIUS, RADIUS / norms, 1.0)) + shift

    # |s| on the ball by the closed form at T_0, and |s''| at most Delta^3/4 (a/v)^3.
    a, v = math.exp(-T_0), 1 - math.exp(-2 * T_0) * (1 - S**2)
    reach = 2.1 * math.sqrt(d)
    largest, bend = (RADIUS + a * reach) / v + abs(shift) * math.sqrt(d), 3.5**3 / 4 * (a / v) ** 3
    return SampledScore(LearntScore(learnt, RADIUS, largest, 0.0, bend), clean, S, T_0, T, steps)


def densities(time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points, masses and scores, d = 1."""
    x = np.linspace(-9, 9, 36_001)
    p, points = mixture(1).at(time), torch.as_tensor(x)[:, None]
    return x, np.exp(p.log_density(points).numpy()) * (x[1] - x[0]), p.score(points)[:, 0].numpy()


def test_on_a_line_the_error_of_the_score_is_enclosed() -> None:
    shift, found = 0.2, sampled(1, 0.2)
    for time in (T_0, 0.7, T):
        x, masses, score = densities(time)
        nearest = np.interp(np.clip(x, -RADIUS, RADIUS), x, score)
        exact = float(((score - nearest - shift) ** 2 * masses).sum())
        known = found.on_line(time, learnt=True)
        assert known.low <= exact <= known.high <= 1.05 * exact
        information = found.on_line(time, learnt=False)
        assert information.low <= float((score**2 * masses).sum()) <= information.high <= 1.01 * information.low
    h = (T - T_0) / M
    assert found.score_error >= -math.expm1(-2 * h) / 2 * M * shift**2
    assert found.score_error <= 1.05 * -math.expm1(-2 * h) / 2 * M * shift**2


def test_beyond_a_line_it_is_known_with_probability(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of, "DRAWS", 1 << 16)
    found = sampled(2, 0.5)
    known = found.by_draws(found.along[:-1], learnt=True)
    assert known.low <= 2 * 0.5**2 + 0.02  # the part beyond the ball is small
    assert known.high >= 2 * 0.5**2
    assert known.high < 1.5
    # In two dimensions with all means on a line through 0, the squared norms of the scores: along it, and across.
    x, masses, _ = densities(T_0)
    v = 1 - math.exp(-2 * T_0) * (1 - S**2)
    along = isotropic(mixture(1).weights, mixture(1).means * math.sqrt(2), S).at(T_0)
    points = torch.as_tensor(x)[:, None]
    step = x[1] - x[0]
    information = float((along.score(points)[:, 0] ** 2 * torch.exp(along.log_density(points))).sum() * step) + 1 / v
    interval = found.information(T_0)
    assert interval.low <= information <= interval.high
    assert masses.sum() == pytest.approx(1)


@pytest.mark.parametrize("shift", [0.0, 0.3])
def test_the_terms_bound_the_samples(shift: float) -> None:
    """By the law of the chain itself, on a grid: the density of the samples, step by step."""
    steps = 12
    found = sampled(1, shift, steps)
    x = np.linspace(-8, 8, 801)
    step, h = x[1] - x[0], (T - T_0) / steps
    law = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    for time in found.along[:-1]:
        score = found.learnt.at(torch.as_tensor(x)[:, None], time)[:, 0].numpy()
        means, variance = math.exp(h) * x + 2 * math.sinh(h) * score, math.expm1(2 * h)
        kernel = np.exp(-((x[:, None] - means) ** 2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)
        law = kernel @ law * step
    assert law.sum() * step == pytest.approx(1, abs=1e-3)
    p = np.exp(mixture(1).at(T_0).log_density(torch.as_tensor(x)[:, None]).numpy())
    divergence = float((p * np.log(p / law)).sum() * step)
    total = found.start + found.score_error + found.discretisation
    assert 0 < divergence <= total
    assert found.score_error <= 1e-3 if shift == 0 else found.score_error > 0.05
    assert found.discretisation <= float(found.number(of.theory.closed_discretisation()))
    seen = apart(found.samples(3), found.truth(4), failure=1e-6)
    exact = float(np.abs(p - law).sum() * step / 2)
    assert seen.sure <= exact
    assert 0.5 * exact <= seen.seen <= exact + 0.03
    assert found.along == pytest.approx([T - k * h for k in range(steps + 1)])


def test_the_line_of_means_joins_the_two_most_distant() -> None:
    pair, line = sampled(2, 0.0).line_of_means
    assert sorted(pair.means[:, 0].tolist()) == pytest.approx([-2.1 * math.exp(-T_0), 1.4 * math.exp(-T_0)])
    assert of.steepest(pair, line) >= of.steepest(mixture(2).at(T_0), line)
    assert of.off_autograd(pair, line) <= 1e-12
