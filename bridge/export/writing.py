"""A comparison as a file: LaTeX, Markdown, HTML, JSON, CSV or a plot, chosen by the suffix of the path."""

import importlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bridge.export.choice import USUAL, Choice, chosen
from bridge.export.html import comparison_page
from bridge.export.latex_tables import comparison_latex
from bridge.export.markdown import comparison_markdown
from bridge.export.tables import comparison_csv
from bridge.export.written_files import check_writable, write_text
from bridge.theorems.record import Record
from symbolic.words.errors import UsageError


def comparison_json(comparison: Record, choice: Choice = USUAL) -> str:
    """Every field of every row of the chosen quantities and scopes."""
    return chosen(comparison, choice).to_json() + "\n"


WRITERS = {
    ".tex": comparison_latex,
    ".md": comparison_markdown,
    ".html": comparison_page,
    ".json": comparison_json,
    ".csv": comparison_csv,
}
TABLES = tuple(WRITERS)
PLOTS = (".png", ".svg", ".pdf")


def check_suffix(path: str | Path, allowed: Sequence[str] = (*TABLES, *PLOTS)) -> str:
    """The path's suffix in lower case. Raises UsageError unless it is one of `allowed`, and can be written here."""
    suffix = Path(path).suffix.lower()
    if suffix not in allowed:
        there_are = f"{'one of ' if len(allowed) > 1 else ''}{', '.join(allowed)}"
        raise UsageError(f"cannot tell the format of '{path}' from its suffix; use {there_are}.")
    if suffix in PLOTS:
        require_matplotlib()
    return suffix


def require_matplotlib() -> None:
    """Raises UsageError where it is not installed."""
    if importlib.util.find_spec("matplotlib") is None:
        raise UsageError("plots need matplotlib, which is not installed: pip install 'boundsmith[plots]'.")


def check_output(path: str | Path, allowed: Sequence[str] = (*TABLES, *PLOTS)) -> None:
    """Raises UsageError if `export` to `path` is bound to fail: to be called before a long run."""
    check_suffix(path, allowed)
    check_writable(path)


def export(comparison: Record, path: str | Path, choice: Choice = USUAL) -> None:
    """Writes the comparison in the format that the suffix names. Raises UsageError, with nothing half-written.

    JSON and CSV hold every row of the chosen quantities and scopes, JSON with every field.
    """
    suffix = check_suffix(path)
    if suffix in PLOTS:
        plot(chosen(comparison, choice), path)
    else:
        write_text(path, WRITERS[suffix](comparison, choice))


def plot(
    comparison: Record, path: str | Path, quantity: str | None = None, x: str | None = None, *, title: bool = True
) -> None:
    """Draws one quantity (by default the final one) against one parameter (by default the finest grid).

    At one point of the grid: the tiers of the quantity (by default of all that tables show). PNG, SVG or PDF, without a
    `title` where a caption will say what it shows.
    """
    plots = _plots(path)
    plots.write_figure(plots.draw(comparison, quantity, x, title=title), path, comparison.result)


def figure(comparison: Record, quantity: str | None = None, x: str | None = None, *, title: bool = True) -> Any:
    """What `plot` draws, as a matplotlib figure that shows itself in a notebook."""
    require_matplotlib()
    plots = importlib.import_module("bridge.export.plots")
    return plots.shows_itself(plots.draw(comparison, quantity, x, title=title))


def plot_steps(comparison: Record, path: str | Path, quantity: str | None = None, *, title: bool = True) -> None:
    """Draws what each step of the proof of a quantity (by default the final one) loses. PNG, SVG or PDF."""
    plots = _plots(path)
    plots.write_figure(plots.draw_steps(comparison, quantity, title=title), path, comparison.result)


def _plots(path: str | Path) -> Any:
    """What draws plots; loading it takes a second, which tables need not wait for."""
    check_suffix(path, PLOTS)
    return importlib.import_module("bridge.export.plots")
