"""What a user does with a comparison: its rows by index and name, its figure, its table in pandas, its file."""

import importlib.util
import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import boundsmith as bs
from bridge.export import bars
from bridge.export.bars import notebook_bar
from bridge.export.comparison import load
from bridge.theorems.record import NamedTable
from symbolic.words.errors import UsageError
from tests.bridge.export.cases import comparison


def test_rows_by_index_slice_quantity_and_scope() -> None:
    record = comparison(ps=(1, 2), Ls=(8,))
    assert record[0] is record.rows[0]
    assert record[-1] is record.rows[-1]
    assert record[1:3].rows == record.rows[1:3]
    assert {row.quantity for row in record["output"]} == {"output"}  # not output.rate
    assert [(row.quantity, row.scope) for row in record["output", "prompt"]] == [("output", "prompt")] * 2
    assert record["output.rate", "none"].rows == [row for row in record if row.quantity == "output.rate"]
    assert len(record["output"]) == 4
    parts = record.model_copy(update={"rows": [row.model_copy(update={"quantity": "p[1]"}) for row in record]})
    assert len(parts["p"]) == len(parts)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (11, r"comparison\[11\]: there are 11 rows, from 0 to 10"),
        (99, r"comparison\[99\]: there are 11 rows, from 0 to 10"),
        (1.5, r"comparison\[1.5\]: give an index, a slice, a quantity, or a quantity and a scope, such as"),
        (("output", 1), "give an index, a slice, a quantity, or a quantity and a scope"),
        ("outptu", "there is no quantity 'outptu'. Nearest: output"),
        (("output", "prom"), "output has no rows of the scope 'prom'. Nearest: prompt. There are: network, prompt"),
    ],
)
def test_a_place_that_is_not_there_is_refused(place: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        comparison(ps=(1, 2), Ls=(8,))[place]


def test_some_rows_have_no_table_that_is_of_all() -> None:
    whole = comparison().model_copy(update={"tables": [NamedTable(title="trace", columns=["i"], rows=[[1]])]})
    assert all(part.tables == [] for part in (whole[1:3], whole["output"], whole["output", "prompt"]))


def test_a_release_is_newer_by_its_numbers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    record, path = comparison(), tmp_path / "saved.json"
    record.model_copy(update={"environment": {"boundsmith": "0.9.1"}}).save(str(path))
    monkeypatch.setattr("importlib.metadata.version", lambda _: "0.10.0")
    assert load(path).rows == record.rows
    monkeypatch.setattr("importlib.metadata.version", lambda _: "0.9.0")
    with pytest.raises(UsageError, match=r"was written by boundsmith 0.9.1, and this is 0.9.0; upgrade boundsmith"):
        load(path)


def test_the_frame_is_the_csv() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    record = comparison()
    of_file = pandas.read_csv(io.StringIO(record.table().csv()))
    frame = record.to_frame()
    assert list(frame.columns) == list(of_file.columns)
    assert list(frame["derived"].dropna()) == [row.derived for row in record if row.derived is not None]
    assert list(frame["params.p"][:5]) == [row.params["p"] for row in record.rows[:5]]


@pytest.mark.parametrize(
    ("call", "message"),
    [("to_frame", "to_frame needs pandas.*: pip install pandas"), ("plot", "plots need matplotlib.*boundsmith.plots.")],
)
def test_what_is_not_installed_is_named(call: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=message):
        getattr(comparison(), call)()


def test_a_figure_of_one_quantity_shows_itself_in_a_notebook() -> None:
    figure = comparison().plot("y", x="L")
    assert figure.get_suptitle().startswith("induction.vanilla: y: $")
    assert figure._repr_png_().startswith(b"\x89PNG")
    with pytest.raises(UsageError, match="the comparison has no quantity 'z' to plot"):
        comparison().plot("z")


def test_what_was_saved_is_loaded_whichever_theorem_it_is_of(tmp_path: Path) -> None:
    record = comparison().of(object())
    record.save(str(tmp_path / "record.json"))
    assert bs.load(tmp_path / "record.json") == record
    other = comparison()
    other.rows[0].derived = 0.25
    assert other != record


@pytest.mark.parametrize(("version", "is_newer"), [("0.1.1", True), ("0.10.0", True), ("0.0.9", False)])
def test_a_record_of_a_newer_version_is_refused(version: str, is_newer: bool, tmp_path: Path) -> None:
    record = comparison()
    record.environment["boundsmith"] = version
    path = tmp_path / "record.json"
    path.write_text(json.dumps(json.loads(record.to_json()) | ({"new field": 1} if is_newer else {})))
    if not is_newer:
        assert load(path) == record
        return
    with pytest.raises(UsageError, match=f"written by boundsmith {version}, and this is 0.1.0; upgrade boundsmith"):
        load(path)


def test_a_notebook_shows_a_bar_that_is_gone_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """And only there: without a kernel nothing is shown."""
    shown: list[Any] = []
    handle = SimpleNamespace(update=shown.append)
    display = SimpleNamespace(display=lambda state, display_id: shown.append(state) or handle)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=1)))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr(bars, "LATE", 0.0)
    monkeypatch.setattr(bars, "EACH", 0.0)
    with notebook_bar() as report:
        report(1, 4, "p = <2>")
        report(2, 4, "p = 4")
    assert [repr(each) for each in shown] == [" 25% p = <2>", " 50% p = 4", ""]
    assert shown[0]._repr_html_() == '<progress value="0.250" max="1"></progress> p = &lt;2&gt;'
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    with notebook_bar() as report:
        report(1, 4, "unseen")
    assert len(shown) == 3
