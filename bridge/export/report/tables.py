"""The rows of a comparison as cells of a page: words as every table has them, and beside each number all its digits."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from bridge.export.choice import GRAVEST_FIRST, NO_SCOPE, Choice
from bridge.export.columns import Column, Role
from bridge.export.html import heading_html, named_table_html, title_html
from bridge.export.layout import shown_rows
from bridge.export.legend import legend, terms
from bridge.export.notes import budget_words, no_verdict_words, notes
from bridge.export.sheet import Sheet, sheet
from bridge.export.violations import findings
from bridge.theorems.record import Record, Row
from symbolic.words.mathml import prose_html


@dataclass(frozen=True)
class TableCell:
    """`exact` is the number as JSON has it; "" for words."""

    html: str
    exact: str = ""


@dataclass(frozen=True)
class TableLine:
    """`is_final`: whether a terminal shows the row without being asked for all."""

    cells: Sequence[TableCell]
    verdicts: Sequence[str]
    scope: str
    is_final: bool

    @property
    def gravest(self) -> str:
        """The verdict that a reader has to see first; "" where there is none."""
        return next((str(each) for each in GRAVEST_FIRST if each in self.verdicts), "")


@dataclass(frozen=True)
class ResultTable:
    """What a page shows of a comparison; all but `columns` and `lines` is HTML."""

    columns: Sequence[Column]
    lines: Sequence[TableLine]
    headings: Sequence[str]
    caption: str
    words: Sequence[tuple[str, str]]
    notes: Sequence[str]
    beside: Sequence[str]
    findings: Sequence[tuple[str, str]]

    @property
    def verdicts(self) -> list[str]:
        """Those that some row has, the gravest first."""
        return [str(each) for each in GRAVEST_FIRST if any(each in line.verdicts for line in self.lines)]

    @property
    def scopes(self) -> list[str]:
        found = dict.fromkeys(line.scope for line in self.lines)
        return list(found) if len(found) > 1 else []

    @property
    def has_intermediate(self) -> bool:
        return not all(line.is_final for line in self.lines)


def result_table(comparison: Record) -> ResultTable:
    """All rows, also those of intermediate quantities."""
    shown = sheet(comparison, Choice(all_rows=True))
    final = {id(row) for row in shown_rows(comparison)}
    footer = "; ".join(filter(None, [budget_words(shown.rows), no_verdict_words(shown.rows)]))
    return ResultTable(
        columns=shown.columns,
        lines=[_line(shown, row, id(row) in final) for row in shown.rows],
        headings=[heading_html(column) or "kind" for column in shown.columns],
        caption=title_html(shown),
        words=[(escape(name), prose_html(meaning)) for name, meaning in (*legend(shown), *terms(shown))],
        notes=[prose_html(note) for note in (*notes(shown.rows), *([footer] if footer else []))],
        beside=[named_table_html(table, all_rows=False) for table in comparison.tables],
        findings=[(escape(each.heading), prose_html(each.sentence)) for each in findings(comparison)],
    )


def _line(shown: Sheet, row: Row, is_final: bool) -> TableLine:
    cells = [TableCell(prose_html(shown.words(column, row)), _exact(column, row)) for column in shown.columns]
    return TableLine(cells, [str(each) for each in row.verdict.values()], row.scope or NO_SCOPE, is_final)


def _exact(column: Column, row: Row) -> str:
    value: Any = column.value(row) if column.role in (Role.NUMBER, Role.PARAMETER) else None
    return json.dumps(value) if isinstance(value, int | float) else ""
