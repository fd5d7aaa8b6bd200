"""A comparison as Markdown tables, as GitHub and Pandoc read them."""

from collections.abc import Iterator, Sequence

from bridge.export.choice import USUAL, Choice
from bridge.export.layout import table_cells, words_in
from bridge.export.legend import Entries, legend, terms
from bridge.export.notes import budget_words, no_verdict_words, notes
from bridge.export.sheet import Sheet, sheet
from bridge.export.violations import findings
from bridge.theorems.record import NamedTable, Record

COMMANDS = "\\`*_<|[]$"


def escape_markdown(words: str) -> str:
    """Words in which no sign is a command of Markdown."""
    return "".join(f"\\{sign}" if sign in COMMANDS else sign for sign in words)


def comparison_markdown(comparison: Record, choice: Choice = USUAL) -> str:
    """The table, its legend, what it rests on, the tables beside it, and the errata as a list of their own."""
    return "\n".join(_blocks(sheet(comparison, choice))) + "\n"


def _blocks(shown: Sheet) -> Iterator[str]:
    yield f"**{escape_markdown(shown.title)}**"
    yield ""
    yield from filter(None, [escape_markdown(shown.layout.constants())])
    yield ""
    lines = [[shown.words(column, row) for column in shown.columns] for row in shown.rows]
    yield from _table([each.heading for each in shown.columns], lines, [each.is_right for each in shown.columns])
    yield ""
    yield from _items([*legend(shown), *terms(shown)])
    hidden = f"{shown.hidden} rows of intermediate quantities are hidden" if shown.hidden else ""
    for words in (*shown.untold, *notes(shown.rows), budget_words(shown.rows), no_verdict_words(shown.rows), hidden):
        yield from ("", f"{escape_markdown(words)}.") if words else ()
    for table in shown.comparison.tables:
        yield from ("", *_named(table, shown.choice.all_rows))
    found = [(each.heading, each.sentence) for each in findings(shown.comparison)]
    yield from [""] if found else []
    yield from _items(found)


def _items(entries: Entries) -> Iterator[str]:
    yield from (f"- **{escape_markdown(names)}**: {escape_markdown(meaning)}" for names, meaning in entries)


def _table(headings: Sequence[str], lines: Sequence[Sequence[str]], right: Sequence[bool]) -> Iterator[str]:
    yield f"| {' | '.join(map(escape_markdown, headings))} |"
    yield f"|{'|'.join('---:' if each else '---' for each in right)}|"
    yield from (f"| {' | '.join(map(escape_markdown, line))} |" for line in lines)


def _named(table: NamedTable, all_rows: bool) -> Iterator[str]:
    yield f"**{escape_markdown(table.title)}**"
    yield ""
    yield from _table(table.columns, table_cells(table, all_rows), [not words for words in words_in(table)])
