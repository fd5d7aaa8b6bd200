"""What every table of a comparison shares: which rows and columns it shows, and its verdicts in words."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from bridge.export.columns import NUMBERS, SCOPES
from bridge.export.theorem_of_record import theorem_of
from bridge.theorems.numbers import DIGITS, digits_apart, parameter_words, value_words
from bridge.theorems.record import NamedTable, Record, Row, Verdict
from symbolic.statements.result import Kind

FINAL = ("output", "prediction")  # what the network is for; the other quantities are steps on the way there
BESIDE_FINAL = ("gradient", "w", "faithful")  # shown with them: what the network emulates, and whether it does
FIRST_LINES, LAST_LINES = 12, 4  # of a long table beside the rows
LEFT_OUT = "..."


@dataclass(frozen=True)
class Layout:
    """Columns of a table: the parameters that vary, those that do not, the numbers that some row has.

    `labels` are those that need a column: "where" where rows of one quantity differ by what they are rows of, "scope"
    where scopes differ, "kind" where some bounds are upper bounds and some are not. `scope` is that of all rows, ""
    where they differ or have none. `automatic` names the parameters of which 0 means: computed from the others.
    """

    varying: tuple[str, ...]
    constant: dict[str, Any]
    numbers: tuple[str, ...]
    labels: tuple[str, ...] = ()
    scope: str = ""
    automatic: frozenset[str] = frozenset()

    def value(self, name: str, value: Any) -> str:
        """The value of that parameter in words."""
        return parameter_words(name, value, self.automatic)

    def words(self, params: Mapping[str, Any]) -> str:
        return ", ".join(f"{name} = {self.value(name, value)}" for name, value in params.items())

    def at(self, row: Row) -> str:
        """Where on the grid the row stands, in words; "" if there is only one point, or if it stands on none."""
        return self.words({name: row.params[name] for name in self.varying if name in row.params})

    def constants(self) -> str:
        """What all rows share, in words: parameters and the scope."""
        return "; ".join(filter(None, [self.words(self.constant), self.shared_scope]))

    @property
    def shared_scope(self) -> str:
        """The scope of all rows in words; "" if they differ or have none."""
        return f"scope: {SCOPES.get(self.scope, self.scope)}" if self.scope else ""

    def without(self, names: Collection[str]) -> "Layout":
        """Nothing shared under these names: the table has columns of them."""
        constant = {name: value for name, value in self.constant.items() if name not in names}
        return replace(self, constant=constant, scope="" if "scope" in names else self.scope)


def layout(rows: Sequence[Row], automatic: Iterable[str] = ()) -> Layout:
    """The columns that `rows` need. A parameter that only some rows have counts as varying.

    Rows without any parameter (checks at parameters of their own) have no part in that.
    """
    placed = [row for row in rows if row.params]
    names = list(dict.fromkeys(name for row in placed for name in row.params))
    scopes = {row.scope or "" for row in rows}
    varying = tuple(name for name in names if _varies(name, placed))
    labels = {
        "where": len({(row.quantity, row.construction) for row in rows}) > len({row.quantity for row in rows}),
        "scope": len(scopes) > 1,
        "kind": len({row.kind for row in rows} - {Kind.RATE}) > 1,
    }
    return Layout(
        varying=varying,
        constant={name: placed[0].params[name] for name in names if name not in varying},
        numbers=tuple(name for name in NUMBERS if any(getattr(row, name) is not None for row in rows)),
        labels=tuple(label for label, is_needed in labels.items() if is_needed),
        scope="".join(scopes) if len(scopes) == 1 else "",
        automatic=frozenset(automatic),
    )


def found(row: Row) -> float | None:
    """The error on which the verdict rests: the witness's, else the one on the wrong side in the runs."""
    if row.witness is not None:
        return row.witness.error_lower
    seen = [error for error in (row.measured, row.attacked) if error is not None]
    if not seen:
        return None
    return min(seen) if row.kind == "lower" else max(seen)


