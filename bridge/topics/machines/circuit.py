"""Circuits as networks: against direct evaluation, and their norms and sizes beside the printed ones."""

from collections.abc import Callable, Mapping
from functools import cache

import numpy as np
import sympy as sp

from bridge.limits.run import Format
from bridge.theorems.check import Sides, checks_of
from bridge.theorems.parts import AtPoint, Knobs
from bridge.theorems.record import NamedTable
from bridge.theorems.theorem import Theorem
from bridge.topics.machines.netlists import bits_of, read_circuit, shipped
from numeric.topics.machines.circuit import GATE_WEIGHTS, CircuitNetwork, CircuitSizes, measured_sizes
from numeric.topics.machines.gates import Circuit, GateKind, LayeredCircuit, all_inputs
from numeric.topics.machines.layering import layered
from symbolic.statements.landau import Constant, order_constant
from symbolic.topics.machines import circuit as theory

KINDS = tuple(GateKind)
WIDEST_DENSE = 4096  # gates in a layer whose matrices are written out to be counted
MOST_BITS = 16  # all inputs are run up to here, random ones beyond
DERIVED, CERTIFIED = ("derived",), ("derived", "instance")
LEAST = {theory.q: 2, theory.r: 1, theory.s: 2, theory.m: 1, theory.r_last: 1}  # of a circuit with one gate


@cache
def gates_are_the_papers() -> bool:
    """Whether the network's gates have the parameters that the printed nets have."""
    nets = {kind: theory.gate_net(kind.value) for kind in KINDS}
    return all(
        (*weights.w1, weights.b1, weights.w2, weights.b2) == (*map(float, (*net.w1, net.b1, net.w2, net.b2)),)
        for kind, net in nets.items()
        for weights in [GATE_WEIGHTS[kind]]
    )


def read_bits(input: str, netlist: Circuit) -> np.ndarray | None:
    """The bits of one input, (m,); None where none are given. Raises UsageError."""
    return bits_of(theory.CIRCUIT.id, input, len(netlist.inputs)) if input else None


def letters(network: CircuitNetwork) -> dict[sp.Symbol, int]:
    in_layers = network.layered
    sizes = {theory.q: in_layers.q, theory.r: in_layers.r, theory.s: in_layers.s, theory.m: in_layers.m}
    return {**sizes, theory.r_last: len(in_layers.layers[-1])}


def counted_sizes(network: CircuitNetwork) -> CircuitSizes | None:
    """Of the matrices, written out; None where they are too large for that."""
    return measured_sizes(network) if network.layered.r <= WIDEST_DENSE else None


# Outputs.


def runs_all_inputs(netlist: Circuit) -> bool:
    return len(netlist.inputs) <= MOST_BITS


def outputs(netlist: Circuit, network: CircuitNetwork, samples: int, seed: int, dtype: str, device: str) -> Sides:
    """All inputs of up to MOST_BITS bits, else random ones. No exact answer refutes the paper: the network is ours."""
    bits, scope = all_inputs(len(netlist.inputs)) if runs_all_inputs(netlist) else None, "all"
    if bits is None:
        drawn = np.random.default_rng(seed).integers(0, 2, (samples, len(netlist.inputs)))
        bits, scope = drawn.astype(bool), "random"
    answers = network.run(bits, Format.named(dtype).dtype, device).cpu().double().numpy()
    wrong = int((answers != 2.0 * netlist.evaluate(bits) - 1.0).any(axis=1).sum())
    found = f"wrong on {wrong} of them" if wrong else f"all {len(netlist.outputs)} outputs exact"
    remark = f"the net of each gate and round proved on bits; run on {scope} {len(bits)} inputs in {dtype}, {found}"
    proved = not wrong and gates_are_the_papers()
    return Sides(
        0 if proved else None, measured=float(wrong), proved=DERIVED if proved else (), remark=remark, samples=len(bits)
    )


# Sizes. What other gates than the paper's weigh says nothing of the paper's.


def counted(count: float | None, constant: Constant | None = None, instance: float | None = None) -> Sides:
    """A count of the construction, and the constant with which the printed order holds."""
    remark = "" if count is not None else f"layers of more than {WIDEST_DENSE} gates are not written out"
    if not gates_are_the_papers():
        return Sides(measured=count, instance=instance, constant=constant, remark=remark)
    proved = DERIVED if instance is None else CERTIFIED
    return Sides(count, instance=instance, proved=proved, constant=constant, remark=remark)


@cache
def constant(name: str, rounding: int) -> Constant:
    quantity = theory.CIRCUIT.quantity(name)
    assert quantity.printed is not None  # of those that are asked for
    count = sp.sympify(quantity.closed_form).subs(theory.rounding, rounding)
    order = quantity.printed.bound
    least = {letter: value for letter, value in LEAST.items() if (count / order).has(letter)}
    return order_constant(quantity.printed.order, count, order, least)


