r"""A comparison as LaTeX tables (booktabs) in \footnotesize, of at most eight columns that fit the text of an article.

A table that does not fit a page is a `longtable`. What the run refutes follows as a list.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from bridge.export.choice import USUAL, Choice
from bridge.export.columns import ALWAYS, Column, Role
from bridge.export.latex_cells import (
    SEPARATION,
    SIZE,
    TYPEWRITER,
    LatexColumn,
    LatexTable,
    breakable,
    formula_width,
    number_column,
    word_column,
    words_width,
)
from bridge.export.layout import table_cells, words_in
from bridge.export.legend import Entries, is_word, legend, terms
from bridge.export.narrowing import narrowed, rooms, total
from bridge.export.notes import budget_words, no_verdict_words, notes, sampled
from bridge.export.sheet import Sheet, sheet
from bridge.export.theorem_of_record import parameter_latex
from bridge.export.violations import Reason, Violation, reasons, violations
from bridge.theorems.numbers import latex as number
from bridge.theorems.record import AUTOMATIC, NamedTable, Record
from symbolic.words.errors import UsageError
from symbolic.words.prose import prose, prose_latex

MOST_COLUMNS = 8
TEXT_WIDTH = 356.0  # pt: of an article at 11pt (360), less a little
LONGEST_NAME, LONGEST_TEXT, LONGEST_VERDICT = 200.0, 100.0, 90.0  # pt; what is longer goes on in the next line
LEAST_NAME = 85.0  # pt, of a name where columns beside it want room
TOGETHER = re.compile(r"(?<![,;:]) (?!\()")  # blanks at which no verdict is broken
NO_LABEL = re.compile(r"[^\w:.+/-]+", re.ASCII)
SIGNS = {"=": "$=$", "≤": r"$\le$", "≥": r"$\ge$", "~": r"$\sim$"}


def check_columns(choice: Choice) -> None:
    """Raises UsageError for more columns than a LaTeX table has."""
    named = len({*choice.columns, *ALWAYS}) if choice.columns else 0
    if named > MOST_COLUMNS:
        raise UsageError(
            f"--columns: a LaTeX table has at most {MOST_COLUMNS} columns, quantity and verdict among them, and these "
            f"are {named}; name fewer, or write a .csv, .md or .html file."
        )


def comparison_latex(comparison: Record, choice: Choice = USUAL) -> str:
    """The rows and columns that were chosen, the tables beside them, and what the run refutes. Raises UsageError."""
    check_columns(choice)
    whole = _sheet(comparison, choice)
    first = _rows_table(whole)
    beside = enumerate(whole.comparison.tables, start=1)
    tables = [first, *(_beside(table, f"{first.label}.{place}", choice) for place, table in beside)]
    body = [line for table in tables for line in (*table.lines(), "")] + _refuted(whole.comparison)
    lines = [f"% {' '.join(comparison.result.split())}: needs {_packages(tables, ' '.join(body))}"]
    lines += [f"% {whole.hidden} rows of intermediate quantities are left out"] if whole.hidden else []
    for missing in (table.missing for table in tables if table.missing):
        lines.append(f"% columns left out for want of room: {', '.join(' '.join(each.split()) for each in missing)}")
    return "\n".join([*lines, *body]).rstrip() + "\n"


def latex_left_out(comparison: Record, choice: Choice) -> list[str]:
    """The columns of the rows that have no room in a LaTeX table."""
    whole = _sheet(comparison, choice)
    return whole.left_out(_narrowed(whole))


def _sheet(comparison: Record, choice: Choice) -> Sheet:
    """A quantity that all rows share stands in the caption, unless the reader names the columns."""
    whole = sheet(comparison, choice)
    if not whole.only_quantity or choice.columns:
        return whole
    return whole.with_columns([column.name for column in whole.columns if column.name != "quantity"])


def _narrowed(whole: Sheet) -> Sheet:
    limits = {"verdict": LONGEST_VERDICT, "least_name": LEAST_NAME}
    return narrowed(whole, _widths, TEXT_WIDTH, 2 * SEPARATION, most=MOST_COLUMNS, **limits)


def _widths(shown: Sheet) -> dict[str, float]:
    return {column.name: _column(shown, column).width for column in shown.columns}


def _packages(tables: Sequence[LatexTable], body: str) -> str:
    specs = [column.spec for table in tables for column in table.columns]
    needed = {
        "booktabs": True,
        "array": any("p{" in spec for spec in specs),
        "dcolumn": any(spec.startswith("D") for spec in specs),
        "siunitx": any(spec.startswith("S") for spec in specs),
        "longtable": any(table.is_long for table in tables),
        "amsmath": r"\text{" in body,  # what the mathematics of words may need
        "amssymb": r"\mathbb{" in body,
    }
    return rf"\usepackage{{{','.join(name for name, is_needed in needed.items() if is_needed)}}}"


def _rows_table(whole: Sheet) -> LatexTable:
    shown, rows = _narrowed(whole), whole.rows
    entries = [entry for entry in legend(whole) if entry[0] != _shared_quantity(whole)]
    below = [_caption(whole)] if whole.choice.caption else []
    below += [_entries(entries), _entries(terms(shown))]
    below += [breakable(_sentence([words])) for words in (no_verdict_words(rows), *whole.untold, *notes(rows))]
    room = math.inf if total(_widths(shown).values(), 2 * SEPARATION) <= TEXT_WIDTH else LONGEST_VERDICT
    return LatexTable(
        caption=breakable(whole.choice.caption) or _caption(whole),
        label=whole.choice.label or f"tab:{NO_LABEL.sub('-', whole.comparison.result)}",
        columns=[_column(shown, column, room) for column in shown.columns],
        ends=shown.ends,
        notes=[each for each in below if each],
        missing=whole.left_out(shown),
    )


def _entries(entries: Entries) -> str:
    return _sentence(_meant(names, meaning) for names, meaning in entries)


def _sentence(parts: Iterable[str]) -> str:
    words = "; ".join(filter(None, parts))
    return f"{words}." if words else ""


def _caption(whole: Sheet) -> str:
    record, rows, found = whole.comparison, whole.rows, whole.layout
    constants = [_meant(_shared_quantity(whole), rows[0].meaning)] if _shared_quantity(whole) else []
    constants += [
        f"{_parameter(whole, name)} $=$ {_value(whole, name, value)}".replace("$ $", " ")
        for name, value in found.constant.items()
    ]
    constants += [prose_latex(found.shared_scope)] if found.scope else []
    source = f"{breakable(record.citation)} ({breakable(record.result)})" if record.citation else ""
    return (
        f"{source or breakable(record.result)}: bounds and "
        f"{'largest errors found' if sampled(rows) else 'what was measured'}. "
    ) + _sentence([*constants, prose_latex(budget_words(rows))])


def _shared_quantity(whole: Sheet) -> str:
    """The quantity of all rows where no column names it; else \"\"."""
    return "" if any(column.name == "quantity" for column in whole.columns) else whole.only_quantity


