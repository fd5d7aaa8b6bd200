"""Circuits: evaluation against each gate's definition, the layered form, and everything that is not a circuit."""

import itertools
import math
from collections.abc import Mapping

import numpy as np
import pytest

from numeric.topics.machines.gates import (
    Circuit,
    CircuitError,
    Gate,
    GateKind,
    GateLayer,
    LayeredCircuit,
    all_inputs,
    circuit_complaints,
    inputs_as_layer,
)
from numeric.topics.machines.layering import layered
from tests.counting import lines
from tests.numeric.topics.machines.random_circuits import random_circuit

AND, OR, NOT, ID = GateKind.AND, GateKind.OR, GateKind.NOT, GateKind.ID
BY_DEFINITION = {AND: all, OR: any, NOT: lambda bits: not bits[0], ID: lambda bits: bits[0]}


def outputs_by_definition(circuit: Circuit, bits: Mapping[str, bool]) -> list[bool]:
    """Each output by recursion from its gate to the inputs."""
    gates = {gate.name: gate for gate in circuit.gates}
    known = dict(bits)

    def value(name: str) -> bool:
        if name not in known:
            gate = gates[name]
            known[name] = BY_DEFINITION[gate.kind]([value(parent) for parent in gate.parents])
        return known[name]

    return [value(name) for name in circuit.outputs]


def values_by_layers(in_layers: LayeredCircuit, bits: list[bool]) -> list[bool]:
    h = bits
    for layer in in_layers.layers[1:]:
        pairs = layer.parents.tolist()
        h = [BY_DEFINITION[k]([h[j] for j in pair if j >= 0]) for k, pair in zip(layer.kinds, pairs, strict=True)]
    return [h[place] for place in in_layers.outputs]


@pytest.mark.parametrize("seed", range(6))
def test_evaluation_and_layers_agree_with_the_definitions(seed: int) -> None:
    circuit = random_circuit(m=5, gates=25, outputs=4, seed=seed)
    in_layers = layered(circuit)
    bits = all_inputs(5)
    expected = [outputs_by_definition(circuit, dict(zip(circuit.inputs, row, strict=True))) for row in bits.tolist()]
    assert circuit.evaluate(bits).tolist() == expected
    assert [values_by_layers(in_layers, row) for row in bits.tolist()] == expected
    assert in_layers.q == len(in_layers.layers)
    assert in_layers.r == max(len(layer.kinds) for layer in in_layers.layers) >= in_layers.m == 5
    assert in_layers.s == 5 + sum(in_layers.count(kind) for kind in GateKind)


def test_evaluation_minds_the_last_byte() -> None:
    circuit = Circuit("not", ("x",), (Gate("y", NOT, ("x",)),), ("y",))
    assert circuit.evaluate(np.zeros((11, 1), dtype=bool)).all()
    assert circuit.evaluate(np.zeros((0, 1), dtype=bool)).shape == (0, 1)
    with pytest.raises(CircuitError, match="has 1 inputs, not 2"):
        circuit.evaluate(np.zeros((3, 2), dtype=bool))


def test_all_inputs_count_in_binary() -> None:
    assert all_inputs(2).astype(int).tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]


@pytest.mark.parametrize("fan_in", [2, 3, 8, 37])
def test_wide_gates_become_balanced_trees(fan_in: int) -> None:
    names = tuple(f"x{j}" for j in range(fan_in))
    in_layers = layered(Circuit("wide", names, (Gate("y", AND, names),), ("y",)))
    assert in_layers.q - 1 == math.ceil(math.log2(fan_in))
    assert in_layers.count(AND) == fan_in - 1


def test_gates_may_come_in_any_order_and_share_parents() -> None:
    gates = (Gate("y", OR, ("z", "z", "x")), Gate("z", AND, ("x",)), Gate("dead", NOT, ("y",)))
    in_layers = layered(Circuit("loose", ("x", "unused"), gates, ("y", "x")))
    assert in_layers.count(NOT) == 0  # no output needs it
    assert values_by_layers(in_layers, [True, False]) == [True, True]
    assert len(in_layers.layers[-1]) == 2


