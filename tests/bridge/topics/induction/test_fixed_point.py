"""The fixed points as a theorem: verdicts, counts, and the early sums."""

from copy import copy

import numpy as np
import pytest
import sympy as sp

from bridge.questions.compare import compare
from bridge.theorems.record import Row, Verdict
from bridge.topics.induction.fixed_point import FlowsInNumbers, eigenvalues_of, stated, unique
from symbolic.dynamics import FixedPoint
from symbolic.topics.induction import fixed_point as theory
from tests.bridge.topics.induction.rows import default_rows, printed_as

AT = {"L": 1000, "alpha": 0.3, "w_star": 0.37}


@pytest.fixture(scope="module")
def rows() -> dict[str, Row]:
    return default_rows("fixed_point")


@pytest.mark.long
def test_what_holds_is_proved(rows: dict[str, Row]) -> None:
    for name in ("stated", "unique", "minimiser"):
        assert rows[name].verdict == {"printed": Verdict.PROVED, "derived": Verdict.PROVED}


def test_the_fixed_point_is_unique_where_the_flow_from_12_stays(rows: dict[str, Row]) -> None:
    """A saddle at w = 0 and a mirror image at w < 0 are not an erratum: w_Q = w_K = w starts at sigma_init > 0."""
    assert (rows["unique"].printed, rows["unique"].derived, rows["plane"].derived) == (1, 1, 3)
    assert "keeps w > 0" in rows["unique"].remark
    assert "printed" not in rows["plane"].verdict


def test_a_second_fixed_point_with_positive_w_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theory, "positive_points", theory.plane_points)
    assert (unique().found, unique().derived) == (3, 3)  # beside the printed 1


def test_with_the_early_sums_of_10_alone_the_stated_point_is_left(rows: dict[str, Row]) -> None:
    assert rows["stated.as_printed"].verdict == {"printed": Verdict.VIOLATED, "derived": Verdict.PROVED}
    assert printed_as(Verdict.VIOLATED, rows) == {"stated.as_printed"}


def test_eigenvalues_agree_with_the_numeric_jacobian(rows: dict[str, Row]) -> None:
    found = [row for name, row in rows.items() if name.startswith("eigenvalue")]
    assert len(found) == 7
    assert all(row.verdict["derived"] is Verdict.PROVED for row in found)
    assert all(abs(row.derived - row.measured) < 1e-9 for row in found)


class WithTwoFaults(FlowsInNumbers):
    """Flows that move where they rest, and whose eigenvalues are a thousandth larger."""

    def speed(self, point: FixedPoint) -> float:
        return 1e-9

    def jacobian(self, point: FixedPoint) -> np.ndarray:
        return np.multiply(1.001, super().jacobian(point))


def test_a_stated_point_at_which_the_flow_moves_is_not_called_proved() -> None:
    sides = stated(WithTwoFaults(**AT))
    assert "moves at 1.000e-09" in sides.remark
    assert sides.found > 0  # so that the run contradicts the proof


def test_eigenvalues_of_another_flow_are_noticed() -> None:
    sides = eigenvalues_of("saddle")(WithTwoFaults(**AT))
    assert sides.proved == ()
    assert "those of a numeric Jacobian differ" in sides.remark


def test_at_the_end_of_the_range_of_w_no_numeric_jacobian_is_needed() -> None:
    rows = {row.quantity: row for row in compare("induction.fixed_point", L=909, alpha=2.0, w_star=0.7071067811861307)}
    row = rows["eigenvalue.minimiser"]
    assert row.remark == "the numeric Jacobian is not finite here"
    assert row.verdict == {"derived": Verdict.UNDECIDED}


def test_a_point_at_rest_that_float64_does_not_resolve_rests() -> None:
    steep = FlowsInNumbers(L=320811373, alpha=5.976894666377023, w_star=0.7071067811864582)
    assert stated(steep).measured < 1e-30
    assert "moves" not in stated(steep).remark


def test_a_point_beside_the_stated_one_moves() -> None:
    flows = FlowsInNumbers(**AT)
    for found in theory.head_points():
        if found.name == "minimiser":
            moved = copy(found.point)  # which checks itself where it is made
            at = {letter: value + sp.Rational(1, 10**9) for letter, value in moved.at.items()}
            object.__setattr__(moved, "at", at)
            assert 1e-12 < flows.speed(moved) < 1e-6
            assert flows.speed(found.point) < 1e-40
