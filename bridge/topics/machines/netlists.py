"""Circuits from files: ISCAS .bench and BLIF, both read into AND, OR, NOT and ID.

The parsers are our own: every complaint names its file and line, and no line is ignored.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bridge.limits.files import ShippedFiles, read_text
from bridge.limits.notations import Complaints, numbered_lines
from numeric.topics.machines.gates import Circuit, Gate, GateKind, circuit_complaints
from symbolic.words.errors import UsageError

LIBRARY = ShippedFiles(Path(__file__).parent / "library", (".bench", ".blif"))
shipped = LIBRARY.names
AND, OR, NOT, ID = GateKind.AND, GateKind.OR, GateKind.NOT, GateKind.ID
SEQUENTIAL = "is sequential; a circuit here has no memory"

NAME = r"[^\s(),=#]+"
BENCH_PORT = re.compile(rf"(INPUT|OUTPUT)\s*\(\s*({NAME})\s*\)", re.IGNORECASE)
BENCH_GATE = re.compile(rf"({NAME})\s*=\s*({NAME})\s*\(([^()]*)\)")
BENCH_CONSTANT = re.compile(rf"({NAME})\s*=\s*(vdd|gnd)", re.IGNORECASE)
BENCH_KINDS = {"AND": (AND, False), "OR": (OR, False), "NAND": (AND, True), "NOR": (OR, True)}  # and whether negated
BENCH_UNARY = {"NOT": NOT, "BUF": ID, "BUFF": ID}


def read_circuit(name_or_path: str) -> Circuit:
    """The shipped circuit of that name, or else the one in that .bench or .blif file.

    Raises UsageError that names file and line of everything that is wrong.
    """
    known = LIBRARY.path(name_or_path)
    if known is None and Path(name_or_path).suffix.lower() not in LIBRARY.suffixes:
        raise UsageError(
            f"netlist '{name_or_path}' is neither shipped ({', '.join(shipped())}) nor a file that ends in "
            f"{' or '.join(LIBRARY.suffixes)}"
        )
    path = known or name_or_path
    return parse_circuit(read_text(path, "netlist"), path)


def bits_of(caller: str, given: str, m: int) -> np.ndarray:
    """Those bits as (m,) bool. Raises UsageError unless there are m of them."""
    if len(given) != m or set(given) - {"0", "1"}:
        raise UsageError(f"{caller}: input = {given!r}; the circuit takes {m} bits, each 0 or 1, without spaces")
    return np.array([bit == "1" for bit in given])


def parse_circuit(text: str, file: str) -> Circuit:
    """The circuit of that text, in the format that the file's name ends in. Raises UsageError as read_circuit does."""
    draft = _Draft(Complaints(file))
    read = _bench if file.lower().endswith(".bench") else _blif
    read(draft, text)
    complaints = draft.complaints
    for each in circuit_complaints(draft.inputs, draft.stated, draft.outputs, draft.lines, sorted(complaints.lost)):
        complaints.add(each.line, each.text)
    if complaints.found:
        raise complaints.error()
    return Circuit(Path(file).stem, tuple(draft.inputs), tuple(draft.gates), tuple(draft.outputs), draft.lines)


