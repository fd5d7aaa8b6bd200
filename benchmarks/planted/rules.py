"""A fault in a rule, on the seeded part of the generator of the calculus."""

import importlib
import time
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.mutants import lines
from benchmarks.mutants.faults import Fault
from benchmarks.planted.forked import Verdict, tried_in_a_fork
from benchmarks.planted.kinds import ROOT, RULES
from tests.symbolic.fuzzing.seeded import Row, rows

NEW = ("symbolic.calculus", "tests.symbolic")


@dataclass(frozen=True)
class Timed:
    """A row without a fault: the lines of the rules that it runs, and its seconds."""

    name: str
    lines: lines.Lines
    seconds: float


@dataclass(frozen=True)
class Rows:
    """The rows, the quickest first."""

    rows: Sequence[Timed]

    @classmethod
    def of_the_tests(cls) -> "Rows":
        return cls(sorted(map(_without_fault, rows()), key=lambda row: row.seconds))

    def tried(self, fault: Fault) -> Verdict:
        """The verdict of the rows that run the changed lines, and what showed it."""
        wanted = lines.of_edit(ROOT, fault)
        names = [row.name for row in self.rows if wanted is None or wanted & row.lines[fault.file]]
        return tried_in_a_fork(fault, NEW, lambda: _verdict(names)) if names else ("survived", "nothing runs this line")


def _without_fault(row: Row) -> Timed:
    with lines.running(ROOT, RULES) as ran:
        started = time.process_time()
        row.run()
    return Timed(row.name, ran, time.process_time() - started)


def _verdict(names: Sequence[str]) -> Verdict:
    where = "import"
    try:
        anew = importlib.import_module("tests.symbolic.fuzzing.seeded")
        by_name = {row.name: row for row in anew.rows()}
        for where in names:
            by_name[where].run()
    except Exception as error:
        return "found", f"{where}: {type(error).__name__} {error}".splitlines()[0]
    return "survived", "nothing is violated"
