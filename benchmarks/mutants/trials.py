"""Many trials, a few at a time, each in a child process with a time limit."""

import contextlib
import itertools
import math
import multiprocessing as mp
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from benchmarks.mutants.faults import Fault
from benchmarks.mutants.trial import COLLECTION, SLOWER, Report, run_clean, run_with, served

FOUND, SURVIVED = "found", "survived"
NO_IMPORT, NO_END, CRASH = "found (does not import)", "found (does not end)", "found (crashes)"

# The tests that may find a fault: those that are about the targets. What others would also find is not counted, so
# that a run stays short and the score can only be too low. A pattern that matches nothing is reported.
TESTS = {
    "calculus": (
        "tests/symbolic/[!t]*/test_*.py",
        "tests/symbolic/topics/machines/test_perturbed.py",
    ),
    "bridge": ("tests/bridge/**/test_*.py",),
    "numeric": ("tests/numeric/**/test_*.py",),
    "balls": (
        "tests/numeric/balls/test_*.py",
        "tests/numeric/networks/test_ball_weights.py",
        "tests/numeric/networks/test_relu_sums.py",
    ),
    "certify": ("tests/bridge/questions/certify/test_*.py",),
    "lowering": ("tests/bridge/lowering/test_*.py",),
    "judging": (
        "tests/bridge/lowering/test_branch_and_bound.py",
        "tests/bridge/lowering/test_enclosures.py",
        "tests/bridge/topics/tools/test_margins.py",
        "tests/bridge/instances/test_*.py",
        "tests/bridge/judging/test_*.py",
        "tests/bridge/theorems/theorem/test_*.py",
    ),
}
OTHERS = {
    "tests/symbolic/gradients/test_gradients.py",
    "tests/symbolic/statements/test_statements.py",
    "tests/symbolic/dynamics/test_lyapunov.py",
    "tests/bridge/questions/certify/test_random_inequalities.py",  # it takes a minute for every fault
}

START = "fork" if "fork" in mp.get_all_start_methods() else "spawn"  # how a child is started


class CleanRunError(Exception):
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
    """The tests without a fault: processor time and reached functions of each, and the time of all by the clock."""

    seconds: dict[str, float]
    reached: dict[str, set[str]]
    wall: float
    failed: tuple[str, ...] = ()

    def with_share(self, report: Report | None, wall: float) -> "Clean":
        """These tests and others that ran in parallel."""
        if report is None or report.exit_code not in (0, 1):
            raise CleanRunError(f"the tests have to run without a fault: {report or 'they ended by themselves'}")
        passed = {test: seconds for test, seconds in report.seconds.items() if test not in report.failed}
        passed[COLLECTION] = max(passed[COLLECTION], self.seconds.get(COLLECTION, 0.0))
        reached = {**self.reached, **report.reached}
        reached[COLLECTION] = report.reached[COLLECTION] | self.reached.get(COLLECTION, set())
        return Clean({**self.seconds, **passed}, reached, max(wall, self.wall), (*self.failed, *report.failed))

    # A test that gets a cached result of another does not count as reaching its function: the score can only be too
    # low. A change outside of functions is tried by all tests that reach the file, and a change of what modules compute
    # while they are imported is tried by all tests.
    def trying(self, fault: Fault) -> dict[str, float]:
        """The tests that enter the changed function, the quickest first, with their times; then others if need be."""
        name = f"{fault.file}:{fault.function}"
        known = {function for functions in self.reached.values() for function in functions}
        part = name if name in known else f"{fault.file}:"
        hit = {what for what, functions in self.reached.items() if any(each.startswith(part) for each in functions)}
        quickest = sorted((test for test in self.seconds if test != COLLECTION), key=self.seconds.__getitem__)
        others = (test for test in quickest if test not in hit) if COLLECTION in hit else ()
        return {test: self.seconds[test] for test in (*(test for test in quickest if test in hit), *others)}


def selected(root: Path, patterns: Sequence[str]) -> tuple[list[str], list[str]]:
    """The test files in order, and the patterns that match none."""
    matches = {pattern: sorted(p.relative_to(root).as_posix() for p in root.glob(pattern)) for pattern in patterns}
    files = dict.fromkeys(file for found in matches.values() for file in found if file not in OTHERS)
    return list(files), [pattern for pattern, found in matches.items() if not found]


def clean_run(
    root: Path, tests: Sequence[str], targets: Sequence[str], jobs: int = 1, *, leave_failing: bool = False
) -> Clean:
    """All tests without a fault. Those that fail are left out if `leave_failing`, else nothing can be measured."""
    clean = Clean({}, {}, 0.0)
    with contextlib.ExitStack() as stack:
        shares = [tests[first::jobs] for first in range(min(jobs, len(tests)))]
        for child in [stack.enter_context(_Child(run_clean, root, share, targets)) for share in shares]:
            clean = clean.with_share(child.report(), child.seconds)
    if not clean.seconds or (clean.failed and not leave_failing):
        raise CleanRunError(f"the tests have to pass without a fault: {', '.join(clean.failed) or 'nothing was run'}")
    return clean


def run_trials(
    root: Path, faults: Sequence[Fault], clean: Clean, jobs: int, limit: float, most: float = math.inf
) -> Iterator[tuple[Fault, Outcome]]:
    """The outcomes, in order of completion. A trial ends after `limit` seconds, or 10 times its tests' time.

    A fault is tried by the quickest of its tests, which take `most` seconds of processor time together.
    """
    waiting, running = list(faults), dict[Any, tuple[Fault, _Child, float]]()
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                fault = waiting.pop(0)
                tests, collection = quickest(clean.trying(fault), most), clean.seconds[COLLECTION]
                if not tests:  # pytest without files would collect all there are
                    yield fault, Outcome(SURVIVED, "", 0.0)
                    continue
                child = _Child(run_with, root, tests, collection, served(root, fault.file, fault.source(root)))
                running[child.answer] = fault, child, max(limit, SLOWER * (collection + sum(tests.values())))
            ready = wait(list(running), timeout=1)
            late = [answer for answer, (_, child, most) in running.items() if child.seconds > most]
            for answer in {*ready, *late}:
                fault, child, _ = running.pop(answer)
                with child:
                    yield fault, outcome(child.report() if answer in ready else None, child)
    finally:
        for _, child, _ in running.values():
            child.end()


def quickest(tests: Mapping[str, float], most: float) -> dict[str, float]:
    """The first of these tests, as many as take `most` seconds together."""
    until = itertools.accumulate(tests.values())
    return {test: seconds for (test, seconds), spent in zip(tests.items(), until, strict=True) if spent <= most}


def outcome(report: Report | None, child: "_Child") -> Outcome:
    seconds = child.seconds
    if report is None:
        return Outcome(CRASH if child.crashed() else NO_END, "", seconds)
    if report.exit_code in (0, 5):  # 5: no test reaches the function
        return Outcome(SURVIVED, "", seconds)
    return Outcome(FOUND if report.executed else NO_IMPORT, report.failed[0] if report.failed else "", seconds)


class _Child:
    """A process that runs the tests: forked from this one where the platform can, else started afresh."""

    def __init__(self, body: Callable[..., None], *arguments: Any) -> None:
        context: Any = mp.get_context(START)
        self.answer, theirs = context.Pipe(duplex=False)
        self._started = time.monotonic()
        self._process = context.Process(target=body, args=(theirs, *arguments))
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
