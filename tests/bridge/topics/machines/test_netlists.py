"""Circuit files: what is read computes what it should, and what cannot be read is named with its file and line."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from bridge.topics.machines.netlists import LIBRARY, parse_circuit, read_circuit, shipped
from numeric.topics.machines.gates import Circuit, GateKind, all_inputs
from numeric.topics.machines.layering import layered
from symbolic.words.errors import UsageError


def outputs(circuit: Circuit) -> np.ndarray:
    return circuit.evaluate(all_inputs(len(circuit.inputs)))


def numbers(bits: np.ndarray) -> np.ndarray:
    """The numbers that bits (N, k) write, the lowest first."""
    return (bits * 2 ** np.arange(bits.shape[1])).sum(axis=1)


# What the shipped circuits are.


def test_the_adder_adds() -> None:
    a, b = np.split(all_inputs(16), 2, axis=1)
    assert (numbers(outputs(read_circuit("adder8"))) == numbers(a) + numbers(b)).all()


def test_the_products_are_products() -> None:
    circuit = read_circuit("products8")
    a, b = (numbers(half) for half in np.split(all_inputs(16), 2, axis=1))
    found = outputs(circuit)
    assert (numbers(found[:, :16]) == a * b).all()
    assert (numbers(found[:, 16:]) == a * a + b * b).all()
    in_layers = layered(circuit)
    assert in_layers.m == 16
    assert sum(in_layers.count(kind) for kind in GateKind if kind is not GateKind.ID) >= 1000


def test_parity_and_majority_count_ones() -> None:
    assert (outputs(read_circuit("parity16"))[:, 0] == all_inputs(16).sum(axis=1) % 2).all()
    assert (outputs(read_circuit("majority5"))[:, 0] == (all_inputs(5).sum(axis=1) >= 3)).all()


def test_c17_is_its_six_nands() -> None:
    for (x1, x2, x3, x6, x7), found in zip(all_inputs(5).tolist(), outputs(read_circuit("c17")).tolist(), strict=True):
        x11 = not (x3 and x6)
        x16 = not (x2 and x11)
        assert found == [not (not (x1 and x3) and x16), not (x16 and not (x11 and x7))]


def test_shipped_circuits_are_small_files() -> None:
    assert shipped() == ("adder8", "c17", "majority5", "parity16", "products8")
    assert all(path.stat().st_size < 60_000 for path in LIBRARY.folder.iterdir())


# What the formats mean.

BY_DEFINITION = {
    "AND": all,
    "OR": any,
    "NAND": lambda x: not all(x),
    "NOR": lambda x: not any(x),
    "XOR": lambda x: sum(x) % 2 == 1,
    "XNOR": lambda x: sum(x) % 2 == 0,
}


@pytest.mark.parametrize(("kind", "fan_in"), list(itertools.product(BY_DEFINITION, [2, 3, 5])))
def test_bench_gates_of_any_fan_in(kind: str, fan_in: int) -> None:
    names = [f"x{j}" for j in range(fan_in)]
    ports = "\n".join(f"input( {name} )" for name in names)
    circuit = parse_circuit(f"{ports}\nOUTPUT(y)\ny = {kind.lower()}({','.join(names)})  # a gate\n", "wide.bench")
    assert outputs(circuit)[:, 0].tolist() == [BY_DEFINITION[kind](row) for row in all_inputs(fan_in).tolist()]


def test_bench_unary_gates_constants_and_any_order() -> None:
    text = "OUTPUT(y)\nOUTPUT(one)\nOUTPUT(zero)\ny = NOT(z)\nz = BUFF(x)\none = vdd\nzero = gnd\nINPUT(x)\n"
    assert outputs(parse_circuit(text, "any.bench")).tolist() == [[True, True, False], [False, True, False]]


@pytest.mark.parametrize("seed", range(8))
def test_blif_covers_are_sums_of_products(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = ["".join(rng.choice(list("01-"), 4)) for _ in range(int(rng.integers(0, 5)))]
    value = str(rng.integers(0, 2)) if rows else "1"
    cover = "\n".join(f"{row} {value}" for row in rows)
    text = f".model m\n.inputs a b \\\n c d\n.outputs y\n.names a b c d y # cover\n{cover}\n.end\n"
    met = [
        any(all(asked in ("-", str(int(bit))) for asked, bit in zip(row, bits, strict=True)) for row in rows)
        for bits in all_inputs(4)
    ]
    assert outputs(parse_circuit(text, "cover.blif"))[:, 0].tolist() == [m == (value == "1") for m in met]


def test_blif_constants_and_a_row_that_asks_nothing() -> None:
    text = ".inputs a\n.outputs zero one none all\n.names zero\n.names one\n1\n.names none\n0\n.names a all\n- 1\n"
    assert outputs(parse_circuit(text, "constant.blif")).tolist() == [[False, True, False, True]] * 2


def test_names_of_a_file_cannot_meet_those_of_the_parts() -> None:
    text = "INPUT(a)\nINPUT(b)\nOUTPUT(y)\ny = XOR(a, y_0)\ny_0 = XNOR(b, y_1)\ny_1 = NAND(a, b)\n"
    found = outputs(parse_circuit(text, "names.bench"))[:, 0].tolist()
    assert found == [a ^ (not (b ^ (not (a and b)))) for a, b in all_inputs(2).tolist()]


# What is refused.

PORTS = "INPUT(x)\nOUTPUT(y)\n"
BLIF = ".inputs x\n.outputs y\n"
REFUSED = {
    "unknown gate": ("f.bench", PORTS + "y = MUX(x, x)", "f.bench:3: 'y': there is no gate MUX; there are AND, "),
    "flip-flop": ("f.bench", PORTS + "y = DFF(x)", "f.bench:3: 'y': DFF is sequential"),
    "undefined": ("f.bench", PORTS + "y = AND(x, z)", "f.bench:3: 'z', a parent of 'y', is not defined"),
    "no output": ("f.bench", "INPUT(x)\n", "f.bench: no outputs are declared"),
    "undefined output": ("f.bench", PORTS, "f.bench:2: output 'y' is not defined"),
    "twice": ("f.bench", PORTS + "y = NOT(x)\ny = BUF(x)", "f.bench:4: 'y' is defined twice, first on line 3"),
    "given": ("f.bench", PORTS + "x = NOT(y)\ny = BUF(x)", "f.bench:3: 'x' is an input, yet defined as a gate"),
    "NOT of two": ("f.bench", PORTS + "y = NOT(x, x)", "f.bench:3: 'y': NOT takes one parent, not 2"),
    "AND of one": ("f.bench", PORTS + "y = AND(x)", "f.bench:3: 'y': AND takes two parents or more, not 1"),
    "no names": ("f.bench", PORTS + "y = AND(x,,x)", "f.bench:3: the parents of 'y' are not names separated by commas"),
    "syntax": ("f.bench", PORTS + "y : NOT x", "f.bench:3: 'y : NOT x' is neither INPUT(x), OUTPUT(y) nor"),
    "constant of nothing": ("f.bench", "OUTPUT(y)\ny = vdd", "f.bench:2: 'y' is constant, and there is no input"),
    "latch": ("f.blif", BLIF + ".latch x y 2", "f.blif:3: .latch is sequential"),
    "subcircuit": ("f.blif", BLIF + ".subckt half a=x o=y", "f.blif:3: .subckt is not supported; there are .model, "),
    "row of nothing": ("f.blif", "11 1\n" + BLIF, "f.blif:1: '11 1' belongs to no .names"),
    "row too short": ("f.blif", BLIF + ".names x x y\n1 1", "f.blif:4: '1 1' is not a row of 'y': it takes 2 of 0, 1"),
    "row of a constant": ("f.blif", BLIF + ".names y\n2", "f.blif:4: '2' is not a row of 'y': it takes 0 or 1"),
    "both": ("f.blif", BLIF + ".names x y\n1 1\n0 0", "f.blif:3: the rows of 'y' give both 0 and 1"),
    "nameless": ("f.blif", BLIF + ".names", "f.blif:3: .names names no output"),
    "two models": ("f.blif", ".model a\n.model b\n" + BLIF, "f.blif:2: a second .model, the first is on line 1"),
    "after the end": ("f.blif", BLIF + ".names x y\n1 1\n.end\n.names", "f.blif:6: '.names' comes after .end"),
    "long line": ("f.blif", ".inputs x\n.outputs \\\n y\n.names x \\\n w y\n11 1", "f.blif:4: 'w', a parent of 'y'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_wrong_is_named_with_file_and_line(name: str) -> None:
    file, text, said = REFUSED[name]
    with pytest.raises(UsageError) as refused:
        parse_circuit(text, file)
    assert said in str(refused.value)


def test_a_cycle_names_the_files_gates_only() -> None:
    with pytest.raises(UsageError, match=r"^f.bench:3: the gates form a cycle: (y -> z -> y|z -> y -> z)$"):
        parse_circuit(PORTS + "y = AND(x, z)\n\nz = XOR(x, y)", "f.bench")


def test_everything_wrong_is_said_at_once_and_nothing_twice() -> None:
    text = "INPUT(x)\nOUTPUT(y)\nz = MUX(x)\ny = AND(x, z)\nw = NAND(x, v)\n!\n"
    with pytest.raises(UsageError) as refused:
        parse_circuit(text, "f.bench")
    places = [line.split(" ")[0] for line in str(refused.value).splitlines()]
    assert places == ["f.bench:3:", "f.bench:5:", "f.bench:6:"]


def test_files_are_read_and_what_is_no_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.BENCH"
    path.write_text(PORTS + "y = NOT(x)\n")
    assert outputs(read_circuit(str(path))).tolist() == [[True], [False]]
    path.write_text(PORTS + "y = NOT(z)\n")
    with pytest.raises(UsageError, match=r"mine\.BENCH:3: 'z', a parent of 'y'"):
        read_circuit(str(path))
    with pytest.raises(UsageError, match=r"netlist 'adder9' is neither shipped \(adder8, c17, .* in \.bench or \.blif"):
        read_circuit("adder9")
    with pytest.raises(UsageError, match="there is no file"):
        read_circuit(str(tmp_path / "none.blif"))
