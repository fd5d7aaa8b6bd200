"""The curves behind claims about trained models: a panel each, with bands over seeds and the claims below it.

Imports matplotlib, so it is itself imported only when a figure is drawn; without pyplot, hence no global figure.
"""

import math
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from bridge.instances.known import Known
from bridge.instances.point import Point
from bridge.limits.run import Format
from bridge.theorems.record import Record
from bridge.theorems.theorem import Theorem
from bridge.topics.tools.trained_claims import SEEDS, Experiment
from bridge.topics.tools.trainings import TrainingPlan
from symbolic.words.errors import UsageError

# Okabe and Ito's palette, which colour-blind readers can tell apart.
COLOURS = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"
ACROSS = 3  # panels in a row; two where there are four
DECADE = 10  # between the least and the largest error of an axis that is logarithmic
SMALL = 7.5  # points, of legends and claims
PANEL, LINE = 3.4, 0.13  # inches: the height of a panel, and of a line of a claim
BELOW = -36  # points from a panel to its claims
CHARACTERS = 54  # in a line of a claim
FLOOR = 1e-12  # errors below are those of rounding
Curves = Mapping[str, tuple[Sequence[int], Sequence[float]]]  # by label: where, and what one seed gives there


@dataclass(frozen=True)
class ClaimPanel:
    """What is drawn: `curves(experiment, seed)`, once its trainings are there; the quantities that claim something.

    A label that ends in DASHED has the colour of what stands before that. `marked` are places on the axis with a name.
    """

    title: str
    across: str
    claims: Sequence[str]
    plans: Callable[[Experiment], Iterable[TrainingPlan]]
    curves: Callable[[Experiment, int], Curves]
    along: str = "squared error"
    marked: Mapping[str, int] = field(default_factory=dict)
    least: float | None = None  # what is below is drawn there, on a linear axis


DASHED = ", trained on the prompt"


def draw_panels(
    comparison: Record, theorem: Theorem, panels: Callable[[Experiment], Sequence[ClaimPanel]]
) -> Figure | None:
    """None where the comparison has several points. Raises UsageError where no panel has its trainings."""
    if len({repr(row.params) for row in comparison}) != 1:
        return None
    first = comparison.rows[0]
    experiment = Known(Point.at(theorem, first.params), Format())["experiment"]
    seeds = range(first.seed, first.seed + SEEDS)
    drawn = [each for each in panels(experiment) if not experiment.missing(each.plans(experiment), seeds)]
    if not drawn:
        raise UsageError(f"{theorem.id}: no panel of the figure has its trainings; the rows name what makes them")
    across = 2 if len(drawn) == 4 else min(ACROSS, len(drawn))
    down = math.ceil(len(drawn) / across)
    captions = [_caption(panel, comparison, theorem) for panel in drawn]
    longest = [max(map(len, captions[row : row + across])) for row in range(0, len(drawn), across)]
    heights = [PANEL + LINE * lines for lines in longest]
    figure = Figure(figsize=(4.3 * across, 0.7 + sum(heights)), layout="constrained")
    axes = figure.subplots(down, across, squeeze=False, height_ratios=heights)
    for axis, panel, caption in zip(axes.flat, drawn, captions, strict=False):
        _draw(axis, panel, [panel.curves(experiment, seed) for seed in seeds])
        below = {"xycoords": "axes fraction", "textcoords": "offset points", "annotation_clip": False}
        axis.annotate("\n".join(caption), (0, 0), (0, BELOW), va="top", fontsize=SMALL, **below)
    for unused in axes.flat[len(drawn) :]:
        unused.set_visible(False)
    bands = f"lines: mean over {SEEDS} seeds; bands: from the least to the largest of them"
    figure.suptitle(f"{comparison.citation}\n{experiment.size.replace('`', '')}\n{bands}", fontsize=10)
    return figure


def _draw(axis: Axes, panel: ClaimPanel, seeds: Sequence[Curves]) -> None:
    least = FLOOR if panel.least is None else panel.least
    lines = {label: np.array([each[label][1] for each in seeds]).clip(least) for label in seeds[0]}  # (seeds, places)
    if panel.least is None and max(map(np.max, lines.values())) > DECADE * min(map(np.min, lines.values())):
        axis.set_yscale("log")
    colours: dict[str, str] = {}
    for label, found in lines.items():
        places, dashed = seeds[0][label][0], label.endswith(DASHED)
        colour = colours.setdefault(label.removesuffix(DASHED), COLOURS[len(colours) % len(COLOURS)])
        line, shown = ("--", f"_{label}") if dashed else ("-", label)
        axis.plot(places, found.mean(0), color=colour, marker="o", markersize=3, linestyle=line, label=shown)
        axis.fill_between(places, found.min(0), found.max(0), color=colour, alpha=0.2, linewidth=0)
    if any(label.endswith(DASHED) for label in lines):
        axis.plot([], [], color="#000000", linestyle="--", label=DASHED.removeprefix(", "))
    for name, place in panel.marked.items():
        axis.axvline(place, color="#888888", linewidth=0.8, linestyle=":")
        axis.text(place, 1.0, name, transform=axis.get_xaxis_transform(), ha="center", va="bottom", fontsize=SMALL)
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axis.grid(True, which="major", color="#DDDDDD", linewidth=0.6)
    axis.set_axisbelow(True)
    axis.set_title(panel.title, fontsize=10, pad=14 if panel.marked else None)
    axis.set_xlabel(panel.across)
    axis.set_ylabel(panel.along)
    axis.legend(fontsize=SMALL, framealpha=0.5, handlelength=1.5, ncols=1 if len(lines) < 4 else 2)


def _caption(panel: ClaimPanel, comparison: Record, theorem: Theorem) -> list[str]:
    """Lines: the sentences of the paper, each with its place and the verdicts of its rows."""
    verdicts = {row.quantity: row.verdict.get("printed", "") for row in comparison}
    by_sentence: dict[str, list[str]] = {}
    for name in panel.claims:
        printed = theorem.statement.quantity(name)
        assert printed.printed is not None
        sentence = f"{printed.printed.citation.label}: {printed.remark}"
        by_sentence.setdefault(sentence, []).append(f"{name}: {verdicts.get(name) or 'not compared'}")
    lines: list[str] = []
    for sentence, rows in by_sentence.items():
        lines += [*textwrap.wrap(sentence, CHARACTERS), *textwrap.wrap("; ".join(rows), CHARACTERS)]
    return [each.replace("$", r"\$").replace("`", "") for each in lines]
