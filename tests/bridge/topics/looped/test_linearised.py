"""looped.linearised: c and C of formats beside a scan on diabetes, a table."""

import pytest

from benchmarks.looped_linearised import prompt
from bridge.questions.compare import compare
from bridge.theorems.record import Verdict
from bridge.topics.looped.linearised import formats, resolve


@pytest.mark.long
def test_on_diabetes_the_computed_pair_is_within_ten_times_of_the_best_of_a_scan() -> None:
    table = formats(**prompt(60))
    found = {(row[0], row[1]): row for row in table.rows}
    assert len(found) == 6
    for row in table.rows:
        error, least, ratio = (float(each) for each in row[4:7])
        assert 0 < least <= error
        assert ratio == pytest.approx(error / least)
        assert ratio <= 10
    for name, most in (("float64", (1e-7, 1e-9)), ("float32", (1e-3, 1e-4))):
        for second, bound in zip(("scores 0", "opposite"), most, strict=True):
            assert float(found[name, second][4]) <= bound


@pytest.mark.long
def test_a_table_is_a_prompt() -> None:
    comparison = compare("looped.linearised", data="diabetes", N=6)
    step = next(row for row in comparison.rows if row.quantity == "step" and row.scope == "prompt")
    assert step.params["d"] == 10
    assert step.verdict == {"instance": Verdict.KEPT}
    assert step.attacked is None
    assert comparison.environment["inputs"] == "table diabetes"


def test_each_format_has_its_own_pair() -> None:
    found = {dtype: resolve({}, 0, dtype) for dtype in ("float64", "float32", "bfloat16", "float16")}
    assert found["float64"]["c"] < found["float32"]["c"] < found["bfloat16"]["c"]
    assert found["float16"]["C"] <= 8


def test_a_format_that_holds_nothing_of_the_prompt_leaves_cells_empty() -> None:
    given = {"N": 8, "d": 3, "R": 9e-13, "samples": 1, "attack": 0}
    errors = [
        [row[4:7] for row in compare("looped.linearised", **given, dtype=dtype).tables[0].rows]
        for dtype in ("float16", "float64")
    ]
    assert all(cells == [None, None, None] for cells in errors[0])  # all residuals are 0 there
    assert all(None not in cells for cells in errors[1])
