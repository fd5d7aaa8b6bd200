"""Planted faults: the operators make what they say, the draw is fair and repeatable, and trials tell what is found."""

import ast
import math
from collections import Counter
from pathlib import Path

import hypothesis.configuration  # noqa: F401 - here, and not in each child
import pytest

from benchmarks.mutants import reach, record, trial, trials
from benchmarks.mutants.__main__ import EQUIVALENT, ROOT, main
from benchmarks.mutants.faults import TARGETS, Fault, draw, enumerate_faults, faults_of, targets
from benchmarks.mutants.operators import OPERATORS
from benchmarks.mutants.source import Edit
from benchmarks.mutants.trials import CRASH, FOUND, NO_END, NO_IMPORT, SURVIVED, Outcome

SPECIMENS = {
    "drop_factor": ("a * b / c", {"(a * b)", "a / c", "b / c"}),
    "drop_term": ("a - (b + c)", {"a", "(-(b + c))", "a - (b)", "a - (c)"}),
    "plus_minus": ("a + b - c", {"a - b - c", "a + b + c"}),
    "negate": ("f(-a)", {"f(a)"}),
    "max_sum": ("sp.Max(a, b)", {"sp.Add(a, b)", "sp.Min(a, b)"}),
    "swap_operands": ("(a + 1) / b", {"(b / (a + 1))"}),
    "exponent": ("a ** (b - 1)", {"a", "a ** ((b - 1 + 1))"}),
    "off_by_one": ("range(n, m) or 3", {"range(n, m + 1) or 3", "range(n, m - 1) or 3", "range(n, m) or 4",
                                        "range(n, m) or 2"}),
    "flag": ("f(sharp=False)", {"f(sharp=True)"}),
    "drop_function": ("sp.sqrt(a) + abs(b)", {"(a) + abs(b)", "sp.sqrt(a) + (b)"}),
    "rounding": ("sp.ceiling(a) + b // 2", {"sp.floor(a) + b // 2", "sp.ceiling(a) + (-(-b // 2))"}),
    "builtin": ("any(map(max, a))", {"all(map(max, a))", "any(map(min, a))"}),
    "swap_arguments": ("f(a, b + 1, *c)", {"f(b + 1, a, *c)"}),
    "drop_keyword": ("f(a, b=1, c=(2), reason='why')", {"f(a, c=(2), reason='why')", "f(a, b=1, reason='why')"}),
    "strictness": ("a < b <= sp.Lt(c, d)", {"a <= b <= sp.Lt(c, d)", "a < b < sp.Lt(c, d)", "a < b <= sp.Le(c, d)"}),
    "equality": ("a == b or c is not None", {"a != b or c is not None", "a == b or c is None"}),
    "sign": ("S(x, positive=a.is_negative)", {"S(x, nonnegative=a.is_negative)", "S(x, positive=a.is_nonpositive)"}),
    "and_or": ("a and b and c", {"a or b and c", "a and b or c"}),
    "drop_condition": ("a or isinstance(b, C | D)", {"(a)", "(isinstance(b, C | D))", "a or isinstance(b, C)",
                                                     "a or isinstance(b, D)"}),
    "drop_not": ("not a", {"a"}),
    "condition": ("[a for a in b if c]", {"[a for a in b if True]", "[a for a in b if False]"}),
    "branch": ("a if b else c + 1", {"a", "(c + 1)"}),
    "precondition": ("if a:\n    raise E('why')", {"if False:"}),
    "drop_statement": ("require(a)", {"pass"}),
    "obligation": ("Obligation(a, sp.Le(b, c))", {"Obligation(a, sp.true)"}),
    "drop_element": ("f(obligations=(a, *b))", {"f(obligations=(*b, ))", "f(obligations=(a, ))"}),
}  # fmt: skip

UNTOUCHED = '''
"""Counts 1 + 2."""
from typing import Any
__all__ = ["f"]
def f(x: Any | None) -> tuple[int, ...]:
    """Adds 1 - 2."""
    raise ValueError(f"{x + 1} is not {2}")
@frozen(order=True)
class C(A or B):
    def latex(self):
        return 1 + 2
    def _repr_latex_(self):
        return 1 + 2
a = f(reason=1 + 2)
'''


def made(operator: str, code: str) -> set[str]:
    found = [fault for fault in faults_of("specimen.py", code.encode()) if fault.operator == operator]
    return {fault.mutated for fault in found}


