"""Exponentials, the normal distribution, and what a mixture on a line is off by, against mpmath at 60 digits."""

import math

import mpmath as mp
import pytest
import torch

from numeric.tools.mean_squares import MixtureOnLine, enclosed_on_line
from numeric.tools.mixtures import isotropic
from numeric.tools.normal import falling_exponential, normal_distribution

POINTS = torch.rand(3000, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


@pytest.fixture(autouse=True)
def digits() -> object:
    with mp.workdps(60):
        yield


def test_the_exponential_is_as_accurate_as_stated() -> None:
    x = torch.cat([46 * POINTS, POINTS / 64, torch.arange(0, 12, dtype=torch.float64) / 256])
    for at, found in zip(x.tolist(), falling_exponential(x).tolist(), strict=True):
        exact = mp.exp(-mp.mpf(at))
        assert abs(found - exact) <= 2.0**-51 * exact + 2.0**-64
    assert falling_exponential(x.new_tensor([0.0])).tolist() == [1.0]
    far = falling_exponential(x.new_tensor([45.0, 800.0, 1e300]))
    assert bool((far <= 2.0**-64).all())


def test_the_distribution_is_as_accurate_as_stated() -> None:
    x = torch.cat([20 * POINTS - 10, POINTS / 64, torch.arange(-1200, 1200, 7, dtype=torch.float64) / 256])
    for at, found in zip(x.tolist(), normal_distribution(x).tolist(), strict=True):
        assert abs(found - mp.erfc(-mp.mpf(at) / mp.sqrt(2)) / 2) <= 2.0**-51
    assert normal_distribution(x.new_tensor([-1e9, 0.0, 1e9])).tolist() == pytest.approx([0.0, 0.5, 1.0], abs=1e-18)


# ---- a mixture whose centre and deviation are off by a relative `rounded`

WEIGHTS, SPREADS = [0.5, 0.3, 0.2], {"wide": (0.6, 3.0), "narrow": (0.05, 3.0), "far from 0": (0.3, 40.0)}


def line(spread: str, rounded: float = 2.0**-51) -> MixtureOnLine:
    deviation, scale = SPREADS[spread]
    means = scale * torch.tensor([[0.5], [-0.1], [-0.7]], dtype=torch.float64)
    mixture = isotropic(torch.tensor(WEIGHTS, dtype=torch.float64), means, deviation)
    return MixtureOnLine(mixture, torch.linspace(-scale - 2, scale + 2, 41, dtype=torch.float64), rounded)


def exactly(of: MixtureOnLine, sign: int) -> tuple[list[mp.mpf], list[mp.mpf]]:
    """Centres and deviation of a mixture for which these floats may stand."""
    move = 1 + sign * mp.mpf(of.rounded)
    centres = [mp.mpf(c) * (move if place % 2 else 2 - move) for place, (c,) in enumerate(of.centres.tolist())]
    return centres, [mp.sqrt(mp.mpf(float(v))) * move for v in of.mixture.covariances[:, 0, 0]]


def integral(low: mp.mpf, high: mp.mpf, about: mp.mpf, centre: mp.mpf, deviation: mp.mpf, order: int) -> mp.mpf:
    """Of (x - about)^order under one component, by Gauss-Legendre in pieces of a deviation."""
    pieces = max(2, int((high - low) / deviation) + 1)
    cuts = mp.linspace(low, high, min(pieces, 200) + 1)
    return mp.quad(lambda x: (x - about) ** order * mp.npdf(x, centre, deviation), cuts)


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("rounded", [2.0**-51, 2.0**-30])
@pytest.mark.parametrize("spread", SPREADS)
def test_moments_are_off_by_no_more_than_stated(spread: str, rounded: float, sign: int) -> None:
    of = line(spread, rounded)
    centres, deviations = exactly(of, sign)
    for j in range(1, 40, 8):
        low, high = (mp.mpf(float(x)) for x in of.points[j : j + 2])
        for order, found in enumerate(of.moments):
            exact = mp.mpf(0)
            for w, c, s in zip(WEIGHTS, centres, deviations, strict=True):
                near = (max(low, c - 40 * s), min(high, c + 40 * s))
                exact += mp.mpf(w) * (integral(*near, low, c, s, order) if near[0] < near[1] else 0)
            assert abs(float(found[j]) - exact) <= of.off * float(of.reach[j]) ** order


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("rounded", [2.0**-51, 2.0**-30])
@pytest.mark.parametrize("spread", SPREADS)
def test_scores_are_off_by_no_more_than_stated(spread: str, rounded: float, sign: int) -> None:
    of = line(spread, rounded)
    halfway = of.centres[:2].mean() + of.deviations[0] ** 2 * torch.linspace(-2, 2, 41, dtype=torch.float64)
    check_scores(of, sign)
    check_scores(MixtureOnLine(of.mixture, halfway, rounded), sign)  # where the shares depend on the centres most


def check_scores(of: MixtureOnLine, sign: int) -> None:
    centres, deviations = exactly(of, sign)
    values, off = of.score
    for x, found in zip(of.points.tolist(), values.tolist(), strict=True):
        terms = [mp.mpf(w) * mp.npdf(x, c, s) for w, c, s in zip(WEIGHTS, centres, deviations, strict=True)]
        pulls = [(x - c) / s**2 for c, s in zip(centres, deviations, strict=True)]
        exact = -sum(t * p for t, p in zip(terms, pulls, strict=True)) / sum(terms)
        assert abs(found - exact) <= off


@pytest.mark.parametrize("spread", SPREADS)
def test_what_is_beyond_the_ends_is_at_least_its_integral(spread: str) -> None:
    of = line(spread)
    half = MixtureOnLine(of.mixture, of.points[15:26])
    centres, deviations = exactly(of, 1)
    exact = mp.mpf(0)
    for w, c, s in zip(WEIGHTS, centres, deviations, strict=True):
        for low, high in ((c - 30 * s, mp.mpf(float(half.points[0]))), (mp.mpf(float(half.points[-1])), c + 30 * s)):
            if low < high:
                cuts = mp.linspace(low, high, 61)
                exact += w * mp.quad(lambda x, c=c, s=s: (3 + 2 * abs(x)) ** 2 * mp.npdf(x, c, s), cuts)
    found = half.beyond(2.0, 3.0)
    assert exact <= found <= exact * (1 + 1e-6) + 1e-9
    assert math.isfinite(found)


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_mean_of_squares_is_enclosed_for_all_mixtures_that_the_floats_stand_for(sign: int) -> None:
    """1 + 2 x: its interpolant is exact, and all that is lost is rounding."""
    of = MixtureOnLine(line("wide").mixture, torch.linspace(-7, 7, 57, dtype=torch.float64), 2.0**-30)
    found = enclosed_on_line(of, 1 + 2 * of.points, bend=0.0, slope=2.0, offset=1.0)
    pairs = zip(WEIGHTS, *exactly(of, sign), strict=True)
    exact = sum(mp.mpf(w) * ((1 + 2 * c) ** 2 + 4 * s**2) for w, c, s in pairs)
    assert found.low <= exact <= found.high <= found.low * (1 + 1e-3)
    sure = enclosed_on_line(MixtureOnLine(of.mixture, of.points), 1 + 2 * of.points, bend=0.0, slope=2.0, offset=1.0)
    assert not sure.low <= exact <= sure.high
