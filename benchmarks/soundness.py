"""Random programs through all readings: `python -m benchmarks.soundness --programs 100000 --seed 0`.

At each step, in balls: error <= bound at the prompt (local, then global) <= closed bound, and the emulated value within
centre and radii of its enclosure. The same in floats, by vmap, up to rounding. Exits with 1 after a violation.
Interrupted, it prints its counts so far.
"""

import argparse
import signal
import sys
import time

import torch

from tests.bridge.readings.soundness import Soundness, sound

VIOLATIONS = 5  # shown before the run stops
EVERY = 500  # programs between two lines of progress


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soundness", description=__doc__)
    parser.add_argument("--programs", type=int, default=1000, help="number of random programs")
    parser.add_argument("--seed", type=int, default=0, help="random seed of the whole run")
    options = parser.parse_args()
    if options.programs < 1 or options.seed < 0:
        parser.error("--programs must be at least 1 and --seed must not be negative")
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    started = time.perf_counter()
    found = run(options.programs, options.seed)
    print(found.table())
    print(f"seed {options.seed}, {time.perf_counter() - started:.0f} s")
    for breach in found.breaches:
        print(f"\n{breach}")
    return 1 if found.breaches else 0


def run(programs: int, seed: int) -> Soundness:
    """With lines of progress; ended by a signal, it gives what there is."""
    latest = Soundness()

    def watch(found: Soundness) -> None:
        nonlocal latest
        latest = found
        if found.programs % EVERY == 0:
            print(f"{found.programs} programs, {sum(found.steps.values())} steps", file=sys.stderr, flush=True)

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return sound(programs, seed, most_breaches=VIOLATIONS, watch=watch)
    except KeyboardInterrupt:
        return latest


if __name__ == "__main__":
    sys.exit(main())
