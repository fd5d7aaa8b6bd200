"""No verdict of the tests depends on how fast or how busy the machine is: whatever reads a clock is found here.

Work is counted instead (tests/counting.py), and timings belong to `make bench`. The three floors are looked through
too, since a budget of seconds inside a theorem would make the rows of its table depend on the machine.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("tests", "examples", "symbolic", "numeric", "bridge")
CLOCKS = {"time", "timeit", "datetime", "sched", "resource", "asyncio"}  # modules: nothing of them is needed
LIMITS = {"timeout": 300.0, "seconds": 60.0}  # below these a slow machine is told from a fast one
OPTION = "--seconds"  # of `boundsmith certify`
NAMED = re.compile("|".join([*CLOCKS, *LIMITS, "deadline", "benchmark"]))  # in a text that may be a script
ALLOWED = {
    "tests/bridge/cli/test_certify.py: test_refusals": "a limit that is not a time is refused before a proof starts",
    "tests/bridge/cli/test_certify.py: test_stating_that_takes_too_long_is_refused": "the time is over at once",
    "tests/bridge/cli/test_certify.py: test_the_time_limit_of_a_recheck_is_longer": "it is noted, not kept",
    "tests/bridge/cli/test_train.py: test_refusals": "a limit that is not a time is refused before a step is taken",
    "tests/benchmarks/test_training.py: test_a_stored_training_goes_on": "the time is over after one step",
    "tests/bridge/topics/tools/test_trainings.py: folder": "the time is over after one step",
    "bridge/questions/certify/deadline.py": "the limit of seconds that a user may set on a proof",
    "numeric/training/trainer.py": "checkpoints by time, and the seconds that a user may set on a training",
    "bridge/export/bars.py": "how often a bar in a notebook is drawn again",
    "bridge/theorems/tables.py": "dates in a table are read; no clock is",
    "bridge/limits/memory.py": "the limits of memory of this process, of which `resource` tells",
    "tests/hostile/server.py": "the guard that ends a call that hangs, and what benchmarks/hostile.py prints",
    "tests/hostile/calls.py: expressions": "a limit that is not a time is refused; the others are of the benchmark",
    "tests/test_no_clock.py": "the clocks planted below",
}


def uses_of_a_clock(source: str) -> Iterator[tuple[int, str, str]]:
    """Line, the outermost function or class it stands in, and what reads a clock or waits for one."""
    for statement in ast.parse(source).body:
        name = getattr(statement, "name", "")
        yield from ((line, name, what) for line, what in uses_in(statement))


def uses_in(statement: ast.stmt) -> Iterator[tuple[int, str]]:
    for node in ast.walk(statement):
        for what in (*imported(node), *arguments(node), *texts(node)):
            yield node.lineno, what


def imported(node: ast.AST) -> list[str]:
    names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
    names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
    return [f"imports {name}" for name in names if name.split(".")[0] in CLOCKS]


def arguments(node: ast.AST) -> list[str]:
    """Limits that are too tight, `deadline=` of hypothesis, and the fixture that times a function."""
    found = []
    if isinstance(node, ast.keyword) and node.arg in LIMITS and too_small(node.value, LIMITS[node.arg]):
        found.append(f"{node.arg}={ast.unparse(node.value)} is below {LIMITS[node.arg]:g}")
    if isinstance(node, ast.keyword) and node.arg == "deadline" and isinstance(node.value, ast.Constant):
        found += [] if node.value.value is None else [f"deadline={ast.unparse(node.value)}"]
    if isinstance(node, ast.arg) and node.arg == "benchmark":
        found.append("the fixture `benchmark`")
    return found


def too_small(value: ast.expr, least: float) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, int | float) and value.value < least


def texts(node: ast.AST) -> list[str]:
    """A script in a string, and the option of the command line."""
    if not (isinstance(node, ast.Constant) and isinstance(node.value, str) and NAMED.search(node.value)):
        return []
    try:
        inside = [what for statement in ast.parse(node.value).body for _, what in uses_in(statement)]
    except (SyntaxError, ValueError):
        inside = []
    return [*inside, *([OPTION] if node.value == OPTION else [])]


def files() -> Iterator[Path]:
    for folder in FOLDERS:
        yield from sorted((ROOT / folder).rglob("*.py"))


def found_in(path: Path) -> Iterator[tuple[str, str]]:
    """The name that ALLOWED would list it under, and the message."""
    place = path.relative_to(ROOT).as_posix()
    for line, name, what in uses_of_a_clock(path.read_text()):
        yield place if place in ALLOWED else f"{place}: {name}", f"{place}:{line}: {what}"


def test_nothing_reads_a_clock() -> None:
    found = [each for path in files() for each in found_in(path)]
    assert not [message for key, message in found if key not in ALLOWED]
    assert set(ALLOWED) == {key for key, _ in found if key in ALLOWED}, "an exception that nothing needs any more"


PLANTED = [
    "import time",
    "from time import perf_counter",
    "def test():\n    import asyncio.timeouts",
    "from datetime import datetime",
    "SCRIPT = '''\nimport json, time\nprint(time.time())\n'''",
    "def test():\n    subprocess.run(['x'], timeout=60)",
    "def test():\n    assert prove(inequality, seconds=5.0)",
    "def test(run):\n    run('certify', '--seconds', '0.2')",
    "@settings(deadline=200)\ndef test(): ...",
    "def test(benchmark): ...",
    "class Suite:\n    def test(self):\n        from time import sleep",
]
HARMLESS = [
    "prove(inequality, deadline=expiring(300))",
    "subprocess.run(['x'], timeout=600)",
    "prove(inequality, seconds=math.inf)",
    "@settings(deadline=None)\ndef test(): ...",
    "row = f'{time} of {flow.time[-1]} seconds'",
    "'the import of time in prose'",
]


@pytest.mark.parametrize("source", PLANTED)
def test_a_planted_clock_is_noticed(source: str) -> None:
    ((line, _, what),) = uses_of_a_clock(source)
    assert what
    assert 1 <= line <= len(source.splitlines())


@pytest.mark.parametrize("source", HARMLESS)
def test_what_reads_no_clock_passes(source: str) -> None:
    assert not list(uses_of_a_clock(source))
