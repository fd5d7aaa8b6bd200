"""The study of the balance: verdicts, runs, the rate, and a start of infinite loss."""

import pytest

from bridge.questions.replaying import replay_witness
from bridge.theorems.record import Verdict
from bridge.topics.induction import balance
from symbolic.dynamics import Flow
from tests.bridge.topics.induction.rows import default_rows, part, rows_at


@pytest.mark.parametrize("name", ["balance", "equal", "drift"])
def test_balance_is_proved_and_seen_in_runs(name: str) -> None:
    row = default_rows("balance")[name]
    assert set(row.verdict.values()) == {Verdict.PROVED}
    assert row.measured < 1e-9


def test_unequal_starts_do_move_far() -> None:
    states = balance.run(balance.UNEQUAL, 1.0, 0.49, 0.01)
    assert states[0, 0] == pytest.approx(balance.UNEQUAL * states[1, 0])
    assert states[0, -1] * states[1, -1] == pytest.approx(0.49**2, rel=1e-3)  # the head is learnt


def test_a_run_that_strays_is_not_called_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = (1.0, 1.01, 1.0)
    strayed = Flow(balance.STATE, tuple(x * rate for x, rate in zip(shares, balance.FLOW.field, strict=True)))
    monkeypatch.setattr(balance, "FLOW", strayed)
    monkeypatch.setattr(balance, "run", balance.run.__wrapped__)
    row = rows_at(part(balance.BALANCE, "balance"))["balance"]
    assert row.verdict == {"printed": Verdict.UNDECIDED, "derived": Verdict.UNDECIDED}
    assert "the run contradicts the proof" in row.remark


def test_without_a_proof_a_run_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(balance.theory, "balance_of_any_loss", lambda: False)
    rows = rows_at(part(balance.BALANCE, "balance", "equal"))
    undecided = {"printed": Verdict.UNDECIDED, "derived": Verdict.UNDECIDED}
    assert {name: row.verdict for name, row in rows.items()} == dict.fromkeys(("balance", "equal"), undecided)
    assert rows["balance"].remark == ""


def test_the_rate_is_refuted() -> None:
    row = default_rows("balance")["rate"]
    assert row.verdict == {"printed": Verdict.VIOLATED, "derived": Verdict.PROVED}
    assert row.measured == pytest.approx(2, rel=1e-6)
    assert row.remark == "at w = 0.245, h = 0.5: printed 2.738e-05, by (12) 1.369e-05, per unit of t"
    rests = row.witness.model_copy(update={"inputs": {"w": [0.49], "h": [0.5]}})  # no rate there: 0 / 0
    assert replay_witness(rests).verdict["printed"] is Verdict.UNDECIDED


def test_a_start_of_infinite_loss_is_named_and_not_run() -> None:
    row = rows_at(part(balance.BALANCE, "drift"), sigma_init=0.8)["drift"]
    assert row.measured is None
    assert row.verdict["printed"] is Verdict.PROVED
    assert "4 sigma_init^4" in row.remark
