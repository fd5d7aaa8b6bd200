"""The study of Appendix C: what agrees, what a changed weight does, counts, witnesses, tables, refusals."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp
import torch

from bridge.budget import Budget
from bridge.machines import turing, turing_runs
from bridge.machines.machine_files import read_machine, shipped
from bridge.machines.turing import TuringCase, TuringStudy
from bridge.machines.turing_costs import built, cost_rows, letters
from bridge.machines.turing_leak import measured_leak
from bridge.machines.turing_runs import DIFFERS, random_inputs, task_of
from bridge.record import NamedTable, Row, Verdict
from numeric.machines.modules import Affine
from numeric.machines.simulation import SimulatingDecoder
from numeric.machines.transformer import simulating_decoder
from symbolic.machines import turing as theory
from symbolic.machines import turing_counts as counts
from symbolic.statements import UsageError

BUDGET = Budget(samples=12, attack=0, restarts=0, seed=0)
STEP_NAMES = [quantity.name for quantity in theory.STEPS]


def case(dtype: str = "float64", **params: Any) -> TuringCase:
    return TuringStudy().case(params, seed=0, dtype=dtype, device="cpu")


@cache
def example() -> TuringCase:
    return case()


@cache
def rows() -> dict[str, Row]:
    return {row.quantity: row for row in example().rows(BUDGET)}


def test_every_quantity_has_a_row() -> None:
    assert set(rows()) == {quantity.name for quantity in TuringStudy.result.quantities}


@pytest.mark.parametrize("name", [*STEP_NAMES, "answer"])
def test_network_and_simulator_agree(name: str) -> None:
    row = rows()[name]
    assert row.measured == 0
    assert row.verdict == {"printed": Verdict.KEPT}
    assert row.samples == 13
    assert "9 steps on the input and on 12 random ones" in row.remark


@pytest.mark.parametrize(
    ("name", "dtype"),
    [*((name, "float32") for name in shipped()), ("busy_beaver_4", "float64"), ("increment", "float16")],
)
def test_every_shipped_machine_agrees_in_each_format(name: str, dtype: str) -> None:
    ran = case(dtype, machine=name)._main
    assert ran.differences == ran.answers == 0
    assert ran.agreement.rounding < 0.01


@pytest.mark.parametrize(
    ("table", "word", "left"),
    [("a _ 1 R h\na 1 1 R h\n", "1" * 40, "1" * 40), ("1RZ1RZ", "1111", "1111")],
    ids=["one-way", "two-way"],
)
def test_an_input_longer_than_the_steps_reach_is_run(table: str, word: str, left: str, tmp_path: Path) -> None:
    path = tmp_path / "own.tm"
    path.write_text(table if table.startswith("1") else f"start: a\naccept: h\n{table}")
    made = case(machine=str(path), input=word)
    assert made._main.differences == made._main.answers == 0
    assert made._of_softmax(random_inputs(made.task, 0, 0, 0))[1].verdict == {"derived": Verdict.KEPT}
    assert f"in step 1; tape at the end: {left}. " in made.tables()[0].title
    given = torch.tensor([1.0] * 200, dtype=torch.float64)
    assert made.replay_check("state", {"input": given}).measured == 0


def test_the_same_seed_draws_the_same_inputs() -> None:
    task = example().task
    first, again, other = (random_inputs(task, 20, 10**6, seed).inputs for seed in (1, 1, 2))
    assert first == again != other
    assert len(random_inputs(task, 20, 35, 1).inputs) == 3  # T + 1 = 10 steps each


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


@pytest.mark.parametrize("layer", ["pair", "add[1]", "search[2]", "symbol"])
def test_one_changed_weight_is_seen_and_replayed_and_refutes_only_what_is_derived(
    layer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turing, "simulating_decoder", lambda *args: mutant(simulating_decoder(*args), layer))
    wrong = case()
    found = [wrong._step_row(quantity, [wrong._main]) for quantity in theory.STEPS]
    differing = [row for row in found if row.measured > 0]
    assert differing
    assert all(row.verdict == {"printed": Verdict.UNDECIDED} for row in differing)  # the construction is ours
    assert all("first differs in step" in row.remark and turing.OURS in row.remark for row in differing)
    soft, *_ = wrong._of_softmax(random_inputs(wrong.task, 0, 0, 0))
    assert soft.verdict == {"derived": Verdict.VIOLATED}
    for row in (differing[0], soft):
        inputs = {"input": torch.tensor(row.witness.inputs["input"], dtype=torch.float64)}
        assert wrong.replay_check(row.quantity, inputs).verdict == row.verdict
        assert set(example().replay_check(row.quantity, inputs).verdict.values()) == {Verdict.KEPT}


def test_the_witness_is_an_input_that_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    agreeing = example()._main
    monkeypatch.setattr(turing, "simulating_decoder", lambda *args: mutant(simulating_decoder(*args), "symbol"))
    wrong, words = case(), [("1", "1"), ("0", "1")]
    other = wrong._run(words, [wrong.task.again(tokens, wrong.task.T) for tokens in words])
    name, (first, _) = next(iter(other.agreement.first.items()))
    row = wrong._step_row(theory.TURING.quantity(name), [agreeing, other])
    assert row.witness.inputs["input"] == wrong.task.machine.indices(words[first]) != []
    assert f"on '{''.join(words[first])}'" in row.remark


def test_in_a_shorter_format_a_difference_refutes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turing, "simulating_decoder", lambda *args: mutant(simulating_decoder(*args), "symbol"))
    short = case("float32")
    found = [short._step_row(quantity, [short._main]) for quantity in theory.STEPS]
    verdicts = {row.verdict["printed"] for row in found}
    verdicts |= set(short._of_softmax(random_inputs(short.task, 0, 0, 0))[0].verdict.values())
    assert Verdict.UNDECIDED in verdicts
    assert Verdict.VIOLATED not in verdicts


def test_a_changed_weight_is_marked_in_the_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turing, "simulating_decoder", lambda *args: mutant(simulating_decoder(*args), "symbol"))
    marked = [row for row in case().tables()[0].rows if str(row[-1]).startswith(DIFFERS)]
    assert marked


def test_a_wrong_count_is_refuted() -> None:
    wrong = replace(theory.TURING.quantity("width"), derive=lambda: counts.width() + 1)
    (row,) = cost_rows(example(), example().network, (wrong,))
    assert row.verdict["derived"] is Verdict.VIOLATED


# Counts.


@pytest.mark.parametrize("start", ["sentinel", "given"])
@pytest.mark.parametrize("T", [1, 16])
@pytest.mark.parametrize("name", shipped())
def test_counts_are_those_of_the_dense_parameters(name: str, T: int, start: str) -> None:
    network = simulating_decoder(read_machine(name), T, start=start)
    at, seen, sentinel = letters(network), built(network), start == "sentinel"
    formulas = {f"norm[{lemma.label}]": counts.norm(lemma.label, sentinel) for lemma in counts.LEMMAS}
    formulas |= {"width": counts.width(sentinel), "depth": counts.depth(), "parameters": counts.parameters(sentinel)}
    assert {key: float(formula.subs(at)) for key, formula in formulas.items()} == {key: seen[key] for key in formulas}
    assert float(counts.total(sentinel).subs(at)) == pytest.approx(seen["norm"], rel=1e-12)


@pytest.mark.parametrize("name", ["width", "depth", "norm[C.1]", "norm[C.3]", "norm[C.7]"])
def test_an_order_is_consistent_and_names_its_constant(name: str) -> None:
    row = rows()[name]
    assert row.verdict == {"derived": Verdict.KEPT, "printed": Verdict.CONSISTENT}
    assert "the least constant for all Z >= 2, A >= 2, w_pos >= 2" in row.remark


# Softmax.


def test_softmax_at_the_computed_temperature_is_exact_and_leaks_at_most_eps() -> None:
    assert rows()["softmax"].measured == 0
    leak = rows()["leak"]
    assert 0 < leak.measured <= leak.derived <= 0.1 * (1 + 1e-9)
    assert rows()["inverse_temperature"].measured <= rows()["inverse_temperature"].derived


def test_a_much_smaller_temperature_fails_and_leaks() -> None:
    here = example()
    assert here._run([here.task.tokens], [here.task.trace], 0.1).differences > 0
    assert measured_leak(here.network, here.task.tokens, 0.1, here.device) > 1 / 3


def test_the_temperature_minds_the_longest_of_all_inputs() -> None:
    two_way = case(machine="busy_beaver_3")
    assert two_way.keys_of([two_way.task.tokens]) == 23  # the null key and 22 steps
    drawn = random_inputs(two_way.task, 40, 10**6, 0)
    longest = max(map(len, drawn.inputs))
    assert longest == 8
    found = two_way._of_softmax(drawn)
    assert all("n = 30" in row.remark for row in found)  # the null key, 21 blanks and 8 symbols
    assert found[2].derived == two_way.inverse_temperature(30) > two_way.inverse_temperature(23)


def test_a_smaller_eps_takes_a_larger_inverse_temperature() -> None:
    assert case(eps=0.001).inverse_temperature(11) > example().inverse_temperature(11)
    with pytest.raises(UsageError, match="removes an error of 1/3"):
        case(eps=0.4)


# The two definitions of Appendix C.1.


@pytest.mark.parametrize(("name", "weight"), [("width_bits", "index or definition"), ("pair", "notation")])
def test_a_definition_is_refuted_with_a_witness_that_replays(name: str, weight: str) -> None:
    row = rows()[name]
    assert row.verdict["printed"] is Verdict.VIOLATED
    assert (row.erratum.weight, row.erratum.survives[:3]) == (weight, "yes")
    inputs = {key: torch.tensor(value, dtype=torch.float64) for key, value in row.witness.inputs.items()}
    assert example().replay_check(name, inputs).verdict == row.verdict


def test_enough_bits_are_not_refuted() -> None:
    for T in (7.0, 9.0, 1023.0):
        row = example().replay_check("width_bits", {"T": torch.tensor([T])})
        assert (row.verdict["printed"], row.erratum) == (Verdict.KEPT, None)
    assert example().replay_check("width_bits", {"T": torch.tensor([1024.0])}).verdict["printed"] is Verdict.VIOLATED


def test_the_bits_of_a_position_stand_at_the_run_and_at_a_power_of_two() -> None:
    at_9 = [row for row in example().rows(BUDGET) if row.quantity == "width_bits"]
    found = [(row.construction, row.verdict["printed"], row.params.get("T")) for row in at_9]
    assert found == [("", Verdict.KEPT, 9), ("T = 8", Verdict.VIOLATED, None)]
    (at_16,) = (row for row in case(T=16).rows(BUDGET) if row.quantity == "width_bits")
    assert (at_16.construction, at_16.verdict["printed"], at_16.params["T"]) == ("", Verdict.VIOLATED, 16)
    assert example().network.w_pos == (9 + 1).bit_length()  # floor(log_2(T + 1)) + 1, as the repair says


def test_the_width_of_theorem_4_1_holds_the_pairs() -> None:
    assert counts.constant(counts.PAIR_ROWS, counts.W_TM).value == sp.oo
    assert counts.constant(counts.PAIR_ROWS, counts.WIDTH_ORDER).value.is_finite


@pytest.mark.parametrize(
    ("name", "inputs", "message"),
    [
        ("state", {"input": [9.0]}, "not an index of the 5 symbols"),
        ("state", {"input": [float("nan")]}, "not an index of the 5 symbols"),
        ("answer", {"input": [0.0, float("inf")]}, "not an index of the 5 symbols"),
        ("width_bits", {"T": [float("nan")]}, "T = nan is not finite"),
        ("width_bits", {"T": [1.0]}, "T >= 2"),
        ("width_bits", {"T": [2.0**53]}, "T >= 2"),
        ("width_bits", {"T": [2.5]}, "not a whole number"),
        ("width_bits", {"T": [2.0, 3.0]}, "takes inputs of shapes"),
        ("pair", {"Z": [1.0]}, "takes inputs of shapes"),
        ("pair", {"Z": [1.0], "A": [0.0]}, "A >= 1"),
        ("pair", {"Z": [1.5], "A": [1.0]}, "Z >= 1"),
        ("nothing", {"input": [0.0]}, "no quantity or check 'nothing'"),
        ("state", {"tape": [0.0]}, "no quantity or check"),
    ],
)
def test_witnesses_that_are_refused(name: str, inputs: dict[str, list[float]], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        example().replay_check(name, {key: torch.tensor(value) for key, value in inputs.items()})


# Tables.


def test_the_trace_is_the_simulators() -> None:
    trace, costs = example().tables()
    simulated = example().task.trace
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
    trace = case(machine="busy_beaver_3").tables()[0]
    at = trace.columns.index("location")
    assert trace.rows[0][at] == 1
    assert {row[-1] for row in trace.rows} == {"same"}
    assert min(row[at] for row in trace.rows) < 1


@pytest.mark.parametrize(
    ("machine", "word", "begins"),
    [
        ("palindrome", "0110", "palindrome accepts '0110' in step 15; tape at the end: blank. Network"),
        ("palindrome", "01", "palindrome rejects '01' in step 4; tape at the end: _1. "),
        ("increment", "1" * 50, f"increment accepts '{'1' * 29}...' in step 151; tape at the end: 1{'0' * 36}.... "),
    ],
    ids=["accepts", "rejects", "long"],
)
def test_the_title_of_the_trace_says_what_happened(machine: str, word: str, begins: str) -> None:
    made = case(machine=machine, input=word)
    assert made.tables()[0].title.startswith(begins)
    assert f". Network and simulator differ at 0 of the steps 0..{made.task.T}. " in made.tables()[0].title


def test_the_parameters_show_the_steps_that_were_taken() -> None:
    assert example().params["T"] == example().full_params["T"] == 9
    assert case(T=12).params["T"] == 12
    drawn = random_inputs(example().task, 2, 10**6, 0)
    assert example()._run_summary(drawn).startswith("T = 9, where the machine halts; 9 steps")
    assert case(T=12)._run_summary(drawn).startswith("12 steps")


def test_the_meaning_of_the_machine_names_those_that_are_shipped() -> None:
    names = TuringStudy.result.parameter("machine").meaning.split(";")[0]
    assert tuple(names.split(", ")) == shipped()


def test_a_table_is_as_wide_as_its_head() -> None:
    with pytest.raises(ValueError, match="not of 2 cells"):
        NamedTable(title="t", columns=["a", "b"], rows=[[1]])


# Refusals.


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"T": 3},
            r"^increment.tm:15: the machine has not halted after T = 3 steps on the input '1011'; the next",
        ),
        ({"T": 3}, r"of state 'right' and symbol '1'; raise T, as in --set T=6, if it ever halts$"),
        ({"T": 2**16 + 1}, r"T = 65537 steps are too many, .* 65536 at most"),
        ({"input": "10x1"}, r"^increment.tm:7: input symbol 3, 'x', is not in the alphabet .*; the input was '10x1'$"),
        ({"machine": "nothing"}, "no machine and no file 'nothing'; shipped are addition"),
        ({"input": 1011}, 'input = 1011 is not text; write input="..."'),
        ({"T": -1}, "T = -1 does not meet"),
        ({"T": 2.5}, "not a whole number"),
        ({"speed": 1}, "no parameter 'speed'"),
    ],
)
def test_calls_that_are_refused(params: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        case(**params)


def test_a_format_too_short_for_the_scores_is_refused() -> None:
    with pytest.raises(UsageError, match="in bfloat16 a score of 9 products may have an error of"):
        case("bfloat16")


def test_a_head_that_leaves_the_tape_is_named_with_file_line_and_step(tmp_path: Path) -> None:
    path = tmp_path / "left.tm"
    path.write_text("start: a\naccept: z\na _ _ R z\na 1 1 L a\n")
    with pytest.raises(
        UsageError, match=r"left.tm:4: the head leaves the tape on the left in step 1 .* on the input '1'"
    ):
        case(machine=str(path), input="1")


def test_a_machine_that_never_halts_is_told_no_larger_number_of_steps_than_can_be_run(tmp_path: Path) -> None:
    path = tmp_path / "loop.tm"
    path.write_text("start: a\naccept: h\na _ _ R h\na 1 1 S a\n")
    with pytest.raises(UsageError, match=r"loop.tm:4: .* after T = 4096 steps on the input '1'; .* --set T=8192"):
        case(machine=str(path), input="1")
    with pytest.raises(UsageError, match=r"loop.tm:4: .* state 'a' and symbol '1'$"):
        case(machine=str(path), input="1", T=2**16)


def test_too_many_steps_are_refused_before_any_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turing_runs, "simulate", lambda *_: pytest.fail("it ran"))
    with pytest.raises(UsageError, match="65536 at most"):
        task_of("palindrome", "0110", 300_000_000)


def test_random_inputs_on_which_the_head_leaves_the_tape_are_counted_apart(tmp_path: Path) -> None:
    path = tmp_path / "left.tm"
    path.write_text("start: a\naccept: z\nalphabet: _ 0 1\na _ _ R z\na 0 0 R a\na 1 1 L a\n")
    task = task_of(str(path), "0", 0)
    drawn = random_inputs(task, 40, 10**6, 0)
    assert drawn.refused > 0
    assert len(drawn.inputs) + drawn.refused == 40


def test_a_long_input_is_not_repeated_in_an_error():
    with pytest.raises(UsageError) as refused:
        case(machine="increment", input="1" * 5000 + "x")
    assert len(str(refused.value)) < 200
