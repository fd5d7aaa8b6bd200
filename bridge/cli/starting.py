"""`boundsmith new`: a file with a theorem to start from, which runs as it is."""

from importlib.resources import files
from pathlib import Path

from bridge.cli.terminal import show
from bridge.export.written_files import write_text
from symbolic.words.errors import UsageError


def template() -> str:
    return files("bridge.cli").joinpath("templates", "own_theorem.py").read_text("utf-8")


def run_new(path: Path) -> None:
    """Raises UsageError for a file that is there already, and for a name that no command would take for a file."""
    if path.suffix != ".py":
        raise UsageError(f"new: '{path}' does not end in .py, so no command would take it for a file.")
    if path.exists() or path.is_symlink():
        raise UsageError(f"new: '{path}' exists and is not overwritten; choose another name.")
    write_text(path, template())
    show(f"written: {path}; `boundsmith compare {path}` runs it")
