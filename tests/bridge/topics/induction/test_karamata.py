"""Lemma D.6 by `compare`: verdicts and certificates."""

import pytest
import sympy as sp

from bridge.questions.certify import Status, prove
from bridge.questions.replaying import replay_witness
from bridge.theorems.record import Row, Verdict
from bridge.topics.induction import karamata
from bridge.topics.induction.karamata import KARAMATA
from symbolic.topics.induction import karamata as theory
from tests.bridge.topics.induction.rows import part, printed_as, rows_at


@pytest.fixture(scope="module")
def rows() -> dict[str, Row]:
    return rows_at(KARAMATA, w_star=0.3)


@pytest.mark.long
def test_the_lemma_is_refuted_and_its_true_versions_are_proved(rows: dict[str, Row]) -> None:
    assert printed_as(Verdict.VIOLATED, rows) == set(theory.CLAIMS)
    for name in ("equal", "fuchs", "stretch", "superadditive", "gain", "exponent"):
        assert rows[name].verdict["derived"] is Verdict.PROVED
    assert rows["fuchs"].measured <= 0
    assert {rows[name].verdict["printed"] for name in ("C.first", "C.second")} == {Verdict.PROVED}


def test_a_triple_that_contradicts_the_true_versions_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theory, "random_excess", lambda *at, **more: (7, sp.Rational(1, 8)))
    row = rows_at(part(KARAMATA, "fuchs"))["fuchs"]
    assert (row.verdict["derived"], row.measured) == (Verdict.UNDECIDED, 0.125)
    assert "the run contradicts the proof" in row.remark
    monkeypatch.setattr(theory, "abel_parts", lambda slopes, totals: slopes[-1] * totals[-1])
    assert rows_at(part(KARAMATA, "fuchs"))["fuchs"].verdict["derived"] is Verdict.VIOLATED


@pytest.mark.long
def test_a_wrong_derivative_is_refuted_where_it_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theory, "C", theory.C * sp.Rational(1001, 1000))
    row = rows_at(part(KARAMATA, "C.first"))["C.first"]
    assert row.verdict["printed"] is Verdict.VIOLATED
    assert row.witness.inputs == {"x": [0.5]}


def test_the_printed_exponent_is_outside_where_26_fails() -> None:
    """The derived one is judged with a bound on h/h* that holds."""
    row = rows_at(part(KARAMATA, "exponent"), w_star=0.49)["exponent"]
    assert row.verdict == {"printed": Verdict.OUTSIDE, "derived": Verdict.PROVED}
    assert "its plateau is 1.03 h*, gamma 1.021" in row.remark


def test_certificates_of_c_can_fail() -> None:
    convex = theory.stated_inequalities()[0]
    assert prove(convex).status is Status.PROVED
    wrong = type(convex)("wrong", convex.expression - sp.Rational(901, 100), convex.box, strict=True)
    assert prove(wrong).status is Status.REFUTED  # C''(x)/x is 9 at 0


@pytest.mark.parametrize("w_star", [0.01, 0.3, 0.54])
def test_the_gain_is_kept_with_gamma_as_r_of_w_star(w_star: float) -> None:
    row = rows_at(part(KARAMATA, "gain"), w_star=w_star)["gain"]
    assert row.verdict == {"printed": Verdict.KEPT, "derived": Verdict.PROVED}
    assert "with gamma = R(w*)" in row.remark
    assert "the steps before give beta/(2 gamma+beta-1) v* only" in row.remark


def test_the_gain_fails_for_another_gamma(monkeypatch: pytest.MonkeyPatch) -> None:
    """At small w* both sides are equal at the end of the range, so that 1.01 R(w*) already is too large."""
    monkeypatch.setattr(karamata, "R_TURN", karamata.R_TURN * sp.Rational(101, 100))
    assert rows_at(part(KARAMATA, "gain"), w_star=0.01)["gain"].verdict["printed"] is Verdict.VIOLATED


def test_a_certificate_that_fails_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(karamata, "holds", lambda name: False)
    rows = rows_at(part(KARAMATA, "stretch", "superadditive", "C.first", "C.second"))
    assert {rows[name].verdict["derived"] for name in ("stretch", "superadditive")} == {Verdict.UNDECIDED}
    assert {rows[name].verdict["printed"] for name in ("C.first", "C.second")} == {Verdict.KEPT}


def test_another_point_is_judged_for_itself(rows: dict[str, Row]) -> None:
    inputs = {"x": [0.5, 0.5], "y": [1.0, 0.0], "w": [0.75, 0.25]}
    kept = replay_witness(rows["weighted"].witness.model_copy(update={"inputs": inputs}))
    assert kept.verdict["printed"] is Verdict.KEPT
