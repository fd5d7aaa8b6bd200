"""Appendix C beside the simulator: what agrees, what a changed weight does, counts, witnesses, tables, refusals."""

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
from bridge.theorems.theorem import Theorem
from bridge.topics.machines import turing, turing_leak, turing_runs
from bridge.topics.machines.machine_files import read_machine, shipped
from bridge.topics.machines.turing_costs import letters, sizes
from bridge.topics.machines.turing_leak import measured_leak
from bridge.topics.machines.turing_runs import DIFFERS, task_of
from numeric.networks.layers import Affine
from numeric.topics.machines.beside_simulator import random_inputs, side_by_side
from numeric.topics.machines.simulation import SimulatingDecoder
from numeric.topics.machines.transformer import simulating_decoder
from symbolic.topics.machines import turing as theory
from symbolic.topics.machines import turing_counts as counts
from symbolic.words.errors import UsageError
from tests.bridge.topics.machines.changed import changed, rows_of, written

ID = "machines.turing"
STEP_NAMES = [quantity.name for quantity in theory.STEPS]
AGREE = [*STEP_NAMES, "answer"]
ALONE = {"work": 0}  # no random inputs


@cache
def compared(**params: Any) -> Comparison:
    return compare(ID, **params)


@cache
def example() -> dict[str, Row]:
    return rows_of(compared(samples=12))


def alone(**params: Any) -> dict[str, Row]:
    return rows_of(compared(**ALONE, **params))


@pytest.mark.parametrize("name", AGREE)
def test_network_and_simulator_agree(name: str) -> None:
    row = example()[name]
    assert (row.measured, row.verdict, row.samples, row.seed) == (0, {"printed": Verdict.KEPT}, 13, 0)
    assert "T = 9, where the machine halts; 9 steps on the input and on 12 random ones" in row.remark


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_a_run_in_a_shorter_format_agrees_and_says_how_far_it_rounds(dtype: str) -> None:
    found = alone(dtype=dtype)
    assert {found[quantity].measured for quantity in (*AGREE, "softmax")} == {0}
    assert found["rounding"].measured < 0.01


@pytest.mark.parametrize(
    ("table", "word", "shown", "left"),
    [
        ("start: a\naccept: h\na _ 1 R h\na 1 1 R h\n", "1" * 50, "1" * 29 + "...", "1" * 37 + "..."),
        ("1RZ1RZ", "1111", "1111", "1111"),
    ],
    ids=["one-way", "two-way"],
)
def test_an_input_longer_than_the_steps_reach_is_run(
    table: str, word: str, shown: str, left: str, tmp_path: Path
) -> None:
    made = compare(ID, machine=written(tmp_path, table, "own.tm"), input=word, **ALONE)
    assert {rows_of(made)[name].measured for name in AGREE} == {0}
    assert rows_of(made)["leak"].verdict == {"derived": Verdict.KEPT}
    assert f"accepts '{shown}' in step 1; tape at the end: {left}. " in made.tables[0].title


def test_the_same_seed_draws_the_same_inputs_up_to_the_work_that_is_allowed() -> None:
    task = task_of("increment", "1011", 0)
    first, again, other = (random_inputs(task, 20, 10**6, seed).inputs for seed in (1, 1, 2))
    assert first == again != other
    assert len(random_inputs(task, 20, 35, 1).inputs) == 3  # T + 1 = 10 steps each
    assert rows_of(compare(ID, samples=20, work=35))["state"].samples == 4


# One weight changed.


def mutant(network: SimulatingDecoder, layer: str) -> SimulatingDecoder:
    """The first entry other than 0 of that layer's W_1 set to 0."""
    layers = list(network.decoder.layers)
    place = [each.name for each in layers].index(layer)
    first, *others = layers[place].feedforward
    weight, bias = (array.copy() for array in first.dense())
    weight[tuple(np.argwhere(weight)[0])] = 0.0

    class Changed(Affine):
        def dense(self) -> tuple[np.ndarray, np.ndarray]:
            return weight, bias

    layers[place] = replace(layers[place], feedforward=(Changed(first.map, first.bias), *others))
    return replace(network, decoder=replace(network.decoder, layers=tuple(layers)))


def with_mutant(layer: str) -> Theorem:
    return changed(turing.TURING, network=lambda machine, T: mutant(simulating_decoder(machine, T), layer))


