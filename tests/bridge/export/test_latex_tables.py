"""LaTeX tables of every stored comparison: at most eight columns, readable, within the text of an article."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import boundsmith as bs
from bridge.export.comparison import Comparison
from bridge.export.latex_cells import number_column, word_column
from bridge.export.latex_tables import MOST_COLUMNS, comparison_latex
from bridge.theorems.record import Row
from symbolic.statements.catalogue import find_result
from symbolic.words.errors import UsageError
from symbolic.words.prose import marked, prose
from tests.bridge.export.cases import comparison
from tests.yardstick.records import RECORDS, stored

IDS = sorted(path.stem for path in RECORDS.glob("*.json"))
needs_tex = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
SMALL = re.compile(r"\\(scriptsize|tiny|resizebox|scalebox|adjustbox|fontsize)|adjustbox")
TOO_WIDE = re.compile(r"Overfull \\hbox \(([\d.]+)pt")
OPTIONS = {"dcolumn": {}, "siunitx": {"siunitx": True}, "all": {"all_rows": True}}


def as_run(id: str) -> Comparison:
    """The stored record with the mathematics of its words, which a run has and a file has not."""
    words: dict[str, str] = {}
    for quantity in find_result(id).quantities:
        found = [quantity.meaning, quantity.norm, quantity.domain, quantity.remark]
        if quantity.erratum is not None:
            found += [getattr(quantity.erratum, name) for name in ("sentence", "reading", "repair", "survives")]
        words |= {each: marked(each) for each in found}
    record = stored(id)
    rows = [Row.model_validate(_replaced(row.model_dump(), words)) for row in record.rows]
    return record.model_copy(update={"rows": rows})


def _replaced(value: Any, words: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: _replaced(each, words) for name, each in value.items()}
    return words.get(value, value) if isinstance(value, str) else value


def compiled(folder: Path, tables: list[str]) -> str:
    """What pdflatex says of an 11pt article with these tables, the second time."""
    packages = sorted({name for each in tables for name in re.search(r"usepackage\{(.*?)\}", each)[1].split(",")})  # type: ignore[index]
    head = [r"\documentclass[11pt]{article}", rf"\usepackage{{{','.join(packages)}}}", r"\begin{document}"]
    body = [line for id, each in zip(IDS, tables, strict=True) for line in (rf"\clearpage\typeout{{== {id}}}", each)]
    (folder / "it.tex").write_text("\n".join([*head, *body, r"\end{document}"]))
    call = ["pdflatex", "-interaction=nonstopmode", "it.tex"]
    said = [subprocess.run(call, cwd=folder, capture_output=True, check=False).stdout for _ in range(2)]
    return said[-1].decode(errors="replace")


@needs_tex
@pytest.mark.parametrize("options", OPTIONS)
def test_all_tables_compile_and_fit_the_page(options: str, tmp_path: Path) -> None:
    tables = [as_run(id).table(**OPTIONS[options]).latex() for id in IDS]
    assert sum(r"\|" in table for table in tables) > 5  # norms
    said = compiled(tmp_path, tables)
    assert "Output written" in said
    assert not re.findall(r"^!.*|Undefined control.*|Float too large.*", said, flags=re.M)
    for id, part in zip(IDS, said.split("\n== ")[1:], strict=True):
        assert part.startswith(id)
        assert [each for each in TOO_WIDE.findall(part) if float(each) > 2] == []


@pytest.mark.parametrize("id", IDS)
def test_no_table_has_more_than_eight_columns_or_small_letters(id: str) -> None:
    table = stored(id).table(all_rows=True).latex()
    heads = re.findall(r"\\toprule\n(.*) \\\\", table)
    assert heads
    assert all(head.count("&") < MOST_COLUMNS for head in heads)
    assert "quantity" in heads[0]
    assert heads[0].rstrip().endswith("verdict")
    assert not SMALL.search(table)


def test_a_table_that_does_not_fit_a_page_is_long() -> None:
    short, long = comparison_latex(comparison(ps=(1,), Ls=(8,))), comparison_latex(stored("icgd.step"))
    assert r"\begin{tabular}" in short
    assert r"\begin{longtable}" not in short
    assert r"\begin{longtable}" in long
    assert long.count(r"\label{tab:icgd.step}") == 1


def test_errata_are_a_list_of_their_own_behind_the_table() -> None:
    table = comparison_latex(comparison(ps=(1, 8), Ls=(8,)))
    assert table.index(r"\end{table}") < table.index("Errata and violated bounds:") < table.index(r"\begin{itemize}")
    assert r"\item \textbf{violated}: output.mask\_3: printed violated" in table
    assert "itemize" not in comparison_latex(stored("icgd.relu_sum"))


def test_the_first_lines_say_which_packages_and_what_is_left_out() -> None:
    first, second, *_ = comparison_latex(stored("icgd.step")).splitlines()
    assert first == r"% icgd.step: needs \usepackage{booktabs,array,dcolumn,longtable}"
    assert second.startswith("% columns left out for want of room: rounding, attacked, ")
    assert "siunitx" in stored("icgd.step").table(siunitx=True).latex().splitlines()[0]


NUMBERS = ["$0.5$", r"$-1.234\cdot 10^{-16}$", "$120.5$", "--"]


def test_numbers_stand_at_their_points() -> None:
    column = number_column("ratio", 20.0, NUMBERS, siunitx=False)
    assert column.spec == "D{.}{.}{3.9}"
    assert column.cells == ("0.5", r"-1.234{\cdot}10^{-16}", "120.5", r"\multicolumn{1}{c}{--}")


def test_numbers_for_siunitx() -> None:
    column = number_column("ratio", 20.0, NUMBERS, siunitx=True)
    assert column.spec.startswith("S[table-format=-3.3e-2,")
    assert column.cells == ("0.5", "-1.234e-16", "120.5", "{--}")
    assert column.heading == "{ratio}"


def test_long_words_go_on_in_the_next_line() -> None:
    words = "erratum.descent_without_projection.repaired"
    assert word_column("quantity", [words]).spec == "l"
    broken = word_column("quantity", [words], 60.0)
    assert broken.spec.endswith("p{60pt}")
    assert broken.lines == (4,)
    assert r"\_\allowbreak{}without" in broken.cells[0]


def test_letters_are_those_of_the_paper_and_words_are_typed() -> None:
    caption = next(line for line in comparison_latex(stored("icgd.step")).splitlines() if r"\caption" in line)
    assert r"$\eta = 0.1$" in caption
    assert r"\texttt{activation} $=$ tanh" in caption


def test_what_all_rows_share_stands_in_the_caption() -> None:
    whole = stored("induction.vanilla")
    picked = whole.table(quantity="y", scope="network").latex()
    head, caption = (next(line for line in picked.splitlines() if key in line) for key in ("verdict", r"\caption"))
    assert "scope" not in head
    assert "quantity" not in head
    assert picked.count(r"\textit{y}: ") == caption.count(r"\textit{y}: ") == 1
    assert "scope: every prompt of this network" in caption
    named = whole.table(quantity="output.rate", columns="quantity,scope,measured").latex()
    assert "quantity & scope" in named  # columns that are asked for
    assert "scope: " not in named


def test_caption_and_label_are_the_readers_own_and_ours_stands_below() -> None:
    table = stored("icgd.trajectory").table(caption="Heads & `e^-p` at 100%", label="tab:mine").latex()
    assert r"\caption{Heads \& $e^{-p}$ at 100\%}\label{tab:mine}" in table
    below = table[table.index(r"\end{longtable}") :]
    assert r"\par\smallskip Wu et al. 2024, Corollary 1.1, Lemma 14 (icgd.trajectory): bounds" in below
    assert r"$\eta = 0.05$" in below
    assert table.count(r"\label") == 1


def test_tables_beside_the_rows_have_labels_of_their_own() -> None:
    table = stored("looped.linearised").table(label="lin").latex()
    assert re.findall(r"\\label\{(.*?)\}", table) == ["lin", "lin.1"]


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"caption": "a `b"}, "--caption: 'a `b': a backtick without a second one"),
        ({"caption": "`b_`"}, "--caption: .*nothing stands below or above"),
        ({"label": "a}b"}, "--label: 'a}b' has signs that no label has; use letters, digits and"),
    ],
)
def test_a_caption_or_label_that_latex_would_not_take_is_refused(choice: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        stored("icgd.trajectory").table(**choice)


def test_words_of_a_run_keep_their_mathematics() -> None:
    record = comparison(ps=(1,), Ls=(8,))
    rows = [Row(**row.model_dump() | {"meaning": prose("error of `W_star e^-p`")}) for row in record.rows]
    table = comparison_latex(record.model_copy(update={"rows": rows}))
    assert r"error of $W^{\star}\,e^{-p}$" in table
    assert "W_star e^-p" in rows[0].model_dump_json()


def test_a_row_of_a_table_has_a_number_where_the_record_has_one() -> None:
    lines = [line for line in comparison_latex(stored("induction.vanilla")).splitlines() if line.startswith("  output")]
    assert lines
    assert not [line for line in lines if not re.search(r"\d\.\d", line.split("&", 3)[-1])]


@pytest.mark.long
def test_a_run_sets_the_mathematics_of_its_errata_and_meanings() -> None:
    run = bs.compare("induction.vanilla", p=4, L=8, samples=4, attack=2, restarts=1)
    table, page = run.table().latex(), run.table()._repr_html_()
    assert "shows key $s = 1$ to the last query" in table
    assert r"last output token against $\mathrm{IH}_{2}$" in table
    assert "shows key <math>" in page
    assert "`" not in run.to_json()
