"""Random programs through all readings: no bound is below what it bounds, and wrong rules, planted, are found."""

import functools
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
import sympy as sp

import benchmarks.soundness
from symbolic.derivation import Step
from tests.bridge.readings.checking import Balls, Breach
from tests.bridge.readings.soundness import PROGRAMS, READABLE, SEEDS, STEPS, instances_of, sound
from tests.symbolic.fuzzing import planted
from tests.symbolic.fuzzing.fuzzer import Tally, library

ZERO = {"hard max", "correction"}  # whose bound is 0


@pytest.mark.parametrize("seed", SEEDS)
def test_no_reading_is_below_what_it_bounds(seed: int) -> None:
    """Each rule with an operation is read, and attained within 1 %."""
    found = sound(PROGRAMS, seed)
    assert not found.breaches, found.breaches[0]
    assert found.programs == PROGRAMS
    assert set(STEPS.values()) <= set(found.steps)
    assert {rule for rule in STEPS.values() if found.ratios[rule, "bound"] < 0.99} == ZERO
    assert all(found.stops[rule] < found.steps[rule] for rule in STEPS.values())
    assert len(found.networks) == 9
    assert {"closed", "prompt, enclosed", "prompt, by rule", "local, enclosed"} <= set(found.least)


# --- wrong rules -----------------------------------------------------------------------------------------------------


def breaches(rule: str, share: sp.Rational) -> Iterator[Breach]:
    """What programs that are rich in the rule show where its steps promise too much."""

    def wrong(step: Step) -> Step:
        return replace(step, local=step.local * share) if step.rule == STEPS[rule] else step

    moves = {name: move for name, move in READABLE.items() if move.rule in (rule, "given")}
    for program, point, hidden in instances_of(40, 3, library(), moves, Tally()):
        try:
            Balls(program, point, hidden, wrong).check()
        except Breach as breach:
            yield breach


@pytest.mark.parametrize("rule", sorted(rule for rule in STEPS if STEPS[rule] not in ZERO))
def test_a_bound_that_is_a_thousandth_too_small_is_found(rule: str) -> None:
    found = next(breaches(rule, sp.Rational(999, 1000)))
    assert found.step.rule == STEPS[rule]
    assert found.what.startswith("error over local bound")


def test_a_breach_is_shown_with_its_program() -> None:
    """A wrong rule that the vectors alone betray, and one that only the readings do."""
    wrong = planted.changed(library()["softmax"], planted.smaller_error)
    moves = {name: READABLE[name] for name in ("softmax", "given")}
    (found,) = sound(40, 3, rules=library() | {"softmax": wrong}, moves=moves).breaches
    assert re.match(r"softmax: the local error of 'v\d+' is", found)
    assert re.search(r"= softmax\(", found)


def test_the_long_run_exits_with_1_for_a_violation_and_with_0_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = library() | {"softmax": planted.changed(library()["softmax"], planted.smaller_error)}
    monkeypatch.setattr("sys.argv", ["soundness", "--programs", "3", "--seed", "3"])
    monkeypatch.setattr(benchmarks.soundness, "EVERY", 1)
    assert benchmarks.soundness.main() == 0
    shown = capsys.readouterr()
    assert re.search(r"^3 programs, \d+ steps, 0 violations$", shown.out, re.M)
    assert shown.err.count("\n") == 3
    monkeypatch.setattr(benchmarks.soundness, "sound", functools.partial(sound, rules=wrong))
    monkeypatch.setattr("sys.argv", ["soundness", "--programs", "30", "--seed", "3"])
    assert benchmarks.soundness.main() == 1
    assert "softmax: the local error of" in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["soundness", "--programs", "0"])
    with pytest.raises(SystemExit, match="2"):
        benchmarks.soundness.main()
