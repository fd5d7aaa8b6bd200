"""The fixed points as a theorem: verdicts, counts, and the witness of the early sums."""

import numpy as np
import pytest

from bridge import compare
from bridge.comparison import replay_witness
from bridge.induction.fixed_point import FIXED_POINT, FlowsInNumbers, eigenvalues_of, stated, unique
from bridge.record import Row, Verdict
from symbolic.induction import fixed_point as theory
from symbolic.statements import UsageError
from tests.bridge.defaults import default_run

BOTH = {"printed", "derived"}
AT = {"L": 1000, "alpha": 0.3, "w_star": 0.37}


def rows() -> dict[str, Row]:
    return {row.quantity: row for row in default_run("induction.fixed_point")}


@pytest.mark.long
def test_every_quantity_has_a_row() -> None:
    assert set(rows()) == {quantity.name for quantity in theory.FIXED_POINT.quantities}


def test_what_holds_is_proved() -> None:
    for name in ("stated", "unique", "minimiser"):
        assert rows()[name].verdict == dict.fromkeys(BOTH, Verdict.PROVED)


def test_the_fixed_point_is_unique_where_the_flow_from_12_stays() -> None:
    """A saddle at w = 0 and a mirror image at w < 0 are no erratum: w_Q = w_K = w starts at sigma_init > 0."""
    assert (rows()["unique"].printed, rows()["unique"].derived, rows()["plane"].derived) == (1, 1, 3)
    assert "keeps w > 0" in rows()["unique"].remark
    assert "printed" not in rows()["plane"].verdict


def test_a_second_fixed_point_with_positive_w_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theory, "positive_points", theory.plane_points)
    assert (unique().found, unique().derived) == (3, 3)  # beside the printed 1


def test_the_early_sums_of_10_are_an_index_with_a_witness_that_replays() -> None:
    row = rows()["stated.as_printed"]
    assert row.verdict == {"printed": Verdict.VIOLATED, "derived": Verdict.PROVED}
    assert row.erratum.weight == "index or definition"
    assert replay_witness(row.witness).verdict == row.verdict
    assert [name for name, each in rows().items() if Verdict.VIOLATED in each.verdict.values()] == ["stated.as_printed"]


def test_eigenvalues_agree_with_the_numeric_jacobian() -> None:
    found = [row for name, row in rows().items() if name.startswith("eigenvalue")]
    assert len(found) == 7
    assert all(row.verdict["derived"] is Verdict.PROVED for row in found)
    assert all(abs(row.derived - row.measured) < 1e-9 for row in found)


def test_a_stated_point_at_which_the_flow_moves_is_not_called_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FlowsInNumbers, "speed", lambda self, point: 1e-9)
    sides = stated(FlowsInNumbers(**AT))
    assert "moves at 1.000e-09" in sides.remark
    assert sides.found > 0  # so that the run contradicts the proof


def test_eigenvalues_of_another_flow_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    true = FlowsInNumbers.jacobian
    monkeypatch.setattr(FlowsInNumbers, "jacobian", lambda self, point: np.multiply(1.001, true(self, point)))
    sides = eigenvalues_of("saddle")(FlowsInNumbers(**AT))
    assert sides.proved == ()
    assert "those of a numeric Jacobian differ" in sides.remark


def test_bad_witnesses_and_parameters_are_refused() -> None:
    witness = rows()["stated.as_printed"].witness
    with pytest.raises(UsageError, match="takes inputs of shapes"):
        replay_witness(witness.model_copy(update={"inputs": {"u": [0.5]}}))
    with pytest.raises(UsageError, match="no quantity or check 'nothing'"):
        replay_witness(witness.model_copy(update={"quantity": "nothing"}))
    with pytest.raises(UsageError, match=r"4\*w_star\*\*4 < 1"):
        compare(FIXED_POINT, w_star=0.8)