@pytest.mark.parametrize("layer", ["pair", "add[1]", "search[2]", "symbol"])
def test_one_changed_weight_is_seen_and_replayed_and_refutes_only_what_is_derived(layer: str) -> None:
    found = compare(with_mutant(layer), samples=4)
    for row in found.violated():
        assert replay_witness(row.witness, theorem=with_mutant(layer)).verdict == row.verdict
    differing = [row for row in found if row.quantity in STEP_NAMES and row.measured > 0]
    assert differing
    assert all(row.verdict == {"printed": Verdict.UNDECIDED} for row in differing)  # the construction is ours
    assert all("first differs in step" in row.remark and turing.OURS in row.remark for row in differing)
    soft = rows_of(found)["softmax"]
    assert soft.verdict == {"derived": Verdict.VIOLATED}
    assert soft.witness.settings == {"samples": 4, "seed": 0}
    unchanged = replay_witness(soft.witness, theorem=changed(turing.TURING))
    assert unchanged.verdict == {"derived": Verdict.KEPT}
    assert rows_of(found)["inverse_temperature"].verdict == {"derived": Verdict.UNDECIDED}
    assert any(str(row[-1]).startswith(DIFFERS) for row in found.tables[0].rows)


def test_the_remark_names_an_input_that_differs() -> None:
    found = compare(with_mutant("symbol"), samples=4)
    row = next(each for each in found if each.quantity in STEP_NAMES and each.measured > 0)
    place = row.remark.split(";")[0]
    word, step = place.split("'")[1], int(place.split(" step ")[1].split()[0])
    task = task_of("increment", word, 0)
    network = mutant(simulating_decoder(task.machine, 9), "symbol")
    trace = turing.simulate(task.machine, task.tokens, 9)
    again = side_by_side(network, [task.tokens], [trace], dtype=torch.float64, device=torch.device("cpu"))
    assert again.agreement.first[place.split(" first ")[0]] == (0, step)


def test_in_a_shorter_format_a_difference_refutes_nothing() -> None:
    made = compare(with_mutant("symbol"), samples=4, dtype="float32")
    found = [row for row in made if row.quantity in (*AGREE, "softmax")]
    verdicts = {verdict for row in found for verdict in row.verdict.values()}
    assert Verdict.UNDECIDED in verdicts
    assert Verdict.VIOLATED not in verdicts


def test_a_wrong_count_is_refuted() -> None:
    true = sizes(simulating_decoder(read_machine("increment"), 9))
    row = rows_of(compare(changed(turing.TURING, sizes=lambda: {**true, "width": 96.0}), **ALONE))["width"]
    assert row.verdict == {"derived": Verdict.VIOLATED, "printed": Verdict.UNDECIDED}


# Counts.


@pytest.mark.parametrize(("T", "start"), [(1, "sentinel"), (1, "given"), (16, "sentinel")])
@pytest.mark.parametrize("name", shipped())
def test_counts_are_those_of_the_dense_parameters(name: str, T: int, start: str) -> None:
    network = simulating_decoder(read_machine(name), T, start=start)
    at, seen, sentinel = letters(network), sizes(network), start == "sentinel"
    formulas = {f"norm[{lemma.label}]": counts.norm(lemma.label, sentinel) for lemma in counts.LEMMAS}
    formulas |= {"width": counts.width(sentinel), "depth": counts.depth(), "parameters": counts.parameters(sentinel)}
    assert {key: float(formula.subs(at)) for key, formula in formulas.items()} == {key: seen[key] for key in formulas}
    assert float(counts.total(sentinel).subs(at)) == pytest.approx(seen["norm"], rel=1e-12)


@pytest.mark.parametrize("name", ["width", "depth", "norm[C.1]", "norm[C.3]", "norm[C.7]"])
def test_an_order_is_consistent_and_names_its_constant(name: str) -> None:
    row = example()[name]
    assert row.verdict == {"derived": Verdict.KEPT, "printed": Verdict.CONSISTENT}
    assert "the least constant for all Z >= 2, A >= 2, w_pos >= 2" in row.remark


# Softmax.


def test_softmax_at_the_computed_temperature_is_exact_and_leaks_at_most_eps() -> None:
    assert example()["softmax"].measured == 0
    leak, knob = example()["leak"], example()["inverse_temperature"]
    assert 0 < leak.measured <= leak.derived <= 0.1 * (1 + 1e-9)
    assert knob.measured <= knob.derived
    assert knob.verdict == leak.verdict == {"derived": Verdict.KEPT}


