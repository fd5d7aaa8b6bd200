"""Plots of a comparison, as PNG, SVG or PDF: curves over a parameter, tiers at one point, the slack of each step.

Imports matplotlib (extra `plots`), so it is itself imported only when a plot is drawn; without pyplot, hence no window
and no global figure.
"""

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from bridge.export.layout import is_final, layout, shown_rows
from bridge.export.plots.curves import PANELS, axis_values, draw_curves, panels_of
from bridge.export.plots.slack import draw_slack
from bridge.export.plots.styles import LINES, POINTS, values_of
from bridge.export.plots.tiers import MOST, draw_tiers
from bridge.export.plots.words import Words, lines_of
from bridge.export.theorem_of_record import theorem_of
from bridge.export.written_files import write_bytes
from bridge.theorems.record import Record, Row
from symbolic.words.errors import UsageError
from symbolic.words.shown import cut

TITLE_SIZE = 10  # points
CHARACTER, LINE = 0.58 * TITLE_SIZE / 72, 1.2 * TITLE_SIZE / 72  # inches that a character and a line of the title take
PAPER = 0.72  # of the size on a screen, so that letters in a column of a paper are as large as its text
DATE = {"svg": "Date", "pdf": "CreationDate"}  # by which every file would differ


def write_figure(figure: Figure, path: str | Path, salt: str) -> None:
    """Writes a .png, .svg or .pdf file; the same figure gives the same bytes."""
    write_bytes(path, picture(figure, Path(path).suffix.lower().removeprefix("."), salt))


def picture(figure: Figure, kind: str, salt: str) -> bytes:
    """The content of a file of that kind: png, svg or pdf."""
    drawn = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": salt}):
        figure.savefig(drawn, format=kind, dpi=150, metadata={DATE[kind]: None} if kind in DATE else None)
    return drawn.getvalue()


def shows_itself(figure: Figure) -> Figure:
    """The same; a notebook shows it as a picture, also where pyplot was never imported."""

    def picture() -> bytes:
        page = io.BytesIO()
        figure.savefig(page, format="png", dpi=100)
        return page.getvalue()

    vars(figure)["_repr_png_"] = picture
    return figure


def draw(comparison: Record, quantity: str | None = None, x: str | None = None, *, title: bool = True) -> Figure:
    """The theorem's own figure, if it has one and nothing is asked for; else curves of one quantity along a parameter.

    Without a parameter that takes several numbers, a chart of tiers: of the quantity, or of all that tables show.
    Without a `title` where a caption will say what it shows. Raises UsageError where nothing fits.
    """
    theorem, words = theorem_of(comparison), Words(comparison)
    if quantity is None and theorem and theorem.figure and (own := theorem.figure(comparison)) is not None:
        return own
    rows = _rows_of(comparison, quantity)
    x = _axis(rows, x)
    if not x:
        rows = [row for row in (rows if quantity else shown_rows(comparison)) if values_of(row)]
        if not rows:
            raise UsageError(f"plot: {comparison.result} has no number to draw at these parameters")
        omitted = f"{MOST} of {len(rows)} rows shown" if len(rows) > MOST else ""
        return _annotated(draw_tiers(rows, words), _title(comparison, rows, omitted) if title else None)
    panels = [panel for panel in panels_of(rows, x) if any(map(values_of, panel.rows))]
    if not panels:
        raise UsageError(f"plot: '{rows[0].quantity}' of {comparison.result} has no number to draw at these parameters")
    figure = draw_curves(panels[:PANELS], x, words, notes=title)
    omitted = f"{PANELS} of {len(panels)} panels shown" if len(panels) > PANELS else ""
    return _annotated(figure, _title(comparison, rows, omitted) if title else None)


def draw_steps(comparison: Record, quantity: str | None = None, *, title: bool = True) -> Figure:
    """What each step of the proof of a quantity loses at the worst input found.

    Raises UsageError where none is known.
    """
    rows = _rows_of(comparison, quantity)
    return _annotated(draw_slack(rows), _title(comparison, rows) if title else None)


