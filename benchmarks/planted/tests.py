"""The faults that survive the programs, on the other tests of the readings: those numbered on standard input.

A process of its own, in which nothing of the program is imported: each fault is tried in a fork of it.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence

from benchmarks.mutants import trial, trials
from benchmarks.mutants.faults import Fault
from benchmarks.planted.kinds import ROOT, TARGETS, all_faults

ABOUT = ("arrays", "enclosing", "extremes", "functions", "steps", "values")
TESTS = tuple(f"tests/bridge/readings/test_{name}.py" for name in ABOUT)
LIMIT = 120.0  # seconds for one fault


def found_by_tests(faults: Sequence[Fault]) -> Iterator[tuple[Fault, str]]:
    """The faults that a test finds, with the test."""
    place = {fault: number for number, fault in enumerate(all_faults())}
    asked = json.dumps([place[fault] for fault in faults])
    process = subprocess.run(
        [sys.executable, "-m", "benchmarks.planted.tests"], input=asked, text=True, stdout=subprocess.PIPE, check=True
    )
    every = all_faults()
    return ((every[number], test) for number, test in json.loads(process.stdout))


def main() -> None:
    every = all_faults()
    wanted = [every[number] for number in json.load(sys.stdin)]
    trial.preload()
    clean = trials.clean_run(ROOT, TESTS, TARGETS)
    place = {fault: number for number, fault in enumerate(every)}
    outcomes = trials.run_trials(ROOT, wanted, clean, jobs=1, limit=LIMIT)
    json.dump([(place[fault], each.test or each.verdict) for fault, each in outcomes if each.found], sys.stdout)


if __name__ == "__main__":
    main()
