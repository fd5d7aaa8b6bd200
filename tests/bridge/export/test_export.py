"""Every format: what is in it, that it is deterministic, and that JSON comes back as it went."""

import csv
import io
import json
import re
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
import sympy as sp
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

from bridge import compare
from bridge.check import Check, Sides
from bridge.export import comparison_csv, comparison_html, comparison_latex, export, load, plot, save_witnesses
from bridge.export.latex import escape
from bridge.export.plots import draw
from bridge.export.terminal import comparison_blocks
from bridge.record import OPTIONAL, Comparison, Row, Verdict, Witness
from bridge.theorem import theorem
from symbolic.statements import Kind, Quantifier, Quantity, UsageError
from tests.bridge.export.cases import comparison

FORMATS = [".tex", ".json", ".csv", ".png", ".svg"]


@pytest.mark.parametrize("suffix", FORMATS)
def test_each_format_is_chosen_by_suffix_and_deterministic(suffix: str, tmp_path: Path) -> None:
    export(comparison(), tmp_path / f"one{suffix}")
    export(comparison(), tmp_path / f"two{suffix.upper()}")
    content = (tmp_path / f"one{suffix}").read_bytes()
    assert len(content) > 500
    assert content == (tmp_path / f"two{suffix.upper()}").read_bytes()


