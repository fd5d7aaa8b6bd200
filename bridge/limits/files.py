"""Files that the user names, that come with a theorem, or that a program opens while it runs.

Each failure to read one is a message of one sentence.
"""

import hashlib
import json
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from symbolic.words.errors import UsageError

MOST_BYTES, CHUNK = 256 << 20, 1 << 20
LIBRARIES = ("__pycache__", "site-packages")
CODE = (".py", ".pyc")
ROOT = Path(__file__).resolve().parents[2]
OURS = [ROOT / name for name in ("bridge", "numeric", "symbolic")]


def read_bytes(path: str, purpose: str, most: int = MOST_BYTES) -> bytes:
    """The content of a regular file of at most `most` bytes. Raises UsageError that states its `purpose`.

    A device or a pipe is refused before it is opened: some never end, and opening a pipe waits for a writer.
    """
    with _opened(path, purpose, most) as file:
        return _read(file.read, path, purpose, most)


def require_file(path: str, purpose: str, most: int = MOST_BYTES) -> None:
    """Raises UsageError for a file that `read_bytes` would refuse; reads nothing."""
    with _opened(path, purpose, most):
        pass


@contextmanager
def _opened(path: str, purpose: str, most: int) -> Iterator[BinaryIO]:
    if "\0" in path:
        raise UsageError(f"{purpose}: {path!r} is not a path")
    try:
        _require_file(os.stat(path), path, purpose, most)
        with open(path, "rb", opener=_without_waiting) as file:
            _require_file(os.fstat(file.fileno()), path, purpose, most)
            yield file
    except FileNotFoundError:
        raise UsageError(f"{purpose}: there is no file '{path}'") from None
    except IsADirectoryError:
        raise UsageError(f"{purpose}: '{path}' is a folder; name a file") from None
    except OSError as error:
        raise UsageError(f"{purpose}: cannot read '{path}' ({error.strerror})") from None


def _without_waiting(path: str, flags: int) -> int:
    """Opens without waiting: the path may have become a pipe since the check."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _require_file(found: os.stat_result, path: str, purpose: str, most: int) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError
    if not stat.S_ISREG(found.st_mode):
        raise UsageError(f"{purpose}: '{path}' is a device or a pipe; name a regular file")
    if found.st_size > most:
        raise UsageError(f"{purpose}: '{path}' has {found.st_size} bytes; at most {most} are read")


def _read(read: Callable[[int], bytes], path: str, purpose: str, most: int) -> bytes:
    """The content up to the limit, also of a file that grows or has no known size."""
    chunks = iter(lambda: read(CHUNK), b"")
    content = b"".join(islice(chunks, most // CHUNK + 1))
    if len(content) > most:
        raise UsageError(f"{purpose}: '{path}' has more than {most} bytes, the limit")
    return content


def read_text(path: str, purpose: str) -> str:
    """The content of a UTF-8 text file. Raises UsageError."""
    try:
        return read_bytes(path, purpose).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{purpose}: '{path}' is not a UTF-8 text file") from None


def read_json(path: str, purpose: str) -> Any:
    """What a JSON file holds. Raises UsageError, for one that is nested too deeply too."""
    text = read_text(path, purpose)
    try:
        return json.loads(text)
    except RecursionError:
        raise UsageError(f"{purpose}: '{path}' is nested too deeply") from None
    except ValueError as error:
        raise UsageError(f"{purpose}: '{path}' cannot be read as JSON ({str(error)[:200]})") from None


def digests(texts: Iterable[str]) -> dict[str, str]:
    """The SHA-256 of each file that one of the texts names; a text that names none is left out."""
    named = [text for text in dict.fromkeys(texts) if "\0" not in text and os.path.isfile(text)]
    return {text: hashlib.sha256(read_bytes(text, "file")).hexdigest() for text in named}


@dataclass(frozen=True)
class ShippedFiles:
    """The files of a folder that end in one of `suffixes`: they come with a theorem, and have names without suffix.

    Raises UsageError for suffixes that are not a tuple of such as ".txt", and, when names are asked for, for a folder
    that cannot be read.
    """

    folder: Path
    suffixes: tuple[str, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.folder, str | os.PathLike):
            raise UsageError(f"ShippedFiles: folder = {self.folder!r:.80}; give a path")
        given = self.suffixes if isinstance(self.suffixes, tuple | list) else ()
        if not given or not all(isinstance(each, str) and Path(f"a{each}").suffix == each != "" for each in given):
            raise UsageError(f'ShippedFiles: suffixes = {self.suffixes!r:.80}; give a tuple, such as (".txt",)')
        object.__setattr__(self, "folder", Path(self.folder))
        object.__setattr__(self, "suffixes", tuple(given))

    def names(self) -> tuple[str, ...]:
        try:
            return tuple(sorted(path.stem for path in self.folder.iterdir() if path.suffix in self.suffixes))
        except OSError as error:
            raise UsageError(f"ShippedFiles: cannot read the folder '{self.folder}' ({error.strerror})") from None

    def path(self, name: str) -> str | None:
        """Of the file with that name; None where it is not a name of one (a path, say)."""
        if name not in self.names():
            return None
        paths = (self.folder / f"{name}{suffix}" for suffix in self.suffixes)
        return next(str(path) for path in paths if path.is_file())


_reads: ContextVar[list[str] | None] = ContextVar("_reads", default=None)
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
    token = _reads.set(opened)
    try:
        yield files
    finally:
        _reads.reset(token)
        real = {Path(os.path.realpath(path)) for path in opened}
        files += sorted(path for path in real if os.path.isfile(path) and _is_data(path, folder.resolve()))


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    """Called at every event of the interpreter: it must be quick, and what it raises the program would see."""
    if event != "open" or (opened := _reads.get()) is None:
        return
    path, flags = arguments[0], arguments[-1]
    if isinstance(path, str | bytes) and isinstance(flags, int) and not flags & (os.O_WRONLY | os.O_RDWR):
        opened.append(os.path.abspath(os.fsdecode(path)))


def _is_data(path: Path, folder: Path) -> bool:
    if not path.is_relative_to(folder) or path.suffix in CODE or any(map(path.is_relative_to, OURS)):
        return False
    folders = path.relative_to(folder).parts[:-1]
    return not any(part in LIBRARIES or part.startswith(".") for part in folders)