def _meant(name: str, meaning: str) -> str:
    return (
        rf"\textit{{{breakable(name)}}}: {breakable(meaning)}" if meaning else rf"quantity \textit{{{breakable(name)}}}"
    )


def _parameter(shown: Sheet, name: str) -> str:
    """In the paper's notation where it has one, a word as it is typed."""
    if is_word(name):
        return rf"\texttt{{{prose_latex(name)}}}"
    letter = parameter_latex(shown.comparison, name)
    return f"${letter}$" if letter else prose_latex(prose(f"`{name}`", checked=False))


def _heading_width(name: str, heading: str) -> float:
    return formula_width(heading.strip("$")) if heading.startswith("$") else TYPEWRITER * SIZE * len(name)


def _value(shown: Sheet, name: str, value: object) -> str:
    words = shown.layout.value(name, value)
    if words == "-":
        return "--"
    if not isinstance(value, int | float) or isinstance(value, bool) or words == AUTOMATIC:
        return prose_latex(words)
    return _number(words)


def _number(words: str) -> str:
    mantissa, e, exponent = words.partition("e")
    return rf"${mantissa}\cdot 10^{{{int(exponent)}}}$" if e else f"${words}$"


def _column(shown: Sheet, column: Column, longest_verdict: float = math.inf) -> LatexColumn:
    siunitx = shown.choice.siunitx
    if column.role is Role.NUMBER:
        cells = [shown.words(column, row, number) for row in shown.rows]
        return number_column(column.heading, words_width(column.heading), cells, siunitx=siunitx)
    if column.role is Role.PARAMETER:
        cells = [_value(shown, column.name, row.params.get(column.name)) for row in shown.rows]
        heading = _parameter(shown, column.name)
        return number_column(heading, _heading_width(column.name, heading), cells, siunitx=siunitx)
    cells = shown.cells(column)
    if column.name == "kind":
        return LatexColumn("c", "", tuple(SIGNS[each] for each in cells), SIZE)
    longest = {"quantity": min(LONGEST_NAME, shown.name_room), "verdict": longest_verdict}
    most = longest.get(column.name, LONGEST_TEXT)
    set_column = word_column(column.heading, ["--" if each == "-" else each for each in cells], most)
    if column.role is not Role.VERDICT:
        return set_column
    return replace(set_column, cells=tuple(TOGETHER.sub("~", cell) for cell in set_column.cells))


def _beside(table: NamedTable, label: str, choice: Choice) -> LatexTable:
    """A table beside the rows, the middle of a long one left out unless all is asked for."""
    lines, headings = table_cells(table, choice.all_rows), enumerate(zip(table.columns, words_in(table), strict=True))
    columns = [
        _column_beside(heading, [line[place] for line in lines], words=words, siunitx=choice.siunitx)
        for place, (heading, words) in headings
    ]
    widths = {place: column.width for place, column in enumerate(columns)}
    kept = rooms(widths, list(widths), TEXT_WIDTH, 2 * SEPARATION, most=MOST_COLUMNS)
    missing = [heading for place, heading in enumerate(table.columns) if place not in kept]
    return LatexTable(breakable(table.title), label, [columns[place] for place in kept], missing=missing)


def _column_beside(heading: str, cells: Sequence[str], *, words: bool, siunitx: bool) -> LatexColumn:
    if words:
        return word_column(heading, cells, LONGEST_NAME)
    numbers = [_number(cell) if cell[-1:].isdigit() else prose_latex(cell) for cell in cells]
    return number_column(prose_latex(heading), words_width(heading), numbers, siunitx=siunitx)


def _refuted(record: Record) -> list[str]:
    """The errata and violations as a list, then why the run judges some bounds not at all."""
    return [
        *_list("Errata and violated bounds:", violations(record)),
        *_list("Bounds that the run does not judge:", reasons(record)),
    ]


def _list(heading: str, found: Sequence[Violation | Reason]) -> list[str]:
    if not found:
        return []
    return [
        rf"\begingroup\footnotesize\sloppy\par\medskip\noindent {heading}",
        r"\begin{itemize}",
        *(rf"  \item \textbf{{{prose_latex(each.heading)}}}: {breakable(each.sentence)}" for each in found),
        r"\end{itemize}",
        r"\endgroup",
    ]
