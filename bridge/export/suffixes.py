"""The formats of a comparison, by the suffix of the file; checked without loading what writes them."""

import importlib.util
from pathlib import Path

from bridge.export.written_files import check_writable
from symbolic.words.errors import UsageError

TABLES = (".tex", ".md", ".html", ".json", ".csv")
PLOTS = (".png", ".svg", ".pdf")


def require_matplotlib() -> None:
    """Raises UsageError, with the command that helps, where matplotlib is not installed."""
    if importlib.util.find_spec("matplotlib") is None:
        raise UsageError("plots need matplotlib, which is not installed: pip install 'boundsmith[plots]'.")


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
