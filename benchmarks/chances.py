"""Random compositions of rule 13 against simulation: `python -m benchmarks.chances --compositions 1000 --seed 0`.

Each one's failures are judged by a binomial test at its budget. Exits with 1 if one is rejected.
"""

import argparse
import sys
import time

import numpy as np

from tests.symbolic.calculus.chances import FAULTS, LEVEL, Composition, faulty, rejected

DRAWS = 5000


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chances", description=__doc__)
    parser.add_argument("--compositions", type=int, default=1000, help="random compositions")
    parser.add_argument("--seed", type=int, default=0, help="random seed of the whole run")
    options = parser.parse_args()
    if options.compositions < 1 or options.seed < 0:
        parser.error("--compositions must be at least 1 and --seed must not be negative")
    started, draw = time.perf_counter(), np.random.default_rng(options.seed)
    compositions = (Composition.of(draw) for _ in range(options.compositions))
    broken = [each for each in compositions if rejected(each, draw, DRAWS)]
    print(f"{options.compositions} compositions of {DRAWS} draws: {len(broken)} rejected at {LEVEL:g}")
    for fault in FAULTS:
        wrong = (Composition.of(draw, faulty(fault)) for _ in range(options.compositions // 5))
        found = sum(rejected(each, draw, DRAWS) for each in wrong)
        print(f"{fault}: found by {found} of {options.compositions // 5}")
    print(f"seed {options.seed}, {time.perf_counter() - started:.1f} s")
    for each in broken:
        print(f"\n{each}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
