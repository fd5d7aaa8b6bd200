"""Plots of a comparison: one quantity's bounds and errors against one grid parameter, as PNG or SVG.

Imports matplotlib (extra `plots`), so it is itself imported only when a plot is drawn; without pyplot, hence no window
and no global figure.
"""

import io
import math
import textwrap
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bridge.export.files import write_bytes
from bridge.export.layout import is_final, layout, value_words
from bridge.record import Comparison, Row, Verdict
from symbolic.statements import UsageError

PANELS = 6  # more would be too small to read
LINES = ("printed", "claimed", "derived", "instance")
POINTS = ("measured", "attacked", "rounding")
TITLE_SIZE = 10  # points
CHARACTER, LINE = 0.58 * TITLE_SIZE / 72, 1.2 * TITLE_SIZE / 72  # inches that a character and a line of the title take
# Okabe and Ito's palette, which colour-blind readers can tell apart; bounds are lines, what was found are points.
STYLES: dict[str, dict[str, Any]] = {
    "printed": {"color": "#000000", "linestyle": "-", "marker": "_"},
    "claimed": {"color": "#CC79A7", "linestyle": ":", "marker": "."},
    "derived": {"color": "#0072B2", "linestyle": "--", "marker": "."},
    "instance": {"color": "#009E73", "linestyle": "-.", "marker": "."},
    "measured": {"color": "#E69F00", "linestyle": "none", "marker": "o"},
    "attacked": {"color": "#D55E00", "linestyle": "none", "marker": "^"},
    "rounding": {"color": "#999999", "linestyle": "none", "marker": "x"},
}


def write_plot(comparison: Comparison, path: str | Path, quantity: str | None = None, x: str | None = None) -> None:
    """Draws into a .png or .svg file; the same comparison gives the same bytes."""
    kind = Path(path).suffix.lower().removeprefix(".")
    picture = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": comparison.result}):
        metadata = {"Date": None} if kind == "svg" else None  # a date would make every file differ
        draw(comparison, quantity, x).savefig(picture, format=kind, dpi=150, metadata=metadata)
    write_bytes(path, picture.getvalue())


def draw(comparison: Comparison, quantity: str | None = None, x: str | None = None) -> Figure:
    """The study's own figure, if it has one and no quantity is asked for; else one panel for each combination of the
    other parameters. Raises UsageError where nothing fits."""
    if quantity is None and (own := _own_figure(comparison)) is not None:
        return own
    rows = _rows_of(comparison, quantity)
    if all(row.samples == 0 for row in comparison) and len(rows) < 2:
        raise UsageError(f"plot: {comparison.result} has one row for '{rows[0].quantity}' and no figure of its own")
    x = _axis(rows, x)
    panels = _panels(rows, x)
    if not any(_by_scope(panel.rows, column, x) for panel in panels for column in (*LINES, *POINTS)):
        raise UsageError(f"plot: '{rows[0].quantity}' of {comparison.result} has no number to draw at these parameters")
    drawn = panels[:PANELS]
    across = {1: 1, 2: 2, 4: 2}.get(len(drawn), 3)
    down = math.ceil(len(drawn) / across)
    figure = Figure(figsize=(1.6 + 3.6 * across, 1.9 + 3.2 * down), layout="constrained")
    axes = figure.subplots(down, across, squeeze=False, sharey=True)
    split = frozenset(column for column in (*LINES, *POINTS) if _scopes_differ(panels, column, x))
    for axis, panel in zip(axes.flat, drawn, strict=False):
        _draw_panel(axis, panel, x, split)
    for unused in axes.flat[len(drawn) :]:
        unused.set_visible(False)
    _annotate(figure, comparison, rows, _omitted(len(panels), len(drawn)))
    return figure


def _own_figure(comparison: Comparison) -> Any:
    study = comparison.study
    return study.figure(comparison) if study else None


