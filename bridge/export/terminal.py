"""A comparison on the terminal: the table, what it rests on, and what it refutes."""

import io
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console, RenderableType
from rich.text import Text

from bridge.export.choice import USUAL, Choice
from bridge.export.columns import Column, Role
from bridge.export.grids import NARROW_GAP, UNBOUNDED, WIDE_GAP, bounded, grid, print_block
from bridge.export.layout import lines_left_out, table_cells, words_in
from bridge.export.legend import legend, terms
from bridge.export.narrowing import least_room, narrowed, shortened, total
from bridge.export.notes import budget_words, no_verdict_words, notes, quantified, sampled
from bridge.export.sheet import Sheet, sheet
from bridge.export.verdict_words import flags_of
from bridge.export.violations import reasons, violations
from bridge.theorems.numbers import DIGITS, plain
from bridge.theorems.record import TIERS, NamedTable, Record, Row, Verdict
from symbolic.statements.result import Quantifier

BUDGET = ("seed", "samples", "attack", "restarts")  # also in the environment; the footer lists them for the rows


def comparison_blocks(
    comparison: Record, choice: Choice = USUAL, *, steps: bool = False, width: int = UNBOUNDED
) -> Iterator[RenderableType]:
    """The table of the rows and its legend, the slack of each step if requested, the footer, what the run refutes.

    No table is wider than `width`: columns are left out, and a line says which.
    """
    whole = sheet(comparison, choice)
    shown = fitted(whole, width)
    yield whole.title
    yield _statement(whole)
    yield from _table(whole, shown, width)
    yield ""
    yield from (f"{names}: {meaning}" for names, meaning in [*legend(shown), *terms(shown)])
    yield from (*whole.untold, *notes(whole.rows))
    if steps:
        yield from _slack(whole, width)
    for table in whole.comparison.tables:
        yield from _beside(table, choice.all_rows, width)
    yield from _footer(whole, beside=len(comparison.tables) - len(whole.comparison.tables))
    yield from _findings(whole.comparison)


def row_blocks(row: Row, automatic: Iterable[str] = (), width: int = UNBOUNDED) -> Iterator[RenderableType]:
    """One row, replayed from a witness: its parameters and its numbers."""
    alone = Record(result="", citation="", params={}, environment={}, rows=[row], automatic=list(automatic))
    whole = sheet(alone, Choice(all_rows=True))
    yield _statement(whole, replayed=True)
    yield from _table(whole, fitted(whole, width), width)
    if row.remark:
        yield row.remark
    yield from notes([row])


def fitted(whole: Sheet, width: int) -> Sheet:
    """With lines between the columns where all of them fit, else without."""
    if total(_widths(whole).values(), WIDE_GAP) <= width:
        return whole
    return narrowed(whole, _widths, width, NARROW_GAP, least_name=least_room(row.quantity for row in whole.rows))


def _widths(shown: Sheet) -> dict[str, int]:
    return {each.name: max(map(len, (each.heading, *shown.cells(each)))) for each in shown.columns}


def _table(whole: Sheet, shown: Sheet, width: int) -> Iterator[RenderableType]:
    """The table, then a line on the columns and flags that are left out, the first to go first, and how to see them."""
    headings = [(column.heading, column.is_right) for column in shown.columns]
    lines = [[_cell(shown, column, row) for column in shown.columns] for row in shown.rows]
    yield grid(headings, lines, has_lines=total(_widths(shown).values(), WIDE_GAP) <= width, ends=shown.ends)
    flags, kept = ({flag for row in whole.rows for flag in flags_of(row, each.wording)} for each in (whole, shown))
    missing = [*whole.left_out(shown), *(f"the flag {flag}" for flag in sorted(flags - kept))]
    if missing:
        yield (
            f"left out, as a line has {width} columns: {', '.join(missing)}; "
            "--columns NAMES chooses, --output FILE.html has all"
        )


def _cell(shown: Sheet, column: Column, row: Row) -> Text:
    """A refuted bound in red, a vacuous one dimmed."""
    words = shown.words(column, row)
    if column.role is Role.VERDICT:
        return Text(words, style=_style(row.verdict.values()))
    if column.role is Role.NUMBER:
        dim = "dim" if column.name in TIERS and "vacuous" in row.flags.get(column.name, []) else ""
        return Text(words, style="red" if row.verdict.get(column.name) == Verdict.VIOLATED else dim)
    if column.name == "quantity" and len(words) > shown.name_room:
        words = shortened(words, int(shown.name_room))
    return Text(words)


