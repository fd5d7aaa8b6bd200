"""How the all-layer margin of a simulated machine depends on T: binary positions against positions of size 1/T.

`python -m benchmarks.turing_margin [machine]` attacks both decoders on the same inputs, which use about T steps, and
prints the smallest parameter perturbations found that flip the prediction, with the slope of their logarithms.
"""

import sys
import time

import torch

from bridge.topics.machines.machine_files import read_machine
from numeric.topics.machines.measured_margins import (
    CONSTRUCTIONS,
    MeasuredMargin,
    inputs_by_steps,
    measured_margins,
    slope,
)

TS = (8, 16, 32, 64)
LETTERS = {"increment": "1", "palindrome": "0"}
BUDGET = 600


def main(name: str = "palindrome") -> None:
    torch.set_num_threads(1)  # its matrices are small; a second thread mostly waits
    machine, letter, started = read_machine(name), LETTERS[name], time.time()
    words = inputs_by_steps(machine, TS, (letter * length for length in range(1, TS[-1])))
    print(f"{name}: all-layer margin from above, {BUDGET} perturbed networks each, seed 0")
    print(f"{'positions':<10}{'T':>4}{'input':>7}{'halts':>7}{'margin <=':>12}  nearest flip")
    measured = measured_margins(machine, words, seed=0, budget=BUDGET, report=show)
    for construction in CONSTRUCTIONS:
        fit = slope(measured, construction)
        print(
            f"slope of log(margin) in log(T), {construction}: {fit.value:.2f} (95 %: {fit.low:.2f} to {fit.high:.2f})"
        )
    print(f"{time.time() - started:.0f} s")


def show(one: MeasuredMargin) -> None:
    word = f"{one.tokens[0]}^{len(one.tokens)}"
    margin, way = one.flip.distance, one.flip.direction
    print(f"{one.construction:<10}{one.T:>4}{word:>7}{one.halted_at:>7}{margin:>12.3e}  {way[:60]}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
