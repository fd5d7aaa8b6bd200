"""Random programs through all readings: `python -m benchmarks.soundness --programs 100000 --seed 0`.

At each step, in balls: error <= bound at the prompt (local, then global) <= closed bound, and the emulated value within
centre and radii of its enclosure. The same in floats, by vmap, up to rounding. Each program is read at several
instances (operands, signs, corners). Exits with 1 after a violation; `--seed S --only K` runs its program again.

Interrupted, it prints its counts so far; with `--resume FILE` they are stored, and the next run goes on from there.
"""

import argparse
import gc
import sys
import time
from contextlib import suppress
from pathlib import Path

import torch

from benchmarks.mutants.record import fingerprint
from benchmarks.signals import noting_signals
from tests.bridge.readings.soundness import Soundness, sound
from tests.bridge.readings.stored import stored, taken_up

ROOT = Path(__file__).parents[1]
READ = ("bridge/readings", "symbolic/calculus", "tests/bridge/readings", "tests/symbolic/fuzzing")
VIOLATIONS = 5  # shown before the run stops
EVERY = 500  # programs between two lines of progress


def main() -> int:
    options = _options()
    torch.set_num_threads(1)
    gc.freeze()  # what is imported is not garbage
    gc.set_threshold(50_000, 20, 100)
    started = time.perf_counter()
    found = run(options)
    print(found.table())
    print(f"seed {options.seed}, {options.instances} instances a program, {time.perf_counter() - started:.0f} s")
    for breach in found.breaches:
        print(f"\n{breach}")
    return 1 if found.breaches else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soundness", description=__doc__)
    parser.add_argument("--programs", type=int, default=1000, help="number of random programs")
    parser.add_argument("--instances", type=int, default=4, help="instances of each program")
    parser.add_argument("--seed", type=int, default=0, help="random seed of the whole run")
    parser.add_argument("--only", type=int, help="the number of one program, to run it alone")
    parser.add_argument("--resume", type=Path, metavar="FILE", help="counts are read from there, and stored there")
    options = parser.parse_args()
    if min(options.programs, options.instances) < 1 or min(options.seed, options.only or 0) < 0:
        parser.error("--programs and --instances must be at least 1, --seed and --only must not be negative")
    if options.resume and options.only is not None:
        parser.error("--only runs one program; leave --resume out")
    return options


class _Stopped(Exception):  # noqa: N818 - no error
    """The run was interrupted, after a program."""


def run(options: argparse.Namespace) -> Soundness:
    """With lines of progress; ended by a signal, it gives what there is."""
    which = {"seed": options.seed, "instances": options.instances, "sources": fingerprint(ROOT, _sources())}
    found = taken_up(options.resume, which) if options.resume else Soundness()
    given = {"instances": options.instances, "only": options.only, "found": found, "most_breaches": VIOLATIONS}

    def watch(found: Soundness) -> None:
        if found.programs % EVERY == 0:
            print(_counts(found), file=sys.stderr, flush=True)
            store(found)
        if asked:
            raise _Stopped

    def store(found: Soundness) -> None:
        if options.resume:
            stored(options.resume, found, which)

    with noting_signals() as asked, suppress(_Stopped):
        sound(options.programs, options.seed, watch=watch, **given)
    store(found)
    return found


def _sources() -> list[str]:
    paths = [path for folder in READ for path in (ROOT / folder).rglob("*.py") if not path.name.startswith("test_")]
    return [path.relative_to(ROOT).as_posix() for path in paths]


def _counts(found: Soundness) -> str:
    steps = sum(found.steps.values())
    return f"{found.programs} programs, {found.instances} instances, {steps} steps, {len(found.breaches)} violations"


if __name__ == "__main__":
    sys.exit(main())
