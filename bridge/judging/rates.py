"""Rates: the slope of the log error along a grid, compared with the printed exponent."""

import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from bridge.instances.instance import Instance
from bridge.judging.rows import row_of, settings_of
from bridge.limits.run import Run
from bridge.theorems.record import Flag, Row, Verdict
from symbolic.statements.result import Kind, Quantity

POINTS = 3  # a slope is fitted to the last points of the grid, where the rate should have set in
TOLERANCE = 0.1  # relative; half the rate, or the rate and a square root more, is far outside


def rate_rows(measured: Sequence[tuple[Instance, list[Row]]], run: Run) -> list[Row]:
    """One row per rate and per combination of the other parameters that has at least three points along the knob."""
    stated: list[tuple[Instance, Quantity, list[Row]]] = []  # each rate with the rows of the points that state it
    for instance, rows in measured:
        checked = {each.quantity.name for each in instance.theorem.checks}
        for rate in (q for q in instance.point.stated.quantities if q.kind is Kind.RATE and q.name not in checked):
            known = next((its_rows for _, known, its_rows in stated if known == rate), None)
            if known is None:
                stated.append((instance, rate, list(rows)))
            else:
                known += rows
    found = (_rate_row(instance, rate, each, run) for instance, rate, rows in stated for each in _series(rows, rate))
    return [row for row in found if row is not None]


def _series(rows: list[Row], rate: Quantity) -> list[list[Row]]:
    base = rate.name.removesuffix(".rate")
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        counts = row.quantity == base and row.scope == "network" and rate.rate_in in row.params
        if counts and row.derived and (row.exact or not _is_rounding(row)):  # the slope of rounding is not a rate
            others = {name: value for name, value in row.params.items() if name != rate.rate_in}
            groups[repr(others)].append(row)
    return [sorted(group, key=lambda row: row.params[rate.rate_in]) for group in groups.values()]


def _is_rounding(row: Row) -> bool:
    return Flag.ROUNDING in row.flags.get("measured", [])


def _rate_row(instance: Instance, rate: Quantity, series: list[Row], run: Run) -> Row | None:
    errors = [row.exact if row.exact is not None else max(row.measured or 0.0, row.attacked or 0.0) for row in series]
    points = [(float(row.params[rate.rate_in]), error) for row, error in zip(series, errors, strict=True) if error > 0]
    points = sorted(dict(points).items())[-POINTS:]
    if len(points) < POINTS or rate.printed is None:
        return None
    slope, printed = _decay(points), float(rate.printed.bound)
    agrees = abs(slope - printed) <= TOLERANCE * printed
    return row_of(
        instance,
        rate,
        {"printed": Verdict.CONSISTENT if agrees else Verdict.UNDECIDED},
        params={name: value for name, value in series[0].params.items() if name != rate.rate_in},
        domain=f"{rate.rate_in} in {{{', '.join(f'{x:g}' for x, _ in points)}}}",
        printed=printed,
        measured=slope,
        ratio=slope / printed,
        remark=rate.remark,
        **settings_of(run),
    )


def _decay(points: list[tuple[float, float]]) -> float:
    """Minus the least-squares slope of log(error) over the knob."""
    knob = np.array([x for x, _ in points])
    logarithm = np.array([math.log(error) for _, error in points])
    return float(-np.polyfit(knob, logarithm, 1)[0])
