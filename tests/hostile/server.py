"""Runs calls of `boundsmith`, each in a process of its own, without an import for each: this process imports everything
once and forks.

    python -m tests.hostile.server

reads one JSON object per line, {"arguments": [...], "folder": PATH, ...}, and answers with one: what the call printed,
its exit code, its peak memory and what it took. See `Asked` and `Answer`.
"""

import contextlib
import gc
import json
import os
import resource
import signal
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

GUARD = 600  # seconds until a call counts as hanging, on any machine
MEBIBYTE = 2**20
MOST_DATA = 3 << 30  # bytes that a process may ask for: beyond it the call fails, and not the machine


@dataclass(frozen=True)
class Asked:
    """One call: `interrupt` sends Ctrl-C, `kill` SIGKILL so many seconds after the start; `guard` ends it in any case.

    `output` is where its standard output goes: "file", or "closed", or "full" (a device without room). `room` limits
    the size of a file that it writes, in bytes.
    """

    arguments: tuple[str, ...]
    folder: str
    output: str = "file"
    room: int | None = None
    interrupt: float | None = None
    kill: float | None = None
    guard: float = GUARD


@dataclass(frozen=True)
class Answer:
    """`code` is the exit code, negative for a signal; `first_words` the seconds until something was said on stderr."""

    code: int
    out: str
    err: str
    mebibytes: float
    seconds: float
    processor: float
    hung: bool
