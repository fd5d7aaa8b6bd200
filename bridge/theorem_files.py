"""Theorems in Python files of the user's own: `own.py`, or `own.py:NAME` where a file holds several.

The file is the user's program and runs when the user names it; no path that a record or a witness names is imported.
"""

import hashlib
import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from bridge.theorem import Theorem
from symbolic.statements import UsageError


class OwnFileError(Exception):
    """The user's file raised while it was read; `__cause__` is what it raised."""


def is_file(source: str) -> bool:
    """Whether this is a Python file rather than an id."""
    return _split(source)[0].endswith(".py")


def read_theorem(source: str) -> Theorem:
    """The theorem in that file, with the file's hash.

    Raises UsageError for a file that is missing, that holds no theorem, or several of which none is named.
    """
    path, name = _split(source)
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


def _has(found: dict[str, Theorem]) -> str:
    return f"It has: {', '.join(found)}." if found else "It holds no theorem."


def _split(source: str) -> tuple[str, str]:
    path, colon, name = source.rpartition(":")
    return (path, name) if colon and path.endswith(".py") else (source, "")


def _module(path: Path) -> tuple[ModuleType, str]:
    """The module that the file gives when it runs, and the hash of what ran."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise UsageError(f"'{path}': {error.strerror or 'it cannot be read'}; give a Python file, or an id") from None
    spec = importlib.util.spec_from_loader(f"boundsmith_own_{path.stem}", loader=None, origin=str(path))
    assert spec is not None  # without a loader there always is one
    module = importlib.util.module_from_spec(spec)
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # dataclasses and pickles in the file look their module up
    try:
        exec(compile(text, str(path), "exec"), vars(module))
    except (Exception, SystemExit) as error:
        raise OwnFileError(str(path)) from error
    return module, hashlib.sha256(text).hexdigest()
