"""Every option and argument that takes a file, as the commands describe themselves: what cannot be read is refused."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from bridge.cli.commands import app
from tests.bridge.cli.conftest import Command

WRITTEN = {"output", "plot", "plot_steps", "witnesses", "coq"}  # and what `new` makes
OWN = "own.py"
# By command and option: the call in which the file is read.
CALLS: dict[tuple[str, str], tuple[str, ...]] = {
    ("show", "id"): ("show",),
    ("latex", "ids"): ("latex",),
    ("latex", "macros"): ("latex", "icgd.step", "--macros"),
    ("solve", "id"): ("solve", "--for", "N", "--error", "1"),
    ("compare", "id"): ("compare",),
    ("compare", "text"): ("compare", "induction.vanilla", "--text"),
    ("compare", "csv"): ("compare", "looped.newton", "--target", "y", "--csv"),
    ("compare", "witness"): ("compare", "--witness"),
    ("certify", "id"): ("certify",),
    ("certify", "check"): ("certify", "--check"),
    ("errata", "ids"): ("errata",),
    ("report", "ids"): ("report", "-o", "report"),
}
IN_PARAMETERS: dict[str, tuple[str, ...]] = {
    "machine": ("compare", "machines.turing", "--set", "machine={}"),
    "netlist": ("compare", "machines.circuit", "--set", "netlist={}"),
    "matrix": ("compare", "icgd.loss_gradient", "--set", "W=@{}"),
}
BAD = ("zero", "pipe", "folder", "missing", "deep", "binary", "null")


def options() -> Iterator[tuple[str, str]]:
    """Command and name of whatever shows that it takes a file."""
    for command, described in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        for option in described.params:
            if "FILE" in str(option.metavar) and option.name not in WRITTEN and command != "new":
                yield command, option.name


def test_each_option_that_reads_a_file_is_called_here() -> None:
    assert set(options()) == set(CALLS)


def bad(kind: str, folder: Path) -> Path:
    """A path whose file is not one that can be read, with the suffix of a theorem."""
    path = folder / f"{kind}.py"
    if kind == "zero":
        return Path("/dev/zero")
    if kind == "null":
        return Path("/dev/null")
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "deep":
        path.write_text("[" * 100_000)
    elif kind == "binary":
        path.write_bytes(bytes(range(256)))
    return path


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("option", list(CALLS), ids=" ".join)
def test_what_is_no_file_of_that_kind_is_refused(
    run: Command, option: tuple[str, str], kind: str, tmp_path: Path
) -> None:
    outcome = run(*CALLS[option], bad(kind, tmp_path))
    if option == ("compare", "text") and kind == "deep":  # a text of brackets is a text
        assert outcome.code in (0, 2)
    else:
        assert outcome.code == 2
        assert outcome.err.strip()
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("parameter", list(IN_PARAMETERS))
def test_files_in_parameters_are_read_alike(run: Command, parameter: str, kind: str, tmp_path: Path) -> None:
    *call, value = IN_PARAMETERS[parameter]
    outcome = run(*call, value.format(bad(kind, tmp_path)))
    assert outcome.code == 2
    assert "Traceback" not in outcome.err
