"""The faults that survive the programs, on the other tests of the readings: those numbered in the argument.

A process of its own, in which all but the readings is imported as the tests import it, with its types checked: each
fault is tried in a fork of it.
"""

import importlib
import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence

from benchmarks.mutants import trial, trials
from benchmarks.mutants.faults import Fault
from benchmarks.planted.kinds import ROOT, TARGETS, all_faults
from tests.typechecking import check_while_running

ABOUT = (
    *("arrays", "enclosing", "extremes", "functions", "perturbed", "steps", "stops", "values"),
    "weight_errors",
)
TESTS = tuple(f"tests/bridge/readings/test_{name}.py" for name in ABOUT)
READINGS = "bridge.readings"
LIMIT = 120.0  # seconds for one fault


def tried_on_tests(faults: Sequence[Fault]) -> Iterator[tuple[Fault, str]]:
    """Each fault with the test that finds it, or with ''. Closed before its end, it ends what it started."""
    if not faults:
        return
    every = all_faults()
    place = {fault: number for number, fault in enumerate(every)}
    command = [sys.executable, "-m", "benchmarks.planted.tests", json.dumps([place[fault] for fault in faults])]
    # A session of its own: a signal from the terminal is for the parent alone.
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE, start_new_session=True) as process:
        try:
            for line in process.stdout or ():
                number, test = json.loads(line)
                yield every[number], test
        except GeneratorExit:
            process.terminate()
            raise
    if process.returncode:
        raise RuntimeError(f"the tests of the readings ended with {process.returncode}")


def _preload() -> None:
    trial.preload()
    check_while_running()
    importlib.import_module("boundsmith")
    importlib.import_module(READINGS)
    trial.forget(READINGS)


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))  # so that no child is left behind
    every = all_faults()
    wanted = [every[number] for number in json.loads(sys.argv[1])]
    _preload()
    clean = trials.clean_run(ROOT, TESTS, TARGETS)
    place = {fault: number for number, fault in enumerate(every)}
    for fault, each in trials.run_trials(ROOT, wanted, clean, jobs=1, limit=LIMIT):
        print(json.dumps((place[fault], (each.test or each.verdict) if each.found else "")), flush=True)


if __name__ == "__main__":
    main()
