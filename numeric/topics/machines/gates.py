"""Boolean circuits: gates with names, their direct evaluation, and the layered form of wei2021, Section 3.

Shapes: N inputs evaluated at once, m input bits, r_i gates in layer i.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from graphlib import CycleError, TopologicalSorter

import numpy as np
from jaxtyping import Bool, Int

NO_PARENT = -1


class GateKind(StrEnum):
    """What a gate computes of its parents: AND and OR of any number, NOT and ID of one."""

    AND = "AND"
    OR = "OR"
    NOT = "NOT"
    ID = "ID"

    @property
    def unary(self) -> bool:
        return self in (GateKind.NOT, GateKind.ID)


@dataclass(frozen=True)
class Gate:
    """One gate; `line` is where a file says it (0: nowhere)."""

    name: str
    kind: GateKind
    parents: tuple[str, ...]
    line: int = 0


@dataclass(frozen=True, order=True)
class CircuitComplaint:
    """What is wrong with a circuit, and on which line of its file (0: none)."""

    line: int
    text: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}" if self.line else self.text


class CircuitError(ValueError):
    """What came is not a circuit. `complaints` says everything that is wrong, `line` where the first of it stands."""

    def __init__(self, complaints: Sequence[CircuitComplaint]):
        self.complaints = tuple(sorted(complaints))
        self.line = self.complaints[0].line
        super().__init__("; ".join(map(str, self.complaints)))


@dataclass(frozen=True)
class Circuit:
    """A circuit on named input bits. Gates may come in any order; gates that no output needs do no harm.

    `lines` says where the file declares inputs and outputs. Raises CircuitError with everything that is wrong: no
    input, no output, a name defined or declared twice, an unknown parent, a wrong number of parents, a cycle.
    """

    name: str
    inputs: tuple[str, ...]
    gates: tuple[Gate, ...]
    outputs: tuple[str, ...]
    lines: Mapping[str, int] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        complaints = circuit_complaints(self.inputs, self.gates, self.outputs, self.lines)
        if complaints:
            raise CircuitError(complaints)

    @cached_property
    def ordered(self) -> tuple[Gate, ...]:
        """The gates, each after its parents."""
        by_name = {gate.name: gate for gate in self.gates}
        return tuple(by_name[name] for name in _order(self.gates).static_order() if name in by_name)

    def evaluate(self, bits: Bool[np.ndarray, "N m"]) -> Bool[np.ndarray, "N outputs"]:
        """The outputs by the gates' definitions, eight inputs a byte: the reference of every network."""
        _check_bits(self.name, len(self.inputs), bits)
        packed = np.packbits(bits, axis=0)  # (N/8, m)
        values = {name: packed[:, j] for j, name in enumerate(self.inputs)}
        for gate in self.ordered:
            values[gate.name] = _value(gate, [values[parent] for parent in gate.parents])
        outputs = np.stack([values[name] for name in self.outputs], axis=1)
        return np.unpackbits(outputs, axis=0, count=len(bits)).astype(bool)


def _check_bits(name: str, m: int, bits: np.ndarray) -> None:
    if bits.shape[1] != m:
        raise CircuitError([CircuitComplaint(0, f"{name} has {m} inputs, not {bits.shape[1]}")])


def _value(gate: Gate, parents: list[np.ndarray]) -> np.ndarray:
    if gate.kind is GateKind.AND:
        return np.bitwise_and.reduce(parents)
    if gate.kind is GateKind.OR:
        return np.bitwise_or.reduce(parents)
    return np.invert(parents[0]) if gate.kind is GateKind.NOT else parents[0]


def _order(gates: Sequence[Gate]) -> TopologicalSorter[str]:
    return TopologicalSorter({gate.name: gate.parents for gate in gates})


def circuit_complaints(
    inputs: Sequence[str],
    gates: Sequence[Gate],
    outputs: Sequence[str],
    lines: Mapping[str, int],
    defined: Sequence[str] = (),
) -> list[CircuitComplaint]:
    """Everything that keeps this from being a circuit. `defined`: names whose gates are known to be wrong already."""
    known = {*inputs, *defined, *(gate.name for gate in gates)}
    return [
        *_declarations(inputs, outputs, lines, known),
        *_redefinitions(inputs, gates),
        *(complaint for gate in gates for complaint in _gate_complaints(gate, known)),
        *_cycle(gates),
    ]


def _declarations(
    inputs: Sequence[str], outputs: Sequence[str], lines: Mapping[str, int], known: set[str]
) -> list[CircuitComplaint]:
    missing = [what for what, names in (("inputs", inputs), ("outputs", outputs)) if not names]
    return [
        *(CircuitComplaint(0, f"no {what} are declared") for what in missing),
        *(
            CircuitComplaint(lines.get(x, 0), f"input '{x}' is declared {n} times")
            for x, n in Counter(inputs).items()
            if n > 1
        ),
        *(
            CircuitComplaint(lines.get(y, 0), f"output '{y}' is declared {n} times")
            for y, n in Counter(outputs).items()
            if n > 1
        ),
        *(
            CircuitComplaint(lines.get(y, 0), f"output '{y}' is not defined")
            for y in dict.fromkeys(outputs)
            if y not in known
        ),
    ]


