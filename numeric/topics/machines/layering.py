"""From a circuit of any shape to a layered one: fan-in 2 by balanced trees, then ID gates (wei2021, Section 3)."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from numeric.topics.machines.gates import NO_PARENT, Circuit, Gate, GateKind, GateLayer, LayeredCircuit, inputs_as_layer


@dataclass
class _Nodes:
    """Gates of fan-in 2 at most under numbers, each after its parents; the first m are the inputs."""

    m: int
    kinds: list[GateKind] = field(default_factory=list)
    parents: list[tuple[int, ...]] = field(default_factory=list)

    def add(self, kind: GateKind, parents: tuple[int, ...]) -> int:
        self.kinds.append(kind)
        self.parents.append(parents)
        return len(self.kinds) - 1


def layered(circuit: Circuit) -> LayeredCircuit:
    """The layered circuit that computes the same; the last layer holds the outputs, each once."""
    nodes, outputs = _of_fan_in_two(circuit)
    needed = _needed(nodes, outputs)
    level = _levels(nodes)
    depth = max(1, *(level[node] for node in outputs))
    last = _last_layers(nodes, needed, level, outputs, depth)
    born_in: list[list[int]] = [[] for _ in range(depth + 1)]
    for node in needed:
        born_in[level[node]].append(node)
    layers, places = [inputs_as_layer(nodes.m)], {node: node for node in range(nodes.m)}
    for i in range(1, depth + 1):
        # A value that is still needed behind layer i and was there before it is handed on by an ID gate.
        born = born_in[i]
        carried = [node for node in places if last[node] >= i]
        layers.append(_layer(nodes, born, carried, places))
        places = {node: place for place, node in enumerate([*born, *carried])}
    return LayeredCircuit(circuit.name, tuple(layers), tuple(places[node] for node in outputs))


def _of_fan_in_two(circuit: Circuit) -> tuple[_Nodes, list[int]]:
    m = len(circuit.inputs)
    nodes = _Nodes(m, [GateKind.ID] * m, [()] * m)
    number = {name: j for j, name in enumerate(circuit.inputs)}
    for gate in circuit.ordered:
        number[gate.name] = _tree(nodes, gate, [number[parent] for parent in gate.parents])
    return nodes, [number[name] for name in circuit.outputs]


def _tree(nodes: _Nodes, gate: Gate, parents: Sequence[int]) -> int:
    """The gate as a balanced tree of gates of two parents; an AND or OR of one parent is that parent again: an ID."""
    if gate.kind.unary or len(parents) == 1:
        return nodes.add(gate.kind if gate.kind.unary else GateKind.ID, tuple(parents))
    while len(parents) > 1:
        pairs = [tuple(parents[k : k + 2]) for k in range(0, len(parents), 2)]
        parents = [nodes.add(gate.kind, pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return parents[0]


def _needed(nodes: _Nodes, outputs: Sequence[int]) -> list[int]:
    """The gates on which an output depends, in order."""
    reached, waiting = set(outputs), list(outputs)
    while waiting:
        new = set(nodes.parents[waiting.pop()]) - reached
        reached |= new
        waiting += new
    return [node for node in sorted(reached) if node >= nodes.m]


def _levels(nodes: _Nodes) -> list[int]:
    level: list[int] = []
    for parents in nodes.parents:
        level.append(1 + max((level[parent] for parent in parents), default=-1))
    return level


def _last_layers(
    nodes: _Nodes, needed: Sequence[int], level: Sequence[int], outputs: Sequence[int], depth: int
) -> list[int]:
    """The last layer in which each value has to stand."""
    last = [0] * len(nodes.kinds)
    for node in needed:
        for parent in nodes.parents[node]:
            last[parent] = max(last[parent], level[node] - 1)
    for node in outputs:
        last[node] = depth
    return last


def _layer(nodes: _Nodes, born: Sequence[int], carried: Sequence[int], places: dict[int, int]) -> GateLayer:
    pairs = [[places[parent] for parent in nodes.parents[node]] for node in born] + [[places[node]] for node in carried]
    parents = [[*pair, NO_PARENT][:2] for pair in pairs]
    kinds = (*(nodes.kinds[node] for node in born), *[GateKind.ID] * len(carried))
    return GateLayer(kinds, np.array(parents, dtype=np.int64).reshape(-1, 2))
