"""Every format: what is in it, that it is deterministic, and that JSON comes back as it went."""

import csv
import io
import json
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
import sympy as sp
from matplotlib.figure import Figure
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

from bridge.export.choice import Choice
from bridge.export.comparison import Comparison, load
from bridge.export.html import comparison_html
from bridge.export.latex_tables import comparison_latex
from bridge.export.plots import draw
from bridge.export.tables import comparison_csv, save_witnesses
from bridge.export.terminal import comparison_blocks
from bridge.export.writing import export
from bridge.questions.compare import compare
from bridge.theorems.building import theorem
from bridge.theorems.check import Check, Sides
from bridge.theorems.record import OPTIONAL, Row, Verdict, Witness
from symbolic.statements.result import Kind, Quantifier, Quantity
from symbolic.words.errors import UsageError
from symbolic.words.escaping import escape
from symbolic.words.prose import prose
from tests.bridge.export.cases import comparison

ALL = Choice(all_rows=True)
FORMATS = [".tex", ".md", ".html", ".json", ".csv", ".png", ".svg", ".pdf"]


@pytest.mark.parametrize("suffix", FORMATS)
def test_each_format_is_chosen_by_suffix_and_deterministic(suffix: str, tmp_path: Path) -> None:
    export(comparison(), tmp_path / f"one{suffix}")
    export(comparison(), tmp_path / f"two{suffix.upper()}")
    content = (tmp_path / f"one{suffix}").read_bytes()
    assert len(content) > 500
    assert content == (tmp_path / f"two{suffix.upper()}").read_bytes()


@pytest.mark.parametrize("name", ["table.ps", "table", "table.tex.bak"])
def test_an_unknown_suffix_names_those_there_are(name: str, tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=rf"{name}' from its suffix; use one of .tex, .md, .html, .json, .csv, .png, .svg, .pdf"
    ):
        export(comparison(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_json_comes_back_as_it_went(tmp_path: Path) -> None:
    export(comparison(), tmp_path / "table.json")
    assert load(tmp_path / "table.json") == comparison()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not a comparison that boundsmith wrote: Invalid JSON"),
        ('{"result": "induction.vanilla", "rows": [', "is not a comparison that boundsmith wrote: Invalid JSON"),
        ("[1, 2]", "is not a comparison that boundsmith wrote: Input should be an object"),
        ('{"name": "another tool"}', "is not a comparison that boundsmith wrote: Field required at result"),
    ],
)
def test_a_truncated_or_foreign_file_is_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "table.json").write_text(text)
    with pytest.raises(UsageError, match=message):
        load(tmp_path / "table.json")


def test_a_missing_or_binary_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no file"):
        load(tmp_path / "missing.json")
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="not a UTF-8 text file"):
        load(tmp_path / "binary.json")


def test_csv_holds_every_field_of_every_row_with_all_digits() -> None:
    record = comparison()
    lines = list(csv.DictReader(io.StringIO(comparison_csv(record))))
    assert len(lines) == len(record.rows)
    columns = {name.split(".")[0] for name in lines[0]}
    assert columns == {"result", *Row.model_fields} - set(OPTIONAL)
    for line, row in zip(lines, record.rows, strict=True):
        assert line["params.L"] == str(row.params["L"])
        assert line["verdict.printed"] == row.verdict["printed"].value
        for name in ("printed", "derived", "measured", "rounding"):
            value = getattr(row, name)
            assert line[name] == "" if value is None else float(line[name]) == value


def test_csv_of_no_rows_still_has_its_header() -> None:
    record = comparison()
    record.rows = []
    assert comparison_csv(record).startswith("result,quantity,kind,")


def test_latex_table(snapshot: SnapshotAssertion) -> None:
    assert comparison_latex(comparison(ps=(1, 8), Ls=(8,))) == snapshot
    assert comparison_latex(comparison(ps=(1,), Ls=(8, 64)), ALL) == snapshot


def test_latex_table_is_balanced_and_leaves_nothing_unescaped() -> None:
    table = comparison_latex(comparison(), ALL)
    lines = [line for line in table.splitlines() if not line.startswith("%")]
    without_commands = "\n".join(re.sub(r"\\.", "", line) for line in lines)
    assert without_commands.count("{") == without_commands.count("}")
    assert "%" not in without_commands
    assert "_" not in without_commands.replace("\\cdot 10^", "")
    body = [line for line in lines if line.endswith(r"\\") and "&" in line]
    assert len({re.sub(r"\\&", "", line).count("&") for line in body}) == 1
    assert table.count(r"\begin{") == table.count(r"\end{")