def layer_norm(network: CircuitNetwork, sizes: CircuitSizes | None) -> Sides:
    layers = network.layered.layers[1:]
    heaviest = max(sum(GATE_WEIGHTS[kind].norm for kind in layer.kinds) / len(layer) for layer in layers)
    return counted(None if sizes is None else sizes.per_gate, constant("layer_norm", 1), heaviest)


def total_norm(network: CircuitNetwork, sizes: CircuitSizes | None) -> Sides:
    """The 1-norm of all gates of each kind; undecided where the matrices weigh something else."""
    norm = sum(network.layered.count(kind) * GATE_WEIGHTS[kind].norm for kind in KINDS)
    if sizes is None or sizes.gates == norm:
        return counted(norm, instance=norm)
    return Sides(measured=sizes.gates, instance=norm)


def rounding_norm(sizes: CircuitSizes | None, rounding: int) -> Sides:
    return counted(None if sizes is None else sizes.rounding, constant("rounding_norm", rounding))


def depth(sizes: CircuitSizes | None, rounding: int) -> Sides:
    return counted(None if sizes is None else float(sizes.depth), constant("depth", rounding))


def width(sizes: CircuitSizes | None, rounding: int) -> Sides:
    return counted(None if sizes is None else float(sizes.width), constant("width", rounding))


# Tables.


def outputs_at(
    netlist: Circuit, network: CircuitNetwork, input: np.ndarray | None, dtype: str, device: str
) -> NamedTable | None:
    if input is None:
        return None
    answers = network.run(input[None], Format.named(dtype).dtype, device)[0].tolist()
    direct = netlist.evaluate(input[None])[0].astype(int).tolist()
    rows = [list(row) for row in zip(netlist.outputs, direct, answers, strict=True)]
    title = f"outputs at {''.join(str(int(bit)) for bit in input)}: gates 0 or 1, network -1 or 1"
    return NamedTable(title=title, columns=["output", "gates", "network"], rows=rows)


def sizes_table(netlist: Circuit, rounding: int) -> NamedTable:
    """Those of this circuit, of a shipped one beside the others."""
    beside = {name: read_circuit(name) for name in shipped()} if netlist.name in shipped() else {}
    return circuits_table(beside or {netlist.name: netlist}, bool(rounding))


def circuits_table(circuits: Mapping[str, Circuit], rounding: bool) -> NamedTable:
    """The counted sizes of the network of each circuit over the expressions inside the printed orders."""
    in_layers = {name: layered(circuit) for name, circuit in circuits.items()}
    return NamedTable(
        title="counted sizes over the expressions inside the printed orders (`q` layers, widest `r`, `s` nodes; "
        "ID: copies)",
        columns=["circuit", "m", "q", "r", "s", "gates", "ID", "depth/q", "width/r", "`|theta|_1/s`", "`|xi|_1/s`"],
        rows=[[name, *sizes_of(each, rounding)] for name, each in in_layers.items() if each.r <= WIDEST_DENSE],
    )


def sizes_of(in_layers: LayeredCircuit, rounding: bool) -> list[int | float]:
    found = measured_sizes(CircuitNetwork(in_layers, rounding))
    inside = (in_layers.q, in_layers.r, in_layers.s, in_layers.s)
    ratios = zip((found.depth, found.width, found.gates, found.rounding), inside, strict=True)
    copies = in_layers.count(GateKind.ID)
    gates = sum(map(in_layers.count, KINDS)) - copies
    return [in_layers.m, in_layers.q, in_layers.r, in_layers.s, gates, copies, *(round(a / b, 3) for a, b in ratios)]


SIDES: Mapping[str, Callable[..., Sides]] = {
    "outputs": outputs,
    "layer_norm": layer_norm,
    "total_norm": total_norm,
    "rounding_norm": rounding_norm,
    "depth": depth,
    "width": width,
}
CIRCUIT = Theorem(
    theory.CIRCUIT,
    main="outputs",
    readers={"netlist": lambda netlist: read_circuit(netlist), "input": read_bits},
    built={
        "network": lambda netlist, rounding: CircuitNetwork(layered(netlist), rounding=bool(rounding)),
        "sizes": counted_sizes,
    },
    at_point=AtPoint(letters=letters, idle=lambda netlist: ("samples", "seed") if runs_all_inputs(netlist) else ()),
    checks=checks_of(theory.CIRCUIT, SIDES),
    tables=(outputs_at, sizes_table),
    knobs=Knobs(fixed=("rounding",)),
)
