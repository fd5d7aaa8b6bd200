"""Files written whole or not at all, and paths checked before a long run."""

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from symbolic.words.errors import UsageError

# What a file system answers that has no files without a name. (An old kernel reads the flag as that of a folder.)
WITHOUT_NAMELESS = (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOSYS)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Writes `text` as UTF-8. Raises UsageError, and leaves what was there, if the path cannot be written."""
    write_bytes(path, text.encode())


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Writes `content` aside, in the same folder, then moves it into place: a reader never sees half a file.

    What is there and is not a regular file (a terminal, a pipe, /dev/null) is written to and never replaced.
    """
    target = _real(path)
    with _refusals(path):
        if _is_device(target):
            target.write_bytes(content)
            return
        _require_replaceable(target)
        aside = _named(target, content)
        try:
            if target.exists():
                aside.chmod(target.stat().st_mode & 0o7777)
            aside.replace(target)
        finally:
            aside.unlink(missing_ok=True)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raises UsageError if `path` cannot be written. It really makes a file beside it: permissions alone can lie."""
    target = _real(path)
    with _refusals(path):
        if not _is_device(target):
            _require_replaceable(target)
            _named(target, b"").unlink()


def check_folder(path: str | os.PathLike[str]) -> None:
    """Raises UsageError unless `path` is a folder to write in, or can be made one."""
    folder = _real(path)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"'{path}' is a file where a folder is wanted; choose another path.")
    check_writable(folder / "witness" if folder.exists() else folder)


def _real(path: str | os.PathLike[str]) -> Path:
    """The path with links followed, so that a link is written through and not replaced."""
    if "\0" in os.fspath(path):
        raise UsageError(f"cannot write {os.fspath(path)!r}: it is not a path; choose another.")
    return Path(os.path.realpath(path))


def _is_device(target: Path) -> bool:
    return target.exists() and not target.is_file() and not target.is_dir()


def _require_replaceable(target: Path) -> None:
    if target.is_dir():
        raise IsADirectoryError(None, "it is a folder")
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(None, "the file there is write-protected")


def _named(target: Path, content: bytes) -> Path:
    """A new file beside the target that holds all of `content`, under a name of its own.

    Where the system has files without a name, it gets the name once it is whole: a process that is killed before
    leaves nothing behind.
    """
    aside = target.with_name(f".{secrets.token_hex(8)}.part")
    nameless = _nameless(target.parent)
    if nameless is not None:
        with os.fdopen(nameless, "wb") as file:
            _fill(file, content)
            with contextlib.suppress(OSError):  # without /proc, or in a folder that takes no links
                os.link(f"/proc/self/fd/{nameless}", aside, follow_symlinks=True)
                return aside
    try:
        with aside.open("xb") as file:
            _fill(file, content)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    return aside


def _nameless(folder: Path) -> int | None:
    """A new file in the folder that has no name yet; None where the system has no such files."""
    flag = getattr(os, "O_TMPFILE", None)
    if flag is None:
        return None
    try:
        return os.open(folder, flag | os.O_WRONLY, 0o666)
    except OSError as error:
        if error.errno not in WITHOUT_NAMELESS:
            raise
        return None


def _fill(file: BinaryIO, content: bytes) -> None:
    """All of `content` on the disk, or an OSError: a full one may say so only when the file is synchronised."""
    file.write(content)
    file.flush()
    os.fsync(file.fileno())


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
