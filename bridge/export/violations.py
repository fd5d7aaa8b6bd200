"""What a comparison found: the bounds that its run refutes, and why others say nothing of the run.

One violation for each quantity, with the worst point; one reason for all the rows that it rules out.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from bridge.export.layout import Layout, layout, value_words
from bridge.export.numbers import plain
from bridge.record import TIERS, Comparison, Row, Verdict
from symbolic.catalogue import PLACES, find_result
from symbolic.statements import Quantity

TOO_SMALL = "(below 1e-308)"
ERRATUM = "erratum."  # in front of the quantities of violations, which the sentence needs not say again
RULED_OUT = (Verdict.OUTSIDE, Verdict.NOT_REPRESENTABLE)
NAMED = 6  # quantities; more would hide the reason


@dataclass(frozen=True)
class Violation:
    """A quantity with a violated bound: which tiers, in how many of the rows with such a bound, and where it is worst
    (tier and row)."""

    quantity: str
    tiers: tuple[str, ...]
    count: int
    total: int
    worst: Row
    worst_tier: str
    place: str
    remark: str

    @property
    def sentence(self) -> str:
        if self.worst.samples == 0:
            return self._of_its_own
        worst = f"worst{f' at {self.place}' if self.place else ''}: " if self.worst.params else ""
        bound = getattr(self.worst, self.worst_tier)
        against = TOO_SMALL if bound is None else plain(bound, self.worst_tier, self.worst.kind)
        return (
            f"{self.quantity.removeprefix(ERRATUM)}: {' and '.join(self.tiers)} violated in {self.count} of "
            f"{self.total} rows; {worst}found {plain(found(self.worst))} against {self.worst_tier} "
            f"{against}{_factor(self.worst, self.worst_tier)}." + (f" {self.remark}" if self.remark else "")
        )

    @property
    def _of_its_own(self) -> str:
        """Of a row that no inputs were drawn for: what it measured, if that is what is violated, and why."""
        measured, bound = self.worst.measured, getattr(self.worst, self.worst_tier)
        at = f" at {self.place}" if self.place and self.worst.params else ""
        head = f"{self.quantity.removeprefix(ERRATUM)}: {' and '.join(self.tiers)} violated{at}"
        if measured is not None and bound is not None:
            head += f", {plain(measured)} against {self.worst_tier} {plain(bound)}"
        return f"{head}. {self.remark}" if self.remark else f"{head}."


def violations(comparison: Comparison) -> list[Violation]:
    """One violation for each quantity that has a violated row, in the order of the rows."""
    grid = layout(comparison.rows)
    quantities = dict.fromkeys(row.quantity for row in comparison.violated())
    return [_violation([row for row in comparison if row.quantity == name], grid) for name in quantities]


def found(row: Row) -> float | None:
    """The error that the verdict rests on: the witness's, else the one on the wrong side in the runs."""
    if row.witness is not None:
        return row.witness.error_lower
    seen = [error for error in (row.measured, row.attacked) if error is not None]
    if not seen:
        return None
    return min(seen) if row.kind == "lower" else max(seen)


def _violation(rows: Sequence[Row], grid: Layout) -> Violation:
    refuted = [(row, tier) for row in rows for tier in TIERS if row.verdict.get(tier) == Verdict.VIOLATED]
    worst, tier = max(refuted, key=lambda pair: _excess(*pair))
    tiers = tuple(t for t in TIERS if any(t == violated for _, violated in refuted))
    return Violation(
        quantity=worst.quantity,
        tiers=tiers,
        count=len({id(row) for row, _ in refuted}),
        total=sum(any(_has_bound(row, t) for t in tiers) for row in rows),
        worst=worst,
        worst_tier=tier,
        place=grid.at(worst),
        remark=worst.remark,
    )


def _has_bound(row: Row, tier: str) -> bool:
    """Whether the row has a bound of that tier, be it one that float64 cannot hold, and judges it."""
    return row.verdict.get(tier) is not None and (getattr(row, tier) is not None or row.verdict[tier] not in RULED_OUT)


def _excess(row: Row, tier: str) -> float:
    """How far on the wrong side of the bound the row is: a factor for an upper or a lower bound, else a distance."""
    error, bound = found(row), getattr(row, tier)
    if error is None:
        return 0.0
    if bound is None:  # refuted, so that it is a bound below float64
        return math.inf
    if row.kind not in ("upper", "lower"):
        return abs(error - bound)
    over, under = (error, bound) if row.kind == "upper" else (bound, error)
    return over / under if under > 0 else math.inf


def _factor(row: Row, tier: str) -> str:
    factor = _excess(row, tier)
    if row.kind not in ("upper", "lower") or not 1 < factor < math.inf:
        return ""
    return f" ({plain(factor)} times)"


@dataclass(frozen=True)
class Reason:
    """Why bounds say nothing of the run, and of which quantities; `place` says where, if not on the whole grid."""

    verdict: Verdict
    reason: str
    quantities: tuple[str, ...]
    place: str

    @property
    def sentence(self) -> str:
        more = len(self.quantities) - NAMED
        names = ", ".join([*self.quantities[:NAMED], *([f"and {more} more"] if more > 0 else [])])
        return f"{self.reason} ({f'{self.place}: ' if self.place else ''}{names})"


def reasons(comparison: Comparison) -> list[Reason]:
    """One for each distinct reason for which rows are outside or not representable, in the order of the rows."""
    own = {quantity.remark for quantity in _quantities(comparison) if quantity.remark}
    ruled_out: dict[tuple[Verdict, str], list[Row]] = {}
    for row in comparison:
        for verdict in RULED_OUT:
            if verdict in row.verdict.values() and (said := _without(own, row.remark)):
                ruled_out.setdefault((verdict, said), []).append(row)
    placed = [row for row in comparison if row.params]
    return [
        Reason(verdict, said, tuple(dict.fromkeys(row.quantity for row in rows)), _shared_place(rows, placed))
        for (verdict, said), rows in ruled_out.items()
    ]


def _quantities(comparison: Comparison) -> Sequence[Quantity]:
    return find_result(comparison.result).quantities if comparison.result in PLACES else ()


def _without(own: Collection[str], remark: str) -> str:
    """The remark of a row without that of its quantity, which stands in front and is no reason."""
    if remark in own:
        return ""
    starts = [words for words in own if remark.startswith(f"{words}; ")]
    return remark.removeprefix(f"{max(starts, key=len)}; ") if starts else remark


def _shared_place(rows: Sequence[Row], everywhere: Sequence[Row]) -> str:
    """The parameters that `rows` agree on and the whole grid does not."""
    shared = layout(rows).constant
    return ", ".join(f"{name} = {value_words(shared[name])}" for name in layout(everywhere).varying if name in shared)