def test_a_much_smaller_temperature_fails_and_leaks(monkeypatch: pytest.MonkeyPatch) -> None:
    task, cpu = task_of("increment", "1011", 0), torch.device("cpu")
    network, where = simulating_decoder(task.machine, task.T), {"dtype": torch.float64, "device": cpu}
    assert side_by_side(network, [task.tokens], [task.trace], inverse_temperature=0.1, **where).differences > 0
    assert measured_leak(network, task.tokens, 0.1, cpu) > 1 / 3
    less = iter([(np.array([[1.0, 0.0]]), np.array([[1.0], [0.0]]))])  # scores and values of two keys
    monkeypatch.setattr(turing_leak, "attentions_in_full", lambda *_: less)
    assert measured_leak(network, task.tokens, 0.1, cpu) == pytest.approx(1 / (1 + np.exp(0.1)))


@pytest.mark.long
def test_the_temperature_minds_the_longest_of_all_inputs() -> None:
    few, many = (rows_of(compared(machine="busy_beaver_3", **more)) for more in (ALONE, {"samples": 40}))
    for found, keys in ((few, 23), (many, 30)):  # the null key and 22 steps; and 21 blanks and 8 symbols
        assert all(f"n = {keys}" in found[name].remark for name in ("softmax", "leak", "inverse_temperature"))
    assert many["inverse_temperature"].derived > few["inverse_temperature"].derived


def test_a_smaller_eps_takes_a_larger_inverse_temperature() -> None:
    smaller = alone(eps=0.001)["inverse_temperature"]
    assert smaller.derived > example()["inverse_temperature"].derived


# The two definitions of Appendix C.1.


def replayed(name: str, inputs: dict[str, list[float]]) -> Row:
    known = example()["pair"].witness
    return replay_witness(known.model_copy(update={"quantity": name, "inputs": inputs}))


def test_enough_bits_are_not_refuted() -> None:
    for T in (7.0, 9.0, 1023.0):
        row = replayed("width_bits", {"T": [T]})
        assert (row.verdict["printed"], row.erratum) == (Verdict.KEPT, None)
    assert replayed("width_bits", {"T": [1024.0]}).verdict["printed"] is Verdict.VIOLATED


def test_the_bits_of_a_position_stand_at_the_run_and_at_a_power_of_two() -> None:
    at_9 = [row for row in compared(samples=12) if row.quantity == "width_bits"]
    found = [(row.construction, row.verdict["printed"], row.params.get("T")) for row in at_9]
    assert found == [("", Verdict.KEPT, 9), ("T = 8", Verdict.VIOLATED, None)]
    (at_16,) = (row for row in compared(T=16, **ALONE) if row.quantity == "width_bits")
    assert (at_16.construction, at_16.verdict["printed"], at_16.params["T"]) == ("", Verdict.VIOLATED, 16)
    bits = simulating_decoder(read_machine("increment"), 9).w_pos
    assert bits == (9 + 1).bit_length()  # floor(log_2(T + 1)) + 1, as the repair says


