"""The margin of Appendix C's transformer: the closed forms cover the network, the bounds lie below the attack."""

import re
from dataclasses import replace

import pytest
import sympy as sp
import torch

from bridge.questions.compare import compare
from bridge.questions.replaying import replay_witness
from bridge.theorems.record import Row, Verdict
from bridge.theorems.theorem import Function, Theorem
from bridge.topics.machines import decoder_margin, turing_margin
from bridge.topics.machines.decoder_margin import derived_margin, first_norm, margin_at_input, w_pos_for
from bridge.topics.machines.machine_files import read_machine
from bridge.topics.machines.turing_margin import TURING_MARGIN
from bridge.topics.tools.inversion import LargestPerturbation
from numeric.networks.norms import spectral_norm_upper
from numeric.topics.machines.decoder import parameters, run
from numeric.topics.machines.simulation import exact_streams
from numeric.topics.machines.tie_jump import TieJump, tie_jump
from numeric.topics.machines.transformer import simulating_decoder
from symbolic import UsageError
from symbolic.topics.machines import perturbed_attention as attention
from symbolic.topics.machines import turing_margin as theory
from tests.bridge.defaults import default_run
from tests.bridge.topics.machines.changed import changed, rows_of


def part(*names: str, **built: Function) -> Theorem:
    return changed(TURING_MARGIN, *names, **built)


def default_row(name: str) -> Row:
    return rows_of(default_run(TURING_MARGIN.id))[name]


def row_of(theorem: Theorem, **settings: int) -> Row:
    """On a short run, on which the head visits no location twice."""
    return next(iter(compare(theorem, machine="palindrome", input="1", **settings)))


@pytest.fixture(scope="module")
def short() -> Row:
    return row_of(part("margin"), attack=30)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "word", "T"), [("increment", "1011", 12), ("busy_beaver_3", "", 21), ("palindrome", "101", 10)]
)
def test_the_closed_forms_cover_every_layer(name: str, word: str, T: int) -> None:
    simulating = simulating_decoder(read_machine(name), T)
    streams = exact_streams(simulating, list(word))
    stream = simulating.decoder.stream
    known = {theory.Z: stream.size("st"), theory.A: stream.size("sym1"), theory.w: simulating.w_pos}
    for index, layer in enumerate(simulating.decoder.layers, start=1):
        kind = theory.kind_of(layer.name)
        assert int(streams[f"layer[{index - 1}]"].sum(-1).max()) <= kind.ones.subs(known), layer.name
        squared = float(sp.sympify(kind.norm).subs(known))
        first = layer.feedforward[0].dense()[0]
        assert spectral_norm_upper(first) ** 2 <= squared * (1 + 1e-9), layer.name
        used_for_the_instance = float(first_norm(kind.name, first, sp.sqrt(kind.norm.subs(known))))
        assert spectral_norm_upper(first) * (1 - 1e-9) <= used_for_the_instance <= squared**0.5 * (1 + 1e-9), layer.name
        for side, used in ((layer.decoder_attention, theory.SELF), (layer.encoder_attention, theory.ENCODER)):
            assert (side is not None) == (kind.works == used)
            if side is None:
                continue
            signs = len(side.null_key) - 1
            assert signs <= kind.signs.subs(known)
            assert abs(side.null_key).sum() == signs - 1
            (W_Q, b_Q), (W_K, b_K), (W_V, _) = (each.dense() for each in (side.query, side.key, side.value))
            null = side.null_key != 0
            assert not W_Q[null].any()
            assert not W_K[null].any()
            assert not b_K[null].any()
            assert (b_Q[null] == 1).all()
            assert max(spectral_norm_upper(W_Q), spectral_norm_upper(W_K)) <= 2 * (1 + 1e-9)
            assert spectral_norm_upper(W_V) <= float(kind.value) * (1 + 1e-9)


def test_the_bounds_lie_below_the_attack(short: Row) -> None:
    assert 0 < short.derived < short.instance < short.attacked
    assert short.instance > short.attacked / 10
    assert short.verdict == {"derived": Verdict.PROVED, "instance": Verdict.PROVED}


def test_a_bound_above_a_flip_is_undecided(short: Row) -> None:
    above = LargestPerturbation(2 * short.attacked, "forged")
    row = row_of(part("margin", instance=lambda network: above), attack=30)
    assert row.attacked == short.attacked
    assert row.verdict == {"derived": Verdict.PROVED, "instance": Verdict.UNDECIDED}


