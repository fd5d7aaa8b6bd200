"""One point of the grid: the tiers of each quantity side by side, a line each."""

import math
import textwrap
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bridge.export.plots.styles import (
    FLOOR,
    GRID,
    LINES,
    MARGIN,
    MOST_DECADES,
    POINTS,
    RING,
    STYLES,
    decades,
    found,
    numbers,
    values_of,
    violated,
)
from bridge.export.plots.words import Words
from bridge.export.verdict_words import verdict_words
from bridge.theorems.record import Row

MOST = 30  # lines of a chart
LINE = 0.3  # inches
MARKERS = {"printed": "|", "claimed": "x", "derived": "D", "instance": "s", "measured": "o", "attacked": "^"}
SIZES = {"printed": 15, "claimed": 11, "derived": 10, "instance": 7.5, "measured": 5, "attacked": 3}
VERDICT_WIDTH = 46  # characters of a line


def draw_tiers(rows: Sequence[Row], words: Words) -> Figure:
    """A panel of what is never negative, on a logarithmic axis with a place for 0, and one of all else."""
    shown = list(rows[:MOST])
    linear = [row for row in shown if row.kind == "rate" or any(value < 0 for value in values_of(row))]
    panels = [panel for panel in ([row for row in shown if row not in linear], linear) if panel]
    heights = [LINE * len(panel) + 0.5 for panel in panels]
    figure = Figure(figsize=(9.5, sum(heights) + 1.5), layout="constrained")
    axes = figure.subplots(len(panels), 1, squeeze=False, gridspec_kw={"height_ratios": heights})
    for axis, panel in zip(axes.flat, panels, strict=True):
        _draw(axis, panel, words, logarithmic=panel is not linear)
    return figure


def _draw(axis: Axes, rows: list[Row], words: Words, *, logarithmic: bool) -> None:
    low, high = decades(rows)
    low = max(low, high / 10.0**MOST_DECADES)
    if logarithmic:
        axis.set_xscale("log")
        axis.set_xlim(low / MARGIN**2, high)
    zero = low / MARGIN
    for place, row in enumerate(rows):
        _line(axis, place, row, zero=zero if logarithmic else None, high=high)
    axis.set_ylim(len(rows) - 0.5, -0.5)
    axis.set_yticks(range(len(rows)), [_name(row, words) for row in rows], fontsize=9)
    axis.grid(True, axis="x", which="major", **GRID)
    axis.tick_params(axis="y", length=0)
    if logarithmic:
        _mark_zero(axis, rows, zero, low)
    right = axis.twinx()
    right.set_ylim(axis.get_ylim())
    right.set_yticks(range(len(rows)), [_verdict(row) for row in rows], fontsize=8)
    right.tick_params(axis="y", length=0)


def _line(axis: Axes, place: int, row: Row, *, zero: float | None, high: float) -> None:
    """The numbers of a row, one below the axis at its place for 0, one beyond its end at the end."""

    def at(value: float) -> float:
        return value if zero is None else zero if value <= zero else min(value, high)

    values = [at(value) for value in values_of(row)]
    if len(values) > 1:
        axis.plot([min(values), max(values)], [place, place], color="#CCCCCC", linewidth=1, zorder=1)
    for column in (*LINES, *POINTS):
        value = getattr(row, column)
        if value is not None and math.isfinite(value):
            style = {"color": STYLES[column]["color"], "marker": MARKERS[column]}
            beyond = {"marker": ">"} if zero is not None and value > high else {}
            hollow = {"markerfacecolor": "none"} if column in ("derived", "instance") else {}
            style |= beyond | hollow
            axis.plot(at(value), place, linestyle="none", ms=SIZES[column], label=column, **style)
    for rounding in numbers([row], ["rounding"]):
        if zero is not None and rounding > zero:
            axis.fill_betweenx([place - 0.35, place + 0.35], axis.get_xlim()[0], rounding, label="rounding", **FLOOR)
    if violated(row) and values:
        axis.plot(at(found(row)) if found(row) else values[0], place, linestyle="none", label=violated(row), **RING)


def _mark_zero(axis: Axes, rows: Sequence[Row], zero: float, low: float) -> None:
    """A place for 0 left of the axis, where some number is 0 or below all that is shown."""
    if all(value > zero for row in rows for value in values_of(row)):
        axis.set_xlim(left=low)
        return
    axis.axvline(low / math.sqrt(MARGIN), color="#888888", linewidth=0.6, linestyle=":")
    exact = all(value == 0 or value > zero for row in rows for value in values_of(row))
    words = "0" if exact else "0, or less\nthan shown"
    above = axis.get_xaxis_transform()
    axis.text(zero, 1.0, words, transform=above, ha="center", va="bottom", fontsize=8)


def _name(row: Row, words: Words) -> str:
    of = ", ".join(filter(None, [row.construction, "" if row.scope in (None, "network") else row.scope]))
    return words.quantity(row.quantity) + (f" ({of})" if of else "")


def _verdict(row: Row) -> str:
    return "\n".join(textwrap.wrap(verdict_words(row), VERDICT_WIDTH))
