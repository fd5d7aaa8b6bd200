"""Slopes with intervals: against power laws, against numpy's covariance, how often they cover, and what is refused."""

import math

import numpy as np
import pytest
from scipy import stats

from boundsmith.checks import log_slope
from numeric.tools.slopes import SlopeError, line_slope

XS = (4.0, 8.0, 16.0, 32.0)


def test_the_slope_of_a_power_law() -> None:
    exact = log_slope([(x, 3 * x**-2.5) for x in XS])
    assert (exact.value, exact.low, exact.high) == pytest.approx((-2.5,) * 3)
    assert exact.half < 1e-6
    assert exact.sign_is_known


def test_what_is_no_power_law_has_a_wide_interval() -> None:
    straight = log_slope([(x, 3 * x**-0.7) for x in (2, 5, 9, 40)])
    assert straight.value == pytest.approx(-0.7)
    assert straight.half < 1e-6
    assert log_slope([(x, 1 / x + 0.1) for x in (2, 5, 9, 40)]).half > 0.05


def test_the_interval_is_that_of_numpys_covariance() -> None:
    x, noise = np.array([1.0, 2.0, 4.0, 7.0, 7.0]), np.array([0.3, -0.1, 0.2, -0.4, 0.1])
    (slope, _), covariance = np.polyfit(x, 2 * x + noise, 1, cov=True)
    found = line_slope(zip(x, 2 * x + noise, strict=True), confidence=0.9)
    assert found.value == pytest.approx(slope)
    assert found.half == pytest.approx(math.sqrt(covariance[0, 0]) * stats.t.ppf(0.95, 3))


def test_the_interval_covers_as_often_as_it_should() -> None:
    chance, covered = np.random.default_rng(0), 0
    for _ in range(400):
        found = log_slope([(x, math.exp(0.3 * chance.standard_normal()) / x) for x in XS])
        covered += found.low <= -1 <= found.high
    assert 0.92 <= covered / 400 <= 0.98


def test_a_sign_that_the_points_leave_open() -> None:
    assert not line_slope([(0, 0), (1, 1), (2, 0)]).sign_is_known


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ([(4.0, 1.0), (8.0, 0.5)], "three or more different x"),
        ([(4.0, 1.0), (4.0, 2.0), (8.0, 0.5)], "three or more different x"),
        ([(4.0, 1.0), (8.0, 0.5), (16.0, math.inf)], "finite values"),
        ([(4.0, 1.0), (8.0, 0.5), (16.0, -1.0)], "positive finite values"),
    ],
)
def test_what_determines_no_slope(points: list[tuple[float, float]], words: str) -> None:
    with pytest.raises(SlopeError, match=f"^log_slope of .*{words}"):
        log_slope(points)
    if words != "positive finite values":
        with pytest.raises(SlopeError, match=f"^line_slope of .*{words}"):
            line_slope(points)


SQUARES = [(1, 1.0), (2, 4.1), (4, 16.0)]


@pytest.mark.parametrize("confidence", [0.0, 1.0, -1.0, math.nan])
def test_a_confidence_is_a_share(confidence: float) -> None:
    with pytest.raises(SlopeError, match=r"log_slope: confidence = .*; give a number between 0 and 1, such as 0.95"):
        log_slope(SQUARES, confidence)