@dataclass
class _Draft:
    """The contents of a file, right or wrong. Gates with a complaint are left out: their names are `lost`.

    `stated` holds the file's own gates (their kinds do not matter), `gates` those that they are made of; such a part
    has the name of the whole, a blank, which no name of a file contains, and a number.
    """

    complaints: Complaints
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    stated: list[Gate] = field(default_factory=list)
    gates: list[Gate] = field(default_factory=list)
    lines: dict[str, int] = field(default_factory=dict)
    model: int = 0  # the line of .model

    def complain(self, line: int, text: str, gate: str = "") -> None:
        self.complaints.add_unread(line, text, lost=[gate])

    def declare(self, ports: list[str], names: Sequence[str], line: int) -> None:
        ports += names
        self.lines |= dict.fromkeys(names, line)

    def state(self, name: str, parents: Sequence[str], line: int) -> None:
        self.stated.append(Gate(name, OR, tuple(parents), line))

    def part(self, name: str, kind: GateKind, parents: Sequence[str], line: int) -> str:
        """A gate that `name` is made of; its own name."""
        own = f"{name} {len(self.gates)}"
        self.gates.append(Gate(own, kind, tuple(parents), line))
        return own

    def gate(self, name: str, kind: GateKind, parents: Sequence[str], line: int, negated: bool = False) -> None:
        if negated:
            kind, parents = NOT, [self.part(name, kind, parents, line)]
        self.gates.append(Gate(name, kind, tuple(parents), line))

    def constant(self, name: str, value: bool, line: int) -> None:
        """x or not x is 1, x and not x is 0, for the first input x."""
        if not self.inputs:
            return self.complain(line, f"'{name}' is constant, and there is no input to build it from", name)
        x = self.inputs[0]
        self.state(name, [x], line)
        return self.gate(name, OR if value else AND, [x, self.part(name, NOT, [x], line)], line)

    def xor(self, name: str, parents: Sequence[str], line: int, negated: bool) -> None:
        """The parity of all parents, by a balanced tree."""
        while len(parents) > 2:
            pairs = [parents[k : k + 2] for k in range(0, len(parents), 2)]
            parents = [self._either(name, pair, line) if len(pair) == 2 else pair[0] for pair in pairs]
        if negated:
            return self.gate(name, NOT, [self._either(name, parents, line)], line)
        return self.gate(name, AND, self._either_or_not_both(name, parents, line), line)

    def _either(self, name: str, pair: Sequence[str], line: int) -> str:
        return self.part(name, AND, self._either_or_not_both(name, pair, line), line)

    def _either_or_not_both(self, name: str, pair: Sequence[str], line: int) -> list[str]:
        """a xor b = (a or b) and not (a and b): the two sides of the last AND."""
        both = self.part(name, AND, pair, line)
        return [self.part(name, OR, pair, line), self.part(name, NOT, [both], line)]


# ISCAS .bench.


def _bench(draft: _Draft, text: str) -> None:
    statements = [(number, line.strip()) for number, line in numbered_lines(text.splitlines(), comment="#")]
    # Constants are made of an input, so the declarations are read first.
    gates = [(number, line) for number, line in statements if not _bench_port(draft, number, line)]
    for number, line in gates:
        _bench_gate(draft, number, line)


def _bench_port(draft: _Draft, number: int, line: str) -> bool:
    port = BENCH_PORT.fullmatch(line)
    if port:
        draft.declare(draft.inputs if port[1].upper() == "INPUT" else draft.outputs, [port[2]], number)
    return port is not None


def _bench_gate(draft: _Draft, number: int, line: str) -> None:
    constant, gate = BENCH_CONSTANT.fullmatch(line), BENCH_GATE.fullmatch(line)
    if constant:
        return draft.constant(constant[1], constant[2].lower() == "vdd", number)
    if not gate:
        what = f"'{line}' is neither INPUT(x), OUTPUT(y) nor y = GATE(a, b)"
        return draft.complain(number, what, line.split("=")[0].strip())
    name, kind = gate[1], gate[2].upper()
    parents = [parent.strip() for parent in gate[3].split(",")]
    if not all(re.fullmatch(NAME, parent) for parent in parents):
        return draft.complain(number, f"the parents of '{name}' are not names separated by commas: '{gate[3]}'", name)
    return _bench_kind(draft, number, name, kind, parents)


def _bench_kind(draft: _Draft, number: int, name: str, kind: str, parents: list[str]) -> None:
    if kind.startswith("DFF"):
        return draft.complain(number, f"'{name}': {kind} {SEQUENTIAL}", name)
    if kind not in (*BENCH_KINDS, *BENCH_UNARY, "XOR", "XNOR"):
        known = ", ".join([*BENCH_KINDS, "XOR", "XNOR", *BENCH_UNARY])
        return draft.complain(number, f"'{name}': there is no gate {kind}; there are {known}", name)
    unary = kind in BENCH_UNARY
    if unary != (len(parents) == 1):
        takes = "one parent" if unary else "two parents or more"
        return draft.complain(number, f"'{name}': {kind} takes {takes}, not {len(parents)}", name)
    draft.state(name, parents, number)
    if unary:
        return draft.gate(name, BENCH_UNARY[kind], parents, number)
    if kind in BENCH_KINDS:
        return draft.gate(name, BENCH_KINDS[kind][0], parents, number, negated=BENCH_KINDS[kind][1])
    return draft.xor(name, parents, number, negated=kind == "XNOR")


# BLIF.


