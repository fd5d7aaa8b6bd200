"""`compare` with --machine, --input and --netlist, and the tables that stand beside the rows."""

import io
import json
from typing import Any

import pytest
from rich.console import Console

import bridge
from bridge.cli.assignments import parameters, with_options
from bridge.export import comparison_html, comparison_latex, load
from bridge.export.layout import FIRST_LINES, LAST_LINES
from bridge.export.terminal import _named
from bridge.record import Comparison, NamedTable
from symbolic.statements import UsageError
from tests.bridge.cli.conftest import Command, refused
from tests.bridge.export.cases import comparison

LONG = FIRST_LINES + LAST_LINES + 5
TABLES = [
    NamedTable(title="trace of_it", columns=["i", "state"], rows=[[i, f"q_{i}"] for i in range(LONG)]),
    NamedTable(title="short", columns=["x", "y"], rows=[[0.5, None]]),
]


def with_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    with_them: Comparison = comparison().model_copy(update={"tables": TABLES})
    monkeypatch.setattr(bridge, "compare", lambda *_, **__: with_them)


def test_words_stay_words_whatever_digits_they_hold() -> None:
    assert with_options({"T": 5}, {"machine": "m", "input": "0101"}) == {"T": 5, "machine": "m", "input": "0101"}
    assert with_options(parameters(["input=0101", "T=3"]), {}) == {"input": "0101", "T": 3}
    assert parameters([], ["input=0,01,0110", "T=1,2"]) == {"input": ("0", "01", "0110"), "T": (1, 2)}


@pytest.mark.parametrize(
    ("settings", "grids", "options", "message"),
    [
        (["machine=m"], [], {"machine": "n"}, "'machine' is given twice"),
        ([], ["input=a,b"], {"input": ""}, "'input' is given twice"),
    ],
)
def test_what_is_refused_before_the_run(
    settings: list[str], grids: list[str], options: dict[str, str], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        with_options(parameters(settings, grids), options)


def test_a_result_without_such_a_parameter_says_so(run: Command, calls: list[dict[str, Any]]) -> None:
    assert "induction.vanilla has no parameter 'machine'" in refused(
        run("compare", "induction.vanilla", "--machine", "increment")
    )
    assert calls == []


def test_a_witness_takes_no_machine(run: Command) -> None:
    said = refused(run("compare", "induction.vanilla", "--witness", "w.json", "--machine", "increment"))
    assert "takes only --json" in said


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


def test_only_long_words_are_broken_and_numbers_never() -> None:
    formula = " + ".join(f"A**{k}*Z" for k in range(40))
    table = NamedTable(
        title="sizes, in words", columns=["name", "formula", "value"], rows=[["width", formula, 1234567]]
    )
    screen = Console(width=80, file=io.StringIO())
    title, drawn = [block for block in _named(table, all_rows=True) if block]
    assert title == "sizes, in words"
    screen.print(drawn)
    lines = screen.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert max(map(len, lines)) <= 80
    assert "1234567" in lines[2]
    assert "".join(line.split("│")[1].strip() for line in lines[2:] if "│" in line).replace(" ", "") == formula.replace(
        " ", ""
    )


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
    assert comparison_latex(shown).count(r"\begin{table}") == comparison_latex(shown).count(r"\end{table}") == 3
    assert "<caption>trace of_it</caption>" in comparison_html(shown)
    assert comparison_latex(comparison()).count(r"\begin{table}") == 1
