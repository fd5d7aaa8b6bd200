"""The study of circuits: its rows, what it refutes, and that each of its checks can fail."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from bridge.budget import Budget
from bridge.machines import circuit as module
from bridge.machines.circuit import CircuitCase, CircuitStudy
from bridge.machines.netlists import shipped
from bridge.record import Row, Verdict, Witness
from numeric.machines.circuit import GATE_WEIGHTS, CircuitNetwork, GateWeights
from numeric.machines.gates import GateKind
from symbolic.statements import UsageError

BUDGET = Budget(samples=50, attack=0, restarts=0, seed=3)


def case(dtype: str = "float64", **params: Any) -> CircuitCase:
    return CircuitStudy().case(params, seed=0, dtype=dtype, device="cpu")


def rows_of(made: CircuitCase) -> dict[str, Row]:
    return {row.quantity: row for row in made.rows(BUDGET)}


@cache
def rows(netlist: str, rounding: int = 1) -> dict[str, Row]:
    return rows_of(case(netlist=netlist, rounding=rounding))


def replayed(made: CircuitCase, witness: Witness) -> Row:
    inputs = {name: torch.tensor(values, dtype=torch.float64) for name, values in witness.inputs.items()}
    return made.replay_check(witness.quantity, inputs)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_input_of_the_default_circuit(dtype: str) -> None:
    row = case(dtype).outputs_row(BUDGET)
    assert (row.measured, row.samples) == (0.0, 2**16)
    assert set(row.verdict.values()) == {Verdict.PROVED}
    assert f"all 65536 inputs in {dtype}" in row.remark


def test_every_quantity_has_a_row() -> None:
    assert set(rows("c17")) == {quantity.name for quantity in CircuitStudy.result.quantities}


@pytest.mark.parametrize("rounding", [0, 1])
@pytest.mark.parametrize("netlist", ["c17", "majority5", "parity16", "adder8"])
def test_sizes_are_what_is_derived(netlist: str, rounding: int) -> None:
    found = rows(netlist, rounding)
    for name in ("layer_norm", "rounding_norm", "depth", "width"):
        assert found[name].verdict["printed"] is Verdict.CONSISTENT
        assert found[name].verdict["derived"] is Verdict.PROVED
        assert found[name].measured <= found[name].derived
    assert found["layer_norm"].measured == found["layer_norm"].instance
    assert found["rounding_norm"].measured == found["rounding_norm"].derived  # 9 for each coordinate
    assert found["depth"].measured == found["depth"].derived
    assert (found["rounding_norm"].measured == 0) == (rounding == 0)


def test_the_widest_circuits_attain_the_bounds() -> None:
    assert rows("majority5")["layer_norm"].measured == 5.0  # a layer of ORs only
    assert rows("majority5")["width"].measured == rows("majority5")["width"].derived == 26.0


@pytest.mark.parametrize("netlist", ["c17", "majority5", "parity16", "adder8", "products8"])
def test_the_printed_total_norm_is_refuted_by_each_circuit(netlist: str) -> None:
    made = case(netlist=netlist)
    row = made._total_norm_row(None)
    assert row.verdict == {"printed": Verdict.VIOLATED, "derived": Verdict.PROVED, "instance": Verdict.PROVED}
    assert (row.erratum.weight, row.erratum.survives[:3]) == ("step of a proof", "yes")
    assert row.erratum.repair == "O(s), for instance 5 s"
    assert row.derived <= 5 * row.printed
    again = replayed(made, row.witness)
    assert again.verdict["printed"] is Verdict.VIOLATED
    assert again.measured == row.witness.error_lower > row.witness.bounds["printed"] == row.printed  # counted anew


def test_a_circuit_that_does_weigh_less_than_its_gates_keeps_the_printed_norm(tmp_path: Path) -> None:
    path = tmp_path / "wire.bench"
    path.write_text("\n".join([*(f"INPUT(x{j})" for j in range(6)), "OUTPUT(y)", "y = AND(x0, x1)"]))
    row = rows_of(case(netlist=str(path)))["total_norm"]
    assert (row.measured, row.printed) == (4.0, 7.0)
    assert row.verdict["printed"] is Verdict.KEPT
    assert row.witness is None


def test_more_than_sixteen_inputs_are_sampled(tmp_path: Path) -> None:
    names = [f"x{j}" for j in range(20)]
    path = tmp_path / "wide.bench"
    path.write_text("\n".join([*(f"INPUT({name})" for name in names), "OUTPUT(y)", f"y = NOR({', '.join(names)})"]))
    made = case(netlist=str(path))
    row = made.outputs_row(BUDGET)
    assert (row.samples, row.seed) == (50, 3)
    assert made.uses == {"dtype", "samples", "seed"}
    assert case(netlist="c17").uses == {"dtype"}
    assert "run on random 50 inputs" in row.remark
    assert (made.inputs_run(BUDGET) == made.inputs_run(BUDGET)).all()


# Each check can fail.


def test_a_network_that_errs_is_not_called_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    true = CircuitNetwork.run

    def wrong_once(self: CircuitNetwork, bits: np.ndarray, *where: Any) -> torch.Tensor:
        answers = true(self, bits, *where)
        answers[5, 0] *= -1
        return answers

    monkeypatch.setattr(CircuitNetwork, "run", wrong_once)
    row = case(netlist="c17").outputs_row(BUDGET)
    assert row.measured == 1.0
    assert set(row.verdict.values()) == {Verdict.UNDECIDED}
    assert "wrong on 1 of them" in row.remark


def test_gates_that_are_not_the_papers_prove_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    heavy = GateWeights((1.0, 1.0), -1.0, 3.0, 0.0)
    monkeypatch.setitem(GATE_WEIGHTS, GateKind.AND, heavy)
    monkeypatch.setattr(module, "gates_are_the_papers", module.gates_are_the_papers.__wrapped__)
    assert not module.gates_are_the_papers()
    found = rows_of(case(netlist="c17"))
    assert all(Verdict.PROVED not in found[name].verdict.values() for name in ("outputs", "layer_norm", "total_norm"))


def test_layers_too_wide_to_write_out_are_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WIDEST_DENSE", 4)
    row = rows_of(case(netlist="c17"))["width"]
    assert row.measured is None
    assert "more than 4 gates are not written out" in row.remark


def test_the_meaning_of_the_netlist_names_those_that_are_shipped() -> None:
    names = CircuitStudy.result.parameter("netlist").meaning.split(";")[0]
    assert tuple(names.split(", ")) == shipped()


def test_the_table_counts_every_shipped_circuit_or_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "own.blif"
    path.write_text(".inputs a b\n.outputs y\n.names a b y\n11 1\n")
    (shipped,), (own,) = case(netlist="c17").tables(), case(netlist=str(path)).tables()
    assert [row[0] for row in shipped.rows] == ["adder8", "c17", "majority5", "parity16", "products8"]
    assert [row[0] for row in own.rows] == ["own"]
    cells = dict(zip(own.columns, own.rows[-1], strict=True))
    assert [cells[name] for name in ("q", "s", "gates", "ID")] == [2, 3, 1, 0]
    assert [cells[name] for name in ("depth/q", "|theta|_1/s", "|xi|_1/s")] == [1.0, 1.333, 0.0]


def test_the_outputs_at_one_input_are_shown() -> None:
    outputs, _ = case(netlist="adder8", input="1100000010000000").tables()  # low digits first: 3 + 1 = 4
    assert [row[1] for row in outputs.rows] == [0, 0, 1, 0, 0, 0, 0, 0, 0]
    assert [row[2] for row in outputs.rows] == [2 * row[1] - 1 for row in outputs.rows]
    with pytest.raises(UsageError, match="takes 5 bits"):
        case(netlist="c17", input="1012")


# What is refused.


def test_a_witness_that_gives_inputs_is_refused() -> None:
    with pytest.raises(UsageError, match="'total_norm' takes no inputs, as netlist is the circuit; got m"):
        case(netlist="c17").replay_check("total_norm", {"m": torch.tensor([5.0])})


def test_bad_checks_and_parameters_are_refused() -> None:
    with pytest.raises(UsageError, match="no quantity or check 'other'"):
        case(netlist="c17").replay_check("other", {})
    with pytest.raises(UsageError, match="rounding = 2 does not meet"):
        case(netlist="c17", rounding=2)
    with pytest.raises(UsageError, match="netlist 'c18' is neither shipped"):
        case(netlist="c18")
