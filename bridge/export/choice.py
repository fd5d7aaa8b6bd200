"""Which rows and columns of a comparison are shown, and in which order: one choice for the terminal and all files."""

import math
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from bridge.export.columns import NAMES, NUMBERS, SCOPES, SETTINGS, SHORT_SCOPES, TEXTS, Column
from bridge.limits.accepted import require_known
from bridge.limits.notations import split_outside_brackets
from bridge.theorems.record import Record, Row, Verdict
from symbolic.words.errors import UsageError
from symbolic.words.prose import ProseError, prose

NO_SCOPE = "none"  # of a check, and of what depends on no input
TYPED_SCOPES = {short: scope for scope, short in SHORT_SCOPES.items()}
SORTED_WORDS = ("quantity", "where", "scope", "verdict")
LABEL = re.compile(r"[A-Za-z0-9:._+/-]+")
GRAVEST_FIRST = (
    *(Verdict.VIOLATED, Verdict.UNDECIDED, Verdict.OUTSIDE, Verdict.NOT_REPRESENTABLE),
    *(Verdict.CONSISTENT, Verdict.KEPT, Verdict.PROVED),
)


@dataclass(frozen=True)
class Choice:
    """Empty fields choose nothing: the columns that the rows need, the rows of the final quantities, their own order.

    A quantity stands for its parts too: p for p[1], p[2]. A key of `sort` that begins with - sorts downwards.
    `siunitx`, `caption` and `label` are for LaTeX: with a caption of the reader's own, ours stands below the table.
    """

    columns: tuple[str, ...] = ()
    quantities: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    sort: tuple[str, ...] = ()
    all_rows: bool = False
    siunitx: bool = False
    caption: str = ""
    label: str = ""

    @property
    def picks_rows(self) -> bool:
        return bool(self.quantities or self.scopes)

    def check(self, parameters: Collection[str]) -> None:
        """Raises UsageError for names that no table of a theorem with these parameters has."""
        for name in self.columns:
            require_known(name, (*NAMES, *parameters), "--columns: there is no column")
        for key in self.sort:
            name = key.removeprefix("-")
            if name in TEXTS or name == "kind":
                raise UsageError(f"--sort: '{name}' has no order; sort by {', '.join(SORTED_WORDS)} or a number.")
            require_known(name, (*SORTED_WORDS, *NUMBERS, *SETTINGS, *parameters), "--sort: there is no column")
        for name in self.scopes:
            if name not in SCOPES:
                require_known(name, ("network", "prompt", *TYPED_SCOPES, NO_SCOPE), "--scope: there is no scope")

    def check_quantities(self, known: Iterable[str]) -> None:
        """Raises UsageError for a quantity that is none of `known` and has no part there."""
        names = list(dict.fromkeys(known))
        for asked in self.quantities:
            if not any(is_part(name, asked) for name in names):
                require_known(asked, names, "--quantity: there is no quantity")


USUAL = Choice()


def choice(
    columns: str | Sequence[str] = (),
    quantity: str | Sequence[str] = (),
    scope: str | Sequence[str] = (),
    sort: str | Sequence[str] = (),
    all_rows: bool = False,
    siunitx: bool = False,
    caption: str = "",
    label: str = "",
) -> Choice:
    """The same from names as they are typed: one, several with commas between them, or a list.

    Raises UsageError for one that is given twice or empty, for mathematics in the caption that does not parse, and for
    a label that LaTeX would not take.
    """
    try:
        own_caption = prose(caption.strip())
    except ProseError as error:
        raise UsageError(f"--caption: {error}") from None
    if label and not LABEL.fullmatch(label):
        raise UsageError(f"--label: {label!r} has signs that no label has; use letters, digits and : . _ + / -.")
    short_scopes = [scope] if isinstance(scope, str) else scope
    short_scopes = [SHORT_SCOPES.get(each, each) for each in short_scopes]  # without a comma
    return Choice(
        columns=_names(columns, _column),
        quantities=_names(quantity),
        scopes=_names(short_scopes, lambda name: TYPED_SCOPES.get(name, name)),
        sort=_names(sort, _column),
        all_rows=all_rows,
        siunitx=siunitx,
        caption=own_caption,
        label=label,
    )


