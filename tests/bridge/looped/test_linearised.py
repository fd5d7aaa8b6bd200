"""looped.linearised: bounds kept and attained, c and C of formats beside a scan on diabetes, tables, refusals."""

from pathlib import Path

import pytest

from benchmarks.looped_linearised import prompt
from bridge import compare
from bridge.looped.linearised import formats, resolve
from bridge.record import Verdict
from symbolic import UsageError

ID = "looped.linearised"
FAST = {"samples": 8, "attack": 12, "restarts": 4}


@pytest.mark.long
@pytest.mark.parametrize("params", [{}, {"N": 3, "d": 1, "B": 2.0, "R": 0.5, "c": 0.01, "c_odd": 0.1}], ids=str)
def test_bounds_are_kept_and_those_of_prompts_attained(params: dict[str, float]) -> None:
    comparison = compare(ID, **params, **FAST)
    assert len(comparison.rows) == 11
    for row in comparison.rows:
        assert set(row.verdict.values()) <= {Verdict.KEPT}
        if row.scope == "prompt":
            assert row.exact == pytest.approx(row.instance, rel=1e-6)
        elif row.quantity != "faithful":
            assert row.derived <= 3 * row.exact


@pytest.mark.parametrize("rows", [60])
def test_on_diabetes_the_computed_pair_is_within_ten_times_of_the_best_of_a_scan(rows: int) -> None:
    table = formats(**prompt(rows))
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
    comparison = compare(ID, data="diabetes", N=6)
    step = next(row for row in comparison.rows if row.quantity == "step" and row.scope == "prompt")
    assert step.params["d"] == 10
    assert step.verdict == {"instance": Verdict.KEPT}
    assert step.attacked is None
    assert comparison.environment["inputs"] == "table diabetes"


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"C": 720.0}, r"e\^C is beyond float64, which ends at 1.797693e\+308, for C = 720; take C = 70[56] or less"),
        ({"C_odd": 708.0}, r"2 n e\^C with n = 17 is beyond float64"),
        ({"c": 1e-17}, r"c = 1.000e-17 is below what float64 resolves: .* take c = .*e-14 or more"),
        ({"N": 1}, r"N = 1 does not meet N >= 2 \(a prompt has more than one example\)"),
    ],
    ids=str,
)
def test_what_no_format_holds_is_refused(params: dict[str, float], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        compare(ID, **params)


def test_each_format_has_its_own_pair() -> None:
    found = {dtype: resolve({}, 0, dtype) for dtype in ("float64", "float32", "bfloat16", "float16")}
    assert found["float64"]["c"] < found["float32"]["c"] < found["bfloat16"]["c"]
    assert found["float16"]["C"] <= 8
    with pytest.raises(UsageError, match=r"C = 12.* take C = 7 or less"):
        resolve({"C": 12.0}, 0, "float16")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"d": 3}, "d = 3 for the 10 columns of diabetes; leave d out"),
        ({"N": 442}, "N = 442, but diabetes has 442 rows with the query; take N = 2 to 441"),
    ],
    ids=str,
)
def test_parameters_that_do_not_fit_a_table_are_refused(params: dict[str, int], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        compare(ID, data="diabetes", **params)


def test_a_query_outside_the_ball_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "far.csv"
    table.write_text("a,b,y\n1,2,3\n2,1,4\n3,5,1\n50,60,2\n")
    with pytest.raises(UsageError, match=r"far.csv has .* > B_x = 1: outside the hypotheses; leave that row out"):
        compare(ID, csv=str(table), target="y")
