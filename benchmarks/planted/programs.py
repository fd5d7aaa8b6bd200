"""A fault on the programs of the tests."""

import importlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.mutants import lines
from benchmarks.mutants.faults import Fault
from benchmarks.planted.footprint import Footprint, change, footprint
from benchmarks.planted.forked import Verdict, tried_in_a_fork
from benchmarks.planted.kinds import ROOT, TARGETS
from tests.bridge.readings import soundness
from tests.bridge.readings.checking import Balls, Derived
from tests.bridge.readings.directed import CASES, Directed
from tests.symbolic.fuzzing.fuzzer import library
from tests.symbolic.fuzzing.program import Program

NEW = ("bridge.readings", "tests.bridge.readings")  # what is imported anew with the fault


@dataclass(frozen=True)
class Case:
    """A program at an instance: without a fault its numbers, the lines of the readings that run, and the seconds."""

    number: int
    program: Program
    instance: tuple[int, frozenset[str]]
    before: Footprint
    lines: lines.Lines
    seconds: float

    @property
    def in_floats(self) -> bool:
        return self.number % soundness.IN_FLOATS == 0

    def reached(self, file: str, wanted: set[int] | None) -> bool:
        return wanted is None or bool(wanted & self.lines[file])


@dataclass(frozen=True)
class Chosen:
    """A directed case: without a fault the lines of the readings that run, and the seconds."""

    name: str
    lines: lines.Lines
    seconds: float

    def reached(self, file: str, wanted: set[int] | None) -> bool:
        return wanted is None or bool(wanted & self.lines[file])


@dataclass(frozen=True)
class Programs:
    """The directed cases and the programs of the tests, the quickest of each first."""

    directed: Sequence[Chosen]
    cases: Sequence[Case]

    @classmethod
    def of_the_tests(cls) -> "Programs":
        programs, moves = soundness.PROGRAMS, soundness.READABLE
        drawn = (soundness.instances_of(programs, seed, library(), moves) for seed in soundness.SEEDS)
        every = enumerate(case for each in drawn for case in each)
        cases = [_without_fault(number, program, instance) for number, (program, *instance) in every]
        return cls(*(sorted(each, key=lambda case: case.seconds) for each in (map(_chosen, CASES), cases)))

    def tried(self, fault: Fault) -> Verdict:
        """The verdict of what runs the changed lines, and what showed it."""
        wanted = lines.of_edit(ROOT, fault)
        directed = [case.name for case in self.directed if case.reached(fault.file, wanted)]
        cases = [case for case in self.cases if case.reached(fault.file, wanted)]
        if not (directed or cases):
            return "survived", "nothing runs this line"
        return tried_in_a_fork(fault, NEW, lambda: _verdict(directed, cases))


def _chosen(case: Directed) -> Chosen:
    with lines.running(ROOT, TARGETS) as ran:
        started = time.process_time()
        case.check()
    return Chosen(case.name, ran, time.process_time() - started)


def _without_fault(number: int, program: Program, instance: Sequence[Any]) -> Case:
    point, hidden = instance
    with lines.running(ROOT, TARGETS) as ran:
        balls = Balls(Derived(program), point, hidden)
        started = time.process_time()
        said = footprint(balls)
        seconds = time.process_time() - started
        balls.check()
        case = Case(number, program, (point, hidden), said, ran, seconds)
        if case.in_floats:
            soundness.check_in_floats(balls)
    return case


def _verdict(directed: Sequence[str], cases: Sequence[Case]) -> Verdict:
    where, changes = "import", set()
    try:
        chosen = {case.name: case for case in importlib.import_module("tests.bridge.readings.directed").CASES}
        for where in directed:
            chosen[where].check()
        anew = importlib.import_module("tests.bridge.readings.soundness")
        for case in cases:
            where = f"program {case.number}"
            balls = anew.Balls(anew.Derived(case.program), *case.instance)
            changed = change(case.before, footprint(balls))
            if changed != "same":
                balls.check()
            if case.in_floats:
                anew.check_in_floats(balls)
            changes.add(changed)
    except Exception as error:
        return "found", f"{where}: {type(error).__name__} {error}".splitlines()[0]
    if changes <= {"same"}:
        return "survived", "no number changes"
    return ("survived", "other bounds, none violated") if "other" in changes else ("wider", "")
