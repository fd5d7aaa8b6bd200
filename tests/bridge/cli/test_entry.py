"""Exit codes, the report of a bug, and what a process really does: imports, pipes, version."""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from bridge.cli import entry
from bridge.cli.commands import app
from tests.bridge.cli.conftest import Command, refused

COMMAND = [sys.executable, "-c", "import sys; from bridge.cli import main; sys.exit(main())"]
HEAVY = ("torch", "sympy", "pydantic", "matplotlib", "numpy", "flint")


def _raise(error: BaseException) -> object:
    def raising(*arguments: object, **options: object) -> None:
        raise error

    return raising


def _refusal(module: str, name: str) -> Exception:
    refusal: Exception = getattr(importlib.import_module(module), name)("the reason")
    return refusal


@pytest.mark.parametrize(("module", "name"), entry.REFUSALS.items())
def test_every_refusal_is_one_sentence(module: str, name: str, run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        error = _refusal(module, name)
    except TypeError:  # an exception that is built from more than a sentence
        error_class = getattr(importlib.import_module(module), name)
        error = error_class.__new__(error_class)
        Exception.__init__(error, "the reason")
    monkeypatch.setattr("bridge.cli.running.compare", _raise(error))
    assert "the reason" in refused(run("compare", "induction.vanilla"))


def test_the_systems_refusal_is_one_sentence(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.cli.running.compare", _raise(PermissionError(13, "Permission denied", "book.txt")))
    assert refused(run("compare", "induction.vanilla")) == "Permission denied: 'book.txt'."


def test_a_bug_shows_its_traceback_and_asks_for_a_report(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.cli.running.compare", _raise(ZeroDivisionError("inside")))
    outcome = run("compare", "induction.vanilla", "--set", "W_star=random: 1")
    assert (outcome.code, outcome.out) == (1, "")
    assert "ZeroDivisionError: inside" in outcome.err
    assert "Please report it" in outcome.err
    assert "boundsmith compare induction.vanilla --set 'W_star=random: 1'" in outcome.err
    assert f"boundsmith {entry.version()}" in outcome.err


def test_an_interrupt_is_one_line(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.cli.running.compare", _raise(KeyboardInterrupt()))
    outcome = run("compare", "induction.vanilla")
    assert outcome.code == 130
    assert outcome.err == "boundsmith: interrupted; no partial file is left behind\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["comapre"], "No such command 'comapre'"),
        (["compare"], "Missing argument 'ID|FILE.py'; `boundsmith compare --help` shows how to call it."),
        (["show", "--nope", "x"], "No such option"),
    ],
)
def test_usage_errors(arguments: list[str], message: str, run: Command) -> None:
    assert message in refused(run(*arguments))


def test_without_a_command_there_is_help(run: Command) -> None:
    outcome = run()
    assert outcome.code == 0
    for command in ("list", "show", "latex", "solve", "compare"):
        assert command in outcome.out


@pytest.mark.parametrize("command", ["", *sorted(get_command(app).commands)])
def test_help_is_plain_words_in_80_columns(command: str, run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    page = run(*filter(None, [command]), "--help").out
    assert max(map(len, page.splitlines())) <= 80
    assert not re.search(r"<(str|int|bool|float|Path|list)|\[\[|\{ID|[│╭]", page)
    assert page.startswith(f"Usage: boundsmith{f' {command}' if command else ''} [OPTIONS]")


def test_help_behind_an_id_has_its_parameters(run: Command) -> None:
    page = run("compare", "icgd.step", "--help").out
    assert "\nParameters of icgd.step, for --set:\n  N = (1, 2, 3)  number of layers" in page
    assert max(map(len, page.splitlines())) <= 80


def test_python_runs_the_package_as_the_script() -> None:
    done = subprocess.run([sys.executable, "-m", "bridge.cli", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"boundsmith {entry.version()}\n", "")
    refused_one = subprocess.run([sys.executable, "-m", "bridge.cli", "comapre"], capture_output=True, text=True)
    assert refused_one.returncode == 2
    assert "No such command 'comapre'" in refused_one.stderr


def test_version(run: Command) -> None:
    assert run("--version").out == f"boundsmith {entry.version()}\n"


@pytest.mark.parametrize(
    ("script", "allowed"),
    [
        ("import bridge.cli", set()),
        ("from bridge.cli import main; main(['--help'])", {"pydantic"}),  # typer's own, in some versions
        ("from bridge.cli import main; main(['compare', '--help'])", {"pydantic"}),
    ],
)
def test_nothing_heavy_is_loaded_before_a_command_needs_it(script: str, allowed: set[str]) -> None:
    report = f"import sys; {script}; print(*sorted(set({HEAVY!r}) & set(sys.modules)), sep=',')"
    done = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True)
    assert set(done.stdout.splitlines()[-1].split(",")) - {""} <= allowed


# SymPy itself imports flint where it is installed.
@pytest.mark.parametrize(
    "call",
    [
        "show nothing",
        "compare nothing",
        "compare looped.newton --set zz=1",
        "compare looped.newton --set T",
        "compare looped.newton --grid T=,",
        "compare induction.vanilla --dtype float1",
        "compare induction.vanilla --device tpu",
        "compare induction.vanilla --text missing.txt",
        "compare induction.vanilla --witness missing.json",
        "compare induction.vanilla -o missing/table.tex",
        "compare missing.py",
        "solve looped.newton --for zz --error 1",
        "solve looped.newton --for T --error 1 --tier proven",
        "solve looped.newton --for T --error 1 --quantity zz",
        "certify looped.newton --set zz=1",
        "certify missing.py",
    ],
)
def test_a_call_is_refused_without_torch(call: str) -> None:
    assert _loaded(call, code=2) & {"torch", "scipy", "matplotlib"} == set()


@pytest.mark.parametrize("call", ["list", "list --json", "show looped.newton", "latex icgd.gradient"])
def test_formulas_are_shown_without_torch(call: str) -> None:
    assert _loaded(call, code=0) & {"torch", "scipy", "matplotlib"} == set()


def _loaded(call: str, code: int) -> set[str]:
    """The modules that the process of a call has imported."""
    script = f"import sys; from bridge.cli import main; code = main({call.split()!r}); print(*sys.modules, sep=',')"
    done = subprocess.run(
        [sys.executable, "-c", f"{script}; sys.exit(code)"], capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr
    return set(done.stdout.splitlines()[-1].split(","))


def test_the_installed_command() -> None:
    installed = Path(sys.executable).with_name("boundsmith")
    if not installed.exists():
        pytest.skip("boundsmith is not installed beside this Python")
    done = subprocess.run([installed, "list", "--json", "--nope"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("boundsmith: error: No such option")


def test_a_reader_that_leaves_early_is_no_error() -> None:
    process = subprocess.Popen([*COMMAND, "show", "induction.vanilla"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    _, err = process.communicate()
    assert err == b""


def test_a_terminal_without_unicode_gets_escapes_and_no_traceback() -> None:
    script = "import sys; from bridge.cli import main; main(['--version']); sys.stdout.write('\u03bc')"
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, env=ascii_only)
    assert done.stdout.endswith(b"\\u03bc")
    listed = subprocess.run([*COMMAND, "list"], capture_output=True, check=True, env=ascii_only)
    assert listed.stdout.isascii()


def test_a_parameter_that_is_typed_without_set_is_told_how(capsys: pytest.CaptureFixture[str]) -> None:
    assert entry.main(["compare", "induction.vanilla", "p=2"]) == 2
    assert "a parameter is given by --set p=2; `boundsmith compare --help`" in capsys.readouterr().err
