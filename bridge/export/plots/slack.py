"""What each step of a proof loses at the worst input found: bars of bound over error."""

import math
from collections.abc import Sequence

from matplotlib.figure import Figure

from bridge.export.layout import layout
from bridge.export.plots.curves import PANELS
from bridge.export.plots.styles import GRID, STYLES
from bridge.theorems.record import Row
from symbolic.words.errors import UsageError

LINE = 0.28  # inches


def draw_slack(rows: Sequence[Row]) -> Figure:
    """A panel for each row that has slacks, the steps in the order of the proof; 1: an equality there.

    Raises UsageError where no row has any.
    """
    loose = [row for row in rows if row.slack][:PANELS]
    if not loose:
        raise UsageError(f"plot: no slack per step was recorded for '{rows[0].quantity}'")
    steps = list(dict.fromkeys(name for row in sorted(loose, key=lambda row: -len(row.slack)) for name in row.slack))
    across = min(3, len(loose))
    down = math.ceil(len(loose) / across)
    figure = Figure(figsize=(2.0 + 3.2 * across, 1.2 + down * (0.8 + LINE * len(steps))), layout="constrained")
    axes = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True)
    columns = layout(loose)
    for axis, row in zip(axes.flat, loose, strict=False):
        places = [steps.index(name) for name in row.slack]
        bars = axis.barh(places, list(row.slack.values()), height=0.6, color=STYLES["derived"]["color"])
        axis.bar_label(bars, [f" {value:.3g}" for value in row.slack.values()], fontsize=8)
        axis.set_xscale("log")
        axis.set_title(columns.at(row), fontsize=9)
        axis.grid(True, axis="x", which="major", **GRID)
    largest = max(value for row in loose for value in row.slack.values())
    axes[0, 0].set_xlim(0.9, max(2.0, largest) * 1.6)
    axes[0, 0].set_yticks(range(len(steps)), steps)
    axes[0, 0].set_ylim(len(steps) - 0.5, -0.5)
    for unused in axes.flat[len(loose) :]:
        unused.set_visible(False)
    axes[-1, 0].set_xlabel("bound / error (1: an equality)", fontsize=9)
    return figure
