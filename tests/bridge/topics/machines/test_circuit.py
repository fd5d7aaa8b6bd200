"""Circuits beside their networks: the rows, what is refuted, and that each check can fail."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from bridge.export.comparison import Comparison
from bridge.questions.compare import compare
from bridge.questions.replaying import replay_witness
from bridge.theorems.record import Row, Verdict
from bridge.topics.machines import circuit as module
from bridge.topics.machines.circuit import CIRCUIT as THEOREM
from bridge.topics.machines.netlists import shipped
from numeric.topics.machines.circuit import GATE_WEIGHTS, CircuitNetwork, GateWeights, measured_sizes
from numeric.topics.machines.gates import GateKind
from numeric.topics.machines.layering import layered
from symbolic.topics.machines.circuit import CIRCUIT
from symbolic.words.errors import UsageError
from tests.bridge.topics.machines.changed import changed, rows_of, written

ID = "machines.circuit"


@cache
def compared(netlist: str, **params: Any) -> Comparison:
    return compare(ID, netlist=netlist, **params)


def rows(netlist: str, **params: Any) -> dict[str, Row]:
    return rows_of(compared(netlist, **params))


@pytest.mark.long
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_input_of_the_default_circuit(dtype: str) -> None:
    row = rows("products8", **({} if dtype == "float64" else {"dtype": dtype}))["outputs"]
    assert (row.measured, row.samples) == (0.0, 2**16)
    assert set(row.verdict.values()) == {Verdict.PROVED}
    assert f"all 65536 inputs in {dtype}, all 33 outputs exact" in row.remark


@pytest.mark.parametrize("rounding", [0, 1])
@pytest.mark.parametrize("netlist", ["c17", "majority5", "parity16", "adder8"])
def test_sizes_are_what_is_derived(netlist: str, rounding: int) -> None:
    found = rows(netlist, rounding=rounding)
    for name in ("layer_norm", "rounding_norm", "depth", "width"):
        assert found[name].verdict["printed"] is Verdict.CONSISTENT
        assert found[name].verdict["derived"] is Verdict.PROVED
        assert found[name].measured <= found[name].derived
    assert found["layer_norm"].measured == found["layer_norm"].instance
    assert found["rounding_norm"].measured == found["rounding_norm"].derived  # 9 for each coordinate
    assert found["depth"].measured == found["depth"].derived
    assert (found["rounding_norm"].measured == 0) == (rounding == 0)


def test_the_constants_of_the_orders_hold_for_every_circuit() -> None:
    words = {name: row.remark.partition("(.): ")[2] for name, row in rows("c17").items() if row.order}
    assert {name: each.split(";")[0].rsplit(" is ")[1] for name, each in words.items()} == {
        "layer_norm": "5", "rounding_norm": "9", "depth": "4", "width": "2",
    }  # fmt: skip
    assert words["depth"].startswith("the least constant for all q >= 2 is 4; measured / printed = 3.143 here")


def test_the_widest_circuits_attain_the_bounds() -> None:
    assert rows("majority5")["layer_norm"].measured == 5.0  # a layer of ORs only
    assert rows("majority5")["width"].measured == rows("majority5")["width"].derived == 26.0


@pytest.mark.parametrize("netlist", shipped())
def test_the_printed_total_norm_is_refuted_by_each_circuit(netlist: str) -> None:
    row = rows(netlist)["total_norm"]
    assert row.verdict == {"printed": Verdict.VIOLATED, "derived": Verdict.PROVED, "instance": Verdict.PROVED}
    assert row.erratum.repair == "O(s), for instance 5 s"
    assert row.derived <= 5 * row.printed
    assert row.witness.bounds["printed"] == row.printed
    assert replay_witness(row.witness).measured == row.witness.error_lower > row.printed  # counted anew


def test_a_circuit_that_does_weigh_less_than_its_gates_meets_the_printed_norm(tmp_path: Path) -> None:
    text = "\n".join([*(f"INPUT(x{j})" for j in range(6)), "OUTPUT(y)", "y = AND(x0, x1)"])
    row = rows(written(tmp_path, text, "own.bench"))["total_norm"]
    assert (row.measured, row.printed) == (4.0, 7.0)
    assert row.verdict["printed"] is Verdict.PROVED
    assert row.witness is None


def test_more_than_sixteen_inputs_are_sampled(tmp_path: Path) -> None:
    names = [f"x{j}" for j in range(20)]
    text = "\n".join([*(f"INPUT({name})" for name in names), "OUTPUT(y)", f"y = NOR({', '.join(names)})"])
    row = rows(written(tmp_path, text, "own.bench"), samples=50, seed=3)["outputs"]
    assert (row.samples, row.seed) == (50, 3)
    assert "run on random 50 inputs" in row.remark
    with pytest.raises(UsageError, match=r"samples = 50, seed = 3 has no effect on any row of machines\.circuit"):
        compare(ID, netlist="c17", samples=50, seed=3)


# Each check can fail.


class WrongOnce(CircuitNetwork):
    def run(self, bits: np.ndarray, *where: Any) -> torch.Tensor:
        answers = super().run(bits, *where)
        answers[5, 0] *= -1
        return answers


def test_a_network_that_errs_is_not_called_proved() -> None:
    wrong = changed(THEOREM, "outputs", network=lambda netlist: WrongOnce(layered(netlist)))
    (row,) = compare(wrong, netlist="c17")
    assert row.measured == 1.0
    assert set(row.verdict.values()) == {Verdict.UNDECIDED}
    assert "wrong on 1 of them" in row.remark


def test_matrices_that_weigh_something_else_refute_nothing() -> None:
    heavier = changed(THEOREM, "total_norm", sizes=lambda network: replace(measured_sizes(network), gates=55.0))
    (row,) = compare(heavier, netlist="c17")
    assert (row.measured, row.instance) == (55.0, 54.0)
    assert set(row.verdict.values()) == {Verdict.UNDECIDED}


def test_layers_too_wide_to_write_out_are_not_measured(tmp_path: Path) -> None:
    gates = [f"OUTPUT(y{k})\ny{k} = NOT(x)" for k in range(4097)]
    row = rows(written(tmp_path, "\n".join(["INPUT(x)", *gates]), "wide.bench"))["width"]
    assert row.measured is None
    assert "more than 4096 gates are not written out" in row.remark


def test_gates_that_are_not_the_papers_prove_and_refute_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(GATE_WEIGHTS, GateKind.AND, GateWeights((1.0, 1.0), -1.0, 3.0, 0.0))
    monkeypatch.setattr(module, "gates_are_the_papers", module.gates_are_the_papers.__wrapped__)
    found = rows_of(compare(ID, netlist="c17"))
    assert {verdict for row in found.values() for verdict in row.verdict.values()} == {Verdict.UNDECIDED}


# Tables and refusals.


def test_the_meaning_of_the_netlist_names_those_that_are_shipped() -> None:
    names = CIRCUIT.parameter("netlist").meaning.split(";")[0]
    assert tuple(names.split(", ")) == shipped()


def test_the_table_counts_every_shipped_circuit_or_ones_own(tmp_path: Path) -> None:
    path = written(tmp_path, ".inputs a b\n.outputs y\n.names a b y\n11 1\n", "own.blif")
    (beside,), (own,) = compared("c17").tables, compared(path).tables
    assert tuple(row[0] for row in beside.rows) == shipped()
    assert [row[0] for row in own.rows] == ["own"]
    cells = dict(zip(own.columns, own.rows[-1], strict=True))
    assert [cells[name] for name in ("q", "s", "gates", "ID")] == [2, 3, 1, 0]
    assert [cells[name] for name in ("depth/q", "|theta|_1/s", "|xi|_1/s")] == [1.0, 1.333, 0.0]


def test_the_outputs_at_one_input_are_shown() -> None:
    outputs, _ = compared("adder8", input="1100000010000000").tables  # low digits first: 3 + 1 = 4
    assert outputs.title.startswith("outputs at 1100000010000000: ")
    assert [row[1] for row in outputs.rows] == [0, 0, 1, 0, 0, 0, 0, 0, 0]
    assert [row[2] for row in outputs.rows] == [2 * row[1] - 1 for row in outputs.rows]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"netlist": "c17", "input": "1012"}, "input = '1012'; the circuit takes 5 bits, each 0 or 1"),
        ({"netlist": "c17", "input": 10110}, 'input = 10110 is not text; write input="..."'),
        ({"netlist": "c17", "rounding": 2}, "rounding = 2 does not meet"),
        ({"netlist": "c18"}, "netlist 'c18' is neither shipped"),
    ],
)
def test_parameters_that_are_refused(params: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        compare(ID, **params)