def test_layers_of_a_deep_circuit_take_work_that_grows_with_its_size() -> None:
    def steps(depth: int) -> int:
        chain = tuple(Gate(f"g{i}", NOT, (f"g{i - 1}" if i else "x",)) for i in range(depth))
        circuit = Circuit("chain", ("x",), chain, (chain[-1].name,))
        assert (layered(circuit).q, layered(circuit).s) == (depth + 1, depth + 1)
        return lines(lambda: layered(circuit))

    assert steps(1000) < 2.2 * steps(500)  # four times with a search of all gates in each layer


def test_an_output_that_is_an_input_passes_one_layer() -> None:
    in_layers = layered(Circuit("wire", ("a", "b"), (), ("b",)))
    assert (in_layers.q, in_layers.s, in_layers.layers[1].kinds) == (2, 3, (ID,))
    assert values_by_layers(in_layers, [False, True]) == [True]


def gates(*rows: tuple[str, GateKind, str]) -> tuple[Gate, ...]:
    return tuple(Gate(name, kind, tuple(parents.split()), line) for line, (name, kind, parents) in enumerate(rows, 1))


REFUSED = {
    "no inputs": ((), gates(("y", NOT, "y2")), ("y",), "no inputs are declared"),
    "input twice": (("x", "x"), (), ("x",), "input 'x' is declared 2 times"),
    "output twice": (("x",), (), ("x", "x"), "output 'x' is declared 2 times"),
    "NOT of two": (("x",), gates(("y", NOT, "x x")), ("y",), "'y' has 2 parents, but NOT takes one parent"),
    "AND of none": (("x",), gates(("y", AND, "")), ("y",), "'y' has 0 parents, but AND takes at least one parent"),
    "itself": (("x",), gates(("y", AND, "x y")), ("y",), "line 1: the gates form a cycle: y -> y"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_circuit_is_refused_by_name(name: str) -> None:
    *parts, said = REFUSED[name]
    with pytest.raises(CircuitError) as refused:
        Circuit("bad", *parts)
    assert said in str(refused.value)


def test_a_cycle_is_named_gate_by_gate() -> None:
    circle = gates(("p", AND, "x q"), ("q", NOT, "s"), ("s", ID, "p"))
    with pytest.raises(CircuitError, match="line 1: the gates form a cycle: ") as refused:
        Circuit("bad", ("x",), circle, ("s",))
    (path,) = [said.text.split(": ")[1].split(" -> ") for said in refused.value.complaints]
    parents = {gate.name: gate.parents for gate in circle}
    assert path[0] == path[-1]
    assert set(path) == {"p", "q", "s"}
    assert all(parent in parents[child] for parent, child in itertools.pairwise(path))


def test_everything_wrong_is_said_at_once_in_the_order_of_the_lines() -> None:
    bad = gates(("y", AND, "x z"), ("w", NOT, "x x"), ("x", ID, "y"))
    with pytest.raises(CircuitError) as refused:
        Circuit("bad", ("x",), bad, ("y", "v"), {"v": 9})
    assert [said.line for said in refused.value.complaints] == [1, 1, 2, 3, 9]  # the cycle through x is one of them
    assert refused.value.line == 1
    assert not circuit_complaints(("x",), gates(("y", AND, "x z")), ("y",), {}, defined=["z"])


@pytest.mark.parametrize(
    ("kind", "parents"),
    [(AND, [0, -1]), (AND, [0, 2]), (NOT, [0, 1]), (ID, [-1, -1])],
    ids=["AND of one", "beyond", "NOT of two", "of none"],
)
def test_layers_that_do_not_fit_are_refused(kind: GateKind, parents: list[int]) -> None:
    with pytest.raises(CircuitError, match=rf"gate 0 of layer 1 .* as {kind}"):
        LayeredCircuit("bad", (inputs_as_layer(2), GateLayer((kind,), np.array([parents]))), (0,))


def test_a_layered_circuit_has_outputs_in_its_last_layer() -> None:
    with pytest.raises(CircuitError, match="outputs in its last"):
        LayeredCircuit("bad", (inputs_as_layer(2), GateLayer((ID,), np.array([[0, -1]]))), (1,))
