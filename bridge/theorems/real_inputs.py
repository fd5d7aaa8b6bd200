"""What the options `--data`, `--csv` and `--text` name."""

from dataclasses import dataclass
from typing import ClassVar

from bridge.limits.files import read_bytes
from bridge.theorems.data import Table


@dataclass(frozen=True)
class TextFile:
    """The content of a file; `source` is its path."""

    refused: ClassVar[str] = "takes no --text"

    content: bytes
    source: str

    @classmethod
    def at(cls, path: str) -> "TextFile":
        """Raises UsageError for what is not a file that can be read."""
        return cls(read_bytes(path, "--text"), path)


Material = Table | TextFile
