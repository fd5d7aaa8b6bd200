"""What a later record of `compare` says otherwise than an earlier one.

A *difference* is what a reader would have to be told: a verdict, flag, kind, bound, count or witness that has changed,
a row that is new or gone, a search that finds less than 95 % of what it found. A *note* is what may change with the
sampler or with the wording.

Rows are matched by quantity, scope, construction and parameters, and by their order where these agree.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bridge.export.comparison import Comparison
from bridge.theorems.record import TIERS, Flag, NamedTable, Row

RELATIVE = 1e-9  # rounding, of the same formula in another order
ROUNDING = 1e-12  # absolute, of what is measured where 0 is stated
FOUND = 0.95  # the share of the error found before that a search has to find
DIGITS = 9  # of parameters that match

IDENTICAL = ("kind", "quantifier", "order", "verdict", "flags")
PRESENT = ("erratum", "witness")
WORDS = ("norm", "domain", "meaning", "remark")
BUDGET = ("seed", "samples", "attack_steps", "restarts")
FOLLOWING = ("measured", "exact", "rounding", "ratio")  # numbers that follow from the inputs drawn and found

Key = tuple[object, ...]


@dataclass(frozen=True)
class Change:
    """What has changed at one place of a record; a note unless it `differs`."""

    place: str
    words: str
    differs: bool

    def __str__(self) -> str:
        return f"{'difference' if self.differs else 'note'}: {self.place}: {self.words}"


def changes(before: Comparison, after: Comparison, *, strict: bool = False) -> list[Change]:
    """Differences and notes, in the order of the record. `strict`: what random inputs measure has to be the same."""
    return [
        *_settings(before, after),
        *_rows(keyed(before.rows), keyed(after.rows), strict),
        *_tables(before.tables, after.tables),
    ]


def keyed(rows: Sequence[Row]) -> dict[Key, Row]:
    """The rows by what matches them."""
    seen = Counter[Key]()
    found: dict[Key, Row] = {}
    for row in rows:
        key = (row.quantity, row.scope, row.construction, _rounded(row.params))
        seen[key] += 1
        found[*key, seen[key]] = row
    return found


def _rounded(value: Any) -> object:
    """Hashable, with numbers to the digits that have to agree."""
    if isinstance(value, dict):
        return tuple((name, _rounded(each)) for name, each in sorted(value.items()))
    if isinstance(value, list):
        return tuple(_rounded(each) for each in value)
    return f"{value:.{DIGITS}g}" if isinstance(value, int | float) else value


def _settings(before: Comparison, after: Comparison) -> Iterator[Change]:
    for name in ("params", "environment", "automatic"):
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            yield Change(name, f"{old} -> {new}", differs=True)
    if before.citation != after.citation:
        yield Change("citation", f"{before.citation} -> {after.citation}", differs=False)


def _rows(before: dict[Key, Row], after: dict[Key, Row], strict: bool) -> Iterator[Change]:
    for key, old in before.items():
        if key not in after:
            yield Change(label(old), "the row is gone", differs=True)
            continue
        for words in differences(old, after[key], strict=strict):
            yield Change(label(old), words, differs=True)
        noted = "; ".join(notes(old, after[key], strict=strict))
        if noted:
            yield Change(label(old), noted, differs=False)
    for key, new in after.items():
        if key not in before:
            yield Change(label(new), "the row is new", differs=True)


def label(row: Row) -> str:
    """The row in one line; parameters that are not numbers or words are left out."""
    shown = [f"{name} = {_shown(each)}" for name, each in row.params.items() if isinstance(each, int | float | str)]
    return ", ".join(filter(None, [row.quantity, row.scope, row.construction, *shown]))


def differences(old: Row, new: Row, *, strict: bool = False) -> Iterator[str]:
    """What no change of the sampler or of the wording explains."""
    for name in IDENTICAL:
        if getattr(old, name) != getattr(new, name):
            yield f"{name} {_shown(getattr(old, name))} -> {_shown(getattr(new, name))}"
    for name in PRESENT:
        if (getattr(old, name) is None) != (getattr(new, name) is None):
            yield f"{name} {'is new' if getattr(old, name) is None else 'is gone'}"
    for name in (*_fixed(old, new), *(["measured"] if strict and _drawn(old) else [])):
        if not _same(getattr(old, name), getattr(new, name), _rounding(old, name)):
            yield _step(old, new, name)
    search = Search.between(old, new)
    if search.loses:
        yield str(search)


def notes(old: Row, new: Row, *, strict: bool = False) -> Iterator[str]:
    """What has changed and is not a difference."""
    search = Search.between(old, new)
    if search.changed and not search.loses:
        yield str(search)
    elsewhere = {*_fixed(old, new), search.name, *(["measured"] if strict else [])}
    for name in ("instance", *FOLLOWING, *BUDGET):
        if name not in elsewhere and not _same(getattr(old, name), getattr(new, name)):
            yield _step(old, new, name)
    for name in WORDS:
        if getattr(old, name) != getattr(new, name):
            yield f"{name} '{getattr(old, name)}' -> '{getattr(new, name)}'"
    for name in PRESENT:
        if None not in (getattr(old, name), getattr(new, name)) and getattr(old, name) != getattr(new, name):
            yield f"another {name}"
    if _rounded(old.slack) != _rounded(new.slack):
        yield "another slack"


@dataclass(frozen=True)
class Search:
    """What the attack found, before and after: the largest error, for a lower bound the smallest value, at a prompt the
    smallest ratio of the bound to the error."""

    name: str
    before: float | None
    after: float | None
    least: bool  # the smaller, the better
    noise: bool  # rounding dominates

    @classmethod
    def between(cls, old: Row, new: Row) -> "Search":
        name = "ratio" if _at_a_prompt(old) else "attacked"
        noise = Flag.ROUNDING in old.flags.get("measured", [])
        least = name == "ratio" or old.kind == "lower"
        return cls(name, getattr(old, name), getattr(new, name), least, noise)

    @property
    def changed(self) -> bool:
        return not _same(self.before, self.after)

    @property
    def share(self) -> float:
        """Of what was found before: 1 for as much, infinite where nothing was."""
        if self.before is None or self.after is None:
            return 0.0 if self.after is None else math.inf
        over, under = (self.before, self.after) if self.least else (self.after, self.before)
        return over / under if under else math.inf

    @property
    def loses(self) -> bool:
        return self.changed and not self.noise and self.share < FOUND

    def __str__(self) -> str:
        return f"{self.name} {_shown(self.before)} -> {_shown(self.after)}, {100 * self.share:.4g} % of before"


def _fixed(old: Row, new: Row) -> list[str]:
    """The numbers that do not depend on random inputs. The instance bound of a prompt is that of the prompt found."""
    names = ["printed", "derived"]
    if not _at_a_prompt(old) or _same(_error(old), _error(new)):
        names.append("instance")
    return names if _drawn(old) else [*names, "measured", "exact"]


def _at_a_prompt(row: Row) -> bool:
    return row.scope not in (None, "network")


def _drawn(row: Row) -> bool:
    """Whether the row measures random inputs: one without a scope depends on none, one input is a chosen one."""
    return row.scope is not None and row.samples > 1


def _error(row: Row) -> float | None:
    return next((each for each in (row.exact, row.attacked, row.measured) if each is not None), None)


def _rounding(row: Row, name: str) -> float:
    """The absolute tolerance: a measured value is all rounding where 0 is stated."""
    return ROUNDING if name == "measured" and 0.0 in [getattr(row, tier) for tier in TIERS] else 0.0


def _same(old: float | None, new: float | None, rounding: float = 0.0) -> bool:
    if old is None or new is None:
        return old is new
    return math.isclose(old, new, rel_tol=RELATIVE, abs_tol=rounding)


def _step(old: Row, new: Row, name: str) -> str:
    return f"{name} {_shown(getattr(old, name))} -> {_shown(getattr(new, name))}"


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_shown(each)}" for name, each in value.items()) or "none"
    if isinstance(value, list):
        return " and ".join(map(str, value))
    return "none" if value is None else f"{value:.10g}" if isinstance(value, int | float) else str(value)


def _tables(before: list[NamedTable], after: list[NamedTable]) -> Iterator[Change]:
    """A table that is new, gone or of other columns is a difference; other cells or titles are noted."""
    if [table.columns for table in before] != [table.columns for table in after]:
        yield Change("tables", f"{len(before)} -> {len(after)}, of other columns", differs=True)
        return
    for place, (old, new) in enumerate(zip(before, after, strict=True), 1):
        if old.title != new.title:
            yield Change(f"table {place}", f"title '{old.title}' -> '{new.title}'", differs=False)
        if len(old.rows) != len(new.rows):
            yield Change(f"table {place}", f"{len(old.rows)} -> {len(new.rows)} rows", differs=True)
        elif _rounded(old.rows) != _rounded(new.rows):
            yield Change(f"table {place}", "other cells", differs=False)
