"""The simulator against a run told in another way, against the definition of i', and every refusal."""

from collections.abc import Sequence

import numpy as np
import pytest

from numeric.topics.machines.machine import MachineError, Trace, TuringMachine, simulate, simulate_many
from tests.numeric.topics.machines.random_machines import random_machine

SYMBOLS = ("_", "0", "1")


def machine(**changes: object) -> TuringMachine:
    """Walks right over 0s and 1s, turns each into 1, and accepts at the first blank."""
    given: dict = {
        "name": "walk",
        "states": ("go", "yes", "no"),
        "alphabet": SYMBOLS,
        "blank": "_",
        "start": "go",
        "accept": frozenset({"yes"}),
        "reject": frozenset({"no"}),
        "transitions": {("go", "0"): ("go", "1", 1), ("go", "1"): ("go", "1", 1), ("go", "_"): ("yes", "_", 0)},
    }
    return TuringMachine(**{**given, **changes})


def told_by_names(tm: TuringMachine, tokens: Sequence[str], steps: int) -> list[tuple]:
    """(z_i, l_i, a_i, u_i, q_i) on a tape that is a dictionary of what was written, cell 1 the first of the input."""
    tape = dict(enumerate(tokens, start=1))
    state, place = tm.start, 1
    run: list[tuple] = [(state, place, tape.get(place, tm.blank), None, None)]
    for _ in range(steps):
        read = tape.get(place, tm.blank)
        over = state in tm.accept or state in tm.reject
        state, write, move = (state, read, 0) if over else tm.transitions[state, read]
        tape[place] = write
        place += move
        run.append((state, place, tape.get(place, tm.blank), write, move))
    return run


def names(trace: Trace) -> list[tuple]:
    """The same from a trace."""
    tm = trace.machine
    moves = [None, *trace.move[1:].tolist()]
    written = [None, *(tm.alphabet[u] for u in trace.written[1:])]
    states, symbols = [tm.states[z] for z in trace.state], [tm.alphabet[a] for a in trace.symbol]
    places = (trace.location - trace.first + 1).tolist()
    return list(zip(states, places, symbols, written, moves, strict=True))


def test_runs_are_those_of_the_table() -> None:
    for seed in range(40):
        tm, words = random_machine(seed)
        for word in words:
            assert names(simulate(tm, word, 40)) == told_by_names(tm, word, 40)


def test_last_visits_are_those_of_the_definition() -> None:
    seen = set()
    for seed in range(30):
        tm, words = random_machine(seed)
        trace = simulate(tm, words[0], 30)
        at = trace.location
        for i in range(1, 31):
            visits = [t for t in range(1, i + 1) if at[t - 1] == at[i]]
            assert trace.last_visit[i] == max(visits, default=0)
            if visits:  # what stands under the head is what was written then
                assert trace.symbol[i] == trace.written[max(visits)]
            seen.add(i - max(visits, default=i + 1))
    assert {-1, 0, 1} < seen  # never, by staying, and by coming back


def test_many_inputs_run_as_each_alone() -> None:
    for seed in range(10):
        tm, inputs = random_machine(seed)
        for tokens, trace in zip(inputs, simulate_many(tm, inputs, 50), strict=True):
            alone = simulate(tm, tokens, 50)
            for name in ("state", "location", "symbol", "written", "move", "last_visit"):
                assert np.array_equal(getattr(trace, name), getattr(alone, name)), name
            assert trace.tape() == alone.tape()
    assert simulate_many(tm, [], 5) == []


def test_a_run_ends_by_staying() -> None:
    trace = simulate(machine(), tuple("0_1"), 6)
    assert (trace.halted_at, trace.accepted, trace.tape()) == (2, True, ("1", "_", "1"))
    assert trace.location.tolist() == [1, 2, 2, 2, 2, 2, 2]
    assert trace.move.tolist()[3:] == [0, 0, 0, 0]
    running = simulate(machine(), tuple("0000"), 3)
    assert (running.halted_at, running.accepted, running.steps) == (None, None, 3)
    assert simulate(machine(start="no"), (), 2).halted_at == 0
    assert simulate(machine(start="no"), (), 2).accepted is False
    assert simulate(machine(), (), 0).tape() == ()


def test_a_two_way_tape_starts_behind_as_many_blanks_as_steps() -> None:
    left = {("go", symbol): ("go", "1", -1) for symbol in SYMBOLS}
    trace = simulate(machine(two_way=True, transitions=left), ("0",), 7)
    assert (trace.first, trace.location[0], trace.location[-1]) == (8, 8, 1)
    assert trace.tape() == ("1",) * 7


LEFT = {("go", "0"): ("go", "1", 1), ("go", "1"): ("go", "1", 1), ("go", "_"): ("go", "_", -1)}


@pytest.mark.parametrize("run", [simulate, lambda tm, tokens, steps: simulate_many(tm, [("0",), tokens], steps)[1]])
def test_a_head_that_leaves_the_tape_is_named_with_its_step_and_line(run: object) -> None:
    tm = machine(transitions=LEFT, lines={("go", "_"): 7})
    with pytest.raises(MachineError, match=r"line 7: the head leaves the tape on the left in step 1 \(state 'go'") as e:
        run(tm, (), 4)
    assert e.value.line == 7


def test_strange_input_symbols_are_all_named() -> None:
    with pytest.raises(MachineError, match=r"input symbol 2, 'x', is not in the alphabet _ 0 1; input symbol 4, 'y'"):
        simulate(machine(), tuple("0x1y"), 3)


GOOD = machine().transitions
WRONG = {
    "undefined state": ({"transitions": {**GOOD, ("stray", "0"): ("go", "1", 1)}}, "'stray' is not defined"),
    "symbol written": ({"transitions": {**GOOD, ("go", "0"): ("go", "2", 1)}}, "symbol '2' is not in the alphabet"),
    "move": ({"transitions": {**GOOD, ("go", "0"): ("go", "0", 2)}}, "move 2 is not one of -1, 0, 1"),
    "accept": ({"accept": frozenset({"yes", "fine"})}, "accept state 'fine' is not a state"),
    "reject": ({"reject": frozenset({"bad"}), "states": ("go", "yes")}, "reject state 'bad' is not a state"),
    "both": ({"reject": frozenset({"yes"}), "states": ("go", "yes")}, "'yes' both accepts and rejects"),
    "twice a symbol": ({"alphabet": (*SYMBOLS, "0")}, "symbol '0' is listed twice"),
    "twice a state": ({"states": ("go", "yes", "no", "go")}, "state 'go' is listed twice"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_tables_are_refused(name: str) -> None:
    changes, said = WRONG[name]
    with pytest.raises(MachineError, match=said):
        machine(**changes)


def test_everything_wrong_is_said_at_once_with_its_line() -> None:
    rules = {**GOOD, ("go", "0"): ("went", "7", 1)}
    with pytest.raises(MachineError) as error:
        machine(transitions=rules, start="off", lines={("go", "0"): 3, "start": 1})
    assert tuple((each.line, each.what) for each in error.value.complaints) == (
        (1, "start state 'off' is not a state"),
        (3, "state 'went' is not defined"),
        (3, "symbol '7' is not in the alphabet"),
    )
    assert error.value.line == 1


def test_a_long_alphabet_is_not_listed_whole_where_its_rules_are_missing() -> None:
    symbols = tuple(f"s{k}" for k in range(40))
    with pytest.raises(
        MachineError, match=r"^machine walk: state 'go' has no rule for the symbols 's0', .* and 28 more$"
    ):
        machine(alphabet=symbols, blank="s0", transitions={})
