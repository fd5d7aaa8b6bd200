"""Theorems in Python files of the user's own: `own.py`, or `own.py:NAME` where a file holds several.

The file is the user's program and runs when the user names it; no path that a record or a witness names is imported.
Nothing here imports torch before a file is read.
"""

import hashlib
import importlib.util
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from bridge.limits.files import files_read_in, read_bytes, require_file
from symbolic.words.errors import UsageError

if TYPE_CHECKING:
    import bridge.theorems.theorem

OURS = ("boundsmith", "bridge", "numeric", "symbolic")
PURPOSE = "theorem"


class OwnFileError(Exception):
    """The user's file raised while it was read; `__cause__` is what it raised."""


def is_file(source: str) -> bool:
    """Whether this is a Python file rather than an id."""
    return split_name(source)[0].endswith(".py")


def split_name(source: str) -> tuple[str, str]:
    """The path, and the name behind a colon or ""."""
    path, colon, name = source.rpartition(":")
    return (path, name) if colon and path.endswith(".py") else (source, "")


def check_file(source: str) -> None:
    """Raises UsageError for a file that cannot be read."""
    require_file(split_name(source)[0], PURPOSE)


def read_theorem(source: str) -> "bridge.theorems.theorem.Theorem":
    """The theorem in that file, with the hash of the file, of the modules beside it and of the data that it reads.

    Raises UsageError for a file that is missing, that holds no theorem, or several of which none is named.
    """
    from bridge.theorems.theorem import Theorem

    path, name = split_name(source)
    module, sha256 = _module(Path(path))
    found = {key: value for key, value in vars(module).items() if isinstance(value, Theorem)}
    distinct = {id(value): value for value in found.values()}
    if name:
        if name not in found:
            raise UsageError(f"'{path}' has no theorem '{name}'. {_has(found)}")
        return replace(found[name], sha256=sha256)
    if len(distinct) > 1:
        raise UsageError(
            f"'{path}' holds several theorems: {', '.join(found)}; name one, as in {path}:{next(iter(found))}"
        )
    if not distinct:
        raise UsageError(f"'{path}' holds no theorem; assign one to a name of the module, `own = bs.theorem(...)`")
    return replace(next(iter(distinct.values())), sha256=sha256)


def _has(found: Iterable[str]) -> str:
    return f"It has: {', '.join(found)}." if found else "It holds no theorem."


def _module(path: Path) -> tuple[ModuleType, str]:
    """The module that the file gives when it runs, and the hash of what ran."""
    text = read_bytes(str(path), PURPOSE)
    spec = importlib.util.spec_from_loader(f"boundsmith_own_{path.stem}", loader=None, origin=str(path))
    assert spec is not None  # without a loader there always is one
    module = importlib.util.module_from_spec(spec)
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # dataclasses and pickles in the file look their module up
    folder = path.resolve().parent
    with _beside(folder) as imported, files_read_in(folder) as data:
        try:
            with redirect_stdout(sys.stderr):  # standard output is the command's: a table, JSON, LaTeX
                exec(compile(text, str(path), "exec"), vars(module))
        except (Exception, SystemExit) as error:
            raise OwnFileError(str(path)) from error
    parts = [text, *(each.read_bytes() for each in sorted({*imported, *data}))]
    return module, hashlib.sha256(b"".join(parts)).hexdigest()


@contextmanager
def _beside(folder: Path) -> Iterator[list[Path]]:
    """Inside, modules of that folder can be imported; afterwards the list holds the files of those that were.

    They are imported afresh and forgotten afterwards, so that two folders may each have a module of one name.
    """
    files: list[Path] = []
    path, before = list(sys.path), _modules_of(folder)
    for name in before:
        del sys.modules[name]
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield files
    finally:
        sys.path[:] = path
        imported = _modules_of(folder)
        for name in imported:
            del sys.modules[name]
        sys.modules.update(before)
        files += sorted(Path(file) for each in imported.values() if (file := each.__file__))


def _modules_of(folder: Path) -> dict[str, ModuleType]:
    """The imported modules and packages that lie in the folder itself, with their parts; none of ours."""
    tops = {name.partition(".")[0] for name in sys.modules}
    here = {top for top in tops if _lies_in(folder, top)}
    return {name: each for name, each in sys.modules.items() if name.partition(".")[0] in here}


def _lies_in(folder: Path, top: str) -> bool:
    file = getattr(sys.modules.get(top), "__file__", None)
    if top in OURS or file is None:
        return False
    return Path(file).resolve() in (folder / f"{top}.py", folder / top / "__init__.py")
