"""A comparison on the terminal: the table, what it rests on, and what it refutes."""

import io
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from bridge.export.layout import (
    Layout,
    budget_words,
    group_ends,
    label_columns,
    layout,
    lines_left_out,
    no_verdict_words,
    number_words,
    sampled,
    shown_rows,
    table_cells,
    verdict_words,
)
from bridge.export.legend import legend
from bridge.export.notes import notes, quantified
from bridge.export.numbers import DIGITS, plain
from bridge.export.violations import reasons, violations
from bridge.record import TIERS, Comparison, NamedTable, Row, Verdict
from symbolic.statements import Quantifier

LONGEST_CELL = 28  # characters, of a table beside the rows, that are never broken
LONGEST_LINE = 10_000  # columns of a text that no terminal bounds
BUDGET = ("seed", "samples", "attack", "restarts")  # also in the environment; the footer lists them for the rows


def comparison_blocks(comparison: Comparison, all_rows: bool = False, steps: bool = False) -> Iterator[RenderableType]:
    """The table of the rows and its legend, the slack of each step if requested, the footer, what the run refutes."""
    rows = shown_rows(comparison, all_rows)
    columns = layout(rows, comparison.automatic)
    yield ": ".join(filter(None, (comparison.result, comparison.citation)))
    yield _statement(rows, columns)
    yield rows_table(rows, columns)
    yield ""
    yield from (f"{names}: {meaning}" for names, meaning in legend(comparison, rows, columns))
    yield from notes(rows)
    if steps:
        yield from _slack(rows, columns)
    for table in comparison.tables:
        yield from _named(table, all_rows)
    yield from _footer(comparison, rows)
    yield from _violations(comparison)


def row_blocks(row: Row, automatic: Iterable[str] = ()) -> Iterator[RenderableType]:
    """One row, replayed from a witness: its parameters and its numbers."""
    columns = layout([row], automatic)
    yield _statement([row], columns, replayed=True)
    yield rows_table([row], columns)
    if row.remark:
        yield row.remark
    yield from notes([row])


def rows_table(rows: Sequence[Row], columns: Layout) -> Table:
    """Numbers never wrap; quantity and verdict may, between words."""
    table = Table(show_edge=False, pad_edge=False, header_style="bold")
    labels = label_columns(rows, columns)
    for heading, cells in labels.items():
        table.add_column(heading, no_wrap=True, min_width=max(map(len, cells), default=0))
    for name in columns.varying:
        _add_unbroken(table, name, [columns.value(name, row.params.get(name)) for row in rows])
    for name, heading in zip(columns.numbers, columns.headings(), strict=True):
        _add_unbroken(table, heading, [number_words(row, name, plain) for row in rows])
    longest = max((len(verdict_words(row)) for row in rows), default=0)
    table.add_column("verdict", min_width=max(len("verdict"), min(longest, 30)))
    ends = group_ends(rows)
    for index, (row, *words) in enumerate(zip(rows, *labels.values(), strict=True)):
        table.add_row(*(each or "-" for each in words), *_cells(row, columns), end_section=index in ends)
    return table


def _add_unbroken(table: Table, heading: str, cells: Sequence[str]) -> None:
    width = max((len(cell) for cell in (heading, *cells)), default=0)
    table.add_column(heading, justify="right", no_wrap=True, min_width=width)


def _cells(row: Row, columns: Layout) -> list[str | Text]:
    cells: list[str | Text] = [*columns.grid(row)]
    cells += [_number(row, name) for name in columns.numbers]
    return [*cells, Text(verdict_words(row), style=_style(row.verdict.values()))]


def _number(row: Row, name: str) -> Text:
    """A number as text: a refuted bound in red, a vacuous one dimmed."""
    verdict = row.verdict.get(name)
    dim = "dim" if name in TIERS and "vacuous" in row.flags.get(name, []) else ""
    return Text(number_words(row, name, plain), style="red" if verdict == Verdict.VIOLATED else dim)


def _style(verdicts: Iterable[Verdict]) -> str:
    found = set(verdicts)
    if Verdict.VIOLATED in found:
        return "bold red"
    return "green" if found and found <= {Verdict.KEPT, Verdict.PROVED, Verdict.CONSISTENT} else "yellow"