def _rows_of(comparison: Comparison, quantity: str | None) -> list[Row]:
    """The rows of one quantity; by default of the study's main one, which is what its bound is about."""
    names = list(dict.fromkeys(row.quantity for row in comparison))
    if not names:
        raise UsageError(f"the comparison of {comparison.result} has no rows, so there is nothing to plot.")
    wanted = quantity or _main(comparison, names)
    if wanted not in names:
        raise UsageError(f"the comparison has no quantity '{wanted}' to plot. It has: {', '.join(names)}.")
    return [row for row in comparison if row.quantity == wanted]


def _main(comparison: Comparison, names: Sequence[str]) -> str:
    """The study's main quantity where the network has it; else the first final one, and no prediction in raw units."""
    study = comparison.study
    at_network = {row.quantity for row in comparison if row.scope == "network"}
    if study and study.main_quantity in at_network:
        return study.main_quantity
    bounded = [name for name in names if not name.startswith("prediction.")] or names
    return next((name for name in bounded if is_final(name)), bounded[0])


def _axis(rows: Sequence[Row], x: str | None) -> str:
    """The parameter along the axis: as asked, or the one with the most distinct numbers."""
    counts = {name: len(_numbers(rows, name)) for name in dict.fromkeys(name for row in rows for name in row.params)}
    if x is not None and not counts.get(x):
        raise UsageError(f"cannot plot against '{x}': no row has it as a number. Parameters: {', '.join(counts)}.")
    best = x or max(counts, key=lambda name: counts[name], default="")
    if not counts.get(best):
        raise UsageError("a plot needs a parameter that is a number, for its axis; these rows have none.")
    return best


def _numbers(rows: Sequence[Row], name: str) -> set[float]:
    return {float(row.params[name]) for row in rows if _is_number(row.params.get(name))}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


@dataclass(frozen=True)
class _Panel:
    title: str
    rows: list[Row]


def _panels(rows: Sequence[Row], x: str) -> list[_Panel]:
    others = [name for name in layout(rows).varying if name != x]
    grouped: dict[Hashable, _Panel] = {}
    for row in rows:
        if _is_number(row.params.get(x)):
            title = ", ".join(f"{name} = {value_words(row.params.get(name))}" for name in others)
            key = repr([row.params.get(name) for name in others])
            grouped.setdefault(key, _Panel(title, [])).rows.append(row)
    return list(grouped.values())


def _by_scope(rows: Sequence[Row], column: str, x: str) -> dict[str, list[tuple[float, float]]]:
    """The column's points along x, in order, for each scope that has some."""
    points: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        value = getattr(row, column)
        if value is not None and math.isfinite(value):
            points.setdefault(row.scope or "", []).append((float(row.params[x]), value))
    return {scope: sorted(series) for scope, series in points.items()}


def _scopes_differ(panels: Sequence[_Panel], column: str, x: str) -> bool:
    """Whether the scopes need a series each: in some panel they have different numbers."""
    return any(len({tuple(points) for points in _by_scope(panel.rows, column, x).values()}) > 1 for panel in panels)


def _draw_panel(axis: Axes, panel: _Panel, x: str, split: frozenset[str]) -> None:
    values = sorted(_numbers(panel.rows, x))
    logarithmic = _scale(axis, panel.rows, values)
    zeros: list[str] = []
    for column in (*LINES, *POINTS):
        for label, series in _series(panel.rows, column, x, column in split):
            points = [(at, value) for at, value in series if value > 0 or not logarithmic]
            if len(points) < len(series):
                zeros.append(column)
            _plot(axis, points, column, label)
    _mark_violated(axis, panel.rows, x)
    note = f"not shown, being 0: {', '.join(dict.fromkeys(zeros))}" if zeros else ""
    _label(axis, [*([panel.title] if panel.title else []), *textwrap.wrap(note, 48)], x, values)


