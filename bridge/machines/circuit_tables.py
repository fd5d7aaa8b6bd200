"""Circuits as tables: the counted sizes of their networks, and the rows of numbers that a witness holds."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bridge.record import NamedTable
from bridge.study import Inputs
from numeric.machines.circuit import CircuitNetwork
from numeric.machines.gates import Circuit, CircuitError, GateKind, Layer, LayeredCircuit, inputs_as_layer
from symbolic.statements import UsageError

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
        title="counted sizes over the expressions inside the printed orders (q layers, widest r, s nodes; ID: copies)",
        columns=["circuit", "m", "q", "r", "s", "gates", "ID", "depth/q", "width/r", "|theta|_1/s", "|xi|_1/s"],
        rows=rows,
    )


def first_layers(layered: LayeredCircuit, count: int) -> LayeredCircuit:
    """The circuit of the first layers, its outputs those of the last of them."""
    layers = layered.layers[:count]
    return LayeredCircuit(f"{layered.name}, {count} layers", layers, tuple(range(len(layers[-1]))))


def as_table(layered: LayeredCircuit) -> list[list[float]]:
    """One row a gate: its layer, its kind's place among AND, OR, NOT, ID, its parents."""
    return [
        [float(i), float(KINDS.index(kind)), *map(float, parents)]
        for i, layer in enumerate(layered.layers[1:], start=1)
        for kind, parents in zip(layer.kinds, layer.parents.tolist(), strict=True)
    ]


def from_table(what: str, inputs: Inputs) -> LayeredCircuit:
    """The circuit of such rows. Raises UsageError for a table that is none."""
    refused = UsageError(f"{what} takes a number m of inputs and gates (layer, kind, parent, parent)")
    if set(inputs) != {"m", "gates"} or inputs["m"].numel() != 1:
        raise refused
    m, table = float(inputs["m"].item()), inputs["gates"].numpy()
    if not (m >= 1 and m == int(m) and table.ndim == 2 and table.shape[1] == 4 and (table == table.round()).all()):
        raise refused
    rows = table.astype(np.int64)
    q = int(rows[:, 0].max(initial=0))
    layers = [inputs_as_layer(int(m))]
    for i in range(1, q + 1):
        mine = rows[rows[:, 0] == i]
        if not len(mine) or not set(mine[:, 1].tolist()) <= set(range(len(KINDS))):
            raise refused
        layers.append(Layer(tuple(KINDS[kind] for kind in mine[:, 1]), mine[:, 2:]))
    try:
        return LayeredCircuit("witness", tuple(layers), tuple(range(len(layers[-1]))))
    except CircuitError as error:
        raise UsageError(f"{refused}: {error}") from None
