"""Bounds and errors of one quantity along one parameter of the grid: a panel for each choice of the others."""

import math
import textwrap
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bridge.export.layout import layout
from bridge.export.plots.styles import (
    FLOOR,
    GRID,
    LINES,
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
from bridge.theorems.numbers import value_words
from bridge.theorems.record import Row

PANELS = 6  # more would be too small to read
FEW = 8  # values on the axis that are all marked
WIDE = 16  # factor between the ends of an axis that is then logarithmic
Curve = list[tuple[float, float]]


@dataclass(frozen=True)
class Panel:
    title: str
    rows: list[Row]


def axis_values(rows: Sequence[Row], name: str) -> set[float]:
    """The numbers that a parameter takes in these rows."""
    return {float(row.params[name]) for row in rows if _is_number(row.params.get(name))}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def panels_of(rows: Sequence[Row], x: str) -> list[Panel]:
    """The rows by the values of the other parameters that vary."""
    others = [name for name in layout(rows).varying if name != x]
    grouped: dict[Hashable, Panel] = {}
    for row in rows:
        if _is_number(row.params.get(x)):
            title = ", ".join(f"{name} = {value_words(row.params.get(name))}" for name in others)
            key = repr([row.params.get(name) for name in others])
            grouped.setdefault(key, Panel(title, [])).rows.append(row)
    return list(grouped.values())


def draw_curves(panels: Sequence[Panel], x: str, words: Words, *, notes: bool = True) -> Figure:
    """At most PANELS panels that share their vertical axis; `notes` say what is left out.

    The axis is logarithmic but for rates, and where a number is negative (the difference of two errors).
    """
    across = {1: 1, 2: 2, 4: 2}.get(len(panels), 3)
    down = math.ceil(len(panels) / across)
    figure = Figure(figsize=(1.6 + 3.6 * across, 1.9 + 3.2 * down), layout="constrained")
    axes = figure.subplots(down, across, squeeze=False, sharey=True)
    rows = [row for panel in panels for row in panel.rows]
    low, high = decades(rows)
    linear = rows[0].kind == "rate" or any(value < 0 for row in rows for value in values_of(row))
    for axis, panel in zip(axes.flat, panels, strict=False):
        if not linear:
            axis.set_yscale("log")
            axis.set_ylim(low, high)
        _draw(axis, panel, x, words, notes=notes)
    for unused in axes.flat[len(panels) :]:
        unused.set_visible(False)
    figure.supylabel("rate" if rows[0].kind == "rate" else "error", fontsize=10)
    return figure


def _draw(axis: Axes, panel: Panel, x: str, words: Words, *, notes: bool) -> None:
    values = sorted(axis_values(panel.rows, x))
    if values[0] > 0 and values[-1] / values[0] >= WIDE:
        axis.set_xscale("log", base=2)
    left_out = _lines_and_points(axis, panel.rows, x)
    _mark_violated(axis, panel.rows, x)
    left_out.append(_shade(axis, panel.rows, x))
    below = textwrap.wrap("; ".join(filter(None, left_out)), 48) if notes else []
    _label(axis, [*filter(None, [panel.title]), *below], values)
    axis.set_xlabel(words.parameter(x))


# A bound that holds for every prompt is a line over the parameter. One of a prompt belongs to the prompt found at that
# point, and so do its errors: they stand below each other and nothing joins them.
def _lines_and_points(axis: Axes, rows: Sequence[Row], x: str) -> list[str]:
    notes = []
    for column in (*LINES, *POINTS):
        for scope, points in _by_scope(rows, column, x).items():
            if scope in ("", "network"):
                notes += _plot(axis, points, column, STYLES[column])
            else:
                notes += _plot(axis, points, f"{column} ({scope})", STYLES[column] | _of_prompt(column, scope))
    return notes


def _of_prompt(column: str, scope: str) -> dict[str, Any]:
    hollow = {"markerfacecolor": "none"}
    if column in POINTS:
        return hollow
    return hollow | {"linestyle": "none", "marker": "s" if scope.endswith("local") else "D"}


def _by_scope(rows: Sequence[Row], column: str, x: str) -> dict[str, Curve]:
    """The column's points along x, in order, for each scope that has others than those before it."""
    curves: dict[str, Curve] = {}
    for row in rows:
        value = getattr(row, column)
        if value is not None and math.isfinite(value):
            curves.setdefault(row.scope or "", []).append((float(row.params[x]), value))
    distinct: dict[str, Curve] = {}
    for scope, points in curves.items():
        if sorted(points) not in distinct.values():
            distinct[scope] = sorted(points)
    return distinct


def _plot(axis: Axes, points: Curve, label: str, style: dict[str, Any]) -> list[str]:
    """Draws what the axis holds; in words what it does not."""
    low, high = axis.get_ylim() if axis.get_yscale() == "log" else (-math.inf, math.inf)
    shown = [(at, y if y > 0 or low < 0 else math.nan) for at, y in points]
    axis.plot([at for at, _ in shown], [y for _, y in shown], label=label, **{"markersize": 5} | style)
    zero = [y for _, y in points if y <= 0 and low > 0]
    above = [y for _, y in points if y > high]
    below = [y for _, y in points if 0 < y < low]
    return [
        *([f"{label} is 0" if len(zero) == len(points) else f"{label} is 0 where it is not shown"] if zero else []),
        *([f"{label}: up to {max(above):.1e}"] if above else []),
        *([f"{label}: down to {min(below):.1e}"] if below else []),
    ]


def _mark_violated(axis: Axes, rows: Sequence[Row], x: str) -> None:
    """A ring around the largest error of each row in which a bound is refuted, by the weight of its erratum."""
    labels = dict.fromkeys(filter(None, map(violated, rows)))
    for label in labels:
        points = [(float(row.params[x]), found(row)) for row in rows if violated(row) == label and found(row) > 0]
        if points:
            at, error = zip(*points, strict=True)
            axis.plot(at, error, linestyle="none", label=label, **RING)


def _shade(axis: Axes, rows: Sequence[Row], x: str) -> str:
    """Shades what lies within rounding; in words what it is if that lies below the axis."""
    largest: dict[float, float] = {}
    for row in rows if axis.get_yscale() == "log" else ():
        for value in numbers([row], ["rounding"]):
            largest[row.params[x]] = max(largest.get(row.params[x], 0.0), value)
    low, at = axis.get_ylim()[0], sorted(largest)
    if largest and max(largest.values()) <= low:
        return f"rounding: at most {max(largest.values()):.1e}"
    if largest:
        axis.fill_between(at, [low] * len(at), [largest[each] for each in at], label="rounding", **FLOOR)
    return ""


def _label(axis: Axes, title: Sequence[str], values: Sequence[float]) -> None:
    axis.set_title("\n".join(title), fontsize=9)
    axis.grid(True, which="major", **GRID)
    if len(values) <= FEW:  # the grid itself, rather than round numbers in between
        axis.set_xticks(values, [f"{value:g}" for value in values])
        axis.set_xticks([], minor=True)
