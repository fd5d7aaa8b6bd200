"""Transformers that run Turing machines, against the simulator: `python -m benchmarks.turing`."""

import math
import time

import numpy as np
import sympy as sp
import torch

from bridge.topics.machines.machine_files import read_machine, shipped
from bridge.topics.machines.turing_costs import letters, sizes
from bridge.topics.machines.turing_runs import INPUTS
from numeric.topics.machines.beside_simulator import side_by_side
from numeric.topics.machines.machine import TuringMachine, simulate, simulate_many
from numeric.topics.machines.transformer import simulating_decoder
from symbolic.topics.machines import turing_counts as counts

COUNT, SEED = 300, 0
CPU = torch.device("cpu")
LENGTHS = (64, 256, 1024, 4096)
PALINDROME = ("0",) * 89  # 4095 steps
DTYPES = (torch.float64, torch.float32)


def main() -> None:
    every_machine()
    long_run()
    growth()
    costs()


def words_for(name: str, random: np.random.Generator) -> tuple[str, ...]:
    """A random well-formed input: a number, a sum of two, a word (every other one a palindrome), a tape."""

    def digits(longest: int) -> str:
        return "".join(random.choice(["0", "1"], size=random.integers(1, longest + 1)))

    if name == "addition":
        return tuple(f"{digits(5)}+{digits(5)}")
    if name == "palindrome":
        half = digits(5)
        return tuple(half + half[::-1] if random.integers(2) else half + digits(5))
    return tuple(digits(10))


def every_machine() -> None:
    """All quantities at all steps, on hundreds of inputs of each machine."""
    random = np.random.default_rng(SEED)
    for name in shipped():
        machine = read_machine(name)
        inputs = [tuple(INPUTS.get(name, "")), *(words_for(name, random) for _ in range(COUNT - 1))]
        T = 107 if machine.two_way else max(simulate(machine, words, 400).halted_at or 0 for words in inputs)
        traces = simulate_many(machine, inputs, T)
        network = simulating_decoder(machine, T)
        for dtype in DTYPES:
            start = time.perf_counter()
            outcome = side_by_side(network, inputs, traces, dtype=dtype, device=CPU)
            seconds, agreed = time.perf_counter() - start, outcome.agreement
            print(
                f"{name:14s} {COUNT} inputs x {T} steps, {_words(dtype)}: {outcome.differences} of {agreed.steps} "
                f"steps differ, {outcome.answers} of {outcome.halted} answers, rounding {agreed.rounding:.1e}, "
                f"{seconds:.2f} s"
            )


def long_run() -> None:
    """T = 4096 on one input, every tap compared at every step."""
    machine, T = read_machine("palindrome"), LENGTHS[-1]
    trace = simulate(machine, PALINDROME, T)
    for dtype in DTYPES:
        start = time.perf_counter()
        outcome = side_by_side(simulating_decoder(machine, T), [PALINDROME], [trace], dtype=dtype, device=CPU)
        seconds = time.perf_counter() - start
        print(
            f"palindrome of {len(PALINDROME)} symbols, T = {T}, {_words(dtype)}: {outcome.differences} differences, "
            f"halted after {trace.halted_at}, {outcome.answers} wrong answers, {seconds:.1f} s"
        )


def growth() -> None:
    """Milliseconds a step against T; the fit is seconds = c * T^p, with the fit for the depth alone."""
    machine, seconds = read_machine("palindrome"), []
    for T in LENGTHS:
        network = simulating_decoder(machine, T)
        start = time.perf_counter()
        network.run([PALINDROME])
        seconds.append(time.perf_counter() - start)
        depth = len(network.decoder.layers)
        print(f"T = {T:5d}: {seconds[-1]:7.2f} s, {1e3 * seconds[-1] / T:.3f} ms a step, depth {depth}")
    slope = np.polyfit(np.log(LENGTHS), np.log(np.array(seconds) / LENGTHS), 1)[0]
    deep = np.polyfit(np.log(LENGTHS), [math.log(3 * (T + 1).bit_length() + 9) for T in LENGTHS], 1)[0]
    print(f"cost of a step grows as T^{slope:.2f} over this range (the depth as T^{deep:.2f})")


def costs() -> None:
    """Width, depth and norms of the included machines at each T, as built and as printed."""
    orders = {"width": counts.WIDTH_ORDER, "depth": counts.w_pos}
    orders |= {f"norm[{lemma.label}]": lemma.order for lemma in counts.LEMMAS}
    print("built over what the paper prints inside O")
    print(f"{'machine':14s} {'|Z|':>3s} {'|A|':>3s} {'T':>5s} {'bits':>4s} " + " ".join(f"{n:>9s}" for n in orders))
    for name in shipped():
        for T in LENGTHS:
            _cost_line(read_machine(name), T, orders)


def _cost_line(machine: TuringMachine, T: int, orders: dict[str, sp.Expr]) -> None:
    network = simulating_decoder(machine, T)
    at, seen = letters(network), sizes(network)
    ratios = " ".join(f"{seen[name] / float(order.subs(at)):9.2f}" for name, order in orders.items())
    print(f"{machine.name:14s} {at[counts.Z]:3d} {at[counts.A]:3d} {T:5d} {network.w_pos:4d} {ratios}")


def _words(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


if __name__ == "__main__":
    main()
