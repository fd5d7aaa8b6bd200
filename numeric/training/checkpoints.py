"""The state of a training as one safetensors file: its tensors, and JSON about them in the metadata of its header.

The metadata have two entries: `training`, JSON of our own, and `sha256`, over it and over the file without metadata, so
that a file that was changed is refused.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from numeric.training.errors import TrainingError, require

FORMAT = 1
LENGTH = 8  # bytes in front of the header, which say how long it is


@dataclass(frozen=True)
class Checkpoint:
    """Tensors by name, and what else is known of the training: its settings, step, seconds."""

    tensors: Mapping[str, Tensor]
    facts: Mapping[str, Any]

    def to_bytes(self) -> bytes:
        """The file. Numbers are kept bit by bit."""
        training = json.dumps({"format": FORMAT, **self.facts}, sort_keys=True)
        tensors = {name: each.detach().cpu().contiguous() for name, each in self.tensors.items()}
        metadata = {"training": training, "sha256": _digest(training, tensors)}
        content: bytes = _safetensors().save(tensors, metadata)
        return content

    @classmethod
    def from_bytes(cls, content: bytes, name: str) -> "Checkpoint":
        """Raises TrainingError, which names the file, for what is none, cut off, changed or of another format."""
        try:
            tensors: dict[str, Tensor] = _safetensors().load(content)
            header = json.loads(content[LENGTH : LENGTH + int.from_bytes(content[:LENGTH], "little")])
        except Exception as error:
            if type(error).__name__ not in ("SafetensorError", "JSONDecodeError", "UnicodeDecodeError"):
                raise
            raise TrainingError(f"'{name}' is cut off, or no safetensors file; take a copy that is whole") from None
        metadata = header.get("__metadata__", {})
        ours = {"training", "sha256"} <= metadata.keys()
        require(ours, f"'{name}' is no checkpoint of a training", "name one that `boundsmith train` wrote")
        whole = _digest(metadata["training"], tensors) == metadata["sha256"]
        require(whole, f"'{name}' was changed after it was written", "take a copy that is whole")
        facts = json.loads(metadata["training"])
        version = facts.pop("format")
        require(version == FORMAT, f"'{name}' has format {version}", f"this version reads format {FORMAT}")
        return cls(tensors, facts)


def _safetensors() -> Any:
    try:
        import safetensors.torch
    except ImportError:
        missing = "checkpoints need safetensors, which is not installed: pip install 'boundsmith[train]'"
        raise TrainingError(missing) from None
    return safetensors.torch


def _digest(training: str, tensors: Mapping[str, Tensor]) -> str:
    return hashlib.sha256(training.encode() + b"\0" + _safetensors().save(dict(tensors))).hexdigest()
