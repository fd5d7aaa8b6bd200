"""A fault on the programs of the tests."""

import gc
import importlib
import multiprocessing as mp
import resource
import signal
import sys
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any

from benchmarks.mutants import lines
from benchmarks.mutants.faults import Fault
from benchmarks.mutants.trial import MEMORY, Report, serve, served
from benchmarks.planted.footprint import Footprint, change, footprint
from benchmarks.planted.kinds import ROOT, TARGETS
from tests.bridge.readings import soundness
from tests.bridge.readings.checking import Balls, Derived
from tests.symbolic.fuzzing.fuzzer import library

ENDS = 300  # seconds of processor time for one fault
NEW = ("bridge.readings", "tests.bridge.readings")  # what is imported anew with the fault
Case = tuple[Any, int, frozenset[str]]


def cases_of_the_tests() -> list[Case]:
    programs, moves = soundness.PROGRAMS, soundness.READABLE
    drawn = (soundness.instances_of(programs, seed, library(), moves) for seed in soundness.SEEDS)
    return [case for each in drawn for case in each]


def without_fault(cases: list[Case]) -> tuple[list[Footprint], list[lines.Lines]]:
    """What each program says, and the lines of the readings that it runs."""
    said, reached = [], []
    for place, (program, *instance) in enumerate(cases):
        with lines.running(ROOT, TARGETS) as ran:
            balls = Balls(Derived(program), *instance)
            balls.check()
            said.append(footprint(balls))
            if place % soundness.IN_FLOATS == 0:
                soundness.check_in_floats(balls)
        reached.append(ran)
    return said, reached


def tried(fault: Fault, cases: list[Case], before: list[Footprint], places: Sequence[int]) -> tuple[str, str]:
    """The verdict on the programs at these places, and what showed it."""
    context: Any = mp.get_context("fork")
    answer, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_try, args=(theirs, fault, cases, before, places))
    child.start()
    theirs.close()
    try:
        verdict: tuple[str, str] = answer.recv()
    except EOFError:
        verdict = "found", "does not end"
    child.join()
    return verdict


def _try(answer: Connection, fault: Fault, cases: list[Case], before: list[Footprint], places: Sequence[int]) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.setitimer(signal.ITIMER_PROF, ENDS)
    gc.freeze()  # objects of the parent are not garbage: collecting them would copy all of its memory
    for name in [name for name in sys.modules if name.startswith(NEW)]:
        del sys.modules[name]
    serve(served(ROOT, fault.file, fault.source(ROOT)), Report())
    answer.send(_verdict(cases, before, places))
    answer.close()


def _verdict(cases: list[Case], before: list[Footprint], places: Sequence[int]) -> tuple[str, str]:
    place, changes = 0, set()
    try:
        anew = importlib.import_module("tests.bridge.readings.soundness")
        for place in places:
            program, *instance = cases[place]
            balls = anew.Balls(anew.Derived(program), *instance)
            changes.add(change(before[place], footprint(balls)))
            if changes != {"same"}:
                balls.check()
            if place % anew.IN_FLOATS == 0:
                anew.check_in_floats(balls)
    except Exception as error:
        return "found", f"program {place}: {type(error).__name__} {error}".splitlines()[0]
    if changes == {"same"}:
        return "survived", "no number changes"
    return ("survived", "other bounds, none violated") if "other" in changes else ("wider", "")