@pytest.mark.parametrize("operator", OPERATORS)
def test_an_operator_makes_its_faults_and_no_others(operator: str) -> None:
    code, expected = SPECIMENS[operator]
    assert made(operator, code) == expected


def test_wording_types_and_what_is_printed_are_left_alone() -> None:
    assert list(faults_of("specimen.py", UNTOUCHED.encode())) == []


def test_obligations_that_a_function_returns_can_be_lost() -> None:
    code = "def f() -> tuple[Obligation, ...]:\n    return (a, b)"
    assert made("obligation", code) == {"return ()"}
    assert made("drop_element", code) == {"return (b, )", "return (a, )"}
    assert made("drop_element", "def f() -> tuple[int, int]:\n    return (a, b)") == set()  # a pair stays a pair


def test_a_fault_changes_one_place_and_names_it() -> None:
    code = b"def f():\n    return (1 +\n            a)  # \xc3\xa9\n\nclass C:\n    def g(self): return a - b\n"
    for fault in faults_of("specimen.py", code):
        changed = code[: fault.edit.start] + fault.edit.text.encode() + code[fault.edit.end :]
        ast.parse(changed)
        assert fault.original in code.decode()
        assert fault.mutated in changed.decode()
        assert fault.function in {"f", "C.g"}
        assert code.decode().splitlines()[fault.line - 1].strip() in {
            "return (1 +",
            "a)  # é",
            "def g(self): return a - b",
        }


@pytest.fixture(scope="module")
def everything() -> list[Fault]:
    return enumerate_faults(ROOT, targets(ROOT))


@pytest.mark.long
def test_the_draw_is_large_repeatable_and_balanced(everything: list[Fault]) -> None:
    drawn = draw(everything, 200, seed=0)
    assert drawn == draw(list(reversed(everything)), 200, seed=0) != draw(everything, 200, seed=1)
    assert len(set(drawn)) == 200
    assert all(fault.source(ROOT) for fault in drawn)  # each is a program
    assert {fault.operator for fault in drawn} == set(OPERATORS)
    assert {fault.file for fault in drawn} == {fault.file for fault in everything}
    operators, files = (Counter(getattr(fault, name) for fault in drawn) for name in ("operator", "file"))
    assert max(operators.values()) <= 200 / len(OPERATORS) + 1
    assert max(files.values()) <= 2 * 200 / len(files)


@pytest.mark.parametrize("part", TARGETS)
def test_every_part_has_sources_and_tests(part: str) -> None:
    assert all(list(ROOT.glob(pattern)) for pattern in TARGETS[part])
    tests, missing = trials.selected(ROOT, trials.TESTS[part])
    assert tests
    assert not missing


def test_another_change_of_a_file_leaves_most_of_the_draw(everything: list[Fault]) -> None:
    drawn = draw(everything, 200, seed=0)
    others = [fault for fault in everything if fault.file != drawn[0].file or fault.function != drawn[0].function]
    assert len(set(drawn) & set(draw(others, 200, seed=0))) > 150


def test_the_list_of_equivalent_faults_gives_reasons_for_faults_of_today() -> None:
    entries = record.equivalents(EQUIVALENT)
    planted = {file for part in TARGETS for file in targets(ROOT, part)}
    files = {file for file, *_ in entries}
    assert files <= planted
    assert all(len(reason.split()) > 3 for reason in entries.values())
    assert set(entries) <= {fault.key for fault in enumerate_faults(ROOT, sorted(files))}


# --- trials ----------------------------------------------------------------------------------------------------------

TINY = """
START = 1 / (3 - 2)

def larger(a, b):
    return b if a < b else a

def countdown(n):
    while n:
        n += -1
    return n

def deep(n):
    return 0 if n == 0 else deep(n - 1)
"""
TESTS_OF_TINY = """
import tiny

def test_larger():
    assert tiny.larger(1, 2) == tiny.larger(2, 1) == tiny.larger(2, 2) == 2

def test_countdown():
    assert tiny.countdown(3) == 0
"""


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # none is needed, and they load slowly
    (tmp_path / "tiny.py").write_text(TINY)
    (tmp_path / "test_tiny.py").write_text(TESTS_OF_TINY)
    return tmp_path


def planted(root: Path, mutated: str) -> Fault:
    (fault,) = {f for f in faults_of("tiny.py", (root / "tiny.py").read_bytes()) if f.mutated == mutated}
    return fault