def _statement(rows: Sequence[Row], columns: Layout, *, replayed: bool = False) -> str:
    """What is the same for all rows: parameters, norm, domain, and the quantifier unless the domain names one run."""
    shared = [columns.constants()]
    inputs = [row for row in rows if row.scope] or rows  # a rate has a domain of its own
    for field in ("norm", "domain"):
        words = {getattr(row, field) for row in inputs}
        shared += words if len(words) == 1 else []
    searched = {quantified(row, replayed=replayed) for row in inputs} - {Quantifier.EXISTS}
    shared += searched if len({row.quantifier for row in inputs}) == len(searched) == 1 else []
    return "; ".join(word for word in shared if word)


def _slack(rows: Sequence[Row], columns: Layout) -> Iterator[RenderableType]:
    """How loose each step of the derivation is: its local bound at the measured premises, over its measured error."""
    steps = list(dict.fromkeys(name for row in rows for name in row.slack))
    if not steps:
        yield "no slack per step was recorded for these rows"
        return
    table = Table(title="slack per step (1: an equality there)", show_edge=False, pad_edge=False, title_justify="left")
    table.add_column("quantity", no_wrap=True)
    table.add_column("scope", no_wrap=True)
    for name in columns.varying:
        _add_unbroken(table, name, [columns.value(name, row.params.get(name)) for row in rows])
    for step in steps:
        _add_unbroken(table, step, [plain(row.slack.get(step)) for row in rows])
    for row in rows:
        if row.slack:
            table.add_row(
                row.quantity, row.scope or "-", *columns.grid(row), *(plain(row.slack.get(step)) for step in steps)
            )
    yield table


def _named(table: NamedTable, all_rows: bool) -> Iterator[RenderableType]:
    """A table beside the rows: numbers to the right, the middle of a long one is omitted unless --all is given.

    Only cells of many words are broken, and only where the terminal is too narrow.
    """
    cells = table_cells(table, all_rows)
    drawn = Table(show_edge=False, pad_edge=False, header_style="bold")
    for place, heading in enumerate(table.columns):
        words = any(isinstance(row[place], str) for row in table.rows)
        width = max(map(len, (heading, *(line[place] for line in cells))))
        broken = words and width > LONGEST_CELL
        drawn.add_column(
            heading,
            justify="left" if words else "right",
            no_wrap=not broken,
            min_width=LONGEST_CELL if broken else width,
        )
    for line in cells:
        drawn.add_row(*line)
    yield ""
    yield table.title
    yield drawn
    if not all_rows and (left := lines_left_out(table)):
        yield f"{left} of {len(table.rows)} lines are left out; --all shows them, --json has them too"


def _footer(comparison: Comparison, rows: Sequence[Row]) -> Iterator[str]:
    hidden = len(comparison.rows) - len(rows)
    yield ""
    if hidden:
        yield f"{hidden} rows of intermediate quantities are hidden; --all shows them, --steps shows which are loose"
    rounding = f"bounds are rounded outward to {DIGITS} digits"
    yield "; ".join(filter(None, (budget_words(rows), no_verdict_words(rows), rounding, "--json has every digit")))
    shown = BUDGET if sampled(rows) else (*BUDGET, "inputs")
    environment = [f"{name} {value}" for name, value in comparison.environment.items() if name not in shown]
    if environment:
        yield ", ".join(environment)


def _violations(comparison: Comparison) -> Iterator[Text]:
    found = violations(comparison)
    for violation in found:
        yield Text.assemble((f"{violation.heading}: ", "bold red"), violation.sentence)
    if any(violation.erratum for violation in found):
        yield Text(f"`boundsmith errata {comparison.result}` gives the reading of each erratum and what survives")
    for reason in reasons(comparison):
        yield Text.assemble((f"{reason.verdict}: ", "yellow"), reason.sentence)


def comparison_text(comparison: Comparison, all_rows: bool = False) -> str:
    """The blocks as plain text, in lines as long as they need to be."""
    page = io.StringIO()
    console = Console(file=page, width=LONGEST_LINE, markup=False, highlight=False, emoji=False, color_system=None)
    for block in comparison_blocks(comparison, all_rows):
        console.print(block, soft_wrap=isinstance(block, str | Text))
    return "\n".join(line.rstrip() for line in page.getvalue().splitlines())