def test_the_exponent_is_reached_by_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    row = row_of(part("exponent"))
    assert (row.derived, row.verdict) == (-1.5, {"derived": Verdict.PROVED})
    assert row.measured == pytest.approx(-1.462, abs=2e-3)
    monkeypatch.setattr(theory, "exponent", lambda: sp.Integer(-1))
    assert row_of(part("exponent")).verdict == {"derived": Verdict.UNDECIDED}


def test_the_decay_is_proved_where_both_margins_are_enclosed(monkeypatch: pytest.MonkeyPatch) -> None:
    row = row_of(part("decay"))
    assert 0.4 < row.derived < 0.7
    assert row.verdict == {"derived": Verdict.PROVED}
    open_above = replace(derived_margin(10, 4, 4, 2), above=float("inf"))
    monkeypatch.setattr(turing_margin, "derived_margin", lambda *_: open_above)
    assert row_of(part("decay")).verdict == {"derived": Verdict.UNDECIDED}


@pytest.mark.parametrize(("name", "word", "T"), [("increment", "10", 9), ("increment", "1", 30), ("palindrome", "", 1)])
def test_the_instance_is_never_below_the_derived_bound(name: str, word: str, T: int) -> None:
    machine = read_machine(name)
    simulating = simulating_decoder(machine, T)
    instance = margin_at_input(simulating, exact_streams(simulating, list(word)))
    states, symbols = (simulating.decoder.stream.size(block) for block in ("st", "sym1"))
    derived = derived_margin(states, symbols, simulating.w_pos, len(machine.terminal))
    assert instance.size >= derived.size * (1 - 1e-8)


def test_no_move_below_the_bound_turns_the_prediction_whatever_o_0_does(short: Row) -> None:
    # All parameters at once, those of unused attentions and o_0 included; then o_0 alone.
    network = simulating_decoder(read_machine("palindrome"), short.params["T"])
    decoder, bound = network.decoder, short.instance
    assert theory.kind_of(decoder.layers[0].name).works == theory.NONE
    tokens, _ = network.encode([("1",)])
    theta, rng = parameters(decoder, complete=True), torch.Generator().manual_seed(0)
    label = float(run(decoder, tokens, network.steps).prediction[0])
    for names in (list(theta), ["initial"]):
        for _ in range(2):
            move = {name: torch.randn(theta[name].shape, generator=rng, dtype=torch.float64) for name in names}
            size = sum(float(part.square().sum()) for part in move.values()) ** 0.5
            moved = {name: theta[name] + bound / size * part for name, part in move.items()}
            assert label * float(run(decoder, tokens, network.steps, parameters=moved).prediction[0]) > 0
    away = {"initial": torch.zeros_like(theta["initial"])}  # the start state lost: the bound does not hold so far out
    assert label * float(run(decoder, tokens, network.steps, parameters=away).prediction[0]) <= 0


def test_the_bound_at_an_input_counts_the_ones_that_attention_adds(monkeypatch: pytest.MonkeyPatch) -> None:
    network, known = simulating_decoder(read_machine("palindrome"), 10), dict[str, dict[sp.Symbol, float]]()
    streams = exact_streams(network, list("101"))
    monkeypatch.setattr(decoder_margin, "_conditions", lambda name, _, values: known.update({name: values}) or [])
    margin_at_input(network, streams)
    for h, layer in zip(streams.values(), network.decoder.layers, strict=False):
        if (side := layer.decoder_attention) is not None:
            scores, values = side.in_full(h, h, causal=True)
            most = ((h + values[scores.argmax(-1)]) ** 2).sum(-1).max()
            assert float(known[layer.name][attention.attended]) ** 2 >= most - 1e-9


def test_the_bound_depends_on_T_by_its_bits_alone() -> None:
    assert [w_pos_for(T, two_way=False) for T in (6, 7, 14, 15)] == [3, 4, 4, 5]
    assert w_pos_for(7, two_way=True) == 4
    assert simulating_decoder(read_machine("increment"), 7).w_pos == 4
    moves = [derived_margin(10, 4, w, 2).size for w in (4, 8, 16, 32)]
    assert moves == sorted(moves, reverse=True)
    assert moves[-1] > moves[0] / 8**1.5


