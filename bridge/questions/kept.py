"""Finished parts of a long run, kept in a folder, so that a run that was stopped goes on where it was.

A folder belongs to one call: `call.json` says which, `parts` holds a file for each part that is done. A file is written
aside and moved into place, so each is whole. The lock is the system's: it goes with the process that holds it, killed
or not.
"""

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import filelock

from bridge.export.written_files import check_folder, write_text
from bridge.limits.files import read_json, read_text
from symbolic.words.errors import UsageError

CALL, LOCK, PARTS = "call.json", "lock", "parts"
OURS = (LOCK, PARTS, JOBS := "jobs", RECORD := "record.json")
PURPOSE = "finished parts"
SHOWN, MOST = 80, 5  # letters of a value, and differences, that a message shows


@dataclass(frozen=True)
class KeptParts:
    """The parts in a folder: texts by name."""

    folder: Path

    def names(self) -> list[str]:
        return sorted(path.stem for path in self._parts.glob("*.json"))

    def read(self, name: str) -> str | None:
        """None where the part is not there. Raises UsageError for a file that cannot be read."""
        path = self._parts / f"{name}.json"
        return read_text(str(path), PURPOSE) if path.is_file() else None

    def keep(self, name: str, text: str) -> None:
        """Raises UsageError where the folder takes no more."""
        write_text(self._parts / f"{name}.json", text)

    def drop(self, name: str) -> None:
        (self._parts / f"{name}.json").unlink(missing_ok=True)

    def remove(self) -> None:
        """All that a call keeps, and the folder if it holds nothing else."""
        for path in (*self._parts.glob("*.json"), self.folder / CALL, self.folder / LOCK):
            path.unlink(missing_ok=True)
        for folder in (self._parts, self.folder):
            with contextlib.suppress(OSError):
                folder.rmdir()

    @property
    def _parts(self) -> Path:
        return self.folder / PARTS


@contextlib.contextmanager
def kept_in(
    folder: str | os.PathLike[str], identity: Mapping[str, Any], asked: str, typed: Any = None
) -> Iterator[KeptParts]:
    """The parts of this call in the folder, which is made, and locked meanwhile; gone again if none was kept.

    `identity` is all that the parts depend on, as JSON; `typed` is kept beside it, for `typed_in`. Raises UsageError,
    with `asked` first, for a folder with parts of another call, saying what differs, for one that holds anything else,
    and for one in which another process is at work.
    """
    check_folder(folder)
    path, here = Path(folder), json.loads(json.dumps(identity, default=repr))
    require_own(path, asked)
    (path / PARTS).mkdir(parents=True, exist_ok=True)
    with locked(path, asked):
        parts = KeptParts(path)
        if parts.names():
            _require_same(path, here, asked)
        write_text(path / CALL, json.dumps({"call": here, "typed": typed}, indent=2))
        try:
            yield parts
        finally:
            if not parts.names():
                parts.remove()


def require_own(folder: Path, asked: str) -> None:
    """Raises UsageError for a folder that is there and was not made by `kept_in`."""
    if folder.is_dir() and not (folder / CALL).exists():
        others = sorted(path.name for path in folder.iterdir() if path.name not in OURS)
        if others:
            raise UsageError(f"{asked}: '{folder}' holds other files ({others[0]}); choose a new or an empty folder.")


def is_kept(folder: Path) -> bool:
    """Whether there are parts of a call that was stopped."""
    return (folder / CALL).is_file() and bool(KeptParts(folder).names())


def typed_in(folder: Path) -> Any:
    """What the call that the folder belongs to was given as `typed`. Raises UsageError for a folder of none."""
    return _call_in(folder)["typed"]


def _call_in(folder: Path) -> Any:
    found = read_json(str(folder / CALL), PURPOSE)
    if not (isinstance(found, dict) and {"call", "typed"} <= found.keys()):
        raise UsageError(f"{PURPOSE}: '{folder / CALL}' is not one that boundsmith wrote.")
    return found


@contextlib.contextmanager
def locked(folder: Path, asked: str) -> Iterator[None]:
    """The folder, which is there, for this process alone. Raises UsageError while another is at work in it."""
    lock = filelock.FileLock(folder / LOCK)
    try:
        lock.acquire(blocking=False)
    except filelock.Timeout:
        raise UsageError(
            f"{asked}: another process is at work in '{folder}'; wait for it, stop it, or choose another folder."
        ) from None
    try:
        yield
    finally:
        lock.release()


def _require_same(folder: Path, here: Any, asked: str) -> None:
    different = list(differences(_call_in(folder)["call"], here))
    if different:
        more = f"; and {len(different) - MOST} more" if len(different) > MOST else ""
        raise UsageError(
            f"{asked}: '{folder}' belongs to another call: {'; '.join(different[:MOST])}{more}. Choose another folder, "
            f"or remove this one to begin again."
        )


def differences(there: Any, here: Any, name: str = "") -> Iterator[str]:
    """Where two records of JSON differ, one a phrase."""
    if isinstance(there, dict) and isinstance(here, dict):
        for key in dict.fromkeys([*there, *here]):
            yield from differences(there.get(key), here.get(key), f"{name}.{key}" if name else key)
    elif there != here:
        yield f"{name} is {_short(there)} there and {_short(here)} here"


def _short(value: Any) -> str:
    words = "nothing" if value is None else json.dumps(value, ensure_ascii=False)
    return words if len(words) <= SHOWN else f"{words[: SHOWN - 3]}..."
