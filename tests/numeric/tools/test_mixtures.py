"""Gaussian mixtures against torch.distributions, automatic differentiation and quadrature."""

import math
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
import torch
from torch import Tensor

from numeric.networks.stream import StreamError
from numeric.tools.ancestral import ancestral, times
from numeric.tools.mean_squares import MixtureOnLine, empirical_bernstein, enclosed_on_line, normal_tail
from numeric.tools.mixtures import Mixture, isotropic, noised, numbers
from numeric.tools.two_samples import apart


def five(d: int) -> Mixture:
    generator = torch.Generator().manual_seed(d)
    factors = torch.randn(5, d, d, generator=generator, dtype=torch.float64)
    covariances = factors @ factors.mT / d + 0.1 * torch.eye(d, dtype=torch.float64)
    weights = torch.rand(5, generator=generator, dtype=torch.float64)
    means = torch.randn(5, d, generator=generator, dtype=torch.float64)
    return Mixture(weights / weights.sum(), means, (covariances + covariances.mT) / 2)


def line() -> Mixture:
    weights, means = ([0.5, 0.3, 0.2], [[1.5], [-0.3], [-2.2]])
    return isotropic(torch.tensor(weights, dtype=torch.float64), torch.tensor(means, dtype=torch.float64), 0.3)


def density(mixture: Mixture, x: float) -> float:
    return math.exp(float(mixture.log_density(torch.tensor([[x]], dtype=torch.float64))))


