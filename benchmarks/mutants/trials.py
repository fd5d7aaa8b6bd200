"""Many trials, a few at a time, each in a child process with a time limit."""

import contextlib
import multiprocessing as mp
import os
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path

from benchmarks.mutants.faults import Fault
from benchmarks.mutants.trial import Report, Served, run_tests

FOUND, SURVIVED = "found", "survived"
NO_IMPORT, NO_END, CRASH = "found (does not import)", "found (does not end)", "found (crashes)"

# Those that find most, for their time, come first. The test file that bears the name of the changed module comes
# before all of them. A pattern that matches nothing is reported.
TESTS = (
    "tests/symbolic/test_rules.py",
    "tests/symbolic/test_approximation.py",
    "tests/symbolic/test_calculus.py",
)


class CleanRunFailed(Exception):
    """Tests fail, or none run, without any fault."""


@dataclass(frozen=True)
class Outcome:
    verdict: str
    test: str  # the first that failed
    seconds: float

    @property
    def found(self) -> bool:
        return self.verdict != SURVIVED


@dataclass(frozen=True)
class Clean:
    """The tests without a fault: the processor time of each, and the time of all by the clock."""

    seconds: dict[str, float]
    wall: float


def selected(root: Path, patterns: Sequence[str] = TESTS) -> tuple[list[str], list[str]]:
    """The test files in order, and the patterns that match none."""
    matches = {pattern: sorted(path.relative_to(root).as_posix() for path in root.glob(pattern)) for pattern in patterns}
    files = dict.fromkeys(file for found in matches.values() for file in found)
    return list(files), [pattern for pattern, found in matches.items() if not found]


def ordered(tests: Sequence[str], file: str) -> list[str]:
    """The tests named after the changed module first."""
    own = f"test_{Path(file).stem}.py"
    return sorted(tests, key=lambda test: Path(test).name != own)


def clean_run(root: Path, tests: Sequence[str]) -> Clean:
    with _Child(root, tests, None, {}, float("inf")) as child:
        wait([child.answer])
        report = child.report()
    if report is None or report.exit_code != 0:
        failed = ", ".join(report.failed) if report else "the run ended by itself"
        raise CleanRunFailed(f"the tests have to pass without a fault: {failed or 'nothing was run'}")
    return Clean(report.seconds, child.seconds)


def run_trials(
    root: Path, faults: Sequence[Fault], tests: Sequence[str], clean: Clean, jobs: int, limit: float
) -> Iterator[tuple[Fault, Outcome]]:
    """The outcomes, as they come in. A trial ends after `limit` seconds, or 10 times the clean run, if that is more."""
    limit = max(limit, 10 * clean.wall)
    waiting, running = list(faults), dict[Connection, tuple[Fault, _Child]]()
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                fault = waiting.pop(0)
                child = _Child(root, ordered(tests, fault.file), served(root, fault), clean.seconds, limit)
                running[child.answer] = fault, child
            ready = wait(list(running), timeout=1)
            late = [answer for answer, (_, child) in running.items() if child.seconds > limit]
            for answer in {*ready, *late}:
                fault, child = running.pop(answer)  # type: ignore[index]
                with child:
                    yield fault, outcome(child.report() if answer in ready else None, child)
    finally:
        for _, child in running.values():
            child.end()


def served(root: Path, fault: Fault) -> Served:
    module = fault.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return Served(module, str(root / fault.file), fault.source(root))


def outcome(report: Report | None, child: "_Child") -> Outcome:
    seconds = child.seconds
    if report is None:
        return Outcome(CRASH if child.crashed() else NO_END, "", seconds)
    if report.exit_code == 0:
        return Outcome(SURVIVED, "", seconds)
    return Outcome(FOUND if report.executed else NO_IMPORT, report.failed[0] if report.failed else "", seconds)


class _Child:
    """A process that runs the tests: forked from this one where the platform can, else started afresh."""

    def __init__(
        self, root: Path, tests: Sequence[str], served: Served | None, budgets: dict[str, float], limit: float
    ) -> None:
        context = mp.get_context("fork" if "fork" in mp.get_all_start_methods() else "spawn")
        self.answer, theirs = context.Pipe(duplex=False)
        self._started = time.monotonic()
        self._process = context.Process(target=run_tests, args=(theirs, root, tests, served, budgets))
        self._process.start()
        theirs.close()

    def __enter__(self) -> "_Child":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def report(self) -> Report | None:
        """None if the child ended without one."""
        with contextlib.suppress(EOFError):
            return self.answer.recv()
        return None

    def crashed(self) -> bool:
        """Whether a child without a report ended by itself, and not by the alarm of a test that takes too long."""
        self._process.join(timeout=1)
        return self._process.exitcode not in (None, -getattr(signal, "SIGPROF", 0))

    def end(self) -> None:
        """The child and all that it started."""
        if self._process.is_alive() and hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid or 0, signal.SIGKILL)
        self._process.kill()
        self._process.join()
        self.answer.close()
