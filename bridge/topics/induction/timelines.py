"""Curves over time: marked times, the named spans between them, and a curve with a scale of its own."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

GREY, GRID = "#8A8A8A", "#E4E4E4"
SMALL = 9  # points


def mark_times(axis: Axes, times: Sequence[float], *, dotted: Sequence[float] = ()) -> None:
    """A thin line at each time; those of `dotted` are dotted."""
    for time in times:
        axis.axvline(time, color=GREY, linewidth=0.8, linestyle=":" if time in dotted else "-")


def name_times(axis: Axes, times: Mapping[str, float], sides: Mapping[str, str]) -> None:
    """The name of each time above the axis, in LaTeX, and on the side of its line that `sides` gives by name.

    Sides are left (of the text: it stands to the right of the line), center and right.
    """
    for name, time in times.items():
        axis.annotate(
            name,
            (time, 1),
            xycoords=("data", "axes fraction"),
            xytext=(0, 2),
            textcoords="offset points",
            ha=sides.get(name, "center"),
            va="bottom",
            fontsize=SMALL,
        )


def name_spans(axis: Axes, names: Sequence[str], edges: Sequence[float]) -> None:
    """Names of the spans between edges, one more than there are names, on a logarithmic scale of time."""
    for name, low, high in zip(names, edges[:-1], edges[1:], strict=True):
        middle = (low * high) ** 0.5
        axis.annotate(
            name,
            (middle, 0.93),
            xycoords=("data", "axes fraction"),
            ha="center",
            va="top",
            fontsize=SMALL,
            color=GREY,
        )


def own_scale(
    axis: Axes, times: np.ndarray, values: np.ndarray, colour: str, label: str, *, room: float = 1.35
) -> None:
    """A curve with a scale of its own on the right; both go from 0 to `room` times their top, with one legend."""
    right = axis.twinx()
    right.plot(times, values, color=colour, linewidth=1.8, label=f"{label} (right)")
    right.set_ylabel(label, color=colour)
    right.tick_params(axis="y", colors=colour)
    for each in (axis, right):
        each.set_ylim(0, room * each.get_ylim()[1])
    lines = [*axis.get_legend_handles_labels()[0], *right.get_legend_handles_labels()[0]]
    axis.legend(handles=lines, loc="upper left", ncols=4, fontsize=SMALL, frameon=False)
