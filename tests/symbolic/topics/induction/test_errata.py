"""The errata of Appendix C: that each number in their words is the one that the formulas give."""

import math

import numpy as np
import pytest
import sympy as sp

from symbolic.topics.induction import lyapunov_errata, turning
from symbolic.topics.induction import phases_derivation as phases
from symbolic.topics.induction.phases import least_observation, overshoot_share_by_psi
from symbolic.topics.induction.training import h_star, phi, psi, sigma_init, v_star, w_star
from tests.symbolic.topics.induction.spelling import spelt_out


def at(expression: sp.Expr, star: float) -> float:
    values = {v_star: star**2, w_star: star, h_star: sp.Rational(1, 3), sigma_init: 0}
    return float(spelt_out(expression).subs(values))


def test_the_range_and_the_constants_of_the_choice_of_T_o() -> None:
    low, high = map(float, phases.overshoot_range())
    assert (f"{low:.4f}", f"{high:.4f}") == ("0.4697", "0.6879")
    least, first = at(least_observation(), 0.49), at(phases.observation_time(), 0.49)
    assert 3.597 < least < 3.598
    assert f"{first:.3f}" == "3.532"


@pytest.mark.parametrize("star", [0.1, 0.3, 0.49, 0.6, 0.69])
def test_the_least_observation_time_is_where_h_alone_takes_a_hundredth(star: float) -> None:
    v = star**2
    top, twice, c = (1 - v**2) ** -0.5, (1 - 4 * v**2) ** -0.5, at(least_observation(), star)
    left = (top * math.exp(-c)) ** 2
    assert left / (left + twice - top**2) == pytest.approx(0.01, rel=1e-9)
    assert c == pytest.approx(math.log(99 * top**2 / (twice - top**2)) / 2, rel=1e-12)


def test_T_1h_is_late_enough_just_where_the_overshoot_takes_less_than_a_hundredth() -> None:
    for star in (0.2, 0.46, 0.48, 0.68, 0.69):
        first = at(phases.observation_time(), star)
        assert (first > at(least_observation(), star)) == (at(overshoot_share_by_psi(), star) < 0.01)


@pytest.mark.parametrize("star", [0.05, 0.3, 0.49, 0.6, 0.7])
def test_twice_T_1h_is_late_enough(star: float) -> None:
    first = at(phases.observation_time(), star)
    assert 2 * first > at(least_observation(), star)
    v, top = star**2, (1 - star**4) ** -0.5
    assert at(phases.late_value(), star) == pytest.approx(top * (1 - math.exp(-2 * first)), rel=1e-12)
    left = (top * math.exp(-2 * first)) ** 2
    share = left / (left + (1 - 4 * v**2) ** -0.5 - top**2)
    assert at(phases.late_share(), star) == pytest.approx(share, rel=1e-6)


def test_the_simpler_bound_of_T_1h_follows_from_the_first_for_no_w_star() -> None:
    stars = np.linspace(0.01, 0.7071, 300)
    first = -np.log(-np.expm1(np.log1p(-(stars**4)) / 2))
    assert np.all(first > 2 - stars**4)
    assert np.all(first <= 4 * np.log(1 / stars) + np.log(2))


def test_the_constants_of_the_overshoot_and_of_phi() -> None:
    assert 1.0696 < at(turning.R_TURN, 0.3**0.5) < 1.07
    assert at(turning.R_TURN, 0.7) < 1.5  # up to which (27) and (29) repaired are proved
    reading = lyapunov_errata.ESTIMATES["estimate.phi"].reading
    assert "v* <= 0.2818" in reading
    assert float(phi(sp.Rational(2 * 2818, 10_000))) < 1 < float(phi(sp.Rational(2 * 2819, 10_000)))
    assert 1.171 < float(phi(sp.Rational(6, 10))) < 1.172
    top, cross = float(phi(sp.Rational(6, 10))), 3.91
    assert 8.765 < 1.02 * (4 * 1.172 + cross) < 8.775
    assert 9.195 < 1.07 * (4 * 1.172 + cross) < 9.205
    assert 4 / 9.2**2 < 0.05  # 4 v* > (9.2 v*)^2, without which the repaired line gives no decay
    assert top < 1.172
    assert 3.90 < float(phi(sp.Rational(6, 10)) / sp.Rational(3, 10)) < 3.91
    assert float(psi(sp.Rational(444, 1000) ** 2)) > 1.02 > float(psi(sp.Rational(443, 1000) ** 2))
    assert 0.04375 * 0.457 < 0.02 < 0.04375 * 0.458
