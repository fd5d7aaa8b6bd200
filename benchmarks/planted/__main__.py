"""The command line of `python -m benchmarks.planted`."""

import argparse
import gc
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import torch

import benchmarks.planted
from benchmarks.mutants import faults, record
from benchmarks.mutants.faults import Fault
from benchmarks.planted.kinds import ROOT, all_faults, faults_of_rules
from benchmarks.planted.programs import Programs
from benchmarks.planted.rules import Rows
from benchmarks.planted.tests import tried_on_tests
from benchmarks.planted.verdicts import Verdicts
from benchmarks.signals import noting_signals

EQUIVALENT = ROOT / "benchmarks" / "planted_equivalent.toml"
EQUIVALENT_RULES = ROOT / "benchmarks" / "planted_equivalent_rules.toml"
VERDICTS = ("found", "tests", "survived", "wider", "equivalent")


def main() -> int:
    options = _options()
    torch.set_num_threads(1)
    gc.set_threshold(50_000, 20, 100)
    of_rules = options.of == "rules"
    every = faults_of_rules() if of_rules else all_faults()
    every = [fault for fault in every if options.only in " ".join(fault.key[:3])]
    drawn = faults.draw(every, options.count, options.seed) if options.count else every
    print(f"{len(drawn)} faults of {len(every)} in {len({fault.file for fault in every})} files", flush=True)
    started, reasons = time.perf_counter(), record.equivalents(EQUIVALENT_RULES if of_rules else EQUIVALENT)
    listed = [] if options.listed else [fault for fault in drawn if fault.key in reasons]
    found = Verdicts.taken_up(options.resume)
    with noting_signals() as asked:
        remaining = [fault for fault in drawn if fault not in listed]
        by_programs(found, remaining, asked, Rows if of_rules else Programs)
        by_tests(found, [] if of_rules or options.seeded else remaining, asked)
    verdicts = dict.fromkeys(listed, "equivalent") | found.of(drawn, reasons)
    for fault, verdict in verdicts.items():
        if verdict == "survived":
            print(f"\n{fault.diff()}")
    print(f"\n{table(verdicts)}\n{len(verdicts)} of {len(drawn)} faults, {time.perf_counter() - started:.0f} s")
    return 1 if score(Counter(verdicts.values())) < options.at_least else 0


def _options() -> argparse.Namespace:
    first = (benchmarks.planted.__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.planted", description=first)
    parser.add_argument("--of", choices=("readings", "rules"), default="readings", help="where faults are planted")
    parser.add_argument("--seeded", action="store_true", help="try them on the seeded part alone, not on other tests")
    parser.add_argument("--count", type=int, default=0, help="number of faults to draw; all of them by default")
    parser.add_argument("--seed", type=int, default=0, help="seed of the draw")
    parser.add_argument("--only", default="", help="faults whose file, function or operator contains this")
    parser.add_argument("--listed", action="store_true", help="try those listed as equivalent as well")
    parser.add_argument("--resume", type=Path, metavar="FILE", help="verdicts are read from there, and stored there")
    parser.add_argument("--at-least", type=float, default=0.95, help="score below which the exit code is 1")
    return parser.parse_args()


def by_programs(found: Verdicts, drawn: list[Fault], asked: list[int], seeded: type[Programs | Rows]) -> None:
    """The verdicts of the seeded part, until `asked` to end."""
    if not (remaining := found.untried(drawn)):
        return
    programs = seeded.of_the_tests()
    for fault in remaining:
        if asked:
            return
        verdict, detail = found.by_programs[fault.key] = programs.tried(fault)
        found.store()
        print(f"{verdict:10s} {fault.operator:14s} {fault.file}:{fault.line}  {detail}", flush=True)


def by_tests(found: Verdicts, drawn: list[Fault], asked: list[int]) -> None:
    """The tests that find what survives the programs, until `asked` to end."""
    remaining = [] if asked else found.untested(drawn)
    for fault, test in tried_on_tests(remaining):
        found.by_tests[fault.key] = test
        found.store()
        print(
            f"{'tests' if test else 'survived':10s} {fault.operator:14s} {fault.file}:{fault.line}  {test}", flush=True
        )
        if asked:
            return


def score(verdicts: Counter[str]) -> float:
    found = verdicts["found"] + verdicts["tests"]
    return found / max(1, found + verdicts["survived"])


def table(verdicts: Mapping[Fault, str]) -> str:
    """By operator and by file, and in all."""
    row = "{:32s}" + " {:>10s}" * (len(VERDICTS) + 1)
    shown = [row.format("", *VERDICTS, "score")]
    for kind in ("operator", "file"):
        for name in sorted({getattr(fault, kind) for fault in verdicts}):
            counts = Counter(verdict for fault, verdict in verdicts.items() if getattr(fault, kind) == name)
            shown.append(row.format(name, *(str(counts[each]) for each in VERDICTS), f"{score(counts):.1%}"))
    counts = Counter(verdicts.values())
    shown.append(row.format("all", *(str(counts[each]) for each in VERDICTS), f"{score(counts):.1%}"))
    tried = counts["found"] + counts["tests"] + counts["survived"]
    return "\n".join(
        [*shown, f"found by the seeded part: {counts['found']} of {tried}, {counts['found'] / max(1, tried):.1%}"]
    )


if __name__ == "__main__":
    sys.exit(main())
