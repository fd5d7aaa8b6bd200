"""Colours, lines and markers of what a plot shows; scales that show the decades in which something happens."""

import math
from collections.abc import Iterable
from typing import Any

from bridge.theorems.record import Row, Verdict

LINES = ("printed", "claimed", "derived", "instance")
POINTS = ("measured", "attacked")
# Okabe and Ito's palette, which colour-blind readers can tell apart; bounds are lines, what was found are points. In
# grey the lines differ by width and dashes. Of those that coincide each is seen: a wide pale one lies below thin ones,
# dashes lie above a solid one, a triangle in a circle.
STYLES: dict[str, dict[str, Any]] = {
    "printed": {"color": "#000000", "linestyle": "-", "linewidth": 1.2, "zorder": 2.1},
    "claimed": {"color": "#CC79A7", "linestyle": ":", "linewidth": 3, "zorder": 2.2},
    "derived": {"color": "#56B4E9", "linestyle": "-", "linewidth": 5, "solid_capstyle": "butt", "zorder": 2},
    "instance": {"color": "#009E73", "linestyle": "--", "linewidth": 1.6, "marker": ".", "zorder": 2.3},
    "measured": {"color": "#E69F00", "linestyle": "none", "marker": "o", "markersize": 7, "zorder": 2.4},
    "attacked": {"color": "#D55E00", "linestyle": "none", "marker": "^", "markersize": 4, "zorder": 2.5},
}
RING: dict[str, Any] = {"marker": "o", "markersize": 12, "markerfacecolor": "none", "markeredgecolor": "#CC0000"}
FLOOR: dict[str, Any] = {"color": "#BBBBBB", "alpha": 0.5, "linewidth": 0}
GRID: dict[str, Any] = {"color": "#DDDDDD", "linewidth": 0.6}
MARGIN = 3.0  # factor between the data and the ends of an axis
MOST_DECADES = 12  # above the largest error, or the least bound where nothing was found; of a chart


def found(row: Row) -> float:
    """The largest error that was found."""
    return max(row.measured or 0.0, row.attacked or 0.0)


def violated(row: Row) -> str:
    """The label of a refuted bound, with the weight of its erratum; "" if none is refuted."""
    if Verdict.VIOLATED not in row.verdict.values():
        return ""
    return f"violated ({row.erratum.weight})" if row.erratum else "violated"


def values_of(row: Row) -> list[float]:
    """The bounds and errors of a row that are finite."""
    values = (getattr(row, column) for column in (*LINES, *POINTS))
    return [value for value in values if value is not None and math.isfinite(value)]


def numbers(rows: Iterable[Row], columns: Iterable[str]) -> list[float]:
    """All of them that are positive and finite."""
    values = (getattr(row, column) for row in rows for column in columns)
    return [value for value in values if value is not None and 0 < value < math.inf]


def decades(rows: list[Row]) -> tuple[float, float]:
    """The ends of a logarithmic axis: no decades below rounding, and no more than so many above the errors."""
    bounds, errors, rounding = numbers(rows, LINES), numbers(rows, POINTS), numbers(rows, ["rounding"])
    every = bounds + errors
    if not every:
        return 0.1, 10.0
    low = max(min(every), min(rounding, default=0.0))
    above = max(errors, default=min(every)) * 10.0**MOST_DECADES
    high = max(each for each in [low, *every] if each <= above or each == low)
    return low / MARGIN, high * MARGIN
