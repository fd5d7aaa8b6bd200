"""The command line of `python -m benchmarks.planted`."""

import argparse
import sys
import time
from collections import Counter

import torch

import benchmarks.planted
from benchmarks.mutants import faults, lines, record
from benchmarks.mutants.faults import Fault
from benchmarks.planted.kinds import ROOT, TARGETS, all_faults
from benchmarks.planted.programs import cases_of_the_tests, tried, without_fault
from benchmarks.planted.tests import found_by_tests

EQUIVALENT = ROOT / "benchmarks" / "planted_equivalent.toml"
VERDICTS = ("found", "tests", "survived", "wider", "equivalent")


def main() -> int:
    options = _options()
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    every = [fault for fault in all_faults() if options.only in " ".join(fault.key[:3])]
    drawn = faults.draw(every, options.count, options.seed) if options.count else every
    print(f"{len(drawn)} faults of {len(every)} in {len(TARGETS)} files", flush=True)
    started, reasons = time.perf_counter(), record.equivalents(EQUIVALENT)
    verdicts = {fault: "equivalent" for fault in drawn if fault.key in reasons and not options.listed}
    verdicts |= by_programs([fault for fault in drawn if fault not in verdicts])
    verdicts |= {fault: "equivalent" for fault in drawn if verdicts[fault] == "survived" and fault.key in reasons}
    for fault, test in found_by_tests([fault for fault in drawn if verdicts[fault] == "survived"]):
        verdicts[fault] = "tests"
        print(f"{fault.operator:14s} {fault.file}:{fault.line}  {test}")
    for fault in drawn:
        if verdicts[fault] == "survived":
            print(f"\n{fault.diff()}")
    print(f"\n{table(verdicts)}\n{time.perf_counter() - started:.0f} s")
    return 1 if score(Counter(verdicts.values())) < options.at_least else 0


def _options() -> argparse.Namespace:
    first = (benchmarks.planted.__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.planted", description=first)
    parser.add_argument("--count", type=int, default=0, help="number of faults to draw; all of them by default")
    parser.add_argument("--seed", type=int, default=0, help="seed of the draw")
    parser.add_argument("--only", default="", help="faults whose file, function or operator contains this")
    parser.add_argument("--listed", action="store_true", help="try those listed as equivalent as well")
    parser.add_argument("--at-least", type=float, default=0.95, help="score below which the exit code is 1")
    return parser.parse_args()


def by_programs(drawn: list[Fault]) -> dict[Fault, str]:
    """The verdicts of the programs."""
    cases, verdicts = cases_of_the_tests(), dict[Fault, str]()
    before, reached = without_fault(cases)
    print(f"{len(cases)} programs", flush=True)
    for fault in drawn:
        wanted = lines.of_edit(ROOT, fault)
        places = [place for place, ran in enumerate(reached) if wanted is None or wanted & ran[fault.file]]
        verdict, detail = tried(fault, cases, before, places) if places else ("survived", "no program comes here")
        verdicts[fault] = verdict
        print(f"{verdict:10s} {fault.operator:14s} {fault.file}:{fault.line}  {detail}", flush=True)
    return verdicts


def score(verdicts: Counter[str]) -> float:
    found = verdicts["found"] + verdicts["tests"]
    return found / max(1, found + verdicts["survived"])


def table(verdicts: dict[Fault, str]) -> str:
    """By operator and by file, and in all."""
    row = "{:32s}" + " {:>10s}" * (len(VERDICTS) + 1)
    shown = [row.format("", *VERDICTS, "score")]
    for kind in ("operator", "file"):
        for name in sorted({getattr(fault, kind) for fault in verdicts}):
            counts = Counter(verdict for fault, verdict in verdicts.items() if getattr(fault, kind) == name)
            shown.append(row.format(name, *(str(counts[each]) for each in VERDICTS), f"{score(counts):.1%}"))
    counts = Counter(verdicts.values())
    return "\n".join([*shown, row.format("all", *(str(counts[each]) for each in VERDICTS), f"{score(counts):.1%}")])


if __name__ == "__main__":
    sys.exit(main())
