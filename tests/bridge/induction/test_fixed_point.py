"""The study of the fixed points: verdicts, witnesses that replay, and witnesses that are none."""

from functools import cache

import pytest
import torch

from bridge.budget import Budget
from bridge.induction import fixed_point
from bridge.induction.fixed_point import FixedPointCase, FixedPointStudy
from bridge.record import Row, Verdict
from symbolic.statements import UsageError

BUDGET = Budget(samples=1, attack=0, restarts=1, seed=0)
BOTH = {"printed", "derived"}


def case(**params: float | int) -> FixedPointCase:
    return FixedPointStudy().case(params, seed=0, dtype="float64", device="cpu")


@cache
def rows() -> dict[str, Row]:
    return {row.quantity: row for row in case(alpha=0.3, w_star=0.37).rows(BUDGET)}


def replayed(name: str, **inputs: list[float]) -> Row:
    return case(alpha=0.3, w_star=0.37).replay_check(name, {k: torch.tensor(v) for k, v in inputs.items()})


def test_every_quantity_has_a_row_and_so_have_the_checks() -> None:
    names = {quantity.name for quantity in FixedPointStudy.result.quantities}
    assert set(rows()) == names | {row.quantity for row in case().checks(BUDGET)}


def test_what_holds_is_proved() -> None:
    for name in ("stated", "minimiser"):
        assert rows()[name].verdict == dict.fromkeys(BOTH, Verdict.PROVED)


@pytest.mark.parametrize("name", ["unique", "unique.mirror", "unique.curve", "stated.as_printed"])
def test_what_is_refuted_has_a_witness_that_replays(name: str) -> None:
    row = rows()[name]
    assert row.verdict["printed"] is Verdict.VIOLATED
    assert row.witness.quantity not in {quantity.name for quantity in FixedPointStudy.result.quantities}
    again = replayed(row.witness.quantity, **row.witness.inputs)
    assert again.verdict == row.verdict


def test_eigenvalues_agree_with_the_numeric_jacobian() -> None:
    found = [row for name, row in rows().items() if name.startswith("eigenvalue")]
    assert len(found) == 7
    assert all(row.verdict["derived"] is Verdict.PROVED for row in found)
    assert all(abs(row.derived - row.measured) < 1e-9 for row in found)


def test_a_stated_point_at_which_the_flow_moves_is_not_called_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    true = FixedPointCase._field
    monkeypatch.setattr(FixedPointCase, "_field", lambda self, point: lambda at: true(self, point)(at) + 1e-9)
    row = case()._stated()
    assert set(row.verdict.values()) == {Verdict.UNDECIDED}
    assert "moves at 1e-09" in row.remark


def test_eigenvalues_of_another_flow_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    true = FixedPointCase._jacobian
    monkeypatch.setattr(FixedPointCase, "_jacobian", lambda self, point: 1.001 * true(self, point))
    row = case()._eigenvalues(fixed_point.theory.head_points()[2])
    assert row.verdict["derived"] is Verdict.UNDECIDED
    assert "a numeric Jacobian has others" in row.remark


@pytest.mark.parametrize(
    ("name", "inputs"),
    [
        ("unique.saddle", {"w": [0.0], "h": [0.5, 0.6]}),  # no change of sign
        ("unique.saddle", {"w": [0.1], "h": [0.1, 2.0]}),  # w moves
        ("unique.mirror", {"w": [0.37]}),  # the stated point
        ("unique.mirror", {"w": [-0.36]}),
        ("unique.curve", {"w_Q": [0.37], "w_K": [0.37]}),
        ("unique.curve", {"w_Q": [0.74], "w_K": [0.2]}),
    ],
    ids=["no_change", "moving", "stated", "near", "stated_full", "off"],
)
def test_a_point_that_is_none_refutes_nothing(name: str, inputs: dict[str, list[float]]) -> None:
    assert replayed(name, **inputs).verdict["printed"] is Verdict.UNDECIDED


def test_bad_witnesses_and_parameters_are_refused() -> None:
    with pytest.raises(UsageError, match="takes 1 of w, 2 of h"):
        replayed("unique.saddle", w=[0.0])
    with pytest.raises(UsageError, match="that is u = 0"):
        replayed("stated.as_printed.rate", u=[0.5])
    with pytest.raises(UsageError, match="no quantity or check 'nothing'"):
        replayed("nothing")
    with pytest.raises(UsageError, match=r"4\*w_star\*\*4 < 1"):
        case(w_star=0.8)
