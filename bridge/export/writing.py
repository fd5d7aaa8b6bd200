"""A comparison as a file: LaTeX, JSON, CSV, PNG, SVG or PDF, chosen by the suffix."""

from pathlib import Path

from bridge.export.files import write_text
from bridge.export.latex import comparison_latex
from bridge.export.suffixes import PLOTS, check_suffix, require_matplotlib
from bridge.export.tables import comparison_csv
from bridge.record import Comparison


def export(comparison: Comparison, path: str | Path, all_rows: bool = True) -> None:
    """Writes the comparison in the format that the suffix names. Raises UsageError, with nothing half-written.

    `all_rows` = False leaves the intermediate quantities out of the LaTeX table; JSON and CSV always hold every row.
    """
    suffix = check_suffix(path)
    if suffix in PLOTS:
        plot(comparison, path)
    elif suffix == ".tex":
        write_text(path, comparison_latex(comparison, all_rows))
    elif suffix == ".csv":
        write_text(path, comparison_csv(comparison))
    else:
        write_text(path, comparison.to_json() + "\n")


def plot(
    comparison: Comparison, path: str | Path, quantity: str | None = None, x: str | None = None, *, title: bool = True
) -> None:
    """Draws one quantity (by default the final one) against one parameter (by default the finest grid).

    At one point of the grid: the tiers of the quantity (by default of all that tables show). PNG, SVG or PDF, without a
    `title` where a caption will say what it shows.
    """
    check_suffix(path, PLOTS)
    require_matplotlib()
    from bridge.export.plots import draw, write_figure

    write_figure(draw(comparison, quantity, x, title=title), path, comparison.result)


def plot_steps(comparison: Comparison, path: str | Path, quantity: str | None = None, *, title: bool = True) -> None:
    """Draws what each step of the proof of a quantity (by default the final one) loses. PNG, SVG or PDF."""
    check_suffix(path, PLOTS)
    require_matplotlib()
    from bridge.export.plots import draw_steps, write_figure

    write_figure(draw_steps(comparison, quantity, title=title), path, comparison.result)
