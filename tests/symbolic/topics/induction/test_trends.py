"""C.2's curves and bounds: each sign and each closed form against brute force, and mutants that have to be noticed."""

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

from symbolic.topics.induction import head_limits, signs, trends, turning
from symbolic.topics.induction.training import alpha, phi, psi, v, v_star, w_star

STARS = (0.05, 0.2, 0.35, 0.49, 0.6, 0.7)


def at(expression: sp.Expr, **values: float) -> float:
    return float(sp.N(expression.subs({s: values[s.name] for s in expression.free_symbols}), 30))


def r(w: np.ndarray, star: float) -> np.ndarray:
    """r(w) of C.2, from its definition."""
    return np.sqrt((1 - 4 * w**4) / (1 - (w**2 + star**2) ** 2))


@pytest.mark.parametrize("fact", signs.facts(), ids=lambda fact: fact.name)
def test_each_fact_of_the_proofs_is_proved(fact: signs.Fact) -> None:
    assert fact.proved()


@pytest.mark.parametrize("fact", signs.facts(), ids=lambda fact: fact.name)
def test_a_fact_that_is_false_is_not_proved(fact: signs.Fact) -> None:
    wrong = fact.expression + v_star if fact.equation else -fact.expression
    assert not replace(fact, expression=wrong).proved()


def test_a_sign_that_changes_within_the_region_is_not_proved() -> None:
    assert not signs.Fact("changes", v - v_star / 2, "is 0 at v*/2").proved()
    assert not signs.Fact("TURNING", turning.TURNING, "is 0 at the turn").proved()


@pytest.mark.parametrize("star", STARS)
def test_the_printed_turn_is_where_r_is_largest_and_R_its_value_there(star: float) -> None:
    grid = np.linspace(0, star, 200_001)
    values = r(grid, star)
    best = int(values.argmax())
    assert at(turning.W_TURN, w_star=star) == pytest.approx(grid[best], abs=2 * star / 1e3)
    assert at(turning.R_TURN, w_star=star) == pytest.approx(values[best], rel=1e-9)
    assert star / 3**0.5 < at(turning.W_TURN, w_star=star) < star
    assert at(turning.SHARE * v_star, v_star=star**2) == pytest.approx(at(turning.W_TURN, w_star=star) ** 2, rel=1e-12)


@pytest.mark.long
def test_R_leaves_1_with_slope_0_as_printed_and_as_two_thirds_of_w_star_to_the_fourth() -> None:
    assert sp.limit((turning.R_TURN - 1) / w_star**4, w_star, 0, "+") == sp.Rational(2, 3)


def test_the_nullclines_lie_as_the_proof_says() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        star = float(rng.uniform(0.01, 0.49))
        low = float(rng.uniform(0.01, 0.99)) * star
        of_h = at(psi(v + v_star) / psi(2 * v), v=low, v_star=star)
        of_v = at(phi(v + v_star) / phi(2 * v), v=low, v_star=star)
        assert 1 < of_h < of_v


@pytest.mark.long
def test_L_scales_out_and_a_flow_of_another_speed_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert signs.scaling()
    monkeypatch.setitem(signs.FLOWS, "true", signs.FLOWS["true"]._replace(speed=2))
    assert not signs.scaling()


OF_H = ("h.turn.line", "h.overshoot.line", "h.overshoot.constant")


@pytest.mark.parametrize("claim", OF_H)
@pytest.mark.parametrize("star", STARS)
def test_a_claims_margin_has_the_sign_of_the_claim(claim: str, star: float) -> None:
    limits = {"h.turn.line": 1 + 0.04 * star, "h.overshoot.line": 1 + 0.04375 * star, "h.overshoot.constant": 1.02}
    limit = limits[claim]
    kept, broken = head_limits.CLAIMS[claim]
    turn = r(np.linspace(0, star, 20_001), star).max()
    plateau = turn if claim == "h.turn.line" else r(np.zeros(1), star)[0]
    assert (at(kept, w_star=star) >= 0) == (turn <= limit)
    assert (at(broken, w_star=star) >= 0) == (plateau <= limit)


