"""Covers end to end: separated sets below the bounds, and the order of quantifiers."""

import pytest

from bridge.questions.compare import compare
from bridge.theorems.record import Verdict


@pytest.mark.parametrize("params", [{}, {"d": 1, "eps": 0.1}, {"d": 3, "eps": 0.5, "width": 0.5}], ids=str)
def test_separated_sets_are_below_the_bounds(params: dict[str, float]) -> None:
    rows = {row.quantity: row for row in compare("universal.covering", **params)}
    for name in ("ball", "bumps", "product"):
        assert 1 < rows[name].measured <= rows[name].derived
        assert rows[name].verdict == {"derived": Verdict.PROVED}
    assert rows["ball"].derived < 4 * rows["ball"].measured


def test_one_function_of_a_cover_does_not_serve_all_inputs() -> None:
    (row,) = compare("universal.covering").violated()
    assert (row.quantity, row.erratum.weight) == ("one_function", "step of a proof")
    assert row.measured == pytest.approx(1)
    assert row.remark.startswith("at each x one of both is within ")
    assert float(row.remark.split()[-1]) < 1e-6
