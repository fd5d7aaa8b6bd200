"""A comparison on the terminal: the table, what it rests on, and what it refutes."""

import io
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from bridge.export.choice import Choice
from bridge.export.grids import NARROW_GAP, UNBOUNDED, WIDE_GAP, bounded, grid, print_block
from bridge.export.layout import (
    Layout,
    budget_words,
    group_ends,
    layout,
    lines_left_out,
    no_verdict_words,
    number_words,
    sampled,
    table_cells,
)
from bridge.export.legend import legend, terms
from bridge.export.narrowing import least_room, narrowed, shortened, total
from bridge.export.notes import notes, quantified
from bridge.export.sheet import Column, Role, Sheet, left_out, rows_sheet, sheet
from bridge.export.verdict_words import flags_of
from bridge.export.violations import reasons, violations
from bridge.theorems.numbers import DIGITS, plain
from bridge.theorems.record import TIERS, NamedTable, Record, Row, Verdict
from symbolic.statements.result import Quantifier

BUDGET = ("seed", "samples", "attack", "restarts")  # also in the environment; the footer lists them for the rows


def comparison_blocks(
    comparison: Record, choice: Choice | None = None, *, steps: bool = False, width: int = UNBOUNDED
) -> Iterator[RenderableType]:
    """The table of the rows and its legend, the slack of each step if requested, the footer, what the run refutes.

    No table is wider than `width`: columns are left out, and a line says which.
    """
    whole = sheet(comparison, choice or Choice())
    shown = _narrowed(whole, width)
    yield ": ".join(filter(None, (comparison.result, comparison.citation)))
    yield _statement(whole.rows, whole.layout)
    yield drawn(shown, width)
    yield from _left_out(whole, shown, width)
    yield ""
    yield from (f"{names}: {meaning}" for names, meaning in legend(whole.comparison, whole.rows, whole.layout))
    yield from (f"{names}: {meaning}" for names, meaning in terms(shown))
    yield from notes(whole.rows)
    if steps:
        yield from _slack(whole.rows, whole.layout, width)
    for table in whole.comparison.tables:
        yield from _named(table, whole.choice.all_rows, width)
    yield from _footer(whole, beside=len(comparison.tables) - len(whole.comparison.tables))
    yield from _violations(whole.comparison)


def row_blocks(row: Row, automatic: Iterable[str] = (), width: int = UNBOUNDED) -> Iterator[RenderableType]:
    """One row, replayed from a witness: its parameters and its numbers."""
    found = layout([row], automatic)
    alone = Record(result="", citation="", params={}, environment={}, rows=[row])
    whole = rows_sheet([row], found, alone)
    shown = _narrowed(whole, width)
    yield _statement([row], found, replayed=True)
    yield drawn(shown, width)
    yield from _left_out(whole, shown, width)
    if row.remark:
        yield row.remark
    yield from notes([row])


def _narrowed(whole: Sheet, width: int) -> Sheet:
    """With lines between the columns where all of them fit, else without."""
    fits = total(list(_widths(whole).values()), WIDE_GAP) <= width
    least = least_room(row.quantity for row in whole.rows)
    return whole if fits else narrowed(whole, _widths, width, NARROW_GAP, least_name=least)


def _widths(shown: Sheet) -> dict[str, int]:
    return {each.name: max(map(len, (each.heading, *shown.cells(each)))) for each in shown.columns}


def _left_out(whole: Sheet, shown: Sheet, width: int) -> Iterator[str]:
    """Which columns are left out, the first to go first, and how to see them."""
    missing = left_out(whole.columns, whole.kept_first, [column.name for column in shown.columns])
    flags = {flag for row in whole.rows for flag in flags_of(row)}
    kept = {flag for row in whole.rows for flag in flags_of(row, shown.wording)}
    missing += [f"the flag {flag}" for flag in sorted(flags - kept)]
    if missing:
        yield (
            f"left out, as a line has {width} columns: {', '.join(missing)}; "
            "--columns NAMES chooses, --output FILE.html has all"
        )


