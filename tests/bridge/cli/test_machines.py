"""`compare` with parameters that are text, and the tables that stand beside the rows."""

import json
from typing import Any

import pytest

from bridge.export.comparison import Comparison, load
from bridge.export.html import comparison_html
from bridge.export.latex_tables import comparison_latex
from bridge.export.layout import FIRST_LINES, LAST_LINES
from bridge.theorems.record import NamedTable
from tests.bridge.cli.conftest import Command, refused
from tests.bridge.export.cases import comparison

LONG = FIRST_LINES + LAST_LINES + 5
TABLES = [
    NamedTable(title="trace of_it", columns=["i", "state"], rows=[[i, f"q_{i}"] for i in range(LONG)]),
    NamedTable(title="short", columns=["x", "y"], rows=[[0.5, None]]),
]


def with_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    with_them: Comparison = comparison().model_copy(update={"tables": TABLES})
    monkeypatch.setattr("bridge.cli.running.compare", lambda *_, **__: with_them)


def test_text_stays_text_whatever_digits_it_holds(run: Command, calls: list[dict[str, Any]]) -> None:
    run("compare", "machines.turing", "--set", "input=0101", "--set", "machine=1RZ1RZ", "--set", "T=3")
    run("compare", "machines.turing", "--grid", "input=0,01,0110", "--grid", "T=1,2")
    run("compare", "machines.turing", "--set", "input=")
    given = [{name: call[name] for name in ("machine", "input", "T") if name in call} for call in calls]
    assert given == [
        {"input": "0101", "machine": "1RZ1RZ", "T": 3},
        {"input": ("0", "01", "0110"), "T": (1, 2)},
        {"input": ""},
    ]


@pytest.mark.parametrize(
    ("typed", "setting"),
    [
        (["--machine", "palindrome"], "--set 'machine=palindrome'"),
        (["--input=0110"], "--set 'input=0110'"),
        (["--machine"], "--set 'machine=NAME|FILE|TABLE'"),
        (["--T", "5"], "--set 'T=5'"),
    ],
)
def test_a_parameter_that_is_typed_as_an_option_is_told_how_to_be_set(
    typed: list[str], setting: str, run: Command, calls: list[dict[str, Any]]
) -> None:
    said = refused(run("compare", "machines.turing", *typed))
    assert said.endswith(f"is a parameter of machines.turing, and no option; give it by {setting}.")
    assert "No such option" in refused(run("compare", "induction.vanilla", "--machine", "increment"))
    assert calls == []


def test_the_help_of_a_result_says_what_its_parameters_take(run: Command) -> None:
    line = "  machine = increment  NAME|FILE|TABLE: addition, busy_beaver_3"
    assert line in run("compare", "machines.turing", "--help").out
    assert line in run("show", "machines.turing").out
    assert "machine" not in run("compare", "--help").out
    shown = json.loads(run("show", "machines.circuit", "--json").out)["parameters"]
    assert [each.get("takes") for each in shown] == ["NAME|FILE", "BITS", None]


def test_a_result_without_such_a_parameter_says_so(run: Command, calls: list[dict[str, Any]]) -> None:
    assert "has no parameter 'machine'" in refused(run("compare", "induction.vanilla", "--set", "machine=increment"))
    assert calls == []


def test_long_tables_are_shortened_on_the_terminal(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    with_tables(monkeypatch)
    short, full = (run("compare", "induction.vanilla", *more).out for more in ((), ("--all",)))
    assert "trace of_it" in short
    assert "q_0" in short
    assert f"q_{LONG - 1}" in short
    assert f"q_{FIRST_LINES}" not in short
    assert f"5 of {LONG} lines are left out; --all shows them" in short
    assert f"q_{FIRST_LINES}" in full
    assert "left out; --all" not in full


def test_a_column_of_long_words_is_left_out_where_it_has_no_room() -> None:
    formula = " + ".join(f"A**{k}*Z" for k in range(40))
    table = NamedTable(
        title="sizes, in words", columns=["name", "formula", "value"], rows=[["width", formula, 1234567]]
    )
    record = comparison().model_copy(update={"tables": [table]})
    wide, narrow = record.table().text(), record.table().text(80)
    assert formula in wide
    shown = narrow[narrow.index("sizes, in words") :].splitlines()
    assert [line.split() for line in shown[1:4:2]] == [["name", "value"], ["width", "1234567"]]
    assert shown[4] == "left out, as a line has 80 columns: formula; --json has all"


def test_json_holds_every_line_and_is_read_back(run: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    with_tables(monkeypatch)
    out = run("compare", "induction.vanilla", "--json").out
    assert len(json.loads(out)["tables"][0]["rows"]) == LONG
    path = tmp_path / "c.json"
    path.write_text(out)
    assert load(path).tables == TABLES


def test_latex_and_html_show_them_escaped() -> None:
    shown = comparison().model_copy(update={"tables": TABLES})
    assert r"\caption{trace of\_it}" in comparison_latex(shown)
    assert rf"q\_{LONG - 1}" in comparison_latex(shown)
    assert rf"q\_{FIRST_LINES} " not in comparison_latex(shown)
    assert comparison_latex(shown).count(r"\toprule") == 1 + len(TABLES) + 1  # the rows have a head on each page
    assert "<caption>trace of_it</caption>" in comparison_html(shown)
