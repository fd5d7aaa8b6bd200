"""What a comparison found: the bounds that its run refutes, one finding a quantity, with the worst point."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bridge.export.layout import Layout, layout
from bridge.export.numbers import plain
from bridge.record import TIERS, Comparison, Row, Verdict

TOO_SMALL = "(below 1e-308)"


@dataclass(frozen=True)
class Finding:
    """A quantity with a violated bound: which tiers, in how many rows, and where it is worst (tier and row)."""

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
        where = f" at {self.place}" if self.place else ""
        bound = getattr(self.worst, self.worst_tier)
        against = TOO_SMALL if bound is None else plain(bound, self.worst_tier, self.worst.kind)
        return (
            f"{self.quantity}: {' and '.join(self.tiers)} violated in {self.count} of {self.total} rows; "
            f"worst{where}: found {plain(found(self.worst))} against {self.worst_tier} "
            f"{against}{_factor(self.worst, self.worst_tier)}." + (f" {self.remark}" if self.remark else "")
        )


def findings(comparison: Comparison) -> list[Finding]:
    """One finding for each quantity that has a violated row, in the order of the rows."""
    grid = layout(comparison.rows)
    quantities = dict.fromkeys(row.quantity for row in comparison.violated())
    return [_finding([row for row in comparison if row.quantity == name], grid) for name in quantities]


def found(row: Row) -> float | None:
    """The error that the verdict rests on: the witness's, else the one on the wrong side in the runs."""
    if row.witness is not None:
        return row.witness.error_lower
    seen = [error for error in (row.measured, row.attacked) if error is not None]
    if not seen:
        return None
    return min(seen) if row.kind == "lower" else max(seen)


def _finding(rows: Sequence[Row], grid: Layout) -> Finding:
    refuted = [(row, tier) for row in rows for tier in TIERS if row.verdict.get(tier) == Verdict.VIOLATED]
    worst, tier = max(refuted, key=lambda pair: _excess(*pair))
    return Finding(
        quantity=worst.quantity,
        tiers=tuple(t for t in TIERS if any(t == violated for _, violated in refuted)),
        count=len({id(row) for row, _ in refuted}),
        total=len(rows),
        worst=worst,
        worst_tier=tier,
        place=grid.at(worst),
        remark=worst.remark,
    )


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
