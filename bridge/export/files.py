"""Files written whole or not at all, and paths checked before a long run."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from symbolic.statements import UsageError


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Writes `text` as UTF-8. Raises UsageError, and leaves what was there, if the path cannot be written."""
    write_bytes(path, text.encode())


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Writes `content` aside, in the same folder, then moves it into place: a reader never sees half a file.

    What is there and is no regular file (a terminal, a pipe, /dev/null) is written to and never replaced.
    """
    target = _real(path)
    with _refusals(path):
        if _is_device(target):
            target.write_bytes(content)
            return
        with _aside(target) as aside:
            aside.write_bytes(content)
            if target.exists():
                aside.chmod(target.stat().st_mode & 0o7777)
            aside.replace(target)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raises UsageError if `path` cannot be written. It really makes a file beside it: permissions alone can lie."""
    target = _real(path)
    with _refusals(path):
        if not _is_device(target):
            with _aside(target):
                pass


def check_folder(path: str | os.PathLike[str]) -> None:
    """Raises UsageError unless `path` is a folder to write in, or can be made one."""
    folder = _real(path)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"'{path}' is a file where a folder is wanted; choose another path.")
    check_writable(folder / "witness" if folder.exists() else folder)


def _real(path: str | os.PathLike[str]) -> Path:
    """The path with links followed, so that a link is written through and not replaced."""
    return Path(os.path.realpath(path))


def _is_device(target: Path) -> bool:
    return target.exists() and not target.is_file() and not target.is_dir()


@contextlib.contextmanager
def _aside(target: Path) -> Iterator[Path]:
    """A new empty file beside the target, gone afterwards unless it was moved. Refuses a target not to be replaced."""
    if target.is_dir():
        raise IsADirectoryError(None, "it is a folder")
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(None, "the file there is write-protected")
    aside = target.with_name(f".{target.name}.{os.getpid()}.part")
    aside.open("xb").close()
    try:
        yield aside
    finally:
        aside.unlink(missing_ok=True)


@contextlib.contextmanager
def _refusals(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turns the system's refusal to write `path` into one sentence."""
    try:
        yield
    except FileNotFoundError as error:
        folder = _real(path).parent
        if folder.is_dir():  # one that no file can be made in, such as /proc
            raise UsageError(f"cannot write '{path}': '{folder}' takes no new files; choose another path.") from error
        raise UsageError(f"cannot write '{path}': there is no folder '{folder}'; make it first.") from error
    except OSError as error:
        raise UsageError(f"cannot write '{path}': {error.strerror or error}; choose another path.") from error
