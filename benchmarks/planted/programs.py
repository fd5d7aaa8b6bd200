"""A fault on the programs of the tests."""

import gc
import importlib
import multiprocessing as mp
import resource
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from benchmarks.mutants import lines
from benchmarks.mutants.faults import Fault
from benchmarks.mutants.trial import MEMORY, Report, forget, serve, served
from benchmarks.planted.footprint import Footprint, change, footprint
from benchmarks.planted.kinds import ROOT, TARGETS
from tests.bridge.readings import soundness
from tests.bridge.readings.checking import Balls, Derived
from tests.symbolic.fuzzing.fuzzer import library
from tests.symbolic.fuzzing.program import Program

ENDS = 300  # seconds of processor time for one fault
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
class Programs:
    """The programs of the tests, the quickest first."""

    cases: Sequence[Case]

    @classmethod
    def of_the_tests(cls) -> "Programs":
        programs, moves = soundness.PROGRAMS, soundness.READABLE
        drawn = (soundness.instances_of(programs, seed, library(), moves) for seed in soundness.SEEDS)
        every = enumerate(case for each in drawn for case in each)
        cases = [_without_fault(number, program, instance) for number, (program, *instance) in every]
        return cls(sorted(cases, key=lambda case: case.seconds))

    def tried(self, fault: Fault) -> tuple[str, str]:
        """The verdict on the programs that run the changed lines, and what showed it."""
        wanted = lines.of_edit(ROOT, fault)
        cases = [case for case in self.cases if case.reached(fault.file, wanted)]
        return _tried(fault, cases) if cases else ("survived", "no program runs this line")


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


def _tried(fault: Fault, cases: Sequence[Case]) -> tuple[str, str]:
    context: Any = mp.get_context("fork")
    answer, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_try, args=(theirs, fault, cases))
    child.start()
    theirs.close()
    try:
        verdict: tuple[str, str] = answer.recv()
    except EOFError:
        verdict = "found", "does not end"
    child.join()
    return verdict


def _try(answer: Connection, fault: Fault, cases: Sequence[Case]) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.setitimer(signal.ITIMER_PROF, ENDS)
    gc.freeze()  # objects of the parent are not garbage: collecting them would copy all of its memory
    forget(*NEW)
    serve(served(ROOT, fault.file, fault.source(ROOT)), Report())
    answer.send(_verdict(cases))
    answer.close()


def _verdict(cases: Sequence[Case]) -> tuple[str, str]:
    where, changes = "import", set()
    try:
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
    if changes == {"same"}:
        return "survived", "no number changes"
    return ("survived", "other bounds, none violated") if "other" in changes else ("wider", "")