def _rows_of(comparison: Record, quantity: str | None) -> list[Row]:
    """The rows of one quantity; by default of the theorem's main one, which is what its bound is about."""
    names = list(dict.fromkeys(row.quantity for row in comparison))
    if not names:
        raise UsageError(f"the comparison of {comparison.result} has no rows, so there is nothing to plot.")
    wanted = quantity or _main(comparison, names)
    if wanted not in names:
        raise UsageError(f"the comparison has no quantity '{wanted}' to plot. It has: {', '.join(names)}.")
    return [row for row in comparison if row.quantity == wanted]


def _main(comparison: Record, names: Sequence[str]) -> str:
    """The main quantity where the network has it; else the first final one, and no prediction in raw units."""
    theorem = theorem_of(comparison)
    at_network = {row.quantity for row in comparison if row.scope == "network"}
    if theorem and theorem.main in at_network:
        return theorem.main
    bounded = [name for name in names if not name.startswith("prediction.")] or names
    return next((name for name in bounded if is_final(name)), bounded[0])


def _axis(rows: Sequence[Row], x: str | None) -> str:
    """The parameter along the axis: as asked, or the one with the most distinct numbers; "" where none has two."""
    counts = {name: len(axis_values(rows, name)) for name in dict.fromkeys(name for row in rows for name in row.params)}
    if x is not None and not counts.get(x):
        raise UsageError(f"cannot plot against '{x}': no row has it as a number. Parameters: {', '.join(counts)}.")
    best = x or max(counts, key=lambda name: counts[name], default="")
    return best if x or counts.get(best, 0) > 1 else ""


@dataclass(frozen=True)
class Title:
    """One line above the figure: the first of `headings` that fits. A caption below it."""

    headings: Sequence[str]
    caption: Sequence[str]

    def heading(self, width: int) -> str:
        return next((each for each in self.headings if len(each) <= width), cut(self.headings[-1], width))


def _title(comparison: Record, rows: Sequence[Row], omitted: str = "") -> Title:
    """What, with the quantity and its norm where there is one; below, whose, and where."""
    found, words = layout(rows, comparison.automatic), Words(comparison)
    constants = ", ".join(f"{words.parameter(name)} = {found.value(name, x)}" for name, x in found.constant.items())
    where = "; ".join(filter(None, [constants, found.shared_scope, omitted]))
    headings, caption = [comparison.result], [comparison.citation, where]
    if len({row.quantity for row in rows}) == 1:
        name = rows[0].quantity
        norm = f" ({rows[0].norm})" if rows[0].norm else ""
        headings = [f"{comparison.result}: {each}" for each in (words.quantity(name), name)]
        headings = [headings[0] + norm, *headings]
    return Title(headings, list(filter(None, caption)))


def _annotated(figure: Figure, title: Title | None) -> Figure:
    """With a title of one line, a caption and a legend below, and grown by the lines that they take.

    Without a title it is smaller, and has no caption.
    """
    if title is None:
        figure.set_size_inches(*(PAPER * side for side in figure.get_size_inches()))
    width, height = figure.get_size_inches()
    room = int(width / CHARACTER)
    lines = [line for sentence in (title.caption if title else ()) for line in lines_of(sentence, room)]
    if title is not None:
        figure.suptitle(title.heading(room), fontsize=TITLE_SIZE)
    by_label = {
        label: line for axis in figure.axes for line, label in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    order = sorted((label for label in by_label if not label.startswith("_")), key=_place)
    by_label = {label: by_label[label] for label in order}
    entry = 0.9 * CHARACTER * (max(map(len, by_label), default=0) + 6)  # with its line and the space between two
    columns = max(1, min(4, len(by_label), int(width / entry)))
    below = {"loc": "outside lower center", "ncols": columns, "fontsize": 9}
    if by_label or lines:
        figure.legend(by_label.values(), by_label.keys(), title="\n".join(lines), title_fontsize=8, **below)
    beyond = len(lines) - 2 + max(0, math.ceil(len(by_label) / columns) - 2)
    figure.set_size_inches(width, height + 1.2 * LINE * beyond)  # so that the panels keep their size
    return figure


def _place(label: str) -> int:
    """Of an entry of the legend: tiers in their order, whatever their scope, then all else."""
    order, name = (*LINES, *POINTS), label.split(" (")[0]
    return order.index(name) if name in order else len(order)
