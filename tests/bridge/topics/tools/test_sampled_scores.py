"""The terms of Girsanov's bound for a score that is off by a known amount, by quadrature and by exact laws."""

import math
from dataclasses import replace

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
        information, known = found.on_line(time)
        assert known.low <= exact <= known.high <= 1.05 * exact
        assert information.low <= float((score**2 * masses).sum()) <= information.high <= 1.01 * information.low
    h = (T - T_0) / M
    assert found.score_error >= -math.expm1(-2 * h) / 2 * M * shift**2
    assert found.score_error <= 1.05 * -math.expm1(-2 * h) / 2 * M * shift**2


@pytest.mark.parametrize("d", [1, 2])
def test_far_out_a_score_and_its_error_are_within_a_line(d: int) -> None:
    found = sampled(d, 2.0)
    x = torch.linspace(-40, 40, 801, dtype=torch.float64)[:, None] * torch.ones(d, dtype=torch.float64) / math.sqrt(d)
    for time in (T_0, 0.7, T):
        p = found.clean.at(time)
        for learnt in (False, True):
            slope, offset = found.tails(time, float(p.covariances[0, 0, 0]), learnt)
            sizes = torch.linalg.vector_norm(found.field(x, time, p, learnt), dim=-1)
            assert bool((sizes <= slope * torch.linalg.vector_norm(x, dim=-1) + offset).all())
    away = replace(found, learnt=replace(found.learnt, at=lambda x, t: found.learnt.largest * x.sign() / math.sqrt(d)))
    slope, offset = away.tails(0.7, float(found.clean.at(0.7).covariances[0, 0, 0]), True)
    error = float(torch.linalg.vector_norm(away.field(x, 0.7, found.clean.at(0.7), True), dim=-1).max())
    assert 0.9 * (40 * slope + offset) <= error <= 40 * slope + offset


def test_what_the_learnt_score_is_off_by_counts_twice() -> None:
    """At the knots and between them."""
    found = sampled(1, 0.15)
    off = replace(found, learnt=replace(found.learnt, off=0.05)).on_line(0.7)[1]
    x, masses, score = densities(0.7)
    nearest = np.interp(np.clip(x, -RADIUS, RADIUS), x, score)
    least, most = (float(((score - nearest - shift) ** 2 * masses).sum()) for shift in (0.05, 0.25))
    assert off.low <= least
    assert most <= off.high <= 1.05 * most


def test_the_bend_of_the_learnt_score_decides_the_knots() -> None:
    size, often, found = 0.3, 90.0, sampled(1, 0.0)
    exact_one = found.learnt

    def waves(x: Tensor, t: float) -> Tensor:
        return exact_one.at(x, t) + size * torch.sin(often * x.clamp(-RADIUS, RADIUS))

    bent = replace(exact_one, at=waves, bend=exact_one.bend + size * often**2, largest=exact_one.largest + size)
    known = replace(found, learnt=bent).on_line(0.7)[1]
    x, masses, _ = densities(0.7)
    exact = float((size**2 * np.sin(often * x) ** 2 * masses).sum())
    assert known.low <= exact <= known.high <= 1.1 * exact


def test_the_start_is_at_least_its_divergence() -> None:
    x, masses, _ = densities(T)
    p = masses / (x[1] - x[0])
    exact = float((masses * (np.log(p) + x**2 / 2 + math.log(2 * math.pi) / 2)).sum())
    assert exact <= sampled(1, 0.0).start <= 2.5 * exact


def test_a_rare_component_attains_what_is_said_of_the_score() -> None:
    """Where it lies, all shares are those of the other one, at the opposite mean."""
    weights = torch.tensor([1e-9, 1 - 1e-9], dtype=torch.float64)
    means = torch.tensor([[2.0, 0.0], [-2.0, 0.0]], dtype=torch.float64)
    found = replace(sampled(2, 0.0), clean=isotropic(weights, means, S))
    alpha, beta = found._envelope(1.0, False)
    a, v = math.exp(-1.0), 1 - math.exp(-2.0) * (1 - S**2)
    z = torch.tensor([[0.0, 0.0], [2.0, 0.0], [0.0, 3.0], [-1.0, 1.0]], dtype=torch.float64)
    sizes = torch.linalg.vector_norm(found.clean.at(1.0).score(a * means[:1] + math.sqrt(v) * z), dim=-1)
    bounds = alpha + beta * torch.linalg.vector_norm(z, dim=-1)
    assert bool((sizes <= bounds).all())
    assert bool((sizes[:2] >= 0.999 * bounds[:2]).all())


def test_what_is_cut_is_added_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The score of one component at 0 is -z over the root of v: all of it beyond FAR is cut."""
    monkeypatch.setattr(of, "FAR", 1.0)
    monkeypatch.setattr(of, "DRAWS", 1 << 18)
    one = isotropic(torch.ones(1).double(), torch.zeros(1, 2).double(), S)
    exact = 2 / (1 - math.exp(-2 * T_0) * (1 - S**2))
    known = replace(sampled(2, 0.0), clean=one).by_draws([T_0], learnt=False)
    assert known.low <= exact <= known.high <= 1.35 * exact


def test_beyond_a_line_the_terms_sum_over_the_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of, "DRAWS", 1 << 16)
    found, h = sampled(2, 0.5), (T - T_0) / M
    exact = -math.expm1(-2 * h) / 2 * M * 2 * 0.5**2
    assert exact <= found.score_error <= 2.5 * exact
    assert found.discretisation >= float(found.number(of.theory.closed_discretisation()))


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
    interval = found.information
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
    a, v = math.exp(-T_0), 1 - math.exp(-2 * T_0) * (1 - S**2)
    between = (a * 3.5 * math.sqrt(2)) ** 2 / (4 * v**2) - 1 / v  # along the line; across it -1/v
    assert of.steepest(pair, line) == pytest.approx(between, rel=1e-4)
    assert of.off_autograd(pair, line) <= 1e-12
