"""What the export states as a theorem: no bound that `compare`, in its stored record, refutes or calls outside."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from bridge.theorems.record import Verdict
from symbolic import results
from symbolic.latex.paper_text import Conclusion, conclusions
from symbolic.statements.result import Result
from tests.yardstick.records import path_of, stored

FAILING = (Verdict.VIOLATED, Verdict.OUTSIDE)


def failing(result: Result, stated: list[Conclusion]) -> Iterator[str]:
    """The conclusions of which no row of the record holds, and one does not."""
    rows = stored(result.id)
    for each in stated:
        tier = "derived" if each.source is None else "printed"
        found = [row.verdict[tier] for row in rows.rows if row.quantity == each.quantity.name and tier in row.verdict]
        if found and all(verdict in FAILING for verdict in found):
            yield f"{each.quantity.name}, {tier}: {found[0]}"


@pytest.mark.parametrize("id", sorted(results()))
def test_no_theorem_states_what_compare_refutes_or_calls_outside(id: str) -> None:
    result = results()[id]
    assert path_of(id).exists()
    assert list(failing(result, [each for each in conclusions(result) if each.asserted])) == []


def test_what_is_outside_would_be_noticed() -> None:
    result = results()["induction.figure2"]
    printed = result.quantity("first")
    found = list(failing(result, conclusions(replace(result, quantities=(printed,)))))
    assert found == ["first, printed: outside"]
