"""Stage I as a theorem: verdicts, certificates, runs and starts."""

import math
from dataclasses import replace

import flint
import numpy as np
import pytest
import sympy as sp
import torch

from bridge.questions.certify import Status, prove
from bridge.questions.replaying import replay_witness
from bridge.theorems.record import Row, Verdict
from bridge.topics.induction import first_stage as study
from bridge.topics.induction.first_stage import FIRST_STAGE
from bridge.topics.induction.stage_one import StageOne
from numeric.topics.induction import first_stage as numeric
from symbolic.topics.induction import first_stage as theory
from symbolic.topics.induction import first_stage_signs as signs
from symbolic.topics.induction.first_stage_claims import CLAIMS
from symbolic.topics.induction.training import g_star
from tests.bridge.topics.induction.rows import part, printed_as, rows_at

FORMULAS = ("loss", "rate", "q", "q.slope")


def stage_rows(*names: str, **params: float | int) -> dict[str, Row]:
    return rows_at(part(FIRST_STAGE, *names), **params)


@pytest.fixture(scope="module")
def rows() -> dict[str, Row]:
    return rows_at(FIRST_STAGE, L=30)


@pytest.mark.long
def test_what_is_printed_is_refuted_and_what_is_derived_proved(rows: dict[str, Row]) -> None:
    assert printed_as(Verdict.VIOLATED, rows) == {*FORMULAS, "softmax"}
    for name in ("q.sign", "sign", "limit", "rate.lower", "start.short"):
        assert rows[name].verdict["derived"] is Verdict.PROVED


def test_derived_formulas_meet_the_direct_sums(rows: dict[str, Row]) -> None:
    for name in FORMULAS:
        assert rows[name].derived == pytest.approx(rows[name].measured, rel=1e-9)
    assert rows["rate"].printed == pytest.approx(2 * rows["rate"].measured, rel=1e-9)
    assert rows["rate.lower"].measured == pytest.approx(rows["rate"].printed, rel=1e-9)


def test_the_lower_bound_of_the_rate_is_kept_for_long_inputs_and_outside_for_short_ones(rows: dict[str, Row]) -> None:
    """In the unit of time of the printed rate; Appendix C takes L = Omega(1/sigma_init)."""
    short, long = rows["rate.lower"], stage_rows("rate.lower", L=1000)["rate.lower"]
    assert short.verdict == {"printed": Verdict.OUTSIDE, "derived": Verdict.PROVED}
    assert short.derived < short.measured < short.printed
    assert "L sigma_init = 0.3 is not large" in short.remark
    assert long.verdict == {"printed": Verdict.KEPT, "derived": Verdict.PROVED}
    assert long.derived < long.printed < long.measured


@pytest.mark.parametrize("length", [5, 12, 40])
@pytest.mark.parametrize("p", [0.01, 0.7, 4.0])
def test_the_rate_against_automatic_differentiation(length: int, p: float) -> None:
    g_0, optimum, terms = 0.2, 0.4, length - 2
    _, direct = numeric.direct_rate(p, g_0, optimum, terms)
    share = theory.rate_share(terms, math.exp(-p), g_0 / optimum, 1.0)
    assert direct == pytest.approx(share * math.exp(-p) * g_0 * optimum / terms, rel=1e-8)


def test_the_run_stays_above_the_derived_bound_and_tends_to_its_rate() -> None:
    stage = StageOne(12, 1.0, 0.01)
    for end in (1e2, 1e5, 1e8):
        floor = theory.LIMIT_FLOOR.evalf(
            subs={theory.L: 12, theory.t: end, theory.sigma_init: 0.01, theory.g_0: 0.01, g_star: 0.5}
        )
        assert float(floor) < stage.run(end)
    growth = (math.exp(stage.run(1e9)) - math.exp(stage.run(1e8))) / 9e8
    assert growth == pytest.approx(0.01 * 0.5 / 10, rel=1e-3)  # the share tends to 1


@pytest.mark.parametrize("length", [5, 6, 7, 8])
def test_the_sign_is_certified_without_the_covariances(length: int) -> None:
    assert prove(signs.sign_inequality(length)).status is Status.PROVED