def _scale(axis: Axes, rows: Sequence[Row], values: Sequence[float]) -> bool:
    """Sets the scales; says whether the vertical one is logarithmic (it is, except for rates)."""
    logarithmic = rows[0].kind != "rate"
    axis.set_yscale("log" if logarithmic else "linear")
    if values[0] > 0 and values[-1] / values[0] >= 16:
        axis.set_xscale("log", base=2)
    return logarithmic


def _series(rows: Sequence[Row], column: str, x: str, split: bool) -> list[tuple[str, list[tuple[float, float]]]]:
    """The column's points with their label: one series, or one for each scope where the scopes differ."""
    series = _by_scope(rows, column, x)
    if split:
        return [(f"{column} ({scope})" if scope else column, points) for scope, points in series.items()]
    return [(column, points) for points in list(series.values())[:1]]


def _plot(axis: Axes, points: Sequence[tuple[float, float]], column: str, label: str) -> None:
    style = dict(STYLES[column])
    if label != column and "(prompt" in label:
        style |= {"alpha": 0.55, "markerfacecolor": "none"}
    if label.endswith("(prompt, local)"):
        style["marker"] = "s"
    axis.plot([at for at, _ in points], [value for _, value in points], label=label, markersize=5, **style)


def _mark_violated(axis: Axes, rows: Sequence[Row], x: str) -> None:
    """A ring around the largest error of each row in which a bound is refuted."""
    refuted = [row for row in rows if Verdict.VIOLATED in row.verdict.values()]
    errors = [(float(row.params[x]), max(row.measured or 0.0, row.attacked or 0.0)) for row in refuted]
    points = [(at, error) for at, error in errors if error > 0]
    if points:
        at, error = zip(*points, strict=True)
        ring: dict[str, Any] = {
            "marker": "o",
            "markersize": 12,
            "markerfacecolor": "none",
            "markeredgecolor": "#CC0000",
        }
        axis.plot(at, error, linestyle="none", label="violated", **ring)


def _label(axis: Axes, title: Sequence[str], x: str, values: Sequence[float]) -> None:
    axis.set_xlabel(x)
    axis.set_title("\n".join(title), fontsize=9)
    axis.grid(True, which="major", color="#DDDDDD", linewidth=0.6)
    if len(values) <= 8:  # the grid itself, rather than round numbers in between
        axis.set_xticks(values, [f"{value:g}" for value in values])
        axis.set_xticks([], minor=True)


def _omitted(panels: int, drawn: int) -> str:
    return f"; {drawn} of {panels} panels shown" if drawn < panels else ""


def _annotate(figure: Figure, comparison: Comparison, rows: Sequence[Row], omitted: str) -> None:
    first = rows[0]
    constants = layout(rows, comparison.automatic).constants()
    head = f"{comparison.result}: {first.quantity}" + (f" ({first.norm})" if first.norm else "")
    words = [head, comparison.citation, constants + omitted if constants else omitted.removeprefix("; ")]
    width, height = figure.get_size_inches()
    unbroken = [sentence.replace(" = ", "\xa0=\xa0") for sentence in words]
    lines = [line for sentence in unbroken for line in textwrap.wrap(sentence, int(width / CHARACTER))]
    figure.suptitle("\n".join(lines).replace("\xa0", " "), fontsize=TITLE_SIZE)
    figure.supylabel("rate" if first.kind == "rate" else "error", fontsize=10)
    by_label = {
        label: line for axis in figure.axes for line, label in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    entry = 0.9 * CHARACTER * (max(map(len, by_label), default=0) + 6)  # with its line and the space between two
    columns = max(1, min(4, len(by_label), int(width / entry)))
    figure.legend(by_label.values(), by_label.keys(), loc="outside lower center", ncols=columns, fontsize=9)
    beyond = max(0, len(lines) - len(words)) + max(0, math.ceil(len(by_label) / columns) - 2)
    figure.set_size_inches(width, height + 1.2 * LINE * beyond)  # so that the panels keep their size