def _redefinitions(inputs: Sequence[str], gates: Sequence[Gate]) -> list[CircuitComplaint]:
    first: dict[str, int] = {}
    complaints = []
    for gate in gates:
        if gate.name in inputs:
            complaints.append(CircuitComplaint(gate.line, f"'{gate.name}' is an input, yet defined as a gate"))
        elif gate.name in first:
            where = f", first on line {first[gate.name]}" if first[gate.name] else ""
            complaints.append(CircuitComplaint(gate.line, f"'{gate.name}' is defined twice{where}"))
        first.setdefault(gate.name, gate.line)
    return complaints


def _gate_complaints(gate: Gate, known: set[str]) -> list[CircuitComplaint]:
    unknown = [parent for parent in dict.fromkeys(gate.parents) if parent not in known]
    complaints = [
        CircuitComplaint(gate.line, f"'{name}', a parent of '{gate.name}', is not defined") for name in unknown
    ]
    if not gate.parents or (gate.kind.unary and len(gate.parents) != 1):
        takes = "one parent" if gate.kind.unary else "at least one parent"
        what = f"'{gate.name}' has {len(gate.parents)} parents, but {gate.kind} takes {takes}"
        complaints.append(CircuitComplaint(gate.line, what))
    return complaints


def _cycle(gates: Sequence[Gate]) -> list[CircuitComplaint]:
    try:
        _order(gates).prepare()
    except CycleError as found:
        names = found.args[1]  # each a parent of the next, the first again at the end
        line = {gate.name: gate.line for gate in gates}
        first = min(names, key=lambda name: line.get(name, 0))
        return [CircuitComplaint(line.get(first, 0), f"the gates form a cycle: {' -> '.join(names)}")]
    return []


@dataclass(frozen=True)
class GateLayer:
    """The gates of one layer; each parent is a place in the layer before (NO_PARENT: there is none)."""

    kinds: tuple[GateKind, ...]
    parents: Int[np.ndarray, "r 2"]

    def __len__(self) -> int:
        return len(self.kinds)


@dataclass(frozen=True)
class LayeredCircuit:
    """wei2021, Section 3: q layers, the first the inputs, edges from each layer to the next only.

    The inputs stand in layers[0] as ID gates without parents; `outputs` are places in the last layer. Raises
    CircuitError for a parent that is none and for a wrong number of parents.
    """

    name: str
    layers: tuple[GateLayer, ...]
    outputs: tuple[int, ...]

    def __post_init__(self) -> None:
        complaints = [
            CircuitComplaint(
                0, f"gate {j} of layer {i} takes its parents {pair.tolist()} from {len(before)} gates as {kind}"
            )
            for i, (before, layer) in enumerate(zip(self.layers, self.layers[1:], strict=False), start=1)
            for j, (kind, pair) in enumerate(zip(layer.kinds, layer.parents, strict=True))
            if not _fits(kind, pair, len(before))
        ]
        if len(self.layers) < 2 or not self.outputs or not set(self.outputs) <= set(range(len(self.layers[-1]))):
            complaints.append(CircuitComplaint(0, "a layered circuit has two layers at least, and outputs in its last"))
        if complaints:
            raise CircuitError(complaints)

    @property
    def m(self) -> int:
        """The number of input bits."""
        return len(self.layers[0])

    @property
    def q(self) -> int:
        """The number of layers, that of the inputs among them."""
        return len(self.layers)

    @property
    def r(self) -> int:
        """The largest number of gates in a layer."""
        return max(map(len, self.layers))

    @property
    def s(self) -> int:
        """The number of gates, the inputs and every ID gate among them."""
        return sum(map(len, self.layers))

    def check_bits(self, bits: Bool[np.ndarray, "N m"]) -> None:
        """Raises CircuitError unless each row has m bits."""
        _check_bits(self.name, self.m, bits)

    def count(self, kind: GateKind) -> int:
        """How many gates of that kind stand behind the inputs."""
        return sum(layer.kinds.count(kind) for layer in self.layers[1:])


def _fits(kind: GateKind, parents: np.ndarray, before: int) -> bool:
    first, second = parents.tolist()
    return 0 <= first < before and (second == NO_PARENT if kind.unary else 0 <= second < before)


def inputs_as_layer(m: int) -> GateLayer:
    return GateLayer((GateKind.ID,) * m, np.full((m, 2), NO_PARENT, dtype=np.int64))


def all_inputs(m: int) -> Bool[np.ndarray, "N m"]:
    """Every input of m bits, in the order of the numbers they write, the first bit the highest."""
    numbers = np.arange(2**m, dtype=np.int64)[:, None]
    places = np.arange(m - 1, -1, -1, dtype=np.int64)
    return (numbers >> places & 1).astype(bool)