@pytest.mark.parametrize("length", [5, 17, 40])
def test_the_floor_is_certified(length: int) -> None:
    assert prove(signs.floor_inequality(length)).status is Status.PROVED


def test_a_wrong_sign_is_refuted() -> None:
    right = signs.sign_inequality(5)
    wrong = type(right)(name="wrong", expression=right.expression - sp.Rational(35, 100), box=right.box, strict=True)
    assert prove(wrong).status is Status.REFUTED  # the least share is 1/3


@pytest.mark.parametrize("length", range(5, 41, 5))
def test_q_falls_by_the_exact_coefficients_of_its_slope(length: int) -> None:
    numerator = study.slope_numerator(length - 2)
    assert all(coefficient >= 0 for coefficient in numerator.coeffs())


def test_the_coefficients_are_those_of_the_slope() -> None:
    terms, u = 7, flint.fmpq(2, 3)
    D = math.prod((sum((u**k for k in range(m)), flint.fmpq(0)) for m in range(1, terms + 1)), start=flint.fmpq(1))
    c, dc = theory.mixtures(terms, sp.Rational(2, 3))
    slope = 2 * sum(a * b for a, b in zip(c, dc, strict=True))
    numerator = sum(
        (flint.fmpq(int(a)) * u**k for k, a in enumerate(study.slope_numerator(terms).coeffs())), flint.fmpq(0)
    )
    assert numerator / D**3 == flint.fmpq(int(slope.p), int(slope.q))


@pytest.mark.parametrize(
    "params",
    [{"L": 1000, "alpha": 0.05, "sigma_init": 0.01}, {"L": 10, "alpha": 0.01, "sigma_init": 0.9}],
    ids=["long input", "beyond its optimum"],
)
def test_a_start_that_is_not_small_enough_is_outside(params: dict[str, float]) -> None:
    """(12) asks for a sufficiently small sigma_init: no erratum of Lemma 5.3."""
    rows = stage_rows("start", "start.long", **params)
    where = ", ".join(f"{key} = {value}" for key, value in params.items())
    for name in ("start", "start.long"):
        assert rows[name].verdict == {"printed": Verdict.OUTSIDE}
        assert rows[name].measured < 0
    assert f"not small enough for {where}" in rows["start"].remark
    assert "not small enough for L = 1000, alpha = 0.05, sigma_init = 0.01" in rows["start.long"].remark
    assert stage_rows("start", L=1000)["start"].verdict == {"printed": Verdict.KEPT}


@pytest.mark.parametrize(("length", "alpha"), [(5, 1.0), (1000, 0.05)])
def test_a_small_start_is_proved(length: int, alpha: float) -> None:
    small = float(theory.START_LIMIT.subs({theory.L: length, g_star: alpha / (1 + alpha)}))
    at = {"L": length, "alpha": alpha}
    below, above = (stage_rows("start", **at, sigma_init=factor * small)["start"] for factor in (0.99, 1.01))
    assert below.verdict == {"printed": Verdict.PROVED, "derived": Verdict.PROVED}
    assert 0 < below.derived <= below.measured
    assert above.verdict == {"printed": Verdict.KEPT}
    assert above.derived is None


def test_a_share_that_no_ball_decides_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StageOne, "share_ball", lambda *at, **more: flint.arb(0, 1))
    assert stage_rows("start", L=1000, alpha=0.05)["start"].verdict == {"printed": Verdict.UNDECIDED}


def test_the_failing_start_against_automatic_differentiation() -> None:
    # all six parameters at sigma: the second layer's weights are those of p(0) = sigma
    terms, sigma, alpha = 998, 0.01, 0.05
    behind = torch.arange(terms)[:, None] - torch.arange(terms)[None, :]
    p = torch.tensor(sigma, requires_grad=True, dtype=torch.float64)
    first = torch.softmax(torch.where(behind >= 0, -p * behind, -torch.inf), dim=1)
    second = torch.softmax(sigma * torch.arange(terms, dtype=torch.float64), dim=0)
    error = sigma * second @ first - alpha / (1 + alpha) * torch.eye(terms, dtype=torch.float64)[-1]
    (slope,) = torch.autograd.grad(error.square().sum() / 2, p)
    weight = math.exp(-sigma) * sigma * alpha / (1 + alpha) * (1 - math.exp(-sigma)) / (1 - math.exp(-sigma * terms))
    share = float(StageOne(1000, alpha, sigma).share_ball(sigma, start=sigma).mid())
    assert -float(slope) == pytest.approx(share * weight, rel=1e-6)
    assert -float(slope) < 0


