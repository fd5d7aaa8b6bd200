"""Comparisons at the defaults, each run once for all tests of a process that look at it; nobody changes them."""

import time
from dataclasses import dataclass
from functools import cache

from bridge import compare
from bridge.record import Comparison


@dataclass(frozen=True)
class Run:
    comparison: Comparison
    seconds: float  # of this process, whatever else the machine does


@cache
def default_run(id: str, **settings: int) -> Run:
    started = time.process_time()
    comparison = compare(id, **settings)
    return Run(comparison, time.process_time() - started)
