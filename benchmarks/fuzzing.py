"""Random compositions of rules, tested on random vectors: `python -m benchmarks.fuzzing --points 1000000 --seed 0`.

Exits with 1 if a bound is violated. The run lists sharp bounds that no point attained within 1 %; a short run has some.
"""

import argparse
import sys
import time

from tests.symbolic.fuzzing.fuzzer import EXACT_KINDS, KINDS, Tally, fuzz

BATCH = 64  # points realised at once for one program
VIOLATIONS = 5  # shown before the run stops


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzzing", description=__doc__)
    parser.add_argument("--points", type=int, default=128_000, help="realised points, in batches of 64 a program")
    parser.add_argument("--seed", type=int, default=0, help="random seed of the whole run")
    parser.add_argument("--exact", action="store_true", help="numbers are the exact rationals of floats")
    options = parser.parse_args()
    if options.points < 1 or options.seed < 0:
        parser.error("--points must be at least 1 and --seed must not be negative")
    started = time.perf_counter()
    programs = -(-options.points // BATCH)
    kinds, watch = EXACT_KINDS if options.exact else KINDS, Progress(programs)
    tally = fuzz(programs, options.seed, points=BATCH, most_violations=VIOLATIONS, kinds=kinds, watch=watch)
    print(tally.table())
    print(f"seed {options.seed}, {time.perf_counter() - started:.1f} s")
    for violation in tally.violations:
        print(f"\n{violation}")
    missed = tally.not_attained()
    if missed:
        print(f"\nnot attained within 1 %: {', '.join(missed)}")
    return 1 if tally.violations else 0


class Progress:
    """Ten progress lines on stderr."""

    def __init__(self, programs: int) -> None:
        self.every = max(1, programs // 10)

    def __call__(self, tally: Tally) -> None:
        if tally.programs % self.every == 0:
            print(f"{tally.programs} programs, {tally.points} points", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
