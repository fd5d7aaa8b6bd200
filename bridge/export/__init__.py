"""A comparison as a file, in the format that the suffix names; and read back from JSON.

Each name is imported on first use, so that checking a path does not wait for what writes the file.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bridge.export.comparison import load
    from bridge.export.html import comparison_html
    from bridge.export.latex_tables import comparison_latex
    from bridge.export.markdown import comparison_markdown
    from bridge.export.suffixes import PLOTS, TABLES, check_output, check_suffix, require_matplotlib
    from bridge.export.tables import comparison_csv, save_witnesses
    from bridge.export.violations import Reason, Violation, reasons
    from bridge.export.writing import export, plot, plot_steps
    from bridge.export.written_files import check_folder, check_writable, write_bytes, write_text

_HOMES = {
    "files": ("check_folder", "check_writable", "write_bytes", "write_text"),
    "html": ("comparison_html",),
    "latex_tables": ("comparison_latex",),
    "markdown": ("comparison_markdown",),
    "suffixes": ("PLOTS", "TABLES", "check_output", "check_suffix", "require_matplotlib"),
    "comparison": ("load",),
    "tables": ("comparison_csv", "save_witnesses"),
    "violations": ("Reason", "Violation", "reasons"),
    "writing": ("export", "plot", "plot_steps"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

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
    "comparison_markdown",
    "export",
    "load",
    "plot",
    "plot_steps",
    "reasons",
    "require_matplotlib",
    "save_witnesses",
    "write_bytes",
    "write_text",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'bridge.export' has no attribute {name!r}")
    return getattr(importlib.import_module(f"bridge.export.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
