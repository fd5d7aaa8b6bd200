"""`certify --with-checker` and `--coq`: what is written beside what, and every refusal with its sentence."""

import subprocess
import sys
from pathlib import Path

import pytest

from bridge.questions.certify.standalone import CHECKER, CHECKER_OF_STEPS, LIBRARY_OF_COQ, program
from tests.bridge.cli.conftest import Command, refused

TYPED = ("certify", "--expression", "exp(x) >= 1 + x", "--range", "x=1/3,1/2")


def test_the_checker_lies_beside_the_certificate_and_confirms_it(run: Command, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    outcome = run(*TYPED, "-o", path, "--with-checker")
    assert outcome.code == 0
    assert f"{CHECKER} beside it" in " ".join(outcome.out.split())
    assert sorted(each.name for each in tmp_path.iterdir()) == ["c.json", CHECKER]
    command = [sys.executable, "-E", "-S", CHECKER, path.name]
    checked = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert checked.returncode == 0
    assert "For all real numbers 1/3 <= x <= 1/2: exp(x) + (-1)*(1 + x) >= 0" in checked.stdout


def test_a_second_program_is_written_where_the_certificate_needs_it(run: Command, tmp_path: Path) -> None:
    typed = ("certify", "--expression", "2 + sin(x)", "--range", "x=0,1")
    assert run(*typed, "-o", tmp_path / "c.json", "--with-checker").code == 0
    assert {CHECKER, CHECKER_OF_STEPS} <= {each.name for each in tmp_path.iterdir()}


def test_a_copy_of_the_programs_is_replaced_and_any_other_file_is_not(run: Command, tmp_path: Path) -> None:
    checker, library = tmp_path / CHECKER, tmp_path / LIBRARY_OF_COQ
    checker.write_text(program(CHECKER) + "# of an earlier version\n")
    files = ("-o", tmp_path / "c.json", "--with-checker", "--coq", tmp_path / "c.v")
    assert run(*TYPED, *files).code == 0
    assert checker.read_text() == program(CHECKER)
    assert library.read_text() == program(LIBRARY_OF_COQ)
    for path in (checker, library):
        kept = path.read_text()
        path.write_text("mine\n")
        assert f"'{path}' is another file, and is not overwritten" in refused(run(*TYPED, *files))
        assert path.read_text() == "mine\n"
        path.write_text(kept)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--with-checker"], "--with-checker goes with -o FILE.json: the checker is written beside that file"),
        (["--coq", "c.txt"], "cannot tell the format of 'c.txt' from its suffix; use .v"),
        (["--coq", "Steps.v"], "the library of steps is called so; choose another name"),
        (["--coq", "no/c.v"], "there is no folder"),
    ],
)
def test_what_cannot_be_written_is_refused_before_the_proof(
    options: list[str], message: str, run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert message in refused(run(*TYPED, *options))


@pytest.mark.parametrize("options", [["--with-checker"], ["--coq", "d.v"]])
def test_a_check_writes_nothing(options: list[str], run: Command) -> None:
    assert f"does not take {options[0]}" in refused(run("certify", "--check", "c.json", *options))


def test_a_function_that_coq_lacks_is_named_and_the_certificate_is_kept(run: Command, tmp_path: Path) -> None:
    typed = ("certify", "--expression", "1 + erf(x)", "--range", "x=0,1")
    outcome = run(*typed, "-o", tmp_path / "c.json", "--coq", tmp_path / "c.v")
    assert outcome.code == 2
    assert "the library Interval of Coq does not know the function erf" in outcome.err
    assert [each.name for each in tmp_path.iterdir()] == ["c.json"]


def test_a_constant_takes_both_programs(run: Command, tmp_path: Path) -> None:
    typed = ("certify", "--expression", "exp(x) >= 1 + c*x", "--range", "x=0,1", "--range", "c=0,4", "--largest", "c")
    outcome = run(*typed, "-o", tmp_path / "c.json", "--with-checker", "--coq", tmp_path / "c.v")
    assert outcome.code == 0, outcome.err
    names = {each.name for each in tmp_path.iterdir()}
    assert names == {"c.json", "c.v", CHECKER, CHECKER_OF_STEPS, LIBRARY_OF_COQ}
    command = [sys.executable, "-E", "-S", CHECKER_OF_STEPS, "c.json"]
    checked = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stdout.count("confirmed: ")) == (0, 2)
    theorems = [line.split()[1] for line in (tmp_path / "c.v").read_text().splitlines() if line[:8] == "Theorem "]
    assert theorems == ["claim_1", "claim_2_is_false"]


def test_a_page_of_latex_has_no_checker(run: Command, tmp_path: Path) -> None:
    typed = ("certify", "--expression", "x", "--range", "x=0,1", "--supremum", "-o", tmp_path / "c.tex")
    assert "--with-checker goes with -o FILE.json" in refused(run(*typed, "--with-checker"))
    assert run(*typed, "--coq", tmp_path / "c.v").code == 0
    assert {"c.tex", "c.v", LIBRARY_OF_COQ} == {each.name for each in tmp_path.iterdir()}
