"""Comparisons at the defaults, each run once for all tests that look at it, whichever process they are in."""

import json
from functools import cache
from pathlib import Path

from bridge.export.comparison import Comparison
from bridge.export.written_files import write_text
from bridge.questions.compare import compare

SHARED: dict[str, Path] = {}  # "folder": where all processes of one run of the tests find the records; set by a fixture


@cache
def default_run(id: str, **settings: int) -> Comparison:
    path = SHARED["folder"] / f"{id} {json.dumps(settings, sort_keys=True)}.json"
    if path.exists():
        return Comparison.model_validate_json(path.read_text())
    comparison = compare(id, **settings)
    write_text(path, comparison.to_json())
    return comparison
