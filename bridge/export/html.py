"""A comparison as a small HTML table, for notebooks."""

from collections.abc import Sequence
from html import escape

from bridge.export.layout import (
    Layout,
    budget_words,
    label_columns,
    layout,
    no_verdict_words,
    number_words,
    shown_rows,
    table_cells,
    verdict_words,
)
from bridge.export.legend import legend
from bridge.export.notes import notes
from bridge.export.numbers import plain
from bridge.export.violations import reasons, violations
from bridge.record import Comparison, NamedTable, Row, Verdict


def comparison_html(comparison: Comparison, all_rows: bool = False) -> str:
    """The rows of the final quantities and every violated one (or all rows), without scripts or outside resources."""
    rows = shown_rows(comparison, all_rows)
    columns = layout(rows, comparison.automatic)
    hidden = len(comparison.rows) - len(rows)
    labels = label_columns(rows, columns)
    headings = [*labels, *columns.varying, *columns.headings(), "verdict"]
    also_hidden = f"{hidden} rows of other quantities hidden" if hidden else ""
    footer = [budget_words(rows), no_verdict_words(rows), also_hidden]
    return "\n".join(
        [
            "<table>",
            f"<caption>{escape(_title(comparison, columns))}</caption>",
            f"<thead><tr>{''.join(f'<th>{escape(heading)}</th>' for heading in headings)}</tr></thead>",
            "<tbody>",
            *(_line(row, words, columns) for row, *words in zip(rows, *labels.values(), strict=True)),
            "</tbody>",
            "</table>",
            *_legend(legend(comparison, rows, columns)),
            *(f"<p>{escape(note)}</p>" for note in notes(rows)),
            f"<p>{escape('; '.join(filter(None, footer)))}</p>",
            *(_named(table) for table in comparison.tables),
            *(f"<p><b>{escape(each.heading)}</b> {escape(each.sentence)}</p>" for each in violations(comparison)),
            *(f"<p><b>{escape(reason.verdict)}</b> {escape(reason.sentence)}</p>" for reason in reasons(comparison)),
        ]
    )


def _legend(entries: Sequence[tuple[str, str]]) -> list[str]:
    lines = [f"<dt>{escape(names)}</dt><dd>{escape(meaning)}</dd>" for names, meaning in entries]
    return ["<dl>", *lines, "</dl>"] if lines else []


def _named(table: NamedTable) -> str:
    """A table beside the rows; of a long one the first and the last lines."""

    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    body = "\n".join(line(cells, "td") for cells in table_cells(table))
    return f"<table>\n<caption>{escape(table.title)}</caption>\n{line(table.columns, 'th')}\n{body}\n</table>"


def _title(comparison: Comparison, columns: Layout) -> str:
    constants = columns.constants()
    head = ": ".join(filter(None, (comparison.result, comparison.citation)))
    return head + (f"; {constants}" if constants else "")


def _line(row: Row, words: Sequence[str], columns: Layout) -> str:
    numbers = columns.grid(row)
    numbers += [number_words(row, name, plain) for name in columns.numbers]
    verdict = escape(verdict_words(row))
    if Verdict.VIOLATED in row.verdict.values():
        verdict = f"<b>{verdict}</b>"
    cells = [f"<td>{escape(word or '-')}</td>" for word in words]
    cells += [f'<td style="text-align: right">{escape(cell)}</td>' for cell in numbers]
    return f"<tr>{''.join(cells)}<td>{verdict}</td></tr>"
