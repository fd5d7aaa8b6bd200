"""Appendix C against the reference simulator: each lemma on every state reached, by shipped and by random machines."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from bridge.topics.machines.machine_files import read_machine, shipped
from numeric.topics.machines.adder import head_move
from numeric.topics.machines.blocks import binary, machine_stream, vector
from numeric.topics.machines.decoder import DecoderError, DecoderLayer, parameters, run
from numeric.topics.machines.machine import NEVER, MachineError, TuringMachine, simulate, simulate_many
from numeric.topics.machines.simulation import SimulatingDecoder, hot, number
from numeric.topics.machines.transformer import simulating_decoder
from tests.numeric.topics.machines.cuda import CUDA
from tests.numeric.topics.machines.random_machines import MARK, random_machine

WORDS = {
    "increment": ["", "0", "1", "1011", "111", "0000", "10101"],
    "palindrome": ["", "0", "0110", "01101", "10", "11111"],
    "addition": ["1+1", "101+11", "0+0", "11+111", "1+"],
    "busy_beaver_3": [""],
    "busy_beaver_4": [""],
}


def steps_needed(machine: TuringMachine, words: list[str]) -> int:
    return max(simulate(machine, word, 300).halted_at for word in words)


@pytest.mark.parametrize(
    ("dtype", "device"),
    [(torch.float64, "cpu"), (torch.float32, "cpu"), pytest.param(torch.float64, "cuda", marks=CUDA)],
)
@pytest.mark.parametrize("name", shipped())
def test_shipped_machines_agree_at_every_step(name, dtype, device):
    machine, words = read_machine(name), WORDS[name]
    simulating = simulating_decoder(machine, steps_needed(machine, words))
    came = simulating.run(words, dtype=dtype, device=device)
    assert came.outputs.device.type == device
    traces = [simulate(machine, word, simulating.T) for word in words]
    agreement = simulating.agreement(came, traces)
    assert set(agreement.differences) == {*simulating.decoder.taps}
    assert set(agreement.differences.values()) == {0}
    assert agreement.steps == len(words) * (simulating.T + 1)
    assert agreement.rounding <= 8 * torch.finfo(dtype).eps
    assert (came.prediction.round() > 0).tolist() == [trace.accepted for trace in traces]


@pytest.mark.parametrize("seed", range(8))
def test_random_machines_agree_at_every_step(seed):
    machine, words = random_machine(seed)
    T = (6, 3, 7, 4, 8, 15, 16, 31)[seed]
    simulating = simulating_decoder(machine, T)
    agreement = simulating.agreement(simulating.run(words), simulate_many(machine, words, T))
    assert set(agreement.differences.values()) == {0}
    assert agreement.first == {}


def states_of(simulating: SimulatingDecoder, words: list[str]) -> list[dict[str, np.ndarray]]:
    _, lengths = simulating.encode(words)
    traces = simulate_many(simulating.machine, words, simulating.T)
    return [simulating.expected(*each) for each in zip(traces, lengths.tolist(), strict=True)]


def tokens_with(stream, blocks: dict[str, np.ndarray]) -> np.ndarray:
    """(s, w): these blocks at every step, all else 0."""
    tokens = np.zeros((len(next(iter(blocks.values()))), stream.width))
    for name, values in blocks.items():
        tokens[:, stream.slice(name)] = values
    return tokens


@pytest.mark.parametrize("seed", [4, 5, 8, 9])
def test_each_lemma_gives_exactly_what_it_says_and_zero_elsewhere(seed):
    machine, words = random_machine(seed)
    simulating = simulating_decoder(machine, 20)
    stream, layers = simulating.decoder.stream, [layer.name for layer in simulating.decoder.layers]
    after = {
        name: f"layer[{layers.index(name) + 1}]" for name in ("transition", "place", "read", "from_input", "symbol")
    }
    came = simulating.run(words, taps=["layer[0]", *after.values()])
    steps = np.arange(1, simulating.steps + 1)
    before = binary(np.array([simulating.offset]), simulating.w_pos)
    tapes = [(machine.blank,) * simulating.offset + tuple(word) for word in words]
    for row, truth in enumerate(states_of(simulating, words)):
        # (C.4): z_i, u_i, i, l_(i-1), q_i.
        past = np.concatenate([before, truth["location"][:-1]])
        known = {"st": truth["state"], "sym2": truth["written"], "pos1": binary(steps, simulating.w_pos), "pos2": past}
        moved = {**known, "left": truth["move"][:, :1], "right": truth["move"][:, 1:]}
        # (C.5): l_i as well. (C.6): what i' wrote. (C.15): what the input holds. (C.16): the next o_i.
        placed = {**known, "pos3": truth["location"]}
        visit = (truth["last_visit"] * 2 ** np.arange(simulating.w_pos)[::-1]).sum(-1)
        found = truth["written"][visit - 1] & (visit > NEVER)[:, None]
        read = {**placed, "scr1": found, "found": truth["found"]}
        places = (truth["location"] * 2 ** np.arange(simulating.w_pos)[::-1]).sum(-1)
        held = [[tapes[row][place - 1 : place] == (a,) for a in machine.alphabet] for place in places.tolist()]
        both = {**read, "scr2": np.array(held), "input": truth["from_input"]}
        done = {"st": truth["state"], "sym1": truth["symbol"], "pos2": truth["location"]}
        stages = {"transition": moved, "place": placed, "read": read, "from_input": both, "symbol": done}
        for name, blocks in stages.items():
            np.testing.assert_allclose(came.taps[after[name]][row], tokens_with(stream, blocks), atol=1e-12)
        # (C.3): what enters step i + 1 is o_i + beta(i + 1), whose clock shows i + 1.
        entered = tokens_with(stream, {**done, "pos1": binary(steps + 1, simulating.w_pos)})
        np.testing.assert_allclose(came.taps["layer[0]"][row, 1:], entered[:-1], atol=1e-12)


def through(layers: list[DecoderLayer], tokens: np.ndarray) -> np.ndarray:
    for layer in layers:
        for module in layer.feedforward:
            weight, bias = module.dense()
            tokens = np.maximum(tokens @ weight.T + bias, 0)
    return tokens


@pytest.mark.parametrize("w_pos", [2, 3, 4, 5])
def test_the_adder_moves_every_place_each_way(w_pos):
    stream = machine_stream(2, 2, w_pos)
    layers = head_move(stream)
    assert len(layers) == 2 * w_pos + 1
    held = {"st": np.array([0, 1]), "sym2": np.array([1, 0]), "pos1": 1.0}
    for place in range(2**w_pos):
        for q in (-1, 0, 1):
            if not 0 <= place + q < 2**w_pos:
                continue
            known = {**held, "pos2": binary(np.array(place), w_pos)}
            token = vector(stream, {**known, "left": float(q == -1), "right": float(q == 1)})
            moved = vector(stream, {**known, "pos3": binary(np.array(place + q), w_pos)})
            np.testing.assert_allclose(through(layers, token), moved, atol=1e-12)


def scores(layer: DecoderLayer, asks: np.ndarray, keys: np.ndarray, side: str) -> tuple[np.ndarray, np.ndarray]:
    """Scores (s, t) of the tokens and (s,) of the null key."""
    attention = getattr(layer, f"{side}_attention")
    (query, query_bias), (key, key_bias) = attention.query.dense(), attention.key.dense()
    asked = asks @ query.T + query_bias
    return asked @ (keys @ key.T + key_bias).T, asked @ attention.null_key


def of_the_past(layer: DecoderLayer, h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    found, null = scores(layer, h, h, "decoder")
    return np.where(np.tri(len(h), dtype=bool), found, -np.inf), null


@pytest.mark.parametrize("seed", [2, 3, 6, 7])
def test_scores_are_as_claimed_on_every_state_reached(seed):
    machine, words = random_machine(seed)
    simulating = simulating_decoder(machine, 15)
    layers, w_pos = simulating.decoder.layers, simulating.w_pos
    came = simulating.run(words, taps=[f"layer[{k}]" for k in range(len(layers) + 1)])
    for row, truth in enumerate(states_of(simulating, words)):
        visit = (truth["last_visit"] * 2 ** np.arange(w_pos)[::-1]).sum(-1)
        place = (truth["location"] * 2 ** np.arange(w_pos)[::-1]).sum(-1)
        inside = truth["from_input"][:, 0]
        for k, layer in enumerate(layers, start=1):
            h = came.taps[f"layer[{k - 1}]"][row].numpy()
            if layer.lemma == "Claim C.4":
                best, full, hits = of_the_past(layer, h), w_pos, visit > NEVER
            elif layer.lemma == "Claim C.5":
                # Case 2 of the proof holds for the t <= i' that agree with i' in the first j bits, and not for all of
                # them: the 2nd bit of i' = 4 = 100 is 0, that of t = 3 = 011 is 1.
                j = int(layer.name[7:-1]) - 1
                best, full, hits = of_the_past(layer, h), w_pos + j + 1, truth["last_visit"][:, j]
            elif layer.lemma == "Claim C.6":
                best, full, hits = of_the_past(layer, h), 2 * w_pos, visit > NEVER
                assert ((best[0] > full - 0.5).sum(-1) == hits).all()  # i' alone
                assert (best[0].argmax(-1)[hits] + 1 == visit[hits]).all()
            elif layer.lemma == "Lemma C.7":
                cells = np.arange(1, simulating.offset + len(words[row]) + 1)
                encoded = tokens_with(simulating.decoder.stream, {"pos1": binary(cells, w_pos)})
                best, full, hits = scores(layer, h, encoded, "encoder"), w_pos, inside
                assert ((best[0] > full - 0.5).sum(-1) == inside).all()
                assert not len(cells) or (best[0].argmax(-1)[inside] + 1 == place[inside]).all()
            else:
                assert layer.decoder_attention is layer.encoder_attention is None
                continue
            found, null = best
            finite = np.where(np.isfinite(found), np.round(found), full)
            assert np.abs(found - finite)[np.isfinite(found)].max(initial=0) < 1e-12
            np.testing.assert_allclose(null, full - 1, atol=1e-12)
            # A full match scores `full`; every other key at least 2 less, so that the winner leads by 1 or more.
            assert (np.isclose(found, full) | (found < full - 1.5)).all()
            assert (np.isclose(found, full).any(-1) == hits).all()


@pytest.mark.parametrize("name", ["increment", "addition"])
def test_step_0_puts_whatever_first_symbol_into_o_0(name):
    # (C.2) at i = 0, from one trained vector h_0^(0) for all inputs.
    machine = read_machine(name)
    words = [*machine.alphabet, ""]
    begun = simulating_decoder(machine, 1).run(words, taps=["state", "symbol", "location"])
    read = [machine.symbol_index[word or machine.blank] for word in words]
    assert hot(begun.taps["symbol"])[:, 0].tolist() == read
    assert set(hot(begun.taps["state"])[:, 0].tolist()) == {machine.state_index[machine.start]}
    assert set(number(begun.taps["location"])[:, 0].tolist()) == {1}


def test_a_given_o_0_fails_just_where_the_input_begins_with_a_symbol():
    machine = read_machine("increment")
    given = simulating_decoder(machine, 12, start="given")
    assert given.steps == 12
    words = ["1011", "", "0"]
    came = given.run(words)
    truths = [given.expected(simulate(machine, word, 12), len(word)) for word in words]
    for row, (word, truth) in enumerate(zip(words, truths, strict=True)):
        wrong = [
            tap for tap, values in came.taps.items() if not np.array_equal(values[row].round().numpy(), truth[tap])
        ]
        assert bool(wrong) == bool(word)


@pytest.mark.parametrize("T", [7, 8])
def test_bits_reach_the_largest_position_at_powers_of_two(T):
    # A head that only runs right comes to T + 1, and the clock too, where the paper has ceil(log2 T) = 3 bits.
    right = TuringMachine(
        "right", ("go", "end"), ("_",), "_", "go", frozenset({"end"}), frozenset(), {("go", "_"): ("go", "_", 1)}
    )
    simulating = simulating_decoder(right, T)
    assert simulating.w_pos == 4 > math.ceil(math.log2(T))
    came = simulating.run([""])
    assert number(came.taps["location"])[0].tolist() == [*range(1, T + 2)]
    assert hot(came.taps["state"])[0].tolist() == [0] * (T + 1)
    assert float(came.prediction) == 0.0
    assert set(simulating.differences(came, [simulate(right, "", T)]).values()) == {0}


def test_the_decoders_own_rounding_is_that_of_its_matrices():
    machine, words = random_machine(10)
    simulating = simulating_decoder(machine, 12)
    tokens, lengths = simulating.encode(words)
    taps = list(simulating.decoder.taps)
    for dtype in (torch.float64, torch.float32):
        own, dense = (
            run(simulating.decoder, tokens, 13, lengths=lengths, parameters=given, dtype=dtype, taps=taps)
            for given in (None, parameters(simulating.decoder, complete=True))
        )
        assert simulating.agreement(dense, simulate_many(machine, words, 12)).differences == dict.fromkeys(taps, 0)
        torch.testing.assert_close(dense.outputs, own.outputs, rtol=0, atol=8 * torch.finfo(dtype).eps)


@pytest.mark.parametrize("seed", [4, 5])
def test_softmax_is_exact_after_rounding_at_the_temperature_of_its_number_of_keys(seed):
    machine, words = random_machine(seed)
    simulating = simulating_decoder(machine, 20)
    traces = simulate_many(machine, words, 20)
    keys = 1 + max(simulating.steps, int(simulating.encode(words)[1].max()))  # the null key among them
    soft = simulating.run(words, inverse_temperature=math.log(2 * (keys - 1)) + 1)
    agreement = simulating.agreement(soft, traces)
    assert set(agreement.differences.values()) == {0}
    # Each of the n - 1 others weighs at most exp(-beta): together 1 / (2e) at most, which is undone.
    assert 0 < soft.leak <= 1 / (2 * math.e) < 1 / 3
    assert agreement.rounding < 1e-12
    too_soft = simulating.run(words, inverse_temperature=0.5)
    assert sum(simulating.differences(too_soft, traces).values()) > 0


@pytest.mark.parametrize(
    ("layer", "weight", "place", "change"),
    [
        ("transition", "ff[3].b", 0, 1),
        ("found", "decoder.null_key", -1, 2),
        ("search[3]", "decoder.null_key", -1, 2),
        ("read", "decoder.null_key", -1, 2),
        ("from_input", "encoder.null_key", -1, 2),
    ],
    ids=["C.1", "C.4", "C.5", "C.6", "C.7"],
)
def test_one_changed_weight_is_noticed(layer, weight, place, change):
    simulating = simulating_decoder(read_machine("increment"), 12)
    (k,) = (k for k, each in enumerate(simulating.decoder.layers, start=1) if each.name == layer)
    words, taps = ["1011", "10"], list(simulating.decoder.taps)
    traces = [simulate(simulating.machine, word, 12) for word in words]
    tokens, lengths = simulating.encode(words)
    name = f"layer[{k}].{weight}"
    changed = parameters(simulating.decoder)[name]
    changed[place] += change
    came = run(simulating.decoder, tokens, 13, lengths=lengths, parameters={name: changed}, taps=taps)
    agreement = simulating.agreement(came, traces)
    assert sum(agreement.differences.values()) > 0
    assert {tap for tap, count in agreement.differences.items() if count} == {*agreement.first}


def test_a_wrong_trace_and_what_is_no_number_are_noticed():
    machine = read_machine("palindrome")
    simulating = simulating_decoder(machine, 10)
    came, traces = simulating.run(["010", "11"]), [simulate(machine, word, 10) for word in ("010", "11")]
    assert simulating.agreement(came, traces).first == {}
    traces[1].location[4] += 1
    assert simulating.agreement(came, traces).first["location"] == (1, 5)
    came.taps["state"][0, 2, 0] = torch.nan
    assert simulating.agreement(came, traces).first["state"] == (0, 3)
    assert math.isnan(simulating.agreement(came, traces).rounding)


@pytest.mark.parametrize("two_way", [False, True], ids=["one-way", "two-way"])
def test_of_a_long_input_what_no_step_can_read_is_dropped(two_way):
    right = {("go", symbol): ("go", symbol, 1) for symbol in ("_", "1")} | {("go", "2"): ("end", "1", 1)}
    machine = TuringMachine(
        "right", ("go", "end"), ("_", "1", "2"), "_", "go", frozenset({"end"}), frozenset(), right, two_way
    )
    for T in (1, 3, 4):
        simulating = simulating_decoder(machine, T)
        words = ["1" * T + "2" * 40, "1" * (T - 1) + "2" * 40, "1" * 40]  # the first 2 is read after the last step
        tokens, lengths = simulating.encode(words)
        assert lengths.tolist() == [simulating.offset + T + 1] * 3
        traces = [simulate(machine, word, T) for word in words]
        assert [trace.symbol[-1] for trace in traces] == [2, 2, 1]
        came = simulating.run(words)
        assert set(simulating.differences(came, traces).values()) == {0}
        assert came.prediction.tolist() == [0, 1, 0]
        cut = run(simulating.decoder, tokens[:, :-1], simulating.steps, lengths=lengths - 1, taps=["symbol"])
        assert hot(cut.taps["symbol"])[:, -1].tolist() == [0, 0, 0]  # one cell less would not do


def test_what_does_not_fit_is_refused():
    machine = read_machine("palindrome")
    simulating = simulating_decoder(machine, 6)
    with pytest.raises(MachineError, match="'x', is not in the alphabet"):
        simulating.run(["0x"])
    with pytest.raises(DecoderError, match="a trace of 5 steps for T = 6"):
        simulating.differences(simulating.run(["0"]), [simulate(machine, "0", 5)])
    with pytest.raises(DecoderError, match="Choose one of sentinel, given"):
        simulating_decoder(machine, 6, start="blank")
    with pytest.raises(DecoderError, match="at least one step"):
        simulating_decoder(machine, 0)


@pytest.mark.long
@pytest.mark.parametrize("T", [4, 8, 16])
def test_ceil_log2_T_bits_answer_right_and_fail_in_step_T_only(T):
    first, wrong = set(), 0
    for seed in range(12):
        machine = always_moving(seed)
        words = ["_" + f"{code:b}"[1:] for code in range(2, 2 * T)]
        traces = [simulate(machine, word, T) for word in words]
        short = with_bits_below(machine, T)
        came = short.run(words)
        halted = [k for k, trace in enumerate(traces) if trace.accepted is not None]
        wanted = torch.tensor([1.0 if traces[k].accepted else -1.0 for k in halted], dtype=torch.float64)
        wrong += int(((came.prediction[halted] - wanted).abs() > 0.5).sum())
        first |= {step for _, step in short.agreement(came, traces).first.values()}
    assert (wrong, first) == (0, {T})


def always_moving(seed: int) -> TuringMachine:
    """A random table whose head never stays before it halts: the first blank becomes a mark, which it never passes."""
    table, _ = random_machine(2 * seed, ends=0.08)
    rules = {read: (to, write, move or 1) for read, (to, write, move) in table.transitions.items()}
    rules |= {("start", symbol): ("p", MARK, 1) for symbol in table.alphabet}
    return replace(table, states=("start", *table.states), start="start", transitions=rules)


def with_bits_below(machine: TuringMachine, T: int) -> SimulatingDecoder:
    """T = 2^k steps with positions of k bits, of which the position T loses its upper one."""
    fewer = simulating_decoder(machine, T - 2, start="given")
    assert 2**fewer.w_pos == T
    positions = np.concatenate([fewer.decoder.positions] * 2)
    return replace(fewer, T=T, decoder=replace(fewer.decoder, positions=positions))