def _names(given: str | Sequence[str], read: Callable[[str], str] = str) -> tuple[str, ...]:
    """Parted at commas, but for those in brackets, as in head[1,2]. Raises UsageError unless each is given once."""
    texts = [given] if isinstance(given, str) else given
    found = [read(name.strip()) for text in texts for name in split_outside_brackets(text)]
    if "" in found:
        raise UsageError("a name is empty: give names with a comma between them, such as derived,measured.")
    twice = next((name for name in found if found.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"'{twice}' is given twice; name it once.")
    return tuple(found)


def _column(name: str) -> str:
    """The headings of numbers are typed with a blank or with an underscore."""
    joined = name.replace(" ", "_")
    return joined if joined.removeprefix("-") in NUMBERS else name


def is_part(name: str, of: str) -> bool:
    """Whether it is the quantity, or a part of it, as p[1] is of p."""
    return name == of or name.startswith((f"{of}[", f"{of}."))


def chosen(comparison: Record, choice: Choice) -> Record:
    """The record with the rows of the chosen quantities and scopes alone, sorted. Raises UsageError if none is left.

    Where rows are picked, the tables beside them are left out: they are of the whole comparison.
    """
    choice.check({name for row in comparison for name in row.params} | set(comparison.params))
    choice.check_quantities(row.quantity for row in comparison)
    rows = [row for row in comparison if _is_chosen(row, choice)]
    if choice.picks_rows and not rows:
        raise UsageError(f"no row of {comparison.result} is left; {_what_there_is(comparison, choice)}.")
    tables = [] if choice.picks_rows else comparison.tables
    return comparison.model_copy(update={"rows": in_order(rows, choice.sort), "tables": tables})


def _is_chosen(row: Row, choice: Choice) -> bool:
    of_quantity = not choice.quantities or any(is_part(row.quantity, asked) for asked in choice.quantities)
    return of_quantity and (not choice.scopes or (row.scope or NO_SCOPE) in choice.scopes)


def _what_there_is(comparison: Record, choice: Choice) -> str:
    rows = [row for row in comparison if _is_chosen(row, Choice(quantities=choice.quantities))]
    scopes = dict.fromkeys(row.scope or NO_SCOPE for row in rows)
    of = f"{', '.join(choice.quantities)} has rows" if choice.quantities else "there are rows"
    return f"{of} of scope {', '.join(repr(scope) for scope in scopes)}"


def in_order(rows: Sequence[Row], keys: Sequence[str]) -> list[Row]:
    """Sorted by the first key, equal ones by the next; rows without a value stand last in either direction."""
    ordered = list(rows)
    for key in reversed(keys):
        places = [(_place(row, key.removeprefix("-")), row) for row in ordered]
        with_value = [(place, row) for place, row in places if place is not None]
        with_value.sort(key=lambda pair: pair[0], reverse=key.startswith("-"))
        ordered = [row for _, row in with_value] + [row for place, row in places if place is None]
    return ordered


def _place(row: Row, name: str) -> tuple[Any, ...] | None:
    """What the row is sorted by; None where it has no value."""
    if name == "verdict":
        return (min(map(GRAVEST_FIRST.index, row.verdict.values())),) if row.verdict else None
    if name == "scope":
        scopes = list(SCOPES)
        return (scopes.index(row.scope) if row.scope in scopes else len(scopes), row.scope) if row.scope else None
    value = Column.named(name).value(row)
    if value is None or value == "":
        return None
    if isinstance(value, int | float):
        return (0, value, "") if not math.isnan(value) else None
    return (1, 0.0, *_natural(str(value)))


def _natural(words: str) -> list[tuple[int, str]]:
    """Numbers in words by their value: p[2] stands before p[10]."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", words)]
