"""A comparison as a file: LaTeX, JSON, CSV, PNG or SVG, chosen by the suffix; and read back from JSON."""

from pathlib import Path

from bridge.export.files import check_folder, check_writable, write_bytes, write_text
from bridge.export.html import comparison_html
from bridge.export.latex import comparison_latex
from bridge.export.tables import comparison_csv, load, save_witnesses
from bridge.export.violations import Reason, Violation, reasons, violations
from bridge.record import Comparison
from symbolic.statements import UsageError

TABLES = (".tex", ".json", ".csv")
PLOTS = (".png", ".svg")


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


def plot(comparison: Comparison, path: str | Path, quantity: str | None = None, x: str | None = None) -> None:
    """Draws one quantity (by default the final one) against one parameter (by default the finest grid), PNG or SVG."""
    check_suffix(path, PLOTS)
    require_matplotlib()
    from bridge.export.plots import write_plot

    write_plot(comparison, path, quantity, x)


def require_matplotlib() -> None:
    """Raises UsageError, with the command that helps, where matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401 - only whether it is there
    except ImportError as error:
        raise UsageError("plots need matplotlib, which is not installed: pip install 'boundsmith[plots]'.") from error


def check_suffix(path: str | Path, allowed: tuple[str, ...] = (*TABLES, *PLOTS)) -> str:
    """The path's suffix in lower case. Raises UsageError unless it is one of `allowed`."""
    suffix = Path(path).suffix.lower()
    if suffix not in allowed:
        raise UsageError(f"cannot tell the format of '{path}' from its suffix; use one of {', '.join(allowed)}.")
    return suffix


def check_output(path: str | Path, allowed: tuple[str, ...] = (*TABLES, *PLOTS)) -> None:
    """Raises UsageError if `export` to `path` is bound to fail: to be called before a long run."""
    if check_suffix(path, allowed) in PLOTS:
        require_matplotlib()
    check_writable(path)


__all__ = [
    "PLOTS",
    "TABLES",
    "Violation",
    "Reason",
    "check_folder",
    "check_output",
    "check_suffix",
    "check_writable",
    "comparison_csv",
    "comparison_html",
    "comparison_latex",
    "export",
    "violations",
    "load",
    "plot",
    "reasons",
    "require_matplotlib",
    "save_witnesses",
    "write_bytes",
    "write_text",
]
