"""What a comparison found: the bounds that its run refutes, and why others say nothing of the run.

One violation for each quantity, with the worst point; one reason for all the rows that it rules out.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from bridge.export.layout import Layout, digits_of, found, layout
from bridge.export.theorem_of_record import theorem_of
from bridge.theorems.numbers import is_number, plain, stated, stated_kind
from bridge.theorems.record import TIERS, Record, Row, RowErratum, Verdict
from symbolic.words.prose import marked, prose

TOO_SMALL = "a number below 1e-308"
ERRATUM = "erratum."  # in front of the quantities of violations, which the sentence needs not say again
RULED_OUT = (Verdict.OUTSIDE, Verdict.NOT_REPRESENTABLE)
NAMED = 6  # quantities; more would hide the reason


@dataclass(frozen=True)
class Violation:
    """A quantity with a violated bound: which tiers, in how many of the rows with such a bound, and where it is worst
    (tier and row)."""

    tiers: tuple[str, ...]
    count: int
    total: int
    worst: Row
    worst_tier: str
    place: str

    @property
    def quantity(self) -> str:
        return self.worst.quantity

    @property
    def heading(self) -> str:
        """`violated`; `erratum` with its weight where the printed tier alone fails, as the result knows."""
        erratum = self.erratum
        return "violated" if erratum is None else f"erratum ({erratum.weight})"

    @property
    def erratum(self) -> RowErratum | None:
        return self.worst.erratum if self.tiers == ("printed",) else None

    @property
    def sentence(self) -> str:
        name, remark = self.quantity.removeprefix(ERRATUM), marked(self.worst.remark)
        rows = f" in {self.count} of {self.total} rows" if self.total > 1 else ""
        pair = f"{'Worst' if rows else 'Found'}: {self._pair}" if self._pair else ""
        erratum = self.erratum
        if erratum is None:
            parts, last = [f"{name}: {' and '.join(self.tiers)} violated{rows}", pair], remark
        else:
            where = "" if self.worst.params and pair else remark  # numbers or parameters of its own
            parts = [
                f"{name}: {marked(erratum.place)}. In the paper: {marked(erratum.sentence)}",
                f"Violated{rows}" if rows else "",
                pair,
                f"{where[:1].upper()}{where[1:]}",
            ]
            last = f"Repair: {marked(erratum.repair)}."
        return prose(" ".join([*(f"{part}." for part in parts if part), *filter(None, [last])]), checked=False)

    @property
    def _pair(self) -> str:
        """The quantity and its bound, both as the table shows them; "" where there are no two numbers."""
        error, bound = found(self.worst), _bound_at(self.worst, self.worst_tier)
        if error is None or (bound is None and self.worst.samples == 0):
            return ""
        digits = digits_of(self.worst)
        number = plain(error, digits=digits)
        bounded = TOO_SMALL if bound is None else plain(bound, self.worst_tier, self.worst.kind, digits)
        if self.worst.finding:
            return marked(self.worst.finding).format(found=number, printed=bounded)
        order = self.worst.order if self.worst_tier == "printed" else None
        bounded = f"{order}({bounded})" if order else bounded
        at = f" at {self.place}" if self.place and self.worst.params else ""
        subject = marked(self.worst.meaning) or self.quantity.removeprefix(ERRATUM)
        words = stated(bounded, self.worst_tier, stated_kind(self.worst.kind, self.worst.order, self.worst_tier))
        return f"{is_number(subject, number, at)}; {words}{_factor(self.worst, self.worst_tier)}"


def violations(comparison: Record) -> list[Violation]:
    """One violation for each quantity that has a violated row, in the order of the rows."""
    grid = layout(comparison.rows, comparison.automatic)
    quantities = dict.fromkeys(row.quantity for row in comparison.violated())
    return [_violation([row for row in comparison if row.quantity == name], grid) for name in quantities]


def _violation(rows: Sequence[Row], grid: Layout) -> Violation:
    refuted = [(row, tier) for row in rows for tier in TIERS if row.verdict.get(tier) == Verdict.VIOLATED]
    worst, tier = max(refuted, key=lambda pair: _excess(*pair))
    tiers = tuple(t for t in TIERS if any(t == violated for _, violated in refuted))
    return Violation(
        tiers=tiers,
        count=len({id(row) for row, _ in refuted}),
        total=sum(any(_has_bound(row, t) for t in tiers) for row in rows),
        worst=worst,
        worst_tier=tier,
        place=grid.at(worst),
    )


def _has_bound(row: Row, tier: str) -> bool:
    """Whether the row has a bound of that tier, be it one that float64 cannot hold, and judges it."""
    return row.verdict.get(tier) is not None and (getattr(row, tier) is not None or row.verdict[tier] not in RULED_OUT)


def _bound_at(row: Row, tier: str) -> float | None:
    """The bound that the error which was found exceeds; one of a prompt is that at the witness's."""
    bound: float | None = getattr(row, tier)
    return bound if row.witness is None or tier != "instance" else row.witness.bounds.get(tier, bound)


