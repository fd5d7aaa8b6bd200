"""Theorems in files: which of several, what is not a theorem, and what a file raises."""

import re
from pathlib import Path

import pytest

import boundsmith as bs
from bridge.theorems.theorem_files import OwnFileError
from tests.bridge.cli.conftest import Command, refused
from tests.bridge.theorems.theorem.theorems import BUDGET, OWN, own_file

FEW = ["--samples", "4", "--attack", "3", "--restarts", "2"]
SEVERAL = (
    OWN + 'other = bs.theorem("other", bs.rules.given("y", dim=d, size=1, error=eps), parameters={eps: 1, d: 2})\n'
)


@pytest.fixture
def own(tmp_path: Path) -> str:
    return own_file(tmp_path)


def test_a_file_is_compared_shown_solved_and_printed(own: str, run: Command) -> None:
    assert bs.compare(Path(own), samples=2, attack=1, restarts=1).result == "own-scaled"
    compared = run("compare", own, *FEW)
    assert compared.code == 0, compared.err
    assert "own-scaled" in compared.out
    assert "violated" in compared.out
    assert "out" in run("show", own).out
    assert r"\varepsilon" in run("latex", own).out
    assert "eps = " in run("solve", own, "--for", "eps", "--error", "0.125").out
    assert "states no inequality that a proof on a box could certify" in refused(run("certify", own))


@pytest.mark.parametrize("command", [["compare"], ["show"], ["latex"], ["solve", "--for", "eps", "--error", "1"]])
def test_the_file_runs_once_for_each_command(command: list[str], tmp_path: Path, run: Command) -> None:
    log = tmp_path / "log"
    path = own_file(tmp_path, OWN + f"with open({str(log)!r}, 'a') as log:\n    log.write('ran ')\n")
    assert run(command[0], path, *command[1:], *(FEW if command == ["compare"] else [])).code == 0
    assert log.read_text() == "ran "


def test_one_of_several_is_named(tmp_path: Path, run: Command) -> None:
    path = own_file(tmp_path, SEVERAL)
    sentence = refused(run("compare", path))
    assert sentence == f"'{path}' holds several theorems: own, other; name one, as in {path}:own"
    assert refused(run("show", f"{path}:none")) == f"'{path}' has no theorem 'none'. It has: own, other."
    assert "other" in run("show", f"{path}:other").out
    assert bs.compare(f"{path}:own", **BUDGET).result == "own-scaled"


def test_two_names_of_one_theorem_are_one(tmp_path: Path, run: Command) -> None:
    assert run("show", own_file(tmp_path, OWN + "again = own\n")).code == 0


def test_two_theorems_of_one_id_are_told_apart_by_name(tmp_path: Path, run: Command) -> None:
    path = own_file(tmp_path, SEVERAL.replace('"other"', '"own-scaled"'))
    assert "holds several theorems: own, other" in refused(run("show", path))
    assert "  y: error of y" in run("show", f"{path}:other").out


@pytest.mark.parametrize("command", ["compare", "show", "latex"])
def test_what_holds_no_theorem_is_refused(command: str, tmp_path: Path, run: Command) -> None:
    empty = own_file(tmp_path, "x = 1\n")
    expected = f"'{empty}' holds no theorem; assign one to a name of the module, `own = bs.theorem(...)`"
    assert refused(run(command, empty)) == expected
    assert refused(run(command, f"{empty}:own")) == f"'{empty}' has no theorem 'own'. It holds no theorem."
    missing = str(tmp_path / "missing.py")
    assert refused(run(command, missing)) == f"theorem: there is no file '{missing}'"
    folder = tmp_path / "folder.py"
    folder.mkdir()
    assert refused(run(command, folder)) == f"theorem: '{folder}' is a folder; name a file"
    assert str(tmp_path) in refused(run(command, tmp_path))


RAISING = {
    "an exception": ("def f():\n    raise KeyError('w')\n\nf()\n", "KeyError: 'w'", ["line 4", "line 2"]),
    "a missing module": ("import no_such_module_of_mine\n", "ModuleNotFoundError: No module named", ["line 1"]),
    "a refusal of ours": (
        "import boundsmith as bs\n\nbs.domains.Box(-1)\n",
        "UsageError: the dimension -1",
        ["line 3"],
    ),
    "no Python": ("x = = 1\n", "SyntaxError: invalid syntax", ["line 1"]),
    "no text": ("x = '\0'\n", "null bytes", []),
    "an exit": ("import sys\n\nsys.exit(1)\n", "SystemExit: 1", ["line 3"]),
    "a good exit": ("raise SystemExit(0)\n", "SystemExit: 0", ["line 1"]),
}


@pytest.mark.parametrize(("text", "cause", "lines"), RAISING.values(), ids=list(RAISING))
def test_what_a_file_raises_is_shown_without_our_frames(
    text: str, cause: str, lines: list[str], tmp_path: Path, run: Command
) -> None:
    path = own_file(tmp_path, text)
    outcome = run("compare", path)
    assert (outcome.code, outcome.out) == (2, "")
    assert cause in outcome.err
    assert outcome.err.endswith(f"boundsmith: error: '{path}' raised this while it was read.\n")
    assert all(f'File "{path}", {line}' in outcome.err for line in lines)
    assert {Path(file).name for file in re.findall(r'File "([^"]*)"', outcome.err)} <= {"own.py"}
    with pytest.raises(OwnFileError):
        bs.compare(path)


def test_an_interrupt_while_the_file_is_read_is_an_interrupt(tmp_path: Path, run: Command) -> None:
    outcome = run("compare", own_file(tmp_path, "raise KeyboardInterrupt\n"))
    assert (outcome.code, outcome.out) == (130, "")
    assert "interrupted" in outcome.err


FAILING = {
    "an exception": ("x[7]", "the network raised IndexError: index 7 is out of bounds for dimension 0 with size 2"),
    "a branch": ("x if x.sum() > 0 else -x", "the network branches on a value of its inputs"),
    "an operation without balls": ("x.round()", "does not run in exact arithmetic: torch.round: not available on bal"),
    "no array": ("None", "the network returns NoneType"),
    "no number": ("x / (0 * b)", "the network gives no finite number for 'out' at x = ["),
}


@pytest.mark.parametrize(("body", "message"), FAILING.values(), ids=list(FAILING))
def test_what_a_function_of_the_file_raises_is_one_sentence(
    body: str, message: str, tmp_path: Path, run: Command
) -> None:
    path = own_file(tmp_path, OWN.replace("(1 + eps) * x + b", body))
    sentence = refused(run("compare", path, *FEW))
    assert sentence.startswith("own-scaled: ")
    assert message in sentence
    if "raised" in message:
        assert "(own.py, line 13)" in sentence


def test_an_unknown_parameter_and_a_violated_hypothesis_are_refused(own: str, run: Command) -> None:
    assert "own-scaled has no parameter 'epss'. Did you mean eps?" in refused(run("compare", own, "--set", "epss=1"))
    assert "eps = -1.0 does not meet eps > 0" in refused(run("compare", own, "--set", "eps=-1"))
    assert "has no parameter 'K'" in refused(run("solve", own, "--for", "K", "--error", "1"))
