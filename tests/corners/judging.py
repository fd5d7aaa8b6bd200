"""What is wrong with the record of a comparison, whatever the result: bounds of ours that fail, missing numbers.

A complaint is one of `KINDS`. What a paper prints may fail; what we derive may not.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bridge.export.comparison import Comparison
from bridge.theorems.record import TIERS, Row, Verdict
from symbolic.statements.result import Kind

OURS = ("derived", "instance")
HELD = (Verdict.KEPT, Verdict.PROVED, Verdict.VIOLATED)
CONTRADICTED = "the run contradicts the proof"
FLOATS = 1e-9  # relative: numbers of a record are rounded outward, each to its side
ZERO = 2.0**-60  # what an exact run may enclose an error of 0 in
LAST = 1e-12  # absolute: of a check that runs in floats
AGREEMENT = 1e-3  # of a value and what a short search, or a run in floats, makes of it
KINDS = {
    "violated": "a bound of ours that `compare` refutes",
    "below": "a bound of ours on the wrong side of the error beside it",
    "contradicted": "a proof and a run that cannot both be right",
    "negative": "a negative bound of an error",
    "accused": "a printed bound refuted without an erratum that says what fails",
    "silent": "a row, or a verdict, with neither a number nor a reason",
    "warning": "a warning that no user can act on",
    "traceback": "an exception that is no refusal",
}


@dataclass(frozen=True)
class Complaint:
    kind: str
    where: str
    words: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.where}: {self.words}"


def complaints(record: Comparison) -> list[Complaint]:
    precise = record.environment["dtype"] == "float64"
    return [complaint for row in record.rows for complaint in complaints_of_row(row, precise)]


def complaints_of_row(row: Row, precise: bool = True) -> list[Complaint]:
    """`precise`: what is measured is so in float64; in other formats only an exact error says more than a verdict."""
    where = f"{row.quantity}{f' ({row.scope})' if row.scope else ''}"
    below = _below(row) if precise or row.exact is not None else ()
    found = (*_refuted(row), *below, *_negative(row), *_silent(row))
    return [Complaint(kind, where, words) for kind, words in found]


def _refuted(row: Row) -> Iterator[tuple[str, str]]:
    for tier in (tier for tier, verdict in row.verdict.items() if verdict is Verdict.VIOLATED):
        if tier in OURS:
            yield "violated", f"{tier} {getattr(row, tier)}, found {_found(row)}"
        elif tier == "printed" and row.erratum is None:
            yield "accused", f"printed {row.printed}, found {_found(row)}"
    if CONTRADICTED in row.remark:
        yield "contradicted", row.remark


def _below(row: Row) -> Iterator[tuple[str, str]]:
    """The numbers again, without what the engine makes of them; a bound with probability may fail at a draw."""
    for tier in OURS if row.seeds is None else ():
        bound, verdict = getattr(row, tier), row.verdict.get(tier)
        room = LAST if row.scope is None and row.exact is None else ZERO if bound == 0 else 0.0
        if bound is not None and verdict in HELD and any(_beyond(row.kind, bound, each, room) for each in _found(row)):
            yield "below", f"{tier} {bound} is called {verdict}, found {_found(row)}"


def _found(row: Row) -> list[float]:
    """The error, or the value, in exact arithmetic where that was run; an attack only comes close to a value.

    What is shown of floats is lessened by their rounding: an exact error too small for a float is not shown.
    """
    if row.exact is not None:
        return [row.exact]
    seen = (row.measured, None if row.kind == Kind.EXACT else row.attacked)
    return [number - (row.rounding or 0.0) * (row.kind == Kind.UPPER) for number in seen if number is not None]


def _beyond(kind: str, bound: float, found: float, room: float) -> bool:
    room += FLOATS * max(abs(bound), abs(found))
    if kind == Kind.UPPER:
        return found > bound + room
    if kind == Kind.LOWER:
        return found < bound - room
    return kind == Kind.EXACT and abs(found - bound) > max(AGREEMENT * max(abs(bound), abs(found)), AGREEMENT)


def _negative(row: Row) -> Iterator[tuple[str, str]]:
    """A quantity with a scope is the error of a network in its norm."""
    if row.scope is None or row.kind != Kind.UPPER:
        return
    for name in (*OURS, "measured", "attacked", "exact", "rounding"):
        number = getattr(row, name)
        if number is not None and number < 0:
            yield "negative", f"{name} {number}"


def _silent(row: Row) -> Iterator[tuple[str, str]]:
    if row.remark:
        return
    numbers = (getattr(row, name) for name in (*TIERS, "measured", "attacked", "exact"))
    if not row.verdict and all(number is None for number in numbers):
        yield "silent", "neither a number nor a reason"
    for tier, verdict in _numberless(row):
        yield "silent", f"{tier} {verdict} without a number, and no reason"


def _numberless(row: Row) -> Sequence[tuple[str, Verdict]]:
    return [(tier, verdict) for tier, verdict in row.verdict.items() if getattr(row, tier) is None]
