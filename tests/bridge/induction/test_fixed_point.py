"""The study of the fixed points: verdicts, counts, and the witness of the early sums."""

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


def test_every_quantity_has_a_row() -> None:
    assert set(rows()) == {quantity.name for quantity in FixedPointStudy.result.quantities}


def test_what_holds_is_proved() -> None:
    for name in ("stated", "unique", "minimiser"):
        assert rows()[name].verdict == dict.fromkeys(BOTH, Verdict.PROVED)


def test_the_fixed_point_is_unique_where_the_flow_from_12_stays() -> None:
    """A saddle at w = 0 and a mirror image at w < 0 are no erratum: w_Q = w_K = w starts at sigma_init > 0."""
    assert (rows()["unique"].printed, rows()["unique"].derived, rows()["plane"].derived) == (1, 1, 3)
    assert "keeps w > 0" in rows()["unique"].remark
    assert "printed" not in rows()["plane"].verdict


def test_a_second_fixed_point_with_positive_w_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fixed_point.theory, "positive_points", fixed_point.theory.plane_points)
    assert case()._counts()[0].verdict["printed"] is Verdict.VIOLATED


def test_the_early_sums_of_10_are_an_index_with_a_witness_that_replays() -> None:
    row = rows()["stated.as_printed"]
    assert row.verdict["printed"] is Verdict.VIOLATED
    assert row.erratum.weight == "index or definition"
    again = replayed(row.witness.quantity, **row.witness.inputs)
    assert again.verdict == row.verdict
    assert [name for name, each in rows().items() if Verdict.VIOLATED in each.verdict.values()] == ["stated.as_printed"]


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
    assert "moves at 1.000e-09" in row.remark


def test_eigenvalues_of_another_flow_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    true = FixedPointCase._jacobian
    monkeypatch.setattr(FixedPointCase, "_jacobian", lambda self, point: 1.001 * true(self, point))
    row = case()._eigenvalues(fixed_point.theory.head_points()[2])
    assert row.verdict["derived"] is Verdict.UNDECIDED
    assert "those of a numeric Jacobian differ" in row.remark


def test_bad_witnesses_and_parameters_are_refused() -> None:
    with pytest.raises(UsageError, match="takes one u"):
        replayed("stated.as_printed.rate", w=[0.0])
    with pytest.raises(UsageError, match="not a finite number"):
        replayed("stated.as_printed.rate", u=[float("inf")])
    with pytest.raises(UsageError, match="that is u = 0"):
        replayed("stated.as_printed.rate", u=[0.5])
    with pytest.raises(UsageError, match="no quantity or check 'nothing'"):
        replayed("nothing")
    with pytest.raises(UsageError, match=r"4\*w_star\*\*4 < 1"):
        case(w_star=0.8)
