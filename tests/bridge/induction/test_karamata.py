"""The study of Lemma D.6: rows, certificates, witnesses."""

import pytest
import sympy as sp
import torch

from bridge.budget import Budget
from bridge.certify import Status, prove
from bridge.induction.karamata import KaramataCase, KaramataStudy, least_gain
from bridge.record import Row, Verdict
from symbolic.induction import karamata as theory
from symbolic.statements import UsageError


def case_of(**params: float) -> KaramataCase:
    return KaramataStudy().case(params, seed=0, dtype="float64", device="cpu")


@pytest.fixture(scope="module")
def rows() -> dict[str, Row]:
    return {row.quantity: row for row in case_of(w_star=0.3).rows(Budget(1, 0, 1, 0))}


def test_every_quantity_has_its_row(rows: dict[str, Row]) -> None:
    assert set(rows) == {quantity.name for quantity in theory.KARAMATA.quantities}


def test_the_lemma_is_refuted_and_its_true_versions_are_proved(rows: dict[str, Row]) -> None:
    violated = {name: row for name, row in rows.items() if row.verdict.get("printed") is Verdict.VIOLATED}
    weights = {"weighted": "statement", "weighted.square": "statement"}
    assert {name: row.erratum.weight for name, row in violated.items()} == weights
    assert rows["weighted"].erratum == rows["weighted.square"].erratum
    for name in ("equal", "fuchs", "stretch", "superadditive", "exponent"):
        assert rows[name].verdict["derived"] is Verdict.PROVED
    assert rows["fuchs"].measured <= 0
    assert {rows[name].verdict["printed"] for name in ("C.first", "C.second")} == {Verdict.PROVED}


def test_a_triple_that_contradicts_the_true_versions_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    budget = Budget(1, 0, 1, 0)
    monkeypatch.setattr(theory, "random_excess", lambda *at, **more: (7, sp.Rational(1, 8)))
    assert {row.verdict["derived"] for row in case_of()._true_versions(budget)} == {Verdict.VIOLATED}
    monkeypatch.undo()
    monkeypatch.setattr(theory, "abel_parts", lambda slopes, totals: slopes[-1] * totals[-1])
    assert {row.verdict["derived"] for row in case_of()._true_versions(budget)} == {Verdict.UNDECIDED}


def test_the_exponent_is_outside_where_26_fails() -> None:
    assert case_of(w_star=0.49)._exponent().verdict["derived"] is Verdict.OUTSIDE
    assert case_of(w_star=0.3)._exponent().verdict["derived"] is Verdict.PROVED


def test_certificates_of_c_can_fail() -> None:
    convex = theory.stated_inequalities({})[0]
    assert prove(convex).status is Status.PROVED
    wrong = type(convex)("wrong", convex.expression - sp.Rational(901, 100), convex.box, strict=True)
    assert prove(wrong).status is Status.REFUTED  # C''(x)/x is 9 at 0


def test_the_gain_is_kept_with_gamma_as_r_of_w_star_and_not_far_above(rows: dict[str, Row]) -> None:
    assert rows["gain"].verdict == {"printed": Verdict.KEPT}
    assert rows["gain"].erratum is None
    assert "with gamma = R(w*), beta = 2, on a grid" in rows["gain"].remark
    assert "the steps before give beta/(2 gamma+beta-1) v* only" in theory.KARAMATA.quantity("gain").remark
    assert least_gain(1.0) >= 1 > least_gain(1.01)


def test_the_gain_is_not_called_kept_where_the_grid_refutes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theory, "GAIN_QUOTIENT", theory.GAIN_QUOTIENT / 2)
    assert case_of()._gain().verdict == {"printed": Verdict.UNDECIDED}


def test_witnesses_replay(rows: dict[str, Row]) -> None:
    for name in theory.CLAIMS:
        witness = rows[name].witness
        inputs = {letter: torch.tensor(values, dtype=torch.float64) for letter, values in witness.inputs.items()}
        assert case_of(**witness.params).replay_check(witness.quantity, inputs).verdict["printed"] is Verdict.VIOLATED


def test_replay_checks_the_premises() -> None:
    pair = {"x": torch.tensor([1.0, 0.0]), "y": torch.tensor([0.5, 0.5]), "w": torch.tensor([0.25, 0.25])}
    with pytest.raises(UsageError, match=r"x <_w y does not hold \(Definition D.5\); the weights have to be"):
        case_of().replay_check("erratum.weighted", pair)
    true = {"x": torch.tensor([0.5, 0.5]), "y": torch.tensor([1.0, 0.0]), "w": torch.tensor([0.75, 0.25])}
    assert case_of().replay_check("erratum.weighted", true).verdict["printed"] is Verdict.KEPT
