"""All inputs of the included 16-bit circuits, network against direct evaluation: `python -m benchmarks.circuits`."""

import time

import torch

from bridge.topics.machines.netlists import read_circuit
from numeric.topics.machines.circuit import CircuitNetwork
from numeric.topics.machines.gates import GateKind, all_inputs
from numeric.topics.machines.layering import layered

CIRCUITS = ("parity16", "adder8", "products8")


def main() -> None:
    bits = all_inputs(16)
    for name in CIRCUITS:
        circuit = read_circuit(name)
        in_layers = layered(circuit)
        started = time.perf_counter()
        expected = 2.0 * circuit.evaluate(bits) - 1.0
        direct = time.perf_counter() - started
        gates = in_layers.s - in_layers.m - in_layers.count(GateKind.ID)
        print(f"{name}: {gates} gates and {in_layers.count(GateKind.ID)} ID, {len(bits)} inputs, direct {direct:.3f} s")
        for rounding in (False, True):
            for dtype in (torch.float64, torch.float32):
                started = time.perf_counter()
                answers = CircuitNetwork(in_layers, rounding).run(bits, dtype)
                seconds = time.perf_counter() - started
                wrong = int((answers.double().numpy() != expected).any(axis=1).sum())
                kind = "with rounding layers" if rounding else "without"
                print(f"  {kind:20s} {dtype!s:14s} {seconds:6.3f} s, {wrong} inputs wrong")


if __name__ == "__main__":
    main()