@pytest.mark.parametrize("name", ["table.pdf", "table", "table.tex.bak"])
def test_an_unknown_suffix_names_those_there_are(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=rf"{name}' from its suffix; use one of .tex, .json, .csv, .png, .svg"):
        export(comparison(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_json_comes_back_as_it_went(tmp_path: Path) -> None:
    export(comparison(), tmp_path / "table.json")
    assert load(tmp_path / "table.json") == comparison()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not one that boundsmith wrote: Invalid JSON"),
        ('{"result": "induction.vanilla", "rows": [', "is not one that boundsmith wrote: Invalid JSON"),
        ("[1, 2]", "is not one that boundsmith wrote: Input should be an object"),
        ('{"name": "another tool"}', "is not one that boundsmith wrote: Field required at result"),
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
    assert comparison_latex(comparison(ps=(1,), Ls=(8, 64)), all_rows=True) == snapshot


def test_latex_table_is_balanced_and_leaves_nothing_unescaped() -> None:
    table = comparison_latex(comparison(), all_rows=True)
    lines = [line for line in table.splitlines() if not line.startswith("%")]
    without_commands = "\n".join(re.sub(r"\\.", "", line) for line in lines)
    assert without_commands.count("{") == without_commands.count("}")
    assert "%" not in without_commands
    assert "_" not in without_commands.replace("\\cdot 10^", "")
    body = [line for line in lines if line.endswith(r"\\")]
    assert len({re.sub(r"\\&", "", line).count("&") for line in body}) == 1
    assert table.count(r"\begin") == table.count(r"\end")


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


def test_png_and_svg_are_pictures(tmp_path: Path) -> None:
    plot(comparison(), tmp_path / "plot.png")
    plot(comparison(), tmp_path / "plot.svg", quantity="output.mask_3", x="L")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
    svg = (tmp_path / "plot.svg").read_text()
    assert ET.fromstring(svg).tag.endswith("svg")
    assert "<dc:date>" not in svg


def test_the_plot_shows_the_numbers_of_the_record() -> None:
    record = comparison(ps=(1, 2, 4), Ls=(8,))
    (axis,) = draw(record).axes
    assert axis.get_yscale() == "log"
    assert axis.get_xlabel() == "p"
    lines = {line.get_label(): line for line in axis.get_lines()}
    assert {"printed", "derived", "instance (network)", "instance (prompt)", "measured", "attacked"} <= set(lines)
    rows = [row for row in record if row.quantity == "output" and row.scope == "network"]
    assert list(lines["derived"].get_xdata()) == [1, 2, 4]
    assert list(lines["derived"].get_ydata()) == [row.derived for row in rows]
    assert "violated" not in lines


def test_violated_points_are_ringed_and_the_title_cites() -> None:
    figure = draw(comparison(), "output.mask_3")
    assert all("violated" in [line.get_label() for line in axis.get_lines()] for axis in figure.axes)
    title = figure.get_suptitle()
    assert "Wang et al. 2024, Theorem 4.1" in title
    assert "d = 4" in title


def test_one_panel_a_combination_up_to_six() -> None:
    assert [axis.get_title() for axis in draw(comparison(Ls=(8, 64))).axes] == ["L = 8", "L = 64"]
    many = draw(comparison(ps=tuple(range(1, 10)), Ls=(3, 4, 5, 6, 7, 8, 9, 10)))
    assert len([axis for axis in many.axes if axis.get_visible()]) == 6
    assert "6 of 8 panels shown" in many.get_suptitle()


def _of_the_step(*rows: tuple[str, str | None]) -> Comparison:
    """A record of icgd.step, whose main quantity is the gradient."""
    record = comparison(Ls=(8,))
    like = record.rows[0]
    made = [like.model_copy(update={"quantity": name, "scope": scope}) for name, scope in rows]
    return record.model_copy(update={"result": "icgd.step", "rows": made})


@pytest.mark.parametrize(
    ("rows", "drawn"),
    [
        ([("p[1]", "network"), ("gradient", "network"), ("prediction.mean", None)], "gradient"),
        ([("p[1]", "network"), ("prediction.mean", None)], "p[1]"),
        ([("prediction.mean", None), ("p[1]", "network"), ("gradient", "prompt")], "p[1]"),
        ([("prediction.mean", None)], "prediction.mean"),
    ],
)
def test_the_main_quantity_is_drawn_and_no_prediction(rows: list[tuple[str, str | None]], drawn: str) -> None:
    assert draw(_of_the_step(*rows)).get_suptitle().startswith(f"icgd.step: {drawn} ")


@pytest.mark.parametrize("names", [0, 30])
def test_the_title_stays_on_the_figure(names: int) -> None:
    record = comparison(Ls=(8,))
    for row in record:
        row.params |= {f"parameter_{index}": index for index in range(names)}
    figure = draw(record)
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    assert figure._suptitle is not None  # matplotlib has no public way to the title's place
    title = figure._suptitle.get_window_extent(renderer)
    assert 0 <= title.x0 < title.x1 <= figure.bbox.width
    assert title.y1 <= figure.bbox.height
    assert all(title.y0 > axis.get_window_extent(renderer).y1 for axis in figure.axes)
    assert all(f"parameter_{index} = {index}" in figure.get_suptitle().replace("\n", " ") for index in range(names))


def test_the_legend_stays_on_the_figure() -> None:
    record = _of_the_step(*(("gradient", scope) for scope in ("network", "prompt", "prompt, local")))
    for index, row in enumerate(record):
        row.instance = row.measured = row.attacked = row.rounding = 1.0 + index  # a series for each scope
    figure = draw(record)
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    (legend,) = figure.legends
    place = legend.get_window_extent(renderer)
    assert len(legend.get_texts()) == 2 + 4 * 3
    assert 0 <= place.x0 < place.x1 <= figure.bbox.width
    assert place.y0 >= 0


def test_what_is_ruled_out_is_said_in_latex_and_html() -> None:
    record = comparison()
    record.rows[0].verdict, record.rows[0].remark = {"printed": Verdict.OUTSIDE}, "100% of a < b"
    assert r"outside: 100\% of a \textless{} b (p = 1, L = 8: y)" in comparison_latex(record)
    assert "<p><b>outside</b> 100% of a &lt; b (p = 1, L = 8: y)</p>" in comparison_html(record)


def on_a_terminal(record: Comparison) -> str:
    screen = Console(width=200, file=io.StringIO())
    screen.print(*comparison_blocks(record, all_rows=True))
    return screen.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def test_tables_say_which_way_a_bound_points_and_keep_landau_symbols() -> None:
    record = comparison(ps=(1,), Ls=(8,))
    rows = [row for row in record.rows if row.kind == "upper" and row.printed is not None][:2]
    rows[0].order, rows[1].kind = "O", "lower"
    record.rows = rows
    text, latex, html = on_a_terminal(record), comparison_latex(record, all_rows=True), comparison_html(record, True)
    for shown, below, above in ((text, "≤", "≥"), (html, "≤", "≥"), (latex, r"$\le$", r"$\ge$")):
        assert shown.count(below) == shown.count(above) == 1
        assert shown.count("O(") == 1
    record.rows = rows[:1]
    assert "≤" not in on_a_terminal(record)  # all bounds point the same way


def test_a_zero_is_named_where_the_scale_cannot_show_it() -> None:
    record = comparison(Ls=(8,))
    for row in record:
        row.measured = 0.0
    (axis,) = draw(record).axes
    assert axis.get_title() == "not shown, being 0: measured"


def test_scopes_that_agree_in_one_panel_only_keep_their_names_in_all() -> None:
    record = comparison()
    for row in record:
        if row.params["L"] == 8:
            row.instance = 0.5
    labels = [{line.get_label() for line in axis.get_lines()} for axis in draw(record).axes]
    assert all({"instance (network)", "instance (prompt)"} <= names and "instance" not in names for names in labels)


def test_a_rate_is_drawn_on_a_linear_scale() -> None:
    (axis,) = draw(comparison(), "output.rate").axes
    assert axis.get_yscale() == "linear"
    assert axis.get_xlabel() == "L"


@pytest.mark.parametrize(
    ("quantity", "x", "message"),
    [
        ("outptu", None, "no quantity 'outptu' to plot. It has: y, output, output.mask_3, output.rate"),
        (None, "q", "cannot plot against 'q': no row has it as a number. Parameters: p, L, d, W_star"),
    ],
)
def test_a_plot_of_what_is_not_there_is_refused(quantity: str | None, x: str | None, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        draw(comparison(), quantity, x)


def test_a_plot_without_rows_or_numbers_is_refused() -> None:
    record = comparison()
    record.rows = record.rows[:1]
    record.rows[0].params = {"W_star": "random:1"}
    with pytest.raises(UsageError, match="a plot needs a parameter that is a number"):
        draw(record)
    record.rows = []
    with pytest.raises(UsageError, match="has no rows"):
        draw(record)


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
    assert r"T & sigma -\textgreater{} 0 & $1.563\cdot 10^{-8}$ & $2$ & - \\" in table
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
