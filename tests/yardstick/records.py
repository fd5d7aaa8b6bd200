"""The stored records: what `compare` says of each result at its defaults, without what depends on the machine."""

import json
from pathlib import Path
from typing import Any

from bridge.export.comparison import Comparison
from bridge.export.written_files import write_text

RECORDS = Path(__file__).parent / "records"
SETTINGS = ("dtype", "seed", "samples", "attack", "restarts", "inputs")  # of the environment; the rest is the machine
EXPANDED = 3  # levels: the record, its lists, the fields of a row


def path_of(id: str, folder: Path = RECORDS) -> Path:
    return folder / f"{id}.json"


def stored(id: str, folder: Path = RECORDS) -> Comparison:
    return Comparison.model_validate_json(path_of(id, folder).read_text())


def store(record: Comparison, folder: Path = RECORDS) -> None:
    """Written aside, then renamed: a run that is interrupted leaves whole records."""
    write_text(path_of(record.result, folder), text_of(record))


def as_stored(record: Comparison) -> Comparison:
    """The record as reading it back gives it."""
    return Comparison.model_validate_json(text_of(record))


def text_of(record: Comparison) -> str:
    """JSON with a line for each field of a row, without fields at their defaults."""
    content = json.loads(record.model_dump_json(exclude_defaults=True))
    content["environment"] = {name: content["environment"][name] for name in SETTINGS}
    return _layout(content) + "\n"


def _layout(value: Any, level: int = 0) -> str:
    if level == EXPANDED or not value or not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    if isinstance(value, dict):
        parts = [f"{json.dumps(name, ensure_ascii=False)}: {_layout(each, level + 1)}" for name, each in value.items()]
    else:
        parts = [_layout(each, level + 1) for each in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    inner = ",\n".join(" " * (level + 1) + part for part in parts)
    return f"{opening}\n{inner}\n{' ' * level}{closing}"