def _excess(row: Row, tier: str) -> float:
    """How far on the wrong side of the bound the row is: a factor for an upper or a lower bound, else a distance."""
    error, bound = found(row), _bound_at(row, tier)
    if error is None:
        return 0.0
    if bound is None:  # refuted, so that it is a bound below float64
        return math.inf
    if row.kind not in ("upper", "lower"):
        return abs(error - bound)
    over, under = (error, bound) if row.kind == "upper" else (bound, error)
    return over / under if under > 0 else math.inf


def _factor(row: Row, tier: str) -> str:
    """How many times an upper bound the value is, or a lower bound is the value."""
    factor = _excess(row, tier)
    words = plain(factor)
    if row.kind not in ("upper", "lower") or not 1 < factor < math.inf or words == plain(1.0):
        return ""
    return f" ({words} times {'that' if row.kind == 'upper' else 'the value'})"


@dataclass(frozen=True)
class Reason:
    """Why bounds say nothing of the run, and of which quantities; `place` says where, if not on the whole grid."""

    verdict: Verdict
    reason: str
    quantities: tuple[str, ...]
    place: str

    @property
    def heading(self) -> str:
        return str(self.verdict)

    @property
    def sentence(self) -> str:
        more = len(self.quantities) - NAMED
        names = ", ".join([*self.quantities[:NAMED], *([f"and {more} more"] if more > 0 else [])])
        return prose(f"{marked(self.reason)} ({f'{self.place}: ' if self.place else ''}{names})", checked=False)


def reasons(comparison: Record) -> list[Reason]:
    """One for each distinct reason for which rows are outside or not representable, in the order of the rows."""
    found = [(each, row) for row in comparison for each in RULED_OUT if each in row.verdict.values()]
    theorem = theorem_of(comparison) if found else None
    own = {quantity.remark for quantity in theorem.statement.quantities if quantity.remark} if theorem else set()
    ruled_out: dict[tuple[Verdict, str], list[Row]] = {}
    for verdict, row in found:
        if reason := _without(own, row.remark):
            ruled_out.setdefault((verdict, reason), []).append(row)
    grid = layout(comparison.rows, comparison.automatic)
    return [
        Reason(verdict, reason, tuple(dict.fromkeys(row.quantity for row in rows)), _shared_place(rows, grid))
        for (verdict, reason), rows in ruled_out.items()
    ]


def findings(comparison: Record) -> list[Violation | Reason]:
    """What the run refutes, then why it does not judge other bounds."""
    return [*violations(comparison), *reasons(comparison)]


def _without(own: Collection[str], remark: str) -> str:
    """The remark of a row without that of its quantity, which stands in front and is no reason."""
    if remark in own:
        return ""
    first = max((words for words in own if remark.startswith(f"{words}; ")), key=len, default="")
    for start in (marked(first), str(first)) if first else ():
        if marked(remark).startswith(f"{start}; "):
            return prose(marked(remark).removeprefix(f"{start}; "), checked=False)
    return remark


def _shared_place(rows: Sequence[Row], grid: Layout) -> str:
    """The parameters that `rows` agree on and the whole grid does not."""
    shared = layout(rows).constant
    return grid.words({name: shared[name] for name in grid.varying if name in shared})
