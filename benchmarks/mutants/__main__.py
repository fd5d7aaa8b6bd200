"""The command line of `python -m benchmarks.mutants`."""

import argparse
import math
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.mutants import faults, record, trial, trials

ROOT = Path(__file__).parents[2]
EQUIVALENT = ROOT / "benchmarks" / "mutants_equivalent.toml"


def main(arguments: Sequence[str] | None = None) -> int:
    """0 if enough faults are found, 1 if not, 2 if nothing could be measured."""
    options = parser().parse_args(arguments)
    targets = faults.targets(ROOT, options.of)
    files = [file for file in targets if options.only in file]
    if not files:
        return _refused(f"no target has '{options.only}' in its path; the targets are {', '.join(targets)}")
    candidates = faults.enumerate_faults(ROOT, files)
    drawn = faults.draw(candidates, options.count, options.seed)
    print(f"{len(drawn)} faults drawn of {len(candidates)} in {len(files)} files, seed {options.seed}")
    if options.survivors:
        if not options.survivors.is_file():
            return _refused(f"{options.survivors}: no such file; give one that --json wrote")
        left = record.survivors(options.survivors)
        drawn = [fault for fault in drawn if fault.key in left]
        print(f"{len(drawn)} of them survived in {options.survivors}")
    if options.list:
        print("\n\n".join(fault.diff() for fault in drawn))
        return 0
    reasons = record.equivalents(EQUIVALENT)
    _stale(reasons)
    return measure(record.Record(drawn, reasons), options)


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="number of faults to draw")
    parser.add_argument("--seed", type=int, default=0, help="seed of the draw; the same seed draws the same faults")
    parser.add_argument("--of", choices=list(faults.TARGETS), default="calculus", help="where faults are planted")
    parser.add_argument("--only", default="", metavar="PART", help="targets whose path contains this")
    parser.add_argument("--tests", default="", metavar="PART", help="test files whose path contains this")
    parser.add_argument("--most", type=float, default=math.inf, help="seconds of the quickest tests that try a fault")
    parser.add_argument("--survivors", type=Path, metavar="FILE", help="only faults that another run's tests missed")
    parser.add_argument("--list", action="store_true", help="print the drawn faults and run nothing")
    parser.add_argument("--jobs", type=int, default=2, help="trials at a time")
    parser.add_argument("--limit", type=float, default=120, help="seconds for a trial, or 10 times what its tests take")
    parser.add_argument("--at-least", type=float, default=0.92, help="score below which the exit code is 1")
    parser.add_argument("--leave-failing", action="store_true", help="leave out tests that fail without a fault")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the outcomes to this file")
    parser.add_argument("--resume", type=Path, metavar="FILE", help="go on from the outcomes in this file")
    return parser


def measure(found: record.Record, options: argparse.Namespace) -> int:
    targets = faults.targets(ROOT, options.of)
    tests, missing = trials.selected(ROOT, trials.TESTS[options.of])
    tests = [file for file in tests if options.tests in file]
    print("\n".join(f"no test file matches {pattern}" for pattern in missing) or "every pattern of tests has files")
    sources = record.fingerprint(ROOT, [*targets, *tests])
    target = options.json or options.resume
    if options.resume and options.resume.exists():
        try:
            found.outcomes.update(record.resumed(options.resume, sources))
        except ValueError as error:
            return _refused(str(error))
    started = time.monotonic()
    trial.preload()
    try:
        clean = trials.clean_run(ROOT, tests, targets, options.jobs, leave_failing=options.leave_failing)
    except trials.CleanRunError as error:
        return _refused(str(error))
    _clean_times(clean, tests)
    for fault, outcome in trials.run_trials(ROOT, found.remaining(), clean, options.jobs, options.limit, options.most):
        found.outcomes[fault.key] = outcome
        print(f"[{len(found.reached):3d}/{len(found.faults)}] {outcome.verdict:10s} {outcome.seconds:6.1f} s  "
              f"{fault.operator:15s} {fault.file}:{fault.line}  {outcome.test}", flush=True)  # fmt: skip
        if target:
            record.save(found, target, sources)
    print(f"\n{record.summary(found)}, in {(time.monotonic() - started) / 60:.1f} minutes with {options.jobs} jobs")
    return 1 if found.score < options.at_least or found.refuted else 0


def _clean_times(clean: trials.Clean, tests: Sequence[str]) -> None:
    print(f"without a fault, {clean.wall:.1f} s by the clock; seconds of processor time:")
    print(f"{clean.seconds[trial.COLLECTION]:7.1f}  {trial.COLLECTION}")
    for file in tests:
        spent = sum(seconds for test, seconds in clean.seconds.items() if test.partition("::")[0] == file)
        print(f"{spent:7.1f}  {file}")
    for test in clean.failed:
        print(f"left out, as it fails without a fault: {test}")


def _stale(reasons: record.Mapping[record.Key, str]) -> None:
    """Entries of the list of equivalent faults that no longer match any fault."""
    files = {key[0] for key in reasons if (ROOT / key[0]).exists()}
    possible = {fault.key for fault in faults.enumerate_faults(ROOT, sorted(files))}
    for key in reasons:
        if key not in possible:
            print(f"{EQUIVALENT.name}: no fault matches the entry {' | '.join(key)}")


def _refused(message: str) -> int:
    print(message, file=sys.stderr)
    return 2


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))  # so that no child is left behind
    sys.exit(main())
