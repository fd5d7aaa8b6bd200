"""A comparison as HTML: a table for notebooks, or a page."""

from collections.abc import Iterable
from html import escape

from bridge.export.choice import USUAL, Choice
from bridge.export.columns import Column, Role
from bridge.export.layout import table_cells
from bridge.export.legend import Entries, is_word, legend, terms
from bridge.export.notes import budget_words, no_verdict_words, notes
from bridge.export.sheet import Sheet, sheet
from bridge.export.violations import findings
from bridge.theorems.record import NamedTable, Record, Row, Verdict
from symbolic.words.ascii_math import AsciiMathError
from symbolic.words.mathml import math_html, prose_html

STYLE = (
    "body{font:15px/1.45 sans-serif;margin:2em auto;max-width:75em;padding:0 1em}"
    "table{border-collapse:collapse;margin:1em 0}caption{text-align:left;padding:.4em 0;font-weight:bold}"
    "th,td{padding:.15em .7em;text-align:left;white-space:nowrap}thead{border-bottom:1px solid}"
    "dt{font-weight:bold;float:left;clear:left;margin-right:.6em}"
)


def comparison_page(comparison: Record, choice: Choice = USUAL) -> str:
    """A page without scripts or outside resources."""
    lines = [
        "<!DOCTYPE html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{escape(comparison.result)}</title>',
        f"<style>{STYLE}</style></head><body>",
        comparison_html(comparison, choice),
        "</body></html>",
    ]
    return "\n".join(lines) + "\n"


def comparison_html(comparison: Record, choice: Choice = USUAL) -> str:
    """The rows and columns that were chosen, without scripts or outside resources."""
    shown = sheet(comparison, choice)
    record = shown.comparison
    also_hidden = f"{shown.hidden} rows of other quantities hidden" if shown.hidden else ""
    footer = [budget_words(shown.rows), no_verdict_words(shown.rows), also_hidden]
    return "\n".join(
        [
            "<table>",
            f"<caption>{title_html(shown)}</caption>",
            f"<thead>{_line(map(heading_html, shown.columns), 'th')}</thead>",
            "<tbody>",
            *(_row(row, shown) for row in shown.rows),
            "</tbody>",
            "</table>",
            *_legend([*legend(shown), *terms(shown)]),
            *(f"<p>{prose_html(note)}</p>" for note in (*shown.untold, *notes(shown.rows))),
            f"<p>{prose_html('; '.join(filter(None, footer)))}</p>",
            *(named_table_html(table, shown.choice.all_rows) for table in record.tables),
            *(f"<p><b>{escape(each.heading)}</b> {prose_html(each.sentence)}</p>" for each in findings(record)),
        ]
    )


def _legend(entries: Entries) -> list[str]:
    lines = [f"<dt>{escape(names)}</dt><dd>{prose_html(meaning)}</dd>" for names, meaning in entries]
    return ["<dl>", *lines, "</dl>"] if lines else []


def named_table_html(table: NamedTable, all_rows: bool) -> str:
    """A table beside the rows; of a long one the first and the last lines."""
    head = _line(map(prose_html, table.columns), "th")
    body = "\n".join(_line(map(prose_html, cells), "td") for cells in table_cells(table, all_rows))
    return "\n".join(["<table>", f"<caption>{prose_html(table.title)}</caption>", head, body, "</table>"])


def _line(cells: Iterable[str], tag: str) -> str:
    opening = '<th scope="col">' if tag == "th" else f"<{tag}>"
    return f"<tr>{''.join(f'{opening}{cell}</{tag}>' for cell in cells)}</tr>"


def title_html(shown: Sheet) -> str:
    found = shown.layout
    constants = [f"{_name(name)} = {escape(found.value(name, value))}" for name, value in found.constant.items()]
    return "; ".join(filter(None, (prose_html(shown.title), ", ".join(constants), escape(found.shared_scope))))


def heading_html(column: Column) -> str:
    return _name(column.name) if column.role is Role.PARAMETER else escape(column.heading)


def _name(parameter: str) -> str:
    """A letter as mathematics, a word as it is typed."""
    try:
        return escape(parameter) if is_word(parameter) else math_html(parameter)
    except AsciiMathError:
        return escape(parameter)


def _row(row: Row, shown: Sheet) -> str:
    cells = []
    for column in shown.columns:
        words = prose_html(shown.words(column, row))
        right = ' style="text-align: right"' if column.is_right else ""
        bold = column.role is Role.VERDICT and Verdict.VIOLATED in row.verdict.values()
        cells.append(f"<td{right}>{f'<b>{words}</b>' if bold else words}</td>")
    return f"<tr>{''.join(cells)}</tr>"
