"""Runs over wrong enclosures: verdicts are stored, a run is resumed where it ended, and the score is what is found."""

import json
import re
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import benchmarks.planted.__main__ as command
from benchmarks.mutants import faults as mutants
from benchmarks.mutants import record
from benchmarks.mutants.faults import Fault
from benchmarks.planted import footprint, programs, rules, verdicts
from benchmarks.planted.kinds import WRONG_RULES, all_faults, faults_of_rules
from benchmarks.planted.verdicts import Verdicts
from symbolic.words.errors import UsageError
from tests.bridge.readings.directed import CASES
from tests.symbolic.fuzzing import seeded

ERRORS = [fault for fault in all_faults() if fault.file == "bridge/readings/errors.py"]
FIRST, SECOND, THIRD = ERRORS[:3]


class Stub:
    """Stands for the programs: they find the first fault, say more of the second, and miss all others."""

    def __init__(self, ends_after: Fault | None = None) -> None:
        self.tried_so_far: list[Fault] = []
        self.ends_after = ends_after

    def tried(self, fault: Fault) -> tuple[str, str]:
        self.tried_so_far.append(fault)
        if fault == self.ends_after:
            signal.raise_signal(signal.SIGTERM)
        return {FIRST: ("found", "program 0"), SECOND: ("wider", "")}.get(fault, ("survived", "no number changes"))


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Stub:
    """A run over three faults, of which the tests find none."""
    found = Stub()
    monkeypatch.setattr(command.Programs, "of_the_tests", lambda: found)
    monkeypatch.setattr(command, "all_faults", lambda: [FIRST, SECOND, THIRD])
    monkeypatch.setattr(command, "tried_on_tests", lambda faults: ((fault, "") for fault in faults))
    return found


def run(monkeypatch: pytest.MonkeyPatch, *options: str) -> int:
    monkeypatch.setattr("sys.argv", ["planted", *options])
    return command.main()


def test_the_score_counts_what_is_found_and_what_survives(
    stub: Stub, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch) == 1
    shown = capsys.readouterr().out
    assert re.search(r"^all +1 +0 +1 +1 +0 +50\.0%$", shown, re.M)
    assert THIRD.diff() in shown
    assert run(monkeypatch, "--at-least", "0.5") == 0


def test_a_signal_ends_a_run_after_a_fault_and_another_run_goes_on_from_there(
    stub: Stub, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file, stub.ends_after = str(tmp_path / "verdicts.json"), FIRST
    run(monkeypatch, "--resume", file)
    assert stub.tried_so_far == [FIRST]
    assert "1 of 3 faults" in capsys.readouterr().out
    run(monkeypatch, "--resume", file)
    assert stub.tried_so_far == [FIRST, SECOND, THIRD]
    assert re.search(r"^all +1 +0 +1 +1 +0 +50\.0%$", capsys.readouterr().out, re.M)
    run(monkeypatch, "--resume", file)
    assert stub.tried_so_far == [FIRST, SECOND, THIRD]
    assert [each.name for each in tmp_path.iterdir()] == ["verdicts.json"]


def test_verdicts_of_other_readings_are_refused_and_those_of_other_tests_dropped(tmp_path: Path) -> None:
    file = tmp_path / "verdicts.json"
    survived, (changed, unchanged, *_) = ("survived", "no number changes"), verdicts.TESTS
    by_tests = {FIRST.key: f"{changed}::test", SECOND.key: f"{unchanged}::test", THIRD.key: ""}
    found = Verdicts(file, dict.fromkeys(by_tests, survived), by_tests)
    found.store()
    assert Verdicts.taken_up(file) == found
    assert found.of(ERRORS, {}) == {FIRST: "tests", SECOND: "tests", THIRD: "survived"}
    content = json.loads(file.read_text())
    tests = content["sources"]["tests"] | {changed: "another"}
    file.write_text(json.dumps(content | {"sources": content["sources"] | {"tests": tests}}))
    again = Verdicts.taken_up(file)
    assert (again.by_programs, again.by_tests) == (found.by_programs, {SECOND.key: f"{unchanged}::test"})
    assert again.untested(ERRORS) == [FIRST, THIRD]
    assert again.of(ERRORS, {THIRD.key: "a reason"})[THIRD] == "equivalent"
    file.write_text(json.dumps(content | {"sources": content["sources"] | {"programs": "other"}}))
    with pytest.raises(UsageError, match="verdicts are of other readings"):
        Verdicts.taken_up(file)
    assert Verdicts.taken_up(tmp_path / "none.json") == Verdicts(tmp_path / "none.json")


def test_all_sources_of_the_verdicts_exist() -> None:
    assert all(any((verdicts.ROOT / folder).glob("*.py")) for folder in verdicts.FOLDERS)
    assert verdicts.sources().keys() == {"programs", "tests"}


def a_fault(line: str) -> Fault:
    """The first fault that makes this of a line of the errors."""
    return next(fault for fault in ERRORS if fault.mutated == line)


@pytest.mark.long
@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        ("return abs(self.centre) if self.is_known else self.radius", "found"),
        ("return by_radius", "wider"),
    ],
)
def test_programs_find_an_enclosure_that_is_too_small_and_no_wider_one(
    line: str, verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs.soundness, "PROGRAMS", 4)
    monkeypatch.setattr(programs, "CASES", [])
    assert programs.Programs.of_the_tests().tried(a_fault(line))[0] == verdict


