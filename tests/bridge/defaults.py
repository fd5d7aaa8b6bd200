"""Comparisons at the defaults, each run once for all tests that look at it, whichever process they are in."""

import json
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bridge import compare
from bridge.export.files import write_text
from bridge.record import Comparison

SHARED: dict[str, Path] = {}  # "folder": where all processes of one run of the tests find the records; set by a fixture


@dataclass(frozen=True)
class Run:
    comparison: Comparison
    seconds: float  # of the process that ran it, whatever else the machine did


@cache
def default_run(id: str, **settings: int) -> Run:
    path = SHARED["folder"] / f"{id} {json.dumps(settings, sort_keys=True)}.json"
    if path.exists():
        seconds, record = path.read_text().split("\n", 1)
        return Run(Comparison.model_validate_json(record), float(seconds))
    started = time.process_time()
    comparison = compare(id, **settings)
    seconds = time.process_time() - started
    write_text(path, f"{seconds}\n{comparison.to_json()}")
    return Run(comparison, seconds)
