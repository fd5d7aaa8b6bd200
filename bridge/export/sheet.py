"""The rows and columns of a comparison that every table shows, whatever its format."""

import itertools
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from bridge.export.choice import Choice, chosen
from bridge.export.columns import (
    ALWAYS,
    BOUNDS,
    ERRORS,
    KEPT_BESIDE,
    KEPT_LAST,
    KEPT_NEXT,
    KEPT_THEN,
    KINDS,
    LABELS,
    SHORT_SCOPES,
    Column,
    Role,
)
from bridge.export.layout import Layout, Write, group_ends, layout, number_words, shown_rows
from bridge.export.verdict_words import FULL, Wording, verdict_words
from bridge.theorems.numbers import plain
from bridge.theorems.record import Record, Row


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
            return self.layout.value(column.name, column.value(row))
        if column.role is Role.VERDICT:
            return verdict_words(row, self.wording)
        value = column.value(row)
        words = KINDS[row.kind][0] if column.name == "kind" else "" if value is None else str(value)
        return (SHORT_SCOPES.get(words, words) if self.wording.is_short else words) or "-"

    def cells(self, column: Column) -> list[str]:
        return [self.words(column, row) for row in self.rows]

    def named(self, role: Role) -> list[str]:
        """The names of the columns of that role."""
        return [column.name for column in self.columns if column.role is role]

    @property
    def title(self) -> str:
        return ": ".join(filter(None, (self.comparison.result, self.comparison.citation)))

    @property
    def hidden(self) -> int:
        """How many rows of intermediate quantities are not shown."""
        return len(self.comparison.rows) - len(self.rows)

    @property
    def ends(self) -> frozenset[int]:
        """The places after which a table leaves a little space; none where the reader chose the order."""
        return frozenset() if self.choice.sort else group_ends(self.rows)

    @property
    def untold(self) -> list[str]:
        """A sentence on what alone tells rows apart and has no column among those that the reader names."""
        if not self.choice.columns:
            return []
        names = {column.name for column in self.columns}
        told = [Column.named(name) for name in (*LABELS, *self.layout.varying) if name in names]
        hidden = [name for name in (*self.layout.labels, *self.layout.varying) if name not in names]
        alike: dict[str, list[Row]] = {}
        for row in self.rows:
            alike.setdefault(repr([column.value(row) for column in told]), []).append(row)
        differ = [
            name
            for name in hidden
            if any(len({repr(Column.named(name).value(row)) for row in rows}) > 1 for rows in alike.values())
        ]
        return [f"some rows differ in {', '.join(differ)}, of which there is no column"] if differ else []

    @property
    def only_quantity(self) -> str:
        """The quantity of all of several rows; "" if they are of several."""
        names = {row.quantity for row in self.rows}
        return names.pop() if len(names) == 1 and len(self.rows) > 1 else ""

    def with_columns(self, names: Collection[str]) -> "Sheet":
        return replace(self, columns=tuple(each for each in self.columns if each.name in names))

    def left_out(self, shown: "Sheet") -> list[str]:
        """The headings of the columns that are not shown there, the first to go first."""
        headings = {column.name: column.heading or column.name for column in self.columns}
        kept = {column.name for column in shown.columns}
        return [headings[name] for name in reversed(self.kept_first) if name not in kept]

    @property
    def kept_first(self) -> list[str]:
        """The columns, those that are left out last first."""
        names = {column.name for column in self.columns}
        return [name for name in dict.fromkeys(itertools.chain(*self._kept)) if name in names]

    @property
    def always(self) -> int:
        """How many of `kept_first` stay in any case."""
        return len(self._kept[0])

    @property
    def needed(self) -> int:
        """How many of `kept_first` a name is shortened for."""
        always, needed, _ = self._kept
        return sum(name in (*always, *needed) for name in self.kept_first)

    @property
    def _kept(self) -> tuple[Sequence[str], Sequence[str], Sequence[str]]:
        """What stays in any case, what a name is shortened for, and all else."""
        if self.choice.columns:
            return ALWAYS, self.choice.columns, ()
        parameters, first = self.named(Role.PARAMETER), self._first_numbers
        claimed = "claimed"  # the reader asked for it
        needed = (*KEPT_BESIDE, *parameters[:1], *first, claimed, *self._telling_apart(parameters))
        return (*ALWAYS, *first[:1]), needed, (*KEPT_THEN, *parameters, *KEPT_NEXT, *KEPT_LAST)

    @property
    def _first_numbers(self) -> list[str]:
        """The error and the bound that say something of most rows, and what it takes for each row to have a number."""
        numbers = self.named(Role.NUMBER)
        errors, bounds = ([name for name in names if name in numbers] or [""] for names in (ERRORS, BOUNDS))
        pairs = [[name for name in pair if name] for pair in itertools.product(errors, bounds)]
        chosen = max(pairs, key=lambda pair: (self._reached(pair), sum(self._reached([name]) for name in pair)))
        missing = self._reached(numbers) - self._reached(chosen)
        while missing:
            chosen = max(([*chosen, name] for name in numbers), key=self._reached)
            missing = self._reached(numbers) - self._reached(chosen)
        return chosen

    def _reached(self, names: Sequence[str]) -> int:
        """How many rows have a number in one of these columns."""
        return sum(any(getattr(row, name) is not None for name in names) for row in self.rows)

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
        rows = [(row.quantity, row.scope, *(row.params.get(name) for name in parameters)) for row in self.rows]
        return len(rows) - len(set(map(repr, rows)))


def sheet(comparison: Record, choice: Choice) -> Sheet:
    """The rows that the choice leaves, and the columns that it names or that these rows need."""
    record = chosen(comparison, choice)
    rows = shown_rows(record, choice.all_rows or choice.picks_rows, in_order=bool(choice.sort))
    found = layout(rows, comparison.automatic).without(choice.columns)
    columns = [Column.named(name) for name in _with_always(choice.columns)] if choice.columns else _needed(found)
    return Sheet(record, choice, rows, tuple(columns), found)


def _with_always(names: Sequence[str]) -> list[str]:
    """Quantity and verdict are always there, in the first and the last place if not in another."""
    quantity, verdict = ([name] if name not in names else [] for name in ALWAYS)
    return [*quantity, *names, *verdict]


def _needed(found: Layout) -> list[Column]:
    return [
        *map(Column.named, ("quantity", *found.labels)),
        *(Column(name, Role.PARAMETER) for name in found.varying),
        *map(Column.named, (*found.numbers, "verdict")),
    ]
