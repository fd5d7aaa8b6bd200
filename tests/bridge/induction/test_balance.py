"""The study of the balance: verdicts, runs, the witness of the rate, and what is refused."""

from functools import cache

import pytest
import torch

from bridge.budget import Budget
from bridge.induction import balance
from bridge.record import Row, Verdict
from bridge.registry import find_study
from bridge.study import Case
from symbolic.dynamics import Flow
from symbolic.statements import UsageError

BUDGET = Budget(samples=1, attack=0, restarts=1, seed=0)


def case(**params: float | int) -> Case:
    return find_study("induction.balance").case(params, seed=0, dtype="float64", device="cpu")


def rows_at(**params: float | int) -> dict[str, Row]:
    return {row.quantity: row for row in case(**params).checks(BUDGET)}


@cache
def rows() -> dict[str, Row]:
    return rows_at()


def test_every_quantity_has_a_row() -> None:
    assert set(rows()) == {quantity.name for quantity in case().result.quantities}


@pytest.mark.parametrize("name", ["balance", "equal", "drift"])
def test_balance_is_proved_and_seen_in_runs(name: str) -> None:
    row = rows()[name]
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
    row = rows_at()["balance"]
    assert row.verdict == {"printed": Verdict.UNDECIDED, "derived": Verdict.UNDECIDED}
    assert "the run contradicts the proof" in row.remark


def test_without_a_proof_a_run_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(balance.theory, "balance_of_any_loss", lambda: False)
    row = rows_at()["balance"]
    assert row.verdict == {"printed": Verdict.UNDECIDED, "derived": Verdict.UNDECIDED}
    assert row.remark == ""


def test_the_rate_is_refuted_with_a_witness_that_replays() -> None:
    row = rows()["rate"]
    assert row.verdict == {"printed": Verdict.VIOLATED, "derived": Verdict.PROVED}
    assert row.measured == pytest.approx(2, rel=1e-6)
    assert row.erratum.weight == "notation"
    assert row.remark == "at w = 0.245, h = 0.5: printed 2.738e-05, by (12) 1.369e-05, per unit of t"
    inputs = {name: torch.tensor(value) for name, value in row.witness.inputs.items()}
    assert case().replay_check(row.witness.quantity, inputs).verdict == row.verdict
    rests = {"w": torch.tensor([0.49]), "h": torch.tensor([0.5])}  # no rate there: 0 / 0
    assert case().replay_check(row.witness.quantity, rests).verdict["printed"] is Verdict.UNDECIDED


def test_a_start_of_infinite_loss_is_named_and_not_run() -> None:
    row = rows_at(sigma_init=0.8)["drift"]
    assert row.measured is None
    assert row.verdict["printed"] is Verdict.PROVED
    assert "4 sigma_init^4" in row.remark


@pytest.mark.parametrize(
    ("inputs", "message"),
    [({"w": [0.1]}, "takes inputs of shapes"), ({"w": [0.9], "h": [1.0]}, "4 w\\^4 < 1")],
    ids=["missing", "outside"],
)
def test_witnesses_that_are_none_are_refused(inputs: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        case().replay_check("rate", {name: torch.tensor(value) for name, value in inputs.items()})


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(UsageError, match=r"L = 4 .*w_star = 0.8 .*sigma_init = 2"):
        case(L=4, w_star=0.8, sigma_init=2.0)
    with pytest.raises(UsageError, match="no quantity or check 'other'"):
        case().replay_check("other", {})
