"""The rows and columns of a comparison that every table shows, whatever its format."""

import itertools
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto

from bridge.export.choice import ALWAYS, LABELS, TEXTS, Choice, chosen
from bridge.export.layout import NUMBERS, SENSES, Layout, Write, layout, number_words, shown_rows
from bridge.export.verdict_words import FULL, Wording, verdict_words
from bridge.theorems.numbers import plain
from bridge.theorems.record import Record, Row

SHORT_SCOPES = {"prompt, local": "local"}
# Where there is little room, columns are left out from the end of these lists. After the verdict stands an error; after
# KEPT_BESIDE the first parameter that varies, a bound, what it takes for each row to have a number, and the other
# parameters that tell rows apart; after KEPT_THEN the rest of them.
ERRORS = ("measured", "attacked", "exact")
BOUNDS = ("derived", "instance", "printed", "claimed")
KEPT_BESIDE = ("kind", "scope")
KEPT_THEN = ("measured", "derived", "claimed", "claimed_ratio")
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
    """Rows and columns of a table. `comparison` has the rows that were chosen, of which `rows` are shown.

    A quantity's name has at most `name_room` letters, or points.
    """

    comparison: Record
    choice: Choice
    rows: Sequence[Row]
    columns: tuple[Column, ...]
    layout: Layout
    wording: Wording = FULL
    name_room: int | float = math.inf

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

    @property
    def is_shortened(self) -> bool:
        return any(len(row.quantity) > self.name_room for row in self.rows)

    @property
    def only_quantity(self) -> str:
        """The quantity of all of several rows; "" if they are of several."""
        names = {row.quantity for row in self.rows}
        return names.pop() if len(names) == 1 and len(self.rows) > 1 else ""

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
            return [name for name in dict.fromkeys((*ALWAYS, *self.choice.columns)) if name in names]
        parameters = [column.name for column in self.columns if column.role is Role.PARAMETER]
        others = (*KEPT_THEN, *parameters, *KEPT_NEXT, *KEPT_LAST)
        return [name for name in dict.fromkeys((*self._always, *self._needed, *others)) if name in names]

    @property
    def always(self) -> int:
        """How many of `kept_first` stay in any case."""
        return len(ALWAYS if self.choice.columns else self._always)

    @property
    def needed(self) -> int:
        """How many of `kept_first` a name is shortened for."""
        kept = self.kept_first
        return len(kept) if self.choice.columns else sum(name in (*self._always, *self._needed) for name in kept)

    @property
    def _always(self) -> tuple[str, ...]:
        return (*ALWAYS, *self._first_numbers[:1])

    @property
    def _needed(self) -> tuple[str, ...]:
        parameters = [column.name for column in self.columns if column.role is Role.PARAMETER]
        others = ("claimed", *self._telling_apart(parameters))  # the reader asked for a claim
        return (*KEPT_BESIDE, *parameters[:1], *self._first_numbers, *others)

    @property
    def _first_numbers(self) -> list[str]:
        """The error and the bound that say something of most rows, and what it takes for each row to have a number."""
        numbers = [column.name for column in self.columns if column.role is Role.NUMBER]
        errors, bounds = ([name for name in names if name in numbers] or [""] for names in (ERRORS, BOUNDS))
        pairs = [[name for name in pair if name] for pair in itertools.product(errors, bounds)]
        chosen = max(pairs, key=lambda pair: (self._reached(pair), sum(self._reached([name]) for name in pair)))
        missing = self._reached(numbers) - self._reached(chosen)
        while missing:
            chosen = max(([*chosen, name] for name in numbers), key=self._reached)
            missing = self._reached(numbers) - self._reached(chosen)
        return chosen

    def _telling_apart(self, parameters: Sequence[str]) -> list[str]:
        """The first parameters without which two rows would look alike."""
        found: list[str] = []
        before = self._alike(parameters[:1])
        for name in parameters[1:]:
            if (alike := self._alike([*parameters[:1], *found, name])) < before:
                found, before = [*found, name], alike
        return found

    def _alike(self, parameters: Sequence[str]) -> int:
        """How many rows have the labels and the values of these parameters of a row before them."""
        labels = [[_label(row, name) for name in ("quantity", "scope")] for row in self.rows]
        values = [[row.params.get(name) for name in parameters] for row in self.rows]
        return len(self.rows) - len(set(map(repr, zip(labels, values, strict=True))))

    def _reached(self, names: Sequence[str]) -> int:
        """How many rows have a number in one of these columns."""
        return sum(any(getattr(row, name) is not None for name in names) for row in self.rows)


def _label(row: Row, name: str) -> object:
    if name == "kind":
        return SENSES[row.kind]
    value = row.construction if name == "where" else getattr(row, name)
    return "" if value is None else value


def sheet(comparison: Record, choice: Choice) -> Sheet:
    """The rows that the choice leaves, and the columns that it names or that these rows need."""
    record = chosen(comparison, choice)
    rows = shown_rows(record, choice.all_rows or choice.picks_rows, in_order=bool(choice.sort))
    found = layout(rows, comparison.automatic).without(choice.columns)
    return Sheet(record, choice, rows, _columns(choice, found), found)


def rows_sheet(rows: Sequence[Row], found: Layout, comparison: Record) -> Sheet:
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
