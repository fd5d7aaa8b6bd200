"""A comparison as Markdown tables, as GitHub and Pandoc read them."""

from collections.abc import Iterator, Sequence

from bridge.export.choice import Choice
from bridge.export.layout import budget_words, no_verdict_words, table_cells
from bridge.export.legend import legend, terms
from bridge.export.notes import notes
from bridge.export.sheet import Role, Sheet, sheet
from bridge.export.violations import reasons, violations
from bridge.theorems.record import NamedTable, Record

COMMANDS = "\\`*_<|[]$"


def escape_markdown(words: str) -> str:
    """Words in which no sign is a command of Markdown."""
    return "".join(f"\\{sign}" if sign in COMMANDS else sign for sign in words)


def comparison_markdown(comparison: Record, choice: Choice | None = None) -> str:
    """The table, its legend, what it rests on, the tables beside it, and the errata as a list of their own."""
    shown = sheet(comparison, choice or Choice())
    return "\n".join(_blocks(shown)) + "\n"


def _blocks(shown: Sheet) -> Iterator[str]:
    record = shown.comparison
    yield f"**{escape_markdown(': '.join(filter(None, (record.result, record.citation))))}**"
    yield ""
    yield from filter(None, [escape_markdown(shown.layout.constants())])
    yield ""
    right = [column.role in (Role.NUMBER, Role.PARAMETER) for column in shown.columns]
    lines = [[shown.words(column, row) for column in shown.columns] for row in shown.rows]
    yield from _table([column.heading for column in shown.columns], lines, right)
    yield ""
    entries = [*legend(record, shown.rows, shown.layout), *terms(shown)]
    yield from (f"- **{escape_markdown(names)}**: {escape_markdown(meaning)}" for names, meaning in entries)
    hidden = f"{shown.hidden} rows of intermediate quantities are hidden" if shown.hidden else ""
    for words in (*notes(shown.rows), budget_words(shown.rows), no_verdict_words(shown.rows), hidden):
        yield from ("", f"{escape_markdown(words)}.") if words else ()
    for table in record.tables:
        yield from ("", *_named(table, shown.choice.all_rows))
    found = [(each.heading, each.sentence) for each in violations(record)]
    found += [(each.verdict, each.sentence) for each in reasons(record)]
    yield from [""] if found else []
    yield from (f"- **{escape_markdown(heading)}**: {escape_markdown(sentence)}" for heading, sentence in found)


def _table(headings: Sequence[str], lines: Sequence[Sequence[str]], right: Sequence[bool]) -> Iterator[str]:
    yield f"| {' | '.join(map(escape_markdown, headings))} |"
    yield f"|{'|'.join('---:' if each else '---' for each in right)}|"
    yield from (f"| {' | '.join(map(escape_markdown, line))} |" for line in lines)


def _named(table: NamedTable, all_rows: bool) -> Iterator[str]:
    yield f"**{escape_markdown(table.title)}**"
    yield ""
    words = [any(isinstance(row[place], str) for row in table.rows) for place in range(len(table.columns))]
    yield from _table(table.columns, table_cells(table, all_rows), [not each for each in words])