@pytest.mark.parametrize("d", [1, 2, 10])
@pytest.mark.parametrize("time", [0.05, 0.3, 1.0, 3.0])
def test_the_score_is_the_gradient_of_the_log_density(d: int, time: float) -> None:
    mixture, a = five(d), math.exp(-time)
    covariances = a**2 * mixture.covariances + (1 - a**2) * torch.eye(d, dtype=torch.float64)
    parts = torch.distributions.MultivariateNormal(a * mixture.means, covariances)
    known = torch.distributions.MixtureSameFamily(torch.distributions.Categorical(mixture.weights), parts)
    x = torch.randn(50, d, generator=torch.Generator().manual_seed(1), dtype=torch.float64).requires_grad_()
    value = known.log_prob(x)
    (gradient,) = torch.autograd.grad(value.sum(), x)
    p = mixture.at(time)
    torch.testing.assert_close(p.log_density(x), value, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(p.score(x), gradient, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(
        mixture.at(torch.full((50,), time, dtype=torch.float64)).score(x), gradient, rtol=1e-12, atol=1e-12
    )


def test_moments_are_integrals() -> None:
    p = line().at(0.2)
    low = torch.tensor([-1.0, 2.0, -math.inf, 5.0, -math.inf], dtype=torch.float64)
    high = torch.tensor([0.5, math.inf, -3.0, 6.0, math.inf], dtype=torch.float64)
    found = p.moments(low, high)
    for order in range(3):
        for place, (a, b) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
            cuts = mp.linspace(max(a, -12), min(b, 12), 9)
            expected = float(mp.quad(lambda x, k=order: x**k * density(p, float(x)), cuts))
            assert float(found[order, place]) == pytest.approx(expected, rel=1e-9, abs=1e-14)


def test_draws_have_the_mean_and_covariance_of_the_mixture() -> None:
    mixture = five(2)
    drawn = noised(mixture, numbers(200_000, 2, seed=3), 0.4, 0.4)
    p = mixture.at(0.4)
    mean = p.weights @ p.means
    centred = p.means - mean
    covariance = torch.einsum("c,cij->ij", p.weights, p.covariances + centred[:, :, None] * centred[:, None, :])
    torch.testing.assert_close(drawn.x.mean(0), mean, rtol=0, atol=0.02)
    torch.testing.assert_close(torch.cov(drawn.x.T), covariance, rtol=0, atol=0.03)
    # The score given x_0 is the exact score and a rest of mean 0, orthogonal to functions of x.
    rest = drawn.given - p.score(drawn.x)
    assert rest.mean(0).abs().max() < 0.02
    assert (rest * torch.sin(drawn.x)).mean(0).abs().max() < 0.02
    assert drawn.t.unique().tolist() == [0.4]


ONE = torch.ones(1, dtype=torch.float64)
REFUSED = [
    ((ONE / 2, ONE[:, None], ONE[:, None, None]), r"weights that add up to 0\.5\. Give weights above 0"),
    ((torch.tensor([1.5, -0.5]).double(), torch.zeros(2, 1).double(), torch.ones(2, 1, 1).double()), "weights above 0"),
    ((ONE, ONE[:, None], 0 * ONE[:, None, None]), "a covariance that is not positive definite. Give symmetric"),
    ((ONE, torch.zeros(1, 2).double(), torch.tensor([[[1.0, 2.0], [2.0, 1.0]]]).double()), "not positive definite"),
    ((ONE, torch.zeros(1, 2).double(), torch.tensor([[[1.0, 0.5], [0.0, 1.0]]]).double()), "not positive definite"),
]


@pytest.mark.parametrize(("parts", "words"), REFUSED, ids=range(len(REFUSED)))
def test_what_is_no_mixture_is_refused(parts: tuple[Tensor, Tensor, Tensor], words: str) -> None:
    with pytest.raises(StreamError, match=words):
        Mixture(*parts)


@pytest.mark.parametrize("time", [0.0, -1.0, math.nan])
def test_a_time_has_to_be_above_0(time: float) -> None:
    with pytest.raises(StreamError, match=rf"Mixture\.at: t = {time}\. Give times above 0"):
        line().at(time)


# ---- means of squares


@pytest.mark.parametrize("cells", [40, 400])
def test_a_mean_of_squares_is_enclosed(cells: int) -> None:
    p = line().at(0.3)
    knots = torch.linspace(-3, 4, cells + 1, dtype=torch.float64)
    found = enclosed_on_line(MixtureOnLine(p, knots), torch.sin(3 * knots), bend=9.0, slope=0.0, offset=1.0)
    x = np.linspace(-9, 9, 200_001)
    masses = np.exp(p.log_density(torch.as_tensor(x)[:, None]).numpy()) * (x[1] - x[0])
    exact = float((np.sin(3 * x) ** 2 * masses).sum())
    assert found.low <= exact <= found.high
    assert found.high - found.low <= (1.2 if cells == 40 else 0.01)
    # A field that bends as much as it may between two knots, and tails as large as they may be.
    width = 7 / cells
    bent = np.where(np.abs(x - 0.5) < 3.5, 9 / 2 * ((x + 3) % width) * (width - (x + 3) % width), 1.0)
    worst = enclosed_on_line(MixtureOnLine(p, knots), 0 * knots, bend=9.0, slope=0.0, offset=1.0)
    assert 0.4 * worst.high <= float((bent**2 * masses).sum()) <= worst.high
    shifted = enclosed_on_line(
        MixtureOnLine(p, knots), torch.sin(3 * knots) + 0.1, bend=9.0, off=0.1, slope=0.0, offset=1.0
    )
    assert shifted.low <= exact <= shifted.high


def test_tails_count_with_both_of_their_terms() -> None:
    p, knots = line().at(0.3), torch.tensor([-0.5, 0.0, 0.5], dtype=torch.float64)
    found = enclosed_on_line(MixtureOnLine(p, knots), 2 * knots.abs() + 3, bend=0.0, slope=2.0, offset=3.0)
    x = np.linspace(-9, 9, 200_001)
    masses = np.exp(p.log_density(torch.as_tensor(x)[:, None]).numpy()) * (x[1] - x[0])
    assert found.high == pytest.approx(float(((2 * np.abs(x) + 3) ** 2 * masses).sum()), rel=1e-6)


@pytest.mark.parametrize("count", [801, 17])  # cells that are narrow, and wide beside the deviation
@pytest.mark.parametrize("sign", [1, -1])
def test_moments_allow_for_means_and_deviations_that_are_off(sign: int, count: int) -> None:
    """Those of the exact mixture, whose means and deviations are the floats up to `rounded`."""
    off, points = 1e-5, torch.linspace(-4, 4, count, dtype=torch.float64)
    floats = isotropic(line().weights, line().means, 0.1)  # shares change fast
    known = MixtureOnLine(floats, points, off)
    exact = MixtureOnLine(isotropic(floats.weights, floats.means * (1 + sign * off), 0.1 * (1 - sign * off)), points)
    for n, (one, other) in enumerate(zip(known.moments, exact.moments, strict=True)):
        moved = (one - other).abs()
        assert 8 * off * float(one.max()) < float(moved.max())  # nearly 1/0.1 times `off`, relatively
        assert bool((moved <= known.off * known.reach[:-1] ** n).all())
    scores, allowed = known.score
    assert off < float((scores - exact.score[0]).abs().max()) <= allowed


@pytest.mark.parametrize("ends", [(0.1, 2.0), (-2.0, -0.1)])
def test_knots_have_to_lie_on_both_sides_of_0(ends: tuple[float, float]) -> None:
    words = rf"enclosed_on_line: knots from {ends[0]} to {ends[1]}\. Give knots on both sides of 0"
    knots = torch.tensor(ends, dtype=torch.float64)
    with pytest.raises(StreamError, match=words):
        enclosed_on_line(MixtureOnLine(line(), knots), knots, bend=0.0, slope=1.0, offset=0.0)


def test_the_interval_of_bernstein_is_that_of_the_theorem_on_each_side() -> None:
    """n = 100 numbers 0 and 1, half of each: their variance is 25/99, and failure/2 = 2/e^5."""
    found = empirical_bernstein(torch.tensor([0.0, 1.0] * 50, dtype=torch.float64), 1.0, failure=4 * math.exp(-5))
    assert found.high == pytest.approx(0.5 + math.sqrt(2 * 25 / 99 * 5 / 100) + 7 * 5 / (3 * 99))
    assert found.low == pytest.approx(1 - found.high)


def test_the_interval_of_bernstein_covers_the_mean() -> None:
    generator = torch.Generator().manual_seed(0)
    draws = torch.rand(500, 400, generator=generator, dtype=torch.float64) ** 4  # mean 1/5
    missed = 0
    for each in draws:
        found = empirical_bernstein(each, 1.0, failure=0.05)
        missed += not found.low <= 0.2 <= found.high
        assert found.high - found.low < 0.3
    assert missed <= 25
    scaled = empirical_bernstein(3 * draws[0], 3.0, failure=0.05)
    assert scaled.high == pytest.approx(3 * empirical_bernstein(draws[0], 1.0, failure=0.05).high)


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_the_tail_of_a_normal_vector_is_its_integral(d: int, order: int) -> None:
    surface = 2 * mp.pi ** (mp.mpf(d) / 2) / mp.gamma(mp.mpf(d) / 2)
    exact = mp.quad(lambda r: surface * r ** (d - 1 + order) * mp.exp(-r * r / 2), [1.5, 5, 20]) / (2 * mp.pi) ** (
        d / 2
    )
    assert normal_tail(d, order, 1.5) == pytest.approx(float(exact), rel=1e-9)


# ---- samples


def test_ancestral_samples_by_the_exact_score_of_a_gaussian_have_the_law_of_its_recursion() -> None:
    one = isotropic(ONE, torch.tensor([[2.0]]).double(), 0.5)
    along, start = times(1.5, 0.2, 6), torch.randn(200_000, 1, generator=torch.Generator().manual_seed(5)).double()
    found = ancestral(lambda x, t: one.at(t).score(x), start, along, torch.Generator().manual_seed(6))
    mean, variance = 0.0, 1.0
    for now, after in pairwise(along):
        h, v = now - after, 0.25 * math.exp(-2 * now) + 1 - math.exp(-2 * now)
        factor = math.exp(h) - 2 * math.sinh(h) / v
        mean = factor * mean + 2 * math.sinh(h) / v * 2 * math.exp(-now)
        variance = factor**2 * variance + math.expm1(2 * h)
    assert float(found.mean()) == pytest.approx(mean, abs=0.01)
    assert float(found.var()) == pytest.approx(variance, abs=0.01)
    assert along[0] == 1.5
    assert along[-1] == 0.2


@pytest.mark.parametrize(("d", "shift"), [(1, 1.0), (2, 1.0), (1, 0.0)])
def test_what_draws_say_of_the_total_variation_is_below_it(d: int, shift: float) -> None:
    generator = torch.Generator().manual_seed(7)
    one, other = (torch.randn(20_000, d, generator=generator, dtype=torch.float64) for _ in range(2))
    one[:, 0] += shift
    exact = math.erf(shift / (2 * math.sqrt(2)))
    found = apart(one, other, failure=1e-3)
    assert found.sure <= exact + 1e-12
    assert found.seen == pytest.approx(exact, abs=0.03 if d == 1 else 0.06)
    assert found.sure == pytest.approx(max(0.0, found.seen - 2 * math.sqrt(math.log(2000) / 20_000)))


def test_shares_on_a_line_are_those_of_one_variance() -> None:
    weights, means = torch.full((2,), 0.5, dtype=torch.float64), torch.tensor([[0.0], [1.0]], dtype=torch.float64)
    mixture = Mixture(weights, means, torch.tensor([[[1.0]], [[0.01]]], dtype=torch.float64))
    with pytest.raises(ValueError, match="give components of one"):
        MixtureOnLine(mixture, torch.tensor([0.5], dtype=torch.float64))