@pytest.mark.long
def test_a_directed_case_finds_a_bound_that_is_no_longer_attained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs.soundness, "PROGRAMS", 1)
    monkeypatch.setattr(programs, "CASES", [case for case in CASES if case.name.startswith("the longest column")])
    verdict, shown = programs.Programs.of_the_tests().tried(a_fault("return by_radius"))
    assert verdict == "found"
    assert "the longest column" in shown


def numbers(centre: float, radius: float, bound: float) -> dict[tuple[str, str], Any]:
    parts = {"centre": centre, "radius": radius, "one": 2 * radius, "two": 1.5 * radius}
    shapes = {"one": (), "two": ()}
    of_the_error = {("x", part): np.full(shapes.get(part, (2,)), value) for part, value in parts.items()}
    return {("x", "exact"): np.ones(2), ("x", "bound"): np.array(bound), **of_the_error}


def without_enclosure(bound: float) -> dict[tuple[str, str], Any]:
    return {key: value for key, value in numbers(0, 1, bound).items() if key[1] in ("exact", "bound")}


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        (numbers(0, 1, 1), numbers(0, 1, 1), "same"),
        (numbers(0, 1, 1), numbers(0, 1.5, 1), "wider"),
        (numbers(0, 1, 1), numbers(0, 1, 2), "wider"),
        (numbers(0, 1, 1), numbers(0, 0.999, 1), "other"),
        (numbers(0, 1, 1), numbers(0, 1, 0.999), "other"),
        (numbers(0, 1, 1), numbers(0.5, 1, 1), "other"),
        (numbers(0, 1, 1), numbers(0.5, 1.5, 1), "wider"),
        (numbers(0, 1, 1), without_enclosure(1), "wider"),
        (numbers(0, 1, 1), without_enclosure(0.5), "other"),
        (without_enclosure(1), numbers(0, 1, 1), "other"),
        (without_enclosure(1), without_enclosure(np.inf), "wider"),
        (without_enclosure(np.inf), without_enclosure(np.inf), "same"),
        (without_enclosure(np.inf), without_enclosure(1), "other"),
    ],
)
def test_an_enclosure_is_wider_if_it_allows_whatever_was_allowed(before: Any, now: Any, expected: str) -> None:
    assert footprint.change([before], [now]) == expected


def test_what_is_listed_as_equivalent_is_a_fault() -> None:
    for listed, faults in ((command.EQUIVALENT, all_faults()), (command.EQUIVALENT_RULES, faults_of_rules())):
        assert set(record.equivalents(listed)) <= {fault.key for fault in faults}


# --- rules -----------------------------------------------------------------------------------------------------------

OF_RULES = [
    ("coefficient", "(999 * x.error_symbol / 1000) + threshold_error * norm_of_ones(x.norm, x.dim),"),
    ("term", "(threshold_error * norm_of_ones(x.norm, x.dim)),"),
    ("precondition", "obligations=(),"),
]


@pytest.fixture(scope="module")
def thresholds() -> rules.Rows:
    """The rows about soft thresholds."""
    named = [row for row in seeded.directed() if "soft_threshold" in row.name]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rules, "rows", lambda: iter(named))
        return rules.Rows.of_the_tests()


@pytest.mark.parametrize(("operator", "line"), OF_RULES, ids=[operator for operator, _ in OF_RULES])
def test_a_wrong_rule_is_found_at_its_own_case_of_equality_or_premise(
    operator: str, line: str, thresholds: rules.Rows
) -> None:
    wrong = [f for f in faults_of_rules() if (f.function, f.operator) == ("soft_threshold", operator)]
    (fault,) = (fault for fault in wrong if fault.mutated.endswith(line))
    verdict, shown = thresholds.tried(fault)
    assert verdict == "found"
    assert "soft_threshold" in shown


def test_a_rule_that_no_row_runs_survives(thresholds: rules.Rows) -> None:
    fault = next(fault for fault in faults_of_rules() if fault.function == "attend")
    assert thresholds.tried(fault) == ("survived", "nothing runs this line")


def test_each_coefficient_each_term_and_each_precondition_is_a_fault() -> None:
    source = """
def rule(x, name, *, size):
    if size < 0:
        raise ValueError(name)
    obligations = nonnegative("rule", name, size=size, error=x.error)
    step = rule_step(name, x.norm, "rule", 2 * x.error + size, obligations=obligations)
    return x.follows(step, dim=x.dim, size=size)
"""
    found = list(mutants.faults_of("rule.py", source.encode(), WRONG_RULES))
    changed = {(fault.operator, fault.mutated) for fault in found}
    step = 'step = rule_step(name, x.norm, "rule", {}, obligations=obligations)'
    assert {
        ("coefficient", step.format(each))
        for each in ("(999 * (2 * x.error) / 1000) + size", "2 * x.error + (999 * size / 1000)")
    } < changed
    assert {("term", step.format(each)) for each in ("(2 * x.error)", "size")} < changed
    assert ("coefficient", "return x.follows(step, dim=x.dim, size=(999 * size / 1000))") in changed
    assert ("precondition", "if False:") in changed
    assert {mutated for operator, mutated in changed if operator == "precondition"} > {
        'obligations = nonnegative("rule", name, error=x.error)',
        'obligations = nonnegative("rule", name, size=size)',
    }
    assert not any("error=(999" in mutated for _, mutated in changed)