@pytest.mark.parametrize(
    ("words", "escaped"),
    [
        ("a_b", r"a\_b"),
        ("100% & #1", r"100\% \& \#1"),
        ("x^{2} $", r"x\^{}\{2\} \$"),
        ("\\", r"\textbackslash{}"),
        ("a < b > c | ~", r"a \textless{} b \textgreater{} c \textbar{} \~{}"),
    ],
)
def test_every_special_character_is_escaped_once(words: str, escaped: str) -> None:
    assert escape(words) == escaped


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.rows += tag == "tr"

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_html_is_well_formed_and_escaped() -> None:
    record = comparison()
    record.citation = "<script>alert(1)</script>"
    page = comparison_html(record)
    tags = _Tags()
    tags.feed(page)
    assert tags.open == []
    assert tags.rows == 1 + 26
    assert "<script>" not in page
    assert "violated" in page
    assert "16 rows of other quantities hidden" in page


def test_what_is_ruled_out_is_said_in_latex_and_html() -> None:
    record = comparison()
    record.rows[0].verdict, record.rows[0].remark = {"printed": Verdict.OUTSIDE}, "100% of a < b"
    assert r"\item \textbf{outside}: 100\% of a \textless{} b (p = 1, L = 8: y)" in comparison_latex(record)
    assert "<p><b>outside</b> 100% of a &lt; b (p = 1, L = 8: y)</p>" in comparison_html(record)


def on_a_terminal(record: Comparison) -> str:
    screen = Console(width=200, file=io.StringIO())
    screen.print(*comparison_blocks(record, ALL))
    return screen.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def test_tables_say_which_way_a_bound_points_and_keep_landau_symbols() -> None:
    record = comparison(ps=(1,), Ls=(8,))
    rows = [row for row in record.rows if row.kind == "upper" and row.printed is not None][:2]
    rows[0].order, rows[1].kind = "O", "lower"
    record.rows = rows
    text, latex, html = on_a_terminal(record), comparison_latex(record, ALL), comparison_html(record, ALL)
    for shown, below, above in ((text, "≤", "≥"), (html, "≤", "≥"), (latex, r"$\le$", r"$\ge$")):
        assert shown.count(below) == shown.count(above) == 2  # a cell and the legend
        assert shown.count("O(") == 1
    record.rows = rows[:1]
    assert "≤" not in on_a_terminal(record)  # all bounds point the same way


def test_without_matplotlib_the_message_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match=r"pip install 'boundsmith\[plots\]'"):
        export(comparison(), tmp_path / "plot.png")


def test_witnesses_are_files_that_read_back(tmp_path: Path) -> None:
    record = comparison()
    paths = save_witnesses(record, tmp_path / "witnesses")
    assert len(paths) == 8
    assert paths[0].name == "induction.vanilla-output.mask_3-001.json"
    rows = [row for row in record if row.witness is not None]
    for path, row in zip(paths, rows, strict=True):
        assert row.witness is not None
        assert row.witness.file == str(path)
        assert Witness.model_validate(json.loads(path.read_text())) == row.witness


def test_tables_say_which_construction_a_row_is_of_and_show_parameters_in_few_digits() -> None:
    record = comparison(ps=(1,), Ls=(8,))
    shared = {"kind": "rate", "quantifier": "for all inputs", "measured": 2.0}
    record.rows = [
        Row(quantity="T", construction="sigma -> 0", params={"sigma": 1.5625000000000006e-08}, **shared),
        Row(quantity="T", construction="L -> oo", params={"sigma": 0.01}, **shared),
    ]
    table, page = comparison_latex(record), comparison_html(record)
    assert r"sigma -\textgreater{} 0 & 1.563{\cdot}10^{-8} & 2 & -- \\" in table
    assert r"quantity \textit{T}" in table
    assert "<td>T</td><td>sigma -&gt; 0</td>" in page
    assert "1.563e-08" in page
    for text in (table, page):
        assert "verdict -: a measured number that has no bound" in text
        assert "seed" not in text
    assert "1.5625000000000006e-08" in comparison_csv(record)


def test_a_theorem_may_draw_its_own_figure() -> None:
    n = sp.Symbol("n", integer=True, positive=True)
    size = Quantity("q", "q", "a size", "", "", Kind.UPPER, Quantifier.FOR_ALL, scopes=())
    own = theorem("own.figure", parameters={n: 4}, checks=[Check(size, lambda n: Sides(n, derived=n))])
    drawn = replace(own, figure=lambda found: Figure(figsize=(len(found.rows), 2)))
    assert draw(compare(drawn, n=(4, 5))).get_figwidth() == 2


def test_a_page_sets_the_mathematics_of_words_and_the_letters_of_parameters() -> None:
    record = comparison(ps=(1,), Ls=(8,))
    shared = {"kind": "upper", "quantifier": "for all inputs", "meaning": prose("error of `W* e^-p` & more")}
    record.rows = [Row(quantity="T", params={"W_star": 0.25, "leak": 1.0}, measured=2.0, **shared)]
    page = comparison_html(record)
    assert "<math><mrow><msup><mi>W</mi><mi>⋆</mi></msup>" in page
    assert "</math> &amp; more" in page
    assert "<math><msup><mi>W</mi><mi>⋆</mi></msup></math> = 0.25, leak = 1" in page
