"""Which lines of the sources a run of Python code executes, and which lines a fault changes."""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

from benchmarks.mutants.faults import Fault
from benchmarks.mutants.source import Source

Lines = dict[str, set[int]]  # by file


@contextmanager
def running(root: Path, files: Iterable[str]) -> Iterator[Lines]:
    """The lines of the files that are executed meanwhile."""
    found: Lines = defaultdict(set)
    names = {str(root / file): file for file in files}

    def entered(frame: FrameType, event: str, given: Any) -> Any:
        file = names.get(frame.f_code.co_filename)
        if file is None:
            return None
        ran = found[file]

        def stepped(frame: FrameType, event: str, given: Any) -> Any:
            ran.add(frame.f_lineno)
            return stepped

        ran.add(frame.f_lineno)
        return stepped

    former = sys.gettrace()
    sys.settrace(entered)
    try:
        yield found
    finally:
        sys.settrace(former)


def of_edit(root: Path, fault: Fault) -> set[int] | None:
    """The lines of the statement that the fault changes; None for one that is executed on import."""
    source = _source(root / fault.file)
    first = source.code.count(b"\n", 0, fault.edit.start) + 1
    last = source.code.count(b"\n", 0, fault.edit.end) + 1
    around = [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.stmt) and node.lineno <= first and last <= (node.end_lineno or 0)
    ]
    innermost = max(around, key=lambda node: (node.lineno, -(node.end_lineno or 0)))
    if not any(isinstance(node, ast.FunctionDef) for node in around) or isinstance(innermost, ast.FunctionDef):
        return None
    compound = hasattr(innermost, "body")
    return set(range(first if compound else innermost.lineno, (last if compound else innermost.end_lineno or 0) + 1))


@cache
def _source(path: Path) -> Source:
    return Source(path.read_bytes())