def verdicts(root: Path, *mutated: str) -> list[str]:
    clean = trials.clean_run(root, ["test_tiny.py"], ["tiny.py"])
    faults = [planted(root, each) for each in mutated]
    outcomes = dict(trials.run_trials(root, faults, clean, jobs=2, limit=60))
    return [outcomes[fault].verdict for fault in faults]


# In a process with several threads (a worker of pytest-xdist) newer Pythons warn of the fork.
@pytest.mark.long
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fault_is_found_survives_does_not_import_or_does_not_end(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "SHORTEST", 1.0)  # seconds of processor time for an endless loop
    found = verdicts(tiny, "return a", "return b if a <= b else a", "START = 1 / (3 - 3)", "pass")
    assert found == [FOUND, SURVIVED, NO_IMPORT, NO_END]
    assert {path.name for path in tiny.iterdir()} <= {"tiny.py", "test_tiny.py", "__pycache__"}
    assert (tiny / "tiny.py").read_text() == TINY


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fault_is_found_where_the_tests_load_the_module_by_a_loader_of_their_own(tiny: Path) -> None:
    (tiny / "conftest.py").write_text("import jaxtyping\njaxtyping.install_import_hook('tiny', 'beartype.beartype')")
    assert verdicts(tiny, "return a") == [FOUND]


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fault_that_no_test_reaches_survives(tiny: Path) -> None:
    (tiny / "test_tiny.py").write_text("def test(): pass")
    (tiny / "test_other.py").write_text("raise SystemError")  # is not asked, nor collected
    assert verdicts(tiny, "return a") == [SURVIVED]


def test_without_fork_a_process_is_started(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "START", "spawn")
    assert verdicts(tiny, "return a") == [FOUND]


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_tests_that_fail_without_a_fault_measure_nothing(tiny: Path) -> None:
    (tiny / "test_tiny.py").write_text("def test(): assert False")
    with pytest.raises(trials.CleanRunError, match=r"have to pass without a fault: test_tiny\.py::test"):
        trials.clean_run(tiny, ["test_tiny.py"], ["tiny.py"])
    clean = trials.clean_run(tiny, ["test_tiny.py"], ["tiny.py"], leave_failing=True)
    assert (clean.failed, set(clean.seconds)) == (("test_tiny.py::test",), {trial.COLLECTION})


def test_a_fault_is_tried_by_the_tests_that_reach_its_function_the_quickest_first() -> None:
    seconds = {trial.COLLECTION: 9.0, "t.py::a": 3.0, "t.py::b": 1.0, "t.py::c": 2.0}
    reached = {
        trial.COLLECTION: {"m.py:h", "o.py:f"},
        "t.py::a": {"m.py:C.f"},
        "t.py::b": {"o.py:f"},
        "t.py::c": {"m.py:C.f", "m.py:h"},
    }
    clean = trials.Clean(seconds, reached, wall=20.0)

    def tried(function: str) -> list[str]:
        return list(clean.trying(Fault("m.py", function, "flag", "", "", 1, Edit(0, 0, ""))))

    assert clean.trying(Fault("m.py", "C.f", "flag", "", "", 1, Edit(0, 0, ""))) == {"t.py::c": 2.0, "t.py::a": 3.0}
    assert tried("C.f") == ["t.py::c", "t.py::a"]
    assert tried("h") == ["t.py::c", "t.py::b", "t.py::a"]  # modules may keep what they computed when imported
    assert tried("C") == ["t.py::c", "t.py::a", "t.py::b"]  # a default: whoever uses the file


def test_a_fault_may_be_tried_by_the_quickest_tests_alone() -> None:
    assert trials.quickest({"a": 1.0, "b": 2.0, "c": 3.0}, 3.0) == {"a": 1.0, "b": 2.0}
    assert len(trials.quickest({"a": 1.0, "b": 2.0}, math.inf)) == 2


