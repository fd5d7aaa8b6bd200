"""The data files that a program opens while it runs: what else a theorem is made of beside its modules."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

LIBRARIES = ("__pycache__", "site-packages")
CODE = (".py", ".pyc")
ROOT = Path(__file__).resolve().parents[2]
OURS = [ROOT / name for name in ("bridge", "numeric", "symbolic")]

_opened: ContextVar[list[str] | None] = ContextVar("_opened", default=None)
_hooked: list[bool] = []  # an audit hook can be added once and never removed


@contextmanager
def files_read_in(folder: Path) -> Iterator[list[Path]]:
    """Afterwards the list holds the data files of the folder that Python opened for reading inside.

    Code is left out, and so are hidden folders, libraries, and files that are gone. What a thread opens, or a library
    without Python's `open`, is not seen.
    """
    if not _hooked:
        sys.addaudithook(_note)
        _hooked.append(True)
    opened: list[str] = []
    files: list[Path] = []
    token = _opened.set(opened)
    try:
        yield files
    finally:
        _opened.reset(token)
        real = {Path(os.path.realpath(path)) for path in opened}
        files += sorted(path for path in real if os.path.isfile(path) and _is_data(path, folder.resolve()))


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    """Called at every event of the interpreter: it must be quick, and what it raises the program would see."""
    if event != "open" or (opened := _opened.get()) is None:
        return
    path, flags = arguments[0], arguments[-1]
    if isinstance(path, str | bytes) and isinstance(flags, int) and not flags & (os.O_WRONLY | os.O_RDWR):
        opened.append(os.path.abspath(os.fsdecode(path)))


def _is_data(path: Path, folder: Path) -> bool:
    if not path.is_relative_to(folder) or path.suffix in CODE or any(map(path.is_relative_to, OURS)):
        return False
    folders = path.relative_to(folder).parts[:-1]
    return not any(part in LIBRARIES or part.startswith(".") for part in folders)
