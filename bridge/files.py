"""Reading what the user names: each failure is one sentence."""

from pathlib import Path

from symbolic.statements import UsageError


def read_bytes(path: str, purpose: str) -> bytes:
    """The content of a file. Raises UsageError that says what it was wanted for."""
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise UsageError(f"{purpose}: there is no file '{path}'") from None
    except IsADirectoryError:
        raise UsageError(f"{purpose}: '{path}' is a folder; name a file") from None
    except OSError as error:
        raise UsageError(f"{purpose}: cannot read '{path}' ({error.strerror})") from None


def read_text(path: str, purpose: str) -> str:
    """The content of a UTF-8 text file. Raises UsageError."""
    try:
        return read_bytes(path, purpose).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{purpose}: '{path}' is not a UTF-8 text file") from None
