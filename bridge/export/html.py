"""A comparison as a small HTML table, for notebooks."""

from html import escape

from bridge.export.findings import findings, reasons
from bridge.export.layout import Layout, budget_words, layout, shown_rows, value_words, verdict_words
from bridge.export.numbers import plain
from bridge.record import Comparison, Row, Verdict


def comparison_html(comparison: Comparison, all_rows: bool = False) -> str:
    """The rows of the final quantities and every violated one (or all rows), without scripts or outside resources."""
    rows = shown_rows(comparison, all_rows)
    columns = layout(rows)
    hidden = len(comparison.rows) - len(rows)
    headings = ["quantity", *(["scope"] if columns.scoped else []), *columns.varying, *columns.numbers, "verdict"]
    notes = [budget_words(rows), *([f"{hidden} rows of other quantities hidden"] if hidden else [])]
    return "\n".join(
        [
            "<table>",
            f"<caption>{escape(_title(comparison, columns))}</caption>",
            f"<thead><tr>{''.join(f'<th>{escape(heading)}</th>' for heading in headings)}</tr></thead>",
            "<tbody>",
            *(_line(row, columns) for row in rows),
            "</tbody>",
            "</table>",
            f"<p>{escape('; '.join(notes))}</p>",
            *(f"<p><b>violated</b> {escape(finding.sentence)}</p>" for finding in findings(comparison)),
            *(f"<p><b>{escape(reason.verdict)}</b> {escape(reason.sentence)}</p>" for reason in reasons(comparison)),
        ]
    )


def _title(comparison: Comparison, columns: Layout) -> str:
    constants = columns.constants()
    return f"{comparison.result}: {comparison.citation}" + (f"; {constants}" if constants else "")


def _line(row: Row, columns: Layout) -> str:
    words = [row.quantity, *([row.scope or "-"] if columns.scoped else [])]
    numbers = [value_words(row.params.get(name)) for name in columns.varying]
    numbers += [plain(getattr(row, name), name, row.kind) for name in columns.numbers]
    verdict = escape(verdict_words(row))
    if Verdict.VIOLATED in row.verdict.values():
        verdict = f"<b>{verdict}</b>"
    cells = [f"<td>{escape(word)}</td>" for word in words]
    cells += [f'<td style="text-align: right">{escape(cell)}</td>' for cell in numbers]
    return f"<tr>{''.join(cells)}<td>{verdict}</td></tr>"