@dataclass
class _Cover:
    """A .names of BLIF: the values of some parents (0, 1 or - for either) at which the output is 1 (or 0: `value`)."""

    line: int
    signals: list[str]
    rows: list[tuple[int, list[str]]] = field(default_factory=list)


def _blif(draft: _Draft, text: str) -> None:
    covers: list[_Cover] = []
    ended, current = False, None
    for number, line in numbered_lines(text.splitlines(), comment="#", continued="\\"):
        words = line.split()
        if ended:
            draft.complain(number, f"'{' '.join(words)}' comes after .end")
        elif not words[0].startswith("."):
            _blif_row(draft, current, number, words)
        else:
            current = _Cover(number, words[1:]) if words[0] == ".names" else None
            covers += [current] if current else []
            ended = words[0] == ".end"
            _blif_keyword(draft, number, words)
    for cover in covers:
        _blif_cover(draft, cover)


def _blif_keyword(draft: _Draft, number: int, words: list[str]) -> None:
    keyword, names = words[0], words[1:]
    if keyword == ".inputs":
        draft.declare(draft.inputs, names, number)
    elif keyword == ".outputs":
        draft.declare(draft.outputs, names, number)
    elif keyword == ".names" and not names:
        draft.complain(number, ".names names no output")
    elif keyword in (".latch", ".mlatch"):
        draft.complain(number, f"{keyword} {SEQUENTIAL}", names[1] if len(names) > 1 else "")
    elif keyword == ".model" and draft.model:
        draft.complain(number, f"a second .model, the first is on line {draft.model}; a file holds one circuit")
    elif keyword == ".model":
        draft.model = number
    elif keyword not in (".names", ".end"):
        draft.complain(number, f"{keyword} is not supported; there are .model, .inputs, .outputs, .names and .end")


def _blif_row(draft: _Draft, cover: _Cover | None, number: int, words: list[str]) -> None:
    if cover is None:
        draft.complain(number, f"'{' '.join(words)}' belongs to no .names")
    else:
        cover.rows.append((number, words))


def _blif_cover(draft: _Draft, cover: _Cover) -> None:
    if not cover.signals:
        return None
    *parents, name = cover.signals
    rows = [(number, words if parents else ["", *words]) for number, words in cover.rows]
    bad = [(number, words) for number, words in rows if not _is_row(words, len(parents))]
    for number, words in bad:
        shape = f"{len(parents)} of 0, 1, - and then " if parents else ""
        draft.complain(number, f"'{' '.join(words).strip()}' is not a row of '{name}': it takes {shape}0 or 1", name)
    values = {words[1] for _, words in rows} if not bad else set()
    if len(values) > 1:
        return draft.complain(cover.line, f"the rows of '{name}' give both 0 and 1", name)
    return None if bad else _sum_of_products(draft, name, parents, [words[0] for _, words in rows], values, cover.line)


def _is_row(words: list[str], parents: int) -> bool:
    return len(words) == 2 and re.fullmatch(rf"[01-]{{{parents}}}", words[0]) is not None and words[1] in ("0", "1")


def _sum_of_products(
    draft: _Draft, name: str, parents: list[str], rows: list[str], values: set[str], line: int
) -> None:
    """The OR, over the rows, of the AND of what each asks of the parents; negated where the rows say 0."""
    negated = values == {"0"}
    asked = [[(parent, bit) for parent, bit in zip(parents, row, strict=True) if bit != "-"] for row in rows]
    if not all(asked) or not asked:  # a row that asks nothing is always met, no row never
        return draft.constant(name, bool(asked) != negated, line)
    draft.state(name, parents, line)
    negations: dict[str, str] = {}
    products = [_literals(draft, name, row, negations, line) for row in asked]
    kind, parents = (
        (AND, products[0]) if len(products) == 1 else (OR, [_product(draft, name, x, line) for x in products])
    )
    if len(parents) == 1:
        return draft.gate(name, NOT if negated else ID, parents, line)
    return draft.gate(name, kind, parents, line, negated)


def _literals(draft: _Draft, name: str, row: list[tuple[str, str]], negations: dict[str, str], line: int) -> list[str]:
    for parent, bit in row:
        if bit == "0" and parent not in negations:
            negations[parent] = draft.part(name, NOT, [parent], line)
    return [parent if bit == "1" else negations[parent] for parent, bit in row]


def _product(draft: _Draft, name: str, literals: list[str], line: int) -> str:
    return literals[0] if len(literals) == 1 else draft.part(name, AND, literals, line)