@pytest.mark.parametrize("star", STARS)
def test_the_margin_of_27_has_the_sign_of_its_comparison_with_the_rates_at_alpha_1(star: float) -> None:
    assert set(head_limits.CLAIMS) == {*OF_H, "w.rate.above.range"}
    kept, broken = head_limits.CLAIMS["w.rate.above.range"]
    v, top = star**2, 0.5
    printed = 4 * v * (1 - 4 * v**2) ** 1.5 * top
    repaired = 4 * v * (1 - 4 * v**2) ** -1.5 * top**2
    at_plateau = 2 * top**2 * v / (1 - v**2) ** 2  # 2 h*^2 phi(v*) psi(v*)
    assert (at(kept, w_star=star) >= 0) == (repaired <= printed)
    assert (at(broken, w_star=star) >= 0) == (at_plateau <= printed)


def test_the_printed_bounds_are_typed_as_they_stand() -> None:
    values = {"alpha": 1.0, "w_star": 0.49, "L": 1000, "sigma_init": 0.01, "t": 998.0}
    star4 = 0.49**4
    assert at(trends.T_1_FIRST, **values) == pytest.approx(
        (1 - 0.01 * star4) ** 0.5 * 998 * np.log(1 / (1 - (1 - star4) ** 0.5 / (1 - 1e-8 * star4) ** 0.5)), rel=1e-12
    )
    assert at(trends.LOG_W_PRINTED_ABOVE, **values) == pytest.approx(4 * 0.49**2 * (1 - 4 * star4) ** 1.5 / 2)
    assert at(trends.LOG_W_PRINTED_BELOW, **values) == pytest.approx(0.49**2 / 4)
    first = 4 * np.log(0.49 / 0.02) / (4 * 0.49**2 * (1 - 4 * star4) ** 1.5) - np.log(1 - (1 - star4) ** 0.5)
    assert at(trends.T_HALF_FIRST, **values) == pytest.approx(998 * first, rel=1e-12)
    assert at(trends.T_HALF_SECOND, **values) == pytest.approx(998 * 4 / (16 * 0.49**2) * np.log(100), rel=1e-12)


def test_every_claim_is_cited_and_every_derived_bound_belongs_to_one() -> None:
    names = {quantity.name for quantity in trends.QUANTITIES}
    assert {limit.of for limit in head_limits.LIMITS} <= names
    assert all(q.printed is not None or q.closed_form is not None for q in trends.QUANTITIES)
    assert alpha in trends.TRENDS.notation


@pytest.mark.parametrize("flow", signs.FLOWS)
def test_the_scaled_flow_is_the_flow_in_other_coordinates(flow: str) -> None:
    """By 40 digits at a point, from w and h: gain' = w'/w, lag' by the chain rule."""
    w_at, h_at, star, top, start = (sp.Rational(*each) for each in ((1, 5), (3, 7), (2, 5), (4, 9), (1, 50)))
    numbers = {signs.v_star: star**2, signs.h_star: top, signs.sigma_init: start}
    scaled = signs.scaled_flow(flow)
    lag = (signs.h / signs.h_star - turning.R_CURVE.subs(signs.v, signs.w**2)) / (signs.w**2 * signs.v_star)
    field = [(signs.L - 2) * each for each in signs.FLOWS[flow].flow.field]
    here = {signs.w: w_at, signs.h: h_at, signs.w_star: star} | numbers
    wanted = [field[0] / signs.w, sp.diff(lag, signs.w) * field[0] + sp.diff(lag, signs.h) * field[1]]
    at = {signs.gain: sp.log(w_at / start), signs.lag: lag.subs(here)} | numbers
    for found, expected in zip(scaled.field, wanted, strict=True):
        assert abs(sp.N(found.subs(at), 40) - sp.N(expected.subs(here), 40)) < 1e-30
    top = signs.psi(signs.v_star)
    assert sp.simplify(signs.RISE.subs(signs.v, 0) - top**2 / (1 + top)) == 0
