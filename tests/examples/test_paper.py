"""The paper of examples/paper: its script makes all parts, and it compiles to two pages."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from bridge.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"
SMALL = ["--samples", "8", "--attack", "3", "--restarts", "2"]


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the folder, with the parts that its script makes."""
    shutil.copy(EXAMPLES / "ridge.py", tmp_path)
    folder = Path(shutil.copytree(EXAMPLES / "paper", tmp_path / "paper"))
    monkeypatch.chdir(folder)
    script = (folder / "make.sh").read_text().replace("\\\n", " ")
    for line in script.splitlines():
        if line.startswith("boundsmith "):
            arguments = shlex.split(line)[1:]
            assert main([*arguments, *(SMALL if arguments[0] == "compare" else [])]) == 0
    return folder


@pytest.mark.long
def test_every_part_is_made_and_input(paper: Path) -> None:
    text = (paper / "ridge.tex").read_text()
    for name in re.findall(r"\\input\{(\w+)\}", text):
        assert (paper / f"{name}.tex").stat().st_size > 100
    assert (paper / "error.pdf").read_bytes().startswith(b"%PDF")
    assert (paper / "theorem.tex").read_text().startswith("Let ")
    assert r"\label{tab:ridge}" in (paper / "table.tex").read_text()


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_it_compiles_to_two_pages(paper: Path) -> None:
    call = ["pdflatex", "-interaction=nonstopmode", "ridge.tex"]
    said = [subprocess.run(call, cwd=paper, capture_output=True, check=False).stdout.decode() for _ in range(2)][-1]
    assert "\n!" not in said
    assert "undefined" not in said
    assert "Overfull" not in said
    assert "(2 pages" in said