def test_functions_methods_and_inner_functions_note_their_names() -> None:
    code = '''
"""Says."""
def f(x):
    """Adds 1."""
    def g(): return x + 1
    return g()
class C:
    @property
    def h(self): return f(1)
'''
    names: dict = {}
    reach.entered.clear()
    exec(reach.instrumented("m.py", code.encode()), names)
    assert (names["f"](1), names["f"].__doc__, names["__doc__"]) == (2, "Adds 1.", "Says.")
    assert reach.entered == {"m.py:f", "m.py:f.g"}
    assert names["C"]().h == 2
    assert reach.entered == {"m.py:f", "m.py:f.g", "m.py:C.h"}


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_the_functions_that_a_test_reaches_are_noted(tiny: Path) -> None:
    clean = trials.clean_run(tiny, ["test_tiny.py"], ["tiny.py"])
    assert clean.reached["test_tiny.py::test_larger"] == {"tiny.py:larger"}
    assert clean.reached["test_tiny.py::test_countdown"] == {"tiny.py:countdown"}
    (tiny / "test_more.py").write_text("import tiny\ndef test_deep(): assert tiny.deep(2) == 0")
    both = trials.clean_run(tiny, ["test_tiny.py", "test_more.py"], ["tiny.py"], jobs=2)
    assert both.reached == {**clean.reached, "test_more.py::test_deep": {"tiny.py:deep"}}
    assert set(both.seconds) == set(both.reached)
    assert verdicts(tiny, "return 0 if n == 0 else deep(n - 2)") == [SURVIVED]  # nobody calls it


def test_patterns_without_files_are_named(tiny: Path) -> None:
    assert trials.selected(tiny, ("test_*.py", "nothing.py")) == (["test_tiny.py"], ["nothing.py"])


# --- what is counted -------------------------------------------------------------------------------------------------


@pytest.fixture
def counted(tiny: Path) -> record.Record:
    faults = list(faults_of("tiny.py", (tiny / "tiny.py").read_bytes()))[:4]
    outcomes = [Outcome(FOUND, "t.py::t", 1.0), Outcome(SURVIVED, "", 2.0), Outcome(CRASH, "", 3.0)]
    equivalent = {faults[3].key: "nothing depends on it"}
    return record.Record(faults, equivalent, {f.key: o for f, o in zip(faults, outcomes, strict=False)})


def test_a_survivor_counts_as_not_found_unless_it_is_equivalent(counted: record.Record) -> None:
    assert (counted.score, counted.survivors) == (pytest.approx(2 / 3), [counted.faults[1]])
    counted.outcomes[counted.faults[3].key] = Outcome(SURVIVED, "", 1.0)
    assert counted.score == pytest.approx(2 / 3)
    assert not counted.refuted
    text = record.summary(counted)
    assert "nothing depends on it" in text
    assert "score: 2 of 3 found, 66.7 %" in text
    assert "1 found, 0 found (does not import), 0 found (does not end), 1 found (crashes)" in text


def test_a_test_that_finds_an_equivalent_fault_refutes_the_entry(counted: record.Record) -> None:
    counted.outcomes[counted.faults[3].key] = Outcome(FOUND, "t.py::t", 1.0)
    assert counted.refuted == [counted.faults[3]]
    assert "Listed as equivalent, and found" in record.summary(counted)


def test_a_run_is_resumed_unless_the_sources_have_changed(counted: record.Record, tmp_path: Path) -> None:
    file = tmp_path / "outcomes.json"
    record.save(counted, file, "sources")
    assert record.resumed(file, "sources") == counted.outcomes
    assert [path.name for path in tmp_path.glob("outcomes*")] == ["outcomes.json"]
    with pytest.raises(ValueError, match="was made from other sources or tests; start again without --resume"):
        record.resumed(file, "others")


def test_other_tests_may_try_what_a_run_missed(
    tmp_path: Path, everything: list[Fault], capsys: pytest.CaptureFixture[str]
) -> None:
    found, missed = draw([fault for fault in everything if "products" in fault.file], 2, 0)
    file = tmp_path / "outcomes.json"
    outcomes = {found.key: Outcome(FOUND, "t.py::t", 1.0), missed.key: Outcome(SURVIVED, "", 1.0)}
    record.save(record.Record([found, missed], {}, outcomes), file, "others")
    assert main(["--list", "--only", "products", "--count", "2", "--survivors", str(file)]) == 0
    printed = capsys.readouterr().out
    assert f"1 of them survived in {file}\n{missed.diff()}\n" in printed
    assert main(["--list", "--survivors", str(tmp_path / "absent.json")]) == 2
    assert "absent.json: no such file" in capsys.readouterr().err


def test_the_command_lists_and_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list", "--only", "products", "--count", "3"]) == 0
    assert capsys.readouterr().out.count("symbolic/calculus/products.py:") == 3
    assert main(["--only", "nowhere"]) == 2
    assert "no target has 'nowhere' in its path; the targets are symbolic/" in capsys.readouterr().err
