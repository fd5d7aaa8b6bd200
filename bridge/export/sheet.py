"""The rows and columns of a comparison that every table shows, whatever its format."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto

from bridge.export.choice import ALWAYS, LABELS, TEXTS, Choice, chosen
from bridge.export.layout import NUMBERS, SENSES, Layout, Write, layout, number_words, shown_rows
from bridge.export.numbers import plain
from bridge.export.verdict_words import FULL, Wording, verdict_words
from bridge.record import Comparison, Row

SHORT_SCOPES = {"prompt, local": "local"}
# Where there is little room, columns are left out from the end of these lists.
KEPT_FIRST = ("quantity", "verdict", "kind", "scope")  # then the first parameter that varies
KEPT_THEN = ("measured", "derived", "claimed", "claimed_ratio")  # then the other parameters
KEPT_NEXT = ("where", "instance", "printed", "attacked", "ratio", "failures", "p_value", "seeds")
KEPT_LAST = ("median", "mean_at_least", "exact", "rounding")


class Role(Enum):
    WORDS = auto()
    PARAMETER = auto()
    NUMBER = auto()
    VERDICT = auto()


@dataclass(frozen=True)
class Column:
    """`name` as `--columns` takes it."""

    name: str
    role: Role

    @property
    def heading(self) -> str:
        """The kind stands without a heading: its signs explain themselves."""
        return "" if self.name == "kind" else self.name.replace("_", " ") if self.role is Role.NUMBER else self.name


@dataclass(frozen=True)
class Sheet:
    """Rows and columns of a table. `comparison` has the rows that were chosen, of which `rows` are shown."""

    comparison: Comparison
    choice: Choice
    rows: Sequence[Row]
    columns: tuple[Column, ...]
    layout: Layout
    wording: Wording = FULL

    def words(self, column: Column, row: Row, write: Write = plain) -> str:
        """The cell; a dash where there is nothing."""
        if column.role is Role.NUMBER:
            return number_words(row, column.name, write)
        if column.role is Role.PARAMETER:
            return self.layout.value(column.name, row.params.get(column.name))
        if column.role is Role.VERDICT:
            return verdict_words(row, self.wording)
        words = str(_label(row, column.name))
        return (SHORT_SCOPES.get(words, words) if self.wording.is_short else words) or "-"

    def cells(self, column: Column) -> list[str]:
        return [self.words(column, row) for row in self.rows]

    def with_columns(self, names: Collection[str]) -> "Sheet":
        return replace(self, columns=tuple(each for each in self.columns if each.name in names))

    @property
    def hidden(self) -> int:
        """How many rows of intermediate quantities are not shown."""
        return len(self.comparison.rows) - len(self.rows)

    @property
    def kept_first(self) -> list[str]:
        """The columns, those that are left out last first."""
        names = [column.name for column in self.columns]
        if self.choice.columns:
            order: Iterable[str] = (*ALWAYS, *self.choice.columns)
        else:
            parameters = [column.name for column in self.columns if column.role is Role.PARAMETER]
            order = (*KEPT_FIRST, *parameters[:1], *KEPT_THEN, *parameters[1:], *KEPT_NEXT, *KEPT_LAST)
        return [name for name in dict.fromkeys(order) if name in names]


def _label(row: Row, name: str) -> object:
    if name == "kind":
        return SENSES[row.kind]
    value = row.construction if name == "where" else getattr(row, name)
    return "" if value is None else value


def sheet(comparison: Comparison, choice: Choice) -> Sheet:
    """The rows that the choice leaves, and the columns that it names or that these rows need."""
    record = chosen(comparison, choice)
    rows = shown_rows(record, choice.all_rows or choice.picks_rows, in_order=bool(choice.sort))
    found = layout(rows, comparison.automatic)
    return Sheet(record, choice, rows, _columns(choice, found), found)


def rows_sheet(rows: Sequence[Row], found: Layout, comparison: Comparison) -> Sheet:
    """All columns of these rows."""
    return Sheet(comparison, Choice(), rows, _columns(Choice(), found), found)


def _columns(choice: Choice, found: Layout) -> tuple[Column, ...]:
    """Quantity and verdict are always there."""
    if choice.columns:
        names = choice.columns if "quantity" in choice.columns else ("quantity", *choice.columns)
        return tuple(Column(name, _role(name)) for name in (names if "verdict" in names else (*names, "verdict")))
    labels = ["quantity", *(name for name, needed in _needed(found).items() if needed)]
    return (
        *(Column(name, Role.WORDS) for name in labels),
        *(Column(name, Role.PARAMETER) for name in found.varying),
        *(Column(name, Role.NUMBER) for name in found.numbers),
        Column("verdict", Role.VERDICT),
    )


def _needed(found: Layout) -> dict[str, bool]:
    return {"where": found.constructed, "scope": found.scoped, "kind": found.kinds}


def _role(name: str) -> Role:
    if name in NUMBERS:
        return Role.NUMBER
    if name in (*LABELS, *TEXTS, "samples", "seed"):
        return Role.WORDS
    return Role.VERDICT if name == "verdict" else Role.PARAMETER


def left_out(all_columns: Sequence[Column], kept_first: Sequence[str], kept: Collection[str]) -> list[str]:
    """The headings of the columns that are not kept, the first to go first."""
    headings = {column.name: column.heading or column.name for column in all_columns}
    return [headings[name] for name in reversed(kept_first) if name not in kept]