def digits_of(row: Row) -> int:
    """How many digits its numbers need: a violated bound and the error beyond it must not look equal."""
    error = found(row)
    violated = [tier for tier, verdict in row.verdict.items() if verdict == Verdict.VIOLATED]
    bounds = {tier: getattr(row, tier) for tier in violated if getattr(row, tier) is not None}
    if error is None:
        return DIGITS
    return max((digits_apart(bound, tier, row.kind, error) for tier, bound in bounds.items()), default=DIGITS)


Write = Callable[[float | None, str, str, int], str]  # number, column, kind, digits


def number_words(row: Row, name: str, write: Write) -> str:
    """A number of the row as `write` sets it; what is printed inside O, Omega or Theta is inside it here too.

    A printed order that is judged without a number is shown as O(...).
    """
    if name == "printed" and row.order and row.printed is None and name in row.verdict:
        return f"{row.order}(...)"
    number = getattr(row, name)
    words = write(None if number is None else float(number), name, row.kind, digits_of(row))
    return f"{row.order}({words})" if name == "printed" and row.order and row.printed is not None else words


def _varies(name: str, rows: Sequence[Row]) -> bool:
    return any(name not in row.params or row.params[name] != rows[0].params[name] for row in rows)


def shown_rows(comparison: Record, all_rows: bool = False, *, in_order: bool = False) -> list[Row]:
    """The rows of the final quantities, those beside them and every violated one; all if asked, or if none is final.

    Rows of one quantity and scope stand together, quantities in the order of the grid point that has the most, unless
    the rows are `in_order` already.
    """
    rows = list(comparison)
    if not all_rows and any(is_final(row.quantity) for row in rows):
        theorem = theorem_of(comparison)
        main = theorem.main if theorem else ""
        rows = [row for row in rows if row.quantity == main or _is_shown(row)]
    if in_order:
        return rows
    quantities = _quantities_in_order(rows)
    scopes = list(dict.fromkeys(row.scope for row in rows))
    return sorted(rows, key=lambda row: (quantities.index(row.quantity), scopes.index(row.scope)))


def _quantities_in_order(rows: Sequence[Row]) -> list[str]:
    """As at the first grid point that has the most; one that it lacks stands behind the one before it in `rows`."""
    points: dict[str, dict[str, None]] = {}
    for row in rows:
        points.setdefault(repr(row.params), {})[row.quantity] = None
    richest: dict[str, None] = max(points.values(), key=len, default={})
    ordered = list(richest)
    placed, before = set(ordered), -1
    for row in rows:
        if row.quantity not in placed:
            ordered.insert(before + 1, row.quantity)
            placed.add(row.quantity)
        before = ordered.index(row.quantity)
    return ordered


def _is_shown(row: Row) -> bool:
    return is_final(row.quantity) or row.quantity in BESIDE_FINAL or Verdict.VIOLATED in row.verdict.values()


def is_final(quantity: str) -> bool:
    return quantity.startswith(FINAL)


def group_ends(rows: Sequence[Row]) -> frozenset[int]:
    """The places after which a table leaves a little space: a row of another quantity or scope follows.

    There are none between two groups of one row each: a line after each row would part nothing.
    """
    groups = [(row.quantity, row.scope) for row in rows]
    size = Counter(groups)
    return frozenset(
        index
        for index, (group, following) in enumerate(pairwise(groups))
        if group != following and max(size[group], size[following]) > 1
    )


def table_cells(table: NamedTable, all_rows: bool = False) -> list[list[str]]:
    """The cells in words; of a long table the first and the last lines, unless all are asked for."""
    lines = [[cell if isinstance(cell, str) else value_words(cell) for cell in row] for row in table.rows]
    if all_rows or not lines_left_out(table):
        return lines
    return [*lines[:FIRST_LINES], [LEFT_OUT] * len(table.columns), *lines[-LAST_LINES:]]


def lines_left_out(table: NamedTable) -> int:
    """How many lines of it are shown only if all are asked for; none where that would be one."""
    left = len(table.rows) - FIRST_LINES - LAST_LINES
    return left if left > 1 else 0


def words_in(table: NamedTable) -> list[bool]:
    """Whether each of its columns has words, and not numbers alone."""
    return [any(isinstance(row[place], str) for row in table.rows) for place in range(len(table.columns))]
