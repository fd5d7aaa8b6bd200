"""A comparison as HTML: a table for notebooks, or a page."""

from collections.abc import Sequence
from html import escape

from bridge.export.choice import Choice
from bridge.export.layout import budget_words, no_verdict_words, table_cells
from bridge.export.legend import legend, terms
from bridge.export.notes import notes
from bridge.export.sheet import Role, Sheet, sheet
from bridge.export.violations import reasons, violations
from bridge.record import Comparison, NamedTable, Row, Verdict

STYLE = (
    "body{font:15px/1.45 sans-serif;margin:2em auto;max-width:75em;padding:0 1em}"
    "table{border-collapse:collapse;margin:1em 0}caption{text-align:left;padding:.4em 0;font-weight:bold}"
    "th,td{padding:.15em .7em;text-align:left;white-space:nowrap}thead{border-bottom:1px solid}"
    "dt{font-weight:bold;float:left;clear:left;margin-right:.6em}"
)


def comparison_page(comparison: Comparison, choice: Choice | None = None) -> str:
    """A page without scripts or outside resources."""
    lines = [
        "<!DOCTYPE html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{escape(comparison.result)}</title>',
        f"<style>{STYLE}</style></head><body>",
        comparison_html(comparison, choice),
        "</body></html>",
    ]
    return "\n".join(lines) + "\n"


def comparison_html(comparison: Comparison, choice: Choice | None = None) -> str:
    """The rows and columns that were chosen, without scripts or outside resources."""
    shown = sheet(comparison, choice or Choice())
    record = shown.comparison
    also_hidden = f"{shown.hidden} rows of other quantities hidden" if shown.hidden else ""
    footer = [budget_words(shown.rows), no_verdict_words(shown.rows), also_hidden]
    return "\n".join(
        [
            "<table>",
            f"<caption>{escape(_title(shown))}</caption>",
            f"<thead><tr>{''.join(f'<th>{escape(column.heading)}</th>' for column in shown.columns)}</tr></thead>",
            "<tbody>",
            *(_line(row, shown) for row in shown.rows),
            "</tbody>",
            "</table>",
            *_legend([*legend(record, shown.rows, shown.layout), *terms(shown)]),
            *(f"<p>{escape(note)}</p>" for note in notes(shown.rows)),
            f"<p>{escape('; '.join(filter(None, footer)))}</p>",
            *(_named(table, shown.choice.all_rows) for table in record.tables),
            *(f"<p><b>{escape(each.heading)}</b> {escape(each.sentence)}</p>" for each in violations(record)),
            *(f"<p><b>{escape(reason.verdict)}</b> {escape(reason.sentence)}</p>" for reason in reasons(record)),
        ]
    )


def _legend(entries: Sequence[tuple[str, str]]) -> list[str]:
    lines = [f"<dt>{escape(names)}</dt><dd>{escape(meaning)}</dd>" for names, meaning in entries]
    return ["<dl>", *lines, "</dl>"] if lines else []


def _named(table: NamedTable, all_rows: bool) -> str:
    """A table beside the rows; of a long one the first and the last lines."""

    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    body = "\n".join(line(cells, "td") for cells in table_cells(table, all_rows))
    return f"<table>\n<caption>{escape(table.title)}</caption>\n{line(table.columns, 'th')}\n{body}\n</table>"


def _title(shown: Sheet) -> str:
    constants = shown.layout.constants()
    head = ": ".join(filter(None, (shown.comparison.result, shown.comparison.citation)))
    return head + (f"; {constants}" if constants else "")


def _line(row: Row, shown: Sheet) -> str:
    cells = []
    for column in shown.columns:
        words = escape(shown.words(column, row))
        right = ' style="text-align: right"' if column.role in (Role.NUMBER, Role.PARAMETER) else ""
        bold = column.role is Role.VERDICT and Verdict.VIOLATED in row.verdict.values()
        cells.append(f"<td{right}>{f'<b>{words}</b>' if bold else words}</td>")
    return f"<tr>{''.join(cells)}</tr>"
