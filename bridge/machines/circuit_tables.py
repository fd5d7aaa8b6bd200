"""The counted sizes of the networks of circuits, as a table."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bridge.record import NamedTable
from numeric.machines.circuit import CircuitNetwork
from numeric.machines.gates import Circuit, GateKind

KINDS = tuple(GateKind)
WIDEST_DENSE = 4096  # gates in a layer whose matrices are written out to be counted


@dataclass(frozen=True)
class Sizes:
    """Counts of the matrices: layers of ReLUs, widest layer, 1-norms."""

    depth: int
    width: int
    gates: float  # sum over i of |theta_i|_1
    per_gate: float  # max over i of |theta_i|_1 / r_i
    rounding: float  # sum over i of |xi_i|_1


def measured_sizes(network: CircuitNetwork) -> Sizes:
    """Counted from the dense matrices, one two-layer net at a time."""
    gates, rounding, per_gate = 0.0, 0.0, 0.0
    depth, width = 0, network.layered.m
    for name, matrices in network.blocks():
        norm = float(sum(np.abs(matrix).sum() for matrix in matrices.values()))
        depth += 2
        width = max(width, *(len(matrices[bias]) for bias in ("b1", "b2")))
        if name.startswith("zeta"):
            rounding += norm
        else:
            gates += norm
            per_gate = max(per_gate, norm / len(matrices["b2"]))
    return Sizes(depth, width, gates, per_gate, rounding)


def circuits_table(circuits: Mapping[str, Circuit], rounding: bool) -> NamedTable:
    """The counted sizes of the network of each circuit over the expressions inside the printed orders."""
    rows: list[list[str | int | float | None]] = []
    for name, circuit in circuits.items():
        layered = circuit.layered()
        if layered.r > WIDEST_DENSE:
            continue
        found = measured_sizes(CircuitNetwork(layered, rounding))
        counted = (
            found.depth / layered.q,
            found.width / layered.r,
            found.gates / layered.s,
            found.rounding / layered.s,
        )
        copies = layered.count(GateKind.ID)
        gates = sum(map(layered.count, KINDS)) - copies
        ratios = [round(ratio, 3) for ratio in counted]
        rows.append([name, layered.m, layered.q, layered.r, layered.s, gates, copies, *ratios])
    return NamedTable(
        title="counted sizes over the expressions inside the printed orders (`q` layers, widest `r`, `s` nodes; "
        "ID: copies)",
        columns=["circuit", "m", "q", "r", "s", "gates", "ID", "depth/q", "width/r", "`|theta|_1/s`", "`|xi|_1/s`"],
        rows=rows,
    )