def test_claim_c4_at_a_tie_is_not_lipschitz() -> None:
    row = default_row("lipschitz")
    assert row.verdict == {"printed": Verdict.VIOLATED}
    assert "layer 'found'" in row.remark
    near, far = re.search(r"differ by (\S+), a ratio of \S+, at 1\S+-08 by (\S+), a ratio", row.remark).groups()
    assert float(far) == pytest.approx(float(near), rel=0.01)
    assert "by almost as much for inputs at distance 1e-08 as at 1e-06" in row.erratum.reading
    assert TURING_MARGIN.statement.quantity("lipschitz").printed.citation.equations == "its proof"
    with pytest.raises(UsageError, match="takes one distance between 0 and 1"):
        replay_witness(row.witness.model_copy(update={"inputs": {"distance": [2.0]}}))


def test_a_run_without_a_tie_accuses_nothing() -> None:
    row = row_of(part("lipschitz"))
    assert (row.verdict, row.erratum, row.witness) == ({"printed": Verdict.UNDECIDED}, None, None)
    assert row.remark == turing_margin.NO_TIE


def test_a_ratio_that_does_not_grow_accuses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    slope = TieJump("found", 10, 1e-3, 1e-6, 1e-5)
    same = lambda *_, distance, **__: replace(slope, input=distance, output=10 * distance)  # noqa: E731
    monkeypatch.setattr(turing_margin, "tie_jump", same)
    assert next(iter(compare(part("lipschitz")))).verdict == {"printed": Verdict.UNDECIDED}


def test_the_jump_is_from_the_exact_input() -> None:
    network = simulating_decoder(read_machine("palindrome"), 10)
    layers = network.decoder.layers
    place = next(k for k, layer in enumerate(layers) if layer.name == "found")
    found, tokens = layers[place], exact_streams(network, list("101"))[f"layer[{place}]"]
    target = network.decoder.stream.slice("pos1").stop - 1
    far, near = (tie_jump(found, tokens, target=target, radius=1e-3, distance=d) for d in (1e-4, 1e-7))
    assert far is not None
    assert near is not None
    # At the exact input the values of two tied tokens are averaged: W_V moves by 1e-3, they have 1 and 0 there.
    assert near.output == pytest.approx(1e-3 / 2, rel=1e-3)
    assert near.output == pytest.approx(far.output, rel=1e-2)
    assert tie_jump(found, tokens[:2], target=target, radius=1e-3, distance=1e-4) is None
    with pytest.raises(ValueError, match="has no self-attention"):
        tie_jump(layers[0], tokens, target=0, radius=0.1, distance=0.1)


def test_the_slopes_are_those_of_the_table_of_the_run() -> None:
    scalar, tables = default_row("scalar.slope"), default_run("machines.turing_margin").tables
    assert [table.columns for table in tables] == [
        ["T", "w_pos", "margin >=", "decided by"],
        ["T", "binary <=", "1/T <="],
    ]
    assert tables[1].title.endswith(f"(95 %: {scalar.remark.split()[3]} to {scalar.remark.split()[5]})")
    assert [row[0] for row in tables[1].rows] == list(turing_margin.SHORT_RUNS)


def test_a_two_way_machine_has_no_slope() -> None:
    both = replace(part("scalar.slope"), tables=TURING_MARGIN.tables)
    record = compare(both, machine="1RZ1RZ", attack=1)
    assert [table.title for table in record.tables] == ["derived bound over T"]
    assert "one-way tapes only" in record.rows[0].remark


def test_what_has_no_prediction_has_no_margin() -> None:
    for T, why in ((2, "has not halted after T = 2 steps"), (-1, "T = -1 does not meet T >= 0")):
        with pytest.raises(UsageError, match=why):
            compare(TURING_MARGIN, machine="palindrome", input="1001", T=T)


@pytest.mark.parametrize(("name", "word"), [("palindrome", "0110"), ("addition", "101+11"), ("1RZ1RZ", "")])
def test_each_machine_has_an_input_of_its_own_unless_one_is_given(name: str, word: str) -> None:
    resolved = turing_margin.resolve({"machine": name}, 0)
    assert (resolved["input"], resolved["T"] > 0) == (word, True)
    assert turing_margin.resolve({"machine": "palindrome", "input": "1 0"}, 0)["input"] == "1 0"
