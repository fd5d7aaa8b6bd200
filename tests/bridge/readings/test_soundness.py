"""Random programs through all readings: no bound is below what it bounds, and wrong rules, planted, are found."""

import functools
import re
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

import benchmarks.soundness
from symbolic.derivations.derivation import Step
from symbolic.words.errors import UsageError
from tests.bridge.readings.checking import Balls, Breach, Derived, Floats
from tests.bridge.readings.soundness import PROGRAMS, READABLE, SEEDS, STEPS, Soundness, instances_of, sound
from tests.bridge.readings.stored import stored, taken_up
from tests.symbolic.fuzzing import planted
from tests.symbolic.fuzzing.fuzzer import library

BREACH = r"softmax: the local error of .*\(seed 4, program (\d+), point"
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
    assert len(found.networks) == 11
    assert {"closed", "prompt, enclosed", "prompt, by rule", "local, enclosed"} <= set(found.least)


# A soft threshold by a negative number of an exact 0, and of a sum of rounded numbers that is 0.
@pytest.mark.parametrize(("seed", "number"), [(0, 6774), (0, 11724), (42, 834)])
def test_programs_that_once_showed_a_violation_show_none(seed: int, number: int) -> None:
    assert sound(1, seed, only=number).breaches == []


@pytest.mark.parametrize("part", ["centre", "radius", "one", "two"])
def test_floats_that_differ_from_balls_are_found(part: str) -> None:
    for program, point, hidden in instances_of(6, 3, library(), READABLE):
        balls, floats = Balls(Derived(program), point, hidden), Floats(program, hidden)
        assert not floats.check_against(balls)
        name = f"{program.checked[0].result.value.name} {part}"
        floats.batched[name] = floats.batched[name].clone()  # two parts may be one tensor
        floats.batched[name][point] += 1e-6
        with pytest.raises(Breach, match=f"{part} in floats"):
            floats.check_against(balls)


# --- wrong rules -----------------------------------------------------------------------------------------------------


def breaches(rule: str, share: sp.Rational) -> Iterator[Breach]:
    """What programs that are rich in the rule show where its steps promise too much."""

    def wrong(step: Step) -> Step:
        return replace(step, local=step.local * share) if step.rule == STEPS[rule] else step

    moves = {name: move for name, move in READABLE.items() if move.rule in (rule, "given")}
    for program, point, hidden in instances_of(40, 3, library(), moves):
        try:
            Balls(Derived(program, wrong), point, hidden).check()
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
    monkeypatch.setattr("sys.argv", ["soundness", "--programs", "3", "--instances", "2", "--seed", "1"])
    monkeypatch.setattr(benchmarks.soundness, "EVERY", 1)
    assert benchmarks.soundness.main() == 0
    shown = capsys.readouterr()
    assert re.search(r"^3 programs, 6 instances, \d+ steps, 0 violations$", shown.out, re.M)
    assert shown.err.count("\n") == 3
    monkeypatch.setattr(benchmarks.soundness, "VIOLATIONS", 1)
    monkeypatch.setattr(benchmarks.soundness, "sound", functools.partial(sound, rules=wrong))
    monkeypatch.setattr("sys.argv", ["soundness", "--programs", "30", "--instances", "1", "--seed", "4"])
    assert benchmarks.soundness.main() == 1
    shown = capsys.readouterr().out
    number = re.findall(BREACH, shown)[0]
    monkeypatch.setattr("sys.argv", ["soundness", "--only", number, "--seed", "4"])
    assert benchmarks.soundness.main() == 1
    alone = capsys.readouterr().out
    assert "1 programs, 0 instances" in alone
    assert re.findall(BREACH, alone) == [number]


@pytest.mark.parametrize(
    ("options", "refusal"),
    [
        (["--programs", "0"], "must be at least 1"),
        (["--instances", "0"], "must be at least 1"),
        (["--only", "-1"], "must not be negative"),
        (["--only", "1", "--resume", "counts.json"], "leave --resume out"),
    ],
)
def test_wrong_options_of_the_long_run_are_refused(
    options: list[str], refusal: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["soundness", *options])
    with pytest.raises(SystemExit, match="2"):
        benchmarks.soundness.main()
    assert refusal in capsys.readouterr().err


@pytest.mark.long
def test_a_run_that_is_taken_up_again_counts_what_one_run_counts(tmp_path: Path) -> None:
    kept, which = tmp_path / "counts.json", {"seed": 5}
    stored(kept, sound(2, 5, instances=2), which)
    again = sound(4, 5, instances=2, found=taken_up(kept, which))
    assert again == sound(4, 5, instances=2)
    assert (again.programs, again.instances) == (4, 8)
    assert [each.name for each in tmp_path.iterdir()] == ["counts.json"]
    with pytest.raises(UsageError, match="counts are of a run with other seed"):
        taken_up(kept, {"seed": 6})
    assert taken_up(tmp_path / "none.json", which) == Soundness()


def test_a_signal_ends_the_long_run_after_a_program(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """And the counts are those of whole programs, stored."""
    file = str(tmp_path / "counts.json")
    ask = lambda found: signal.raise_signal(signal.SIGTERM) if found.programs == 2 else None  # noqa: E731

    def asking(*given: Any, watch: Any, **named: Any) -> Soundness:
        return sound(*given, watch=lambda found: (ask(found), watch(found))[-1], **named)

    monkeypatch.setattr(benchmarks.soundness, "sound", asking)
    for programs, expected in (("5", "2 programs, 2 instances"), ("3", "3 programs, 3 instances")):
        monkeypatch.setattr("sys.argv", ["soundness", "--programs", programs, "--instances", "1", "--resume", file])
        assert benchmarks.soundness.main() == 0
        assert expected in capsys.readouterr().out