@pytest.mark.parametrize(
    ("name", "inputs", "message"),
    [
        ("width_bits", {"T": [float("nan")]}, "T = nan is not finite"),
        ("width_bits", {"T": [1.0]}, "T >= 2"),
        ("width_bits", {"T": [2.0**53]}, "T >= 2"),
        ("width_bits", {"T": [2.5]}, "not a whole number"),
        ("pair", {"Z": [1.0], "A": [0.0]}, "A >= 1"),
        ("pair", {"Z": [1.5], "A": [1.0]}, "Z >= 1"),
    ],
)
def test_witnesses_that_are_refused(name: str, inputs: dict[str, list[float]], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        replayed(name, inputs)


# Tables.


def test_the_trace_is_the_simulators() -> None:
    trace, costs = compared(samples=12).tables
    simulated = task_of("increment", "1011", 0).trace
    assert len(trace.rows) == simulated.steps + 1
    assert {row[-1] for row in trace.rows} == {"same"}
    cells = {name: [row[place] for row in trace.rows] for place, name in enumerate(trace.columns)}
    assert cells["location"] == simulated.location.tolist()
    assert cells["i'"] == simulated.last_visit.tolist()
    assert cells["state"] == [simulated.machine.states[z] for z in simulated.state]
    assert cells["written"][1:] == [simulated.machine.alphabet[u] for u in simulated.written[1:]]
    assert trace.columns == ["i", "written", "move", "state", "location", "symbol", "i'", "simulator"]
    assert costs.columns[1:] == ["in the network", "by the formula", "printed", "largest ratio", "formula"]
    assert all(row[1] == row[2] for row in costs.rows)
    assert "over all Z >= 2, A >= 2, w_pos >= 2" in costs.title


def test_a_two_way_trace_counts_cells_from_where_the_head_starts() -> None:
    trace = compared(machine="busy_beaver_3", **ALONE).tables[0]
    at = trace.columns.index("location")
    assert trace.rows[0][at] == 1
    assert {row[-1] for row in trace.rows} == {"same"}
    assert min(row[at] for row in trace.rows) < 1


@pytest.mark.parametrize(
    ("machine", "word", "T", "begins"),
    [
        ("palindrome", "0110", 15, "palindrome accepts '0110' in step 15; tape at the end: blank. Network"),
        ("palindrome", "01", 4, "palindrome rejects '01' in step 4; tape at the end: _1. "),
    ],
    ids=["accepts", "rejects"],
)
def test_the_title_of_the_trace_says_what_happened(machine: str, word: str, T: int, begins: str) -> None:
    title = compare(ID, machine=machine, input=word, **ALONE).tables[0].title
    assert title.startswith(begins)
    assert f". Network and simulator differ at 0 of the steps 0..{T}. " in title


def test_the_parameters_show_the_input_and_the_steps_that_were_taken() -> None:
    row = example()["state"]
    assert (row.params["T"], row.params["input"]) == (9, "1011")
    assert example()["pair"].witness.params["T"] == 9
    longer = alone(T=12)["state"]
    assert longer.params["T"] == 12
    assert longer.remark == "12 steps on the input and on 0 random ones"


def test_the_meaning_of_the_machine_names_those_that_are_shipped() -> None:
    names = theory.TURING.parameter("machine").meaning.split(";")[0]
    assert tuple(names.split(", ")) == shipped()


# Refusals.

ONE = "start: a\naccept: z\na _ _ R z\na 1 1 {} a\n"


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"T": 3}, r"^increment.tm:15: the machine has not halted after T = 3 steps on the input '1011'; the next"),
        ({"T": 3}, r"of state 'right' and symbol '1'; raise T, as in --set T=6, if it ever halts$"),
        ({"T": 2**16 + 1}, r"T = 65537 steps are too many, .* 65536 at most"),
        ({"input": "10x1"}, r"^increment.tm:7: input symbol 3, 'x', is not in the alphabet .*; the input was '10x1'$"),
        ({"T": -1}, "T = -1 does not meet"),
        ({"T": 2.5}, "not a whole number"),
        ({"eps": 0.4}, "removes an error of 1/3"),
        ({"dtype": "bfloat16"}, "in bfloat16 a score of 9 products may have an error of"),
    ],
)
def test_calls_that_are_refused(params: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        compare(ID, **params)


def test_a_head_that_leaves_the_tape_is_named_with_file_line_and_step(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"own.tm:4: the head leaves the tape on the left in step 1 .* on the input '1'"
    ):
        compare(ID, machine=written(tmp_path, ONE.format("L"), "own.tm"), input="1")


def test_a_machine_that_never_halts_is_told_no_larger_number_of_steps_than_can_be_run(tmp_path: Path) -> None:
    path = written(tmp_path, ONE.format("S"), "own.tm")
    with pytest.raises(UsageError, match=r"own.tm:4: .* after T = 4096 steps on the input '1'; .* --set T=8192"):
        compare(ID, machine=path, input="1")
    with pytest.raises(UsageError, match=r"own.tm:4: .* state 'a' and symbol '1'$"):
        compare(ID, machine=path, input="1", T=2**16)


def test_too_many_steps_are_refused_before_any_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turing_runs, "simulate", lambda *_: pytest.fail("it ran"))
    with pytest.raises(UsageError, match="65536 at most"):
        compare(ID, machine="palindrome", input="0110", T=300_000_000)


def test_random_inputs_on_which_the_head_leaves_the_tape_are_counted_apart(tmp_path: Path) -> None:
    table = "start: a\naccept: z\nalphabet: _ 0 1\na _ _ R z\na 0 0 R a\na 1 1 L a\n"
    remark = rows_of(compare(ID, machine=written(tmp_path, table, "own.tm"), input="0", samples=40))["state"].remark
    ran, refused = (int(remark.split(word)[0].split()[-1].strip("(")) for word in (" random ones", " more leave"))
    assert refused > 0
    assert ran + refused == 40


def test_a_long_input_is_not_repeated_in_an_error() -> None:
    with pytest.raises(UsageError) as refused:
        compare(ID, machine="increment", input="1" * 5000 + "x")
    assert len(str(refused.value)) < 200