def drawn(shown: Sheet, width: int = UNBOUNDED) -> Table:
    """The table, one line a row: no cell is ever broken. One that has no room for lines between columns has none."""
    widths = _widths(shown)
    headings = [(column.heading, column.role in (Role.NUMBER, Role.PARAMETER)) for column in shown.columns]
    table = grid(headings, has_lines=total(list(widths.values()), WIDE_GAP) <= width)
    ends = frozenset() if shown.choice.sort else group_ends(shown.rows)
    for index, row in enumerate(shown.rows):
        table.add_row(*(_cell(shown, column, row) for column in shown.columns), end_section=index in ends)
    return table


def _cell(shown: Sheet, column: Column, row: Row) -> Text:
    if column.role is Role.NUMBER:
        return _number(row, column.name)
    words = shown.words(column, row)
    if column.role is Role.VERDICT:
        return Text(words, style=_style(row.verdict.values()))
    return Text(shortened(words, int(shown.name_room)) if column.name == "quantity" and shown.is_shortened else words)


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


def _slack(rows: Sequence[Row], columns: Layout, width: int) -> Iterator[RenderableType]:
    """How loose each step of the derivation is: its local bound at the measured premises, over its measured error."""
    steps = list(dict.fromkeys(name for row in rows for name in row.slack))
    if not steps:
        yield "no slack per step was recorded for these rows"
        return
    lines = [
        [row.quantity, row.scope or "-"]
        + [columns.value(name, row.params.get(name)) for name in columns.varying]
        + [plain(row.slack.get(step)) for step in steps]
        for row in rows
        if row.slack
    ]
    yield "slack per step (1: an equality there)"
    headings = [("quantity", False), ("scope", False), *((name, True) for name in (*columns.varying, *steps))]
    yield from bounded(headings, lines, width)


def _named(table: NamedTable, all_rows: bool, width: int) -> Iterator[RenderableType]:
    """A table beside the rows: numbers to the right, the middle of a long one is omitted unless --all is given."""
    words = [any(isinstance(row[place], str) for row in table.rows) for place in range(len(table.columns))]
    yield ""
    yield table.title
    headings = [(heading, not is_word) for heading, is_word in zip(table.columns, words, strict=True)]
    yield from bounded(headings, table_cells(table, all_rows), width)
    if not all_rows and (left := lines_left_out(table)):
        yield f"{left} of {len(table.rows)} lines are left out; --all shows them, --json has them too"


def _footer(whole: Sheet, beside: int) -> Iterator[str]:
    """`beside`: how many tables beside the rows are left out."""
    rows, comparison = whole.rows, whole.comparison
    yield ""
    if whole.hidden:
        yield (
            f"{whole.hidden} rows of intermediate quantities are hidden; --all shows them, --quantity some of them, "
            "--steps which are loose"
        )
    if beside:
        yield f"{beside} tables beside the rows are left out; without --quantity and --scope they are shown"
    rounding = f"bounds are rounded outward to {DIGITS} digits"
    yield "; ".join(filter(None, (budget_words(rows), no_verdict_words(rows), rounding, "--json has every digit")))
    shown = BUDGET if sampled(rows) else (*BUDGET, "inputs")
    environment = [f"{name} {value}" for name, value in comparison.environment.items() if name not in shown]
    if environment:
        yield ", ".join(environment)


def _violations(comparison: Record) -> Iterator[Text]:
    found = violations(comparison)
    for violation in found:
        yield Text.assemble((f"{violation.heading}: ", "bold red"), violation.sentence)
    if any(violation.erratum for violation in found):
        yield Text(f"`boundsmith errata {comparison.result}` gives the reading of each erratum and what survives")
    for reason in reasons(comparison):
        yield Text.assemble((f"{reason.verdict}: ", "yellow"), reason.sentence)


def comparison_text(comparison: Record, choice: Choice | None = None, width: int | None = None) -> str:
    """The blocks as plain text; without a width in lines as long as they need to be."""
    page = io.StringIO()
    room = width or UNBOUNDED
    screen = Console(file=page, width=UNBOUNDED, markup=False, highlight=False, emoji=False, color_system=None)
    for block in comparison_blocks(comparison, choice, width=room):
        print_block(screen, block, room)
    return "\n".join(line.rstrip() for line in page.getvalue().splitlines())
