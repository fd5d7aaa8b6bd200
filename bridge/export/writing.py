"""A comparison as a file: LaTeX, Markdown, HTML, JSON, CSV or a plot, chosen by the suffix."""

from pathlib import Path

from bridge.export.choice import USUAL, Choice, chosen
from bridge.export.html import comparison_page
from bridge.export.latex_tables import comparison_latex
from bridge.export.markdown import comparison_markdown
from bridge.export.suffixes import PLOTS, check_suffix, require_matplotlib
from bridge.export.tables import comparison_csv
from bridge.export.written_files import write_text
from bridge.theorems.record import Record


def export(comparison: Record, path: str | Path, choice: Choice = USUAL) -> None:
    """Writes the comparison in the format that the suffix names. Raises UsageError, with nothing half-written.

    JSON and CSV hold every row of the chosen quantities and scopes, JSON with every field.
    """
    writers = {".tex": comparison_latex, ".md": comparison_markdown, ".html": comparison_page, ".csv": comparison_csv}
    suffix = check_suffix(path)
    if suffix in PLOTS:
        plot(chosen(comparison, choice), path)
    elif suffix == ".json":
        write_text(path, chosen(comparison, choice).to_json() + "\n")
    else:
        write_text(path, writers[suffix](comparison, choice))


def plot(
    comparison: Record, path: str | Path, quantity: str | None = None, x: str | None = None, *, title: bool = True
) -> None:
    """Draws one quantity (by default the final one) against one parameter (by default the finest grid).

    At one point of the grid: the tiers of the quantity (by default of all that tables show). PNG, SVG or PDF, without a
    `title` where a caption will say what it shows.
    """
    check_suffix(path, PLOTS)
    require_matplotlib()
    from bridge.export.plots import draw, write_figure

    write_figure(draw(comparison, quantity, x, title=title), path, comparison.result)


def plot_steps(comparison: Record, path: str | Path, quantity: str | None = None, *, title: bool = True) -> None:
    """Draws what each step of the proof of a quantity (by default the final one) loses. PNG, SVG or PDF."""
    check_suffix(path, PLOTS)
    require_matplotlib()
    from bridge.export.plots import draw_steps, write_figure

    write_figure(draw_steps(comparison, quantity, title=title), path, comparison.result)
