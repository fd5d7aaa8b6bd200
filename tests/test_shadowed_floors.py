"""A package or a folder of the name of one of the three floors: the first use says which, and what to do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FLOORS = ("symbolic", "numeric", "bridge")
COMMAND = "import sys, boundsmith; sys.argv = ['boundsmith', 'list']; sys.exit(boundsmith.main())"


def python(code: str, first: Path) -> "subprocess.CompletedProcess[str]":
    """Runs code where `first` comes before boundsmith on the path."""
    path = os.pathsep.join((str(first), str(ROOT)))
    environment = {**os.environ, "PYTHONPATH": path}
    call = [sys.executable, "-P", "-c", code]
    return subprocess.run(call, capture_output=True, text=True, env=environment, cwd=first, timeout=300)


@pytest.mark.parametrize("floor", FLOORS)
@pytest.mark.parametrize("kind", ["package", "file"])
def test_the_first_use_names_what_shadows_a_floor(floor: str, kind: str, tmp_path: Path) -> None:
    foreign = tmp_path / floor / "__init__.py" if kind == "package" else tmp_path / f"{floor}.py"
    foreign.parent.mkdir(exist_ok=True)
    foreign.write_text("raise SystemExit('ran a foreign file')\n")
    words = f"boundsmith: '{foreign}' shadows the package '{floor}' of boundsmith in '{ROOT}'; rename that file"
    used = python("import boundsmith as bs; bs.rules.given", tmp_path)
    assert used.returncode == 1
    assert f"ImportError: {words}" in used.stderr
    called = python(COMMAND, tmp_path)
    assert (called.returncode, called.stderr[: len(words)]) == (2, words)


def test_a_folder_without_code_shadows_nothing(tmp_path: Path) -> None:
    for floor in FLOORS:
        (tmp_path / floor).mkdir()
    ran = python("import boundsmith as bs; print(bs.rules.given.__name__)", tmp_path)
    assert (ran.returncode, ran.stdout) == (0, "given\n"), ran.stderr
    assert python(COMMAND, tmp_path).returncode == 0