def _style(verdicts: Iterable[Verdict]) -> str:
    found = set(verdicts)
    if Verdict.VIOLATED in found:
        return "bold red"
    return "green" if found and found <= {Verdict.KEPT, Verdict.PROVED, Verdict.CONSISTENT} else "yellow"


def _statement(shown: Sheet, *, replayed: bool = False) -> str:
    """What is the same for all rows: parameters, norm, domain, and the quantifier unless the domain names one run."""
    shared = [shown.layout.constants()]
    inputs = [row for row in shown.rows if row.scope] or shown.rows  # a rate has a domain of its own
    for field in ("norm", "domain"):
        words = {getattr(row, field) for row in inputs}
        shared += words if len(words) == 1 else []
    searched = {quantified(row, replayed=replayed) for row in inputs} - {Quantifier.EXISTS}
    shared += searched if len({row.quantifier for row in inputs}) == len(searched) == 1 else []
    return "; ".join(word for word in shared if word)


def _why_no_slack(rows: Sequence[Row]) -> str:
    over_draws = any(row.seeds is not None and row.level is None for row in rows)
    return ": a bound with probability, or in expectation, is judged over draws, not step by step" if over_draws else ""


def _slack(shown: Sheet, width: int) -> Iterator[RenderableType]:
    """How loose each step of the derivation is: its local bound at the measured premises, over its measured error."""
    steps = list(dict.fromkeys(name for row in shown.rows for name in row.slack))
    if not steps:
        yield f"no slack per step was recorded for these rows{_why_no_slack(shown.rows)}"
        return
    varying = shown.layout.varying
    lines = [
        [row.quantity, row.scope or "-"]
        + [shown.layout.value(name, row.params.get(name)) for name in varying]
        + [plain(row.slack.get(step)) for step in steps]
        for row in shown.rows
        if row.slack
    ]
    yield "slack per step (1: an equality there)"
    yield from bounded(
        [("quantity", False), ("scope", False), *((name, True) for name in (*varying, *steps))], lines, width
    )


def _beside(table: NamedTable, all_rows: bool, width: int) -> Iterator[RenderableType]:
    """A table beside the rows: numbers to the right, the middle of a long one is omitted unless --all is given."""
    yield ""
    yield table.title
    headings = [(heading, not words) for heading, words in zip(table.columns, words_in(table), strict=True)]
    yield from bounded(headings, table_cells(table, all_rows), width)
    if not all_rows and (left := lines_left_out(table)):
        yield f"{left} of {len(table.rows)} lines are left out; --all shows them, --json has them too"


def _footer(whole: Sheet, beside: int) -> Iterator[str]:
    """`beside`: how many tables beside the rows are left out."""
    yield ""
    if whole.hidden:
        yield (
            f"{whole.hidden} rows of intermediate quantities are hidden; --all shows them, --quantity some of them, "
            "--steps which are loose"
        )
    if beside:
        yield f"{beside} tables beside the rows are left out; without --quantity and --scope they are shown"
    rounding = f"bounds are rounded outward to {DIGITS} digits; --json has every digit"
    yield "; ".join(filter(None, (budget_words(whole.rows), no_verdict_words(whole.rows), rounding)))
    known = whole.comparison.environment
    none = known.get("inputs") == "random" and not sampled(whole.rows)
    environment = [f"{name} {x}" for name, x in known.items() if name not in BUDGET and not (none and name == "inputs")]
    if environment:
        yield ", ".join(environment)


def _findings(comparison: Record) -> Iterator[Text]:
    refuted = violations(comparison)
    for each in refuted:
        yield Text.assemble((f"{each.heading}: ", "bold red"), each.sentence)
    if any(each.erratum for each in refuted):
        yield Text(f"`boundsmith errata {comparison.result}` gives the reading of each erratum and what survives")
    for reason in reasons(comparison):
        yield Text.assemble((f"{reason.heading}: ", "yellow"), reason.sentence)


def comparison_text(comparison: Record, choice: Choice = USUAL, width: int | None = None) -> str:
    """The blocks as plain text; without a width in lines as long as they need to be."""
    page = io.StringIO()
    room = width or UNBOUNDED
    screen = Console(file=page, width=UNBOUNDED, markup=False, highlight=False, emoji=False, color_system=None)
    for block in comparison_blocks(comparison, choice, width=room):
        print_block(screen, block, room)
    return "\n".join(line.rstrip() for line in page.getvalue().splitlines())