def test_another_point_refutes_the_rate_too(rows: dict[str, Row]) -> None:
    inputs = {"u": [0.75], "g_0": [0.5], "g_star": [0.5]}
    refuted = replay_witness(rows["rate"].witness.model_copy(update={"inputs": inputs}))
    assert refuted.verdict == {"printed": Verdict.VIOLATED, "derived": Verdict.PROVED}
    assert refuted.erratum == rows["rate"].erratum


def test_a_printed_formula_that_no_exact_point_refutes_is_not_called_violated(monkeypatch: pytest.MonkeyPatch) -> None:
    right = replace(CLAIMS["rate"], sides=lambda point: (sp.Integer(1), sp.Integer(1)))
    monkeypatch.setitem(CLAIMS, "rate", right)
    assert stage_rows("rate", L=12)["rate"].verdict == {"printed": Verdict.UNDECIDED, "derived": Verdict.PROVED}


def test_the_printed_factor_is_not_called_violated(rows: dict[str, Row]) -> None:
    row = rows["q.factor"]
    assert row.verdict == {"printed": Verdict.PROVED}
    assert "1/18 > 0 at s = 3, tau = 2, u = 1/2" in row.remark


def test_a_factor_above_0_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "PRINTED_FACTOR", study.RIGHT_FACTOR)
    assert stage_rows("q.factor")["q.factor"].verdict["printed"] is Verdict.VIOLATED
    monkeypatch.undo()
    monkeypatch.setattr(theory, "printed_factor_is_negative", lambda: False)
    assert stage_rows("q.factor")["q.factor"].verdict["printed"] is Verdict.KEPT


P, U = Verdict.PROVED, Verdict.UNDECIDED
CONTRADICTED = {
    "numbers": (FORMULAS, {"by_definition": dict.fromkeys(FORMULAS, (12345.0, 1.0))}, {"derived": U},
                "summed directly 1.234e+04"),
    "signs": (["sign"], {"least_share": lambda self, start, lowest: (0.1, 0.2)}, {"printed": P, "derived": U},
              "the proof is in writing"),
    **{f"run to {end}": (["limit"], {"run": lambda self, end=end: end}, {"derived": U}, "the run contradicts the proof")
       for end in (-3.0, 1.0)},
}  # fmt: skip


@pytest.mark.parametrize(("names", "wrong", "verdict", "words"), CONTRADICTED.values(), ids=list(CONTRADICTED))
def test_what_is_derived_is_not_called_proved_where_a_number_contradicts_it(
    names: list[str], wrong: dict[str, object], verdict: dict[str, Verdict], words: str
) -> None:
    stage = type("Planted", (StageOne,), wrong)
    for row in rows_at(replace(part(FIRST_STAGE, *names), built={"stage": stage}), L=12).values():
        assert verdict.items() <= row.verdict.items()
        assert words in row.remark


def test_without_the_floor_of_the_rate_no_limit_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "slope_is_negative", lambda terms: False)
    assert stage_rows("limit", L=12)["limit"].remark.endswith("the floor of the rate is not proved here")


def test_a_hundred_thousand_tokens_take_no_matrix() -> None:
    rows = stage_rows(*FORMULAS, L=100_000)
    for name in FORMULAS:
        assert rows[name].verdict["derived"] is Verdict.PROVED
    assert rows["q"].printed is None
    assert "more than are summed here" in rows["q"].remark


def test_the_least_share_is_where_it_says() -> None:
    place, least = StageOne(30, 1.0, 0.01).least_share(0.0, 0.0)
    terms, ratio = 28, 0.02
    assert least == pytest.approx(float(theory.rate_share(terms, np.exp(-place), ratio, 1.0)))
    assert least >= float(theory.SHARE_FLOOR.subs(theory.L, 30))
