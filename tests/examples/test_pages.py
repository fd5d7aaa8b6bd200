"""Each page of Learn and Do runs as it stands: its blocks are one program, own.py, and its commands take that file."""

import re
import runpy
import shlex
from pathlib import Path

import pytest

from bridge.cli import main
from bridge.questions.compare import DEFAULTS
from bridge.theorems.record import Record, Row, Witness
from tests.examples.test_readme import FEW, PYTHON, ROOT

DOCS = ROOT / "docs"
PAGES = [*sorted((DOCS / "learn").glob("*.md")), *sorted((DOCS / "do").glob("*.md"))]
OUTPUT = re.compile(r"^```text\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"^(boundsmith [^#\n]*?)\s*(?:#.*)?$", flags=re.MULTILINE)


def commands(text: str) -> list[str]:
    """Of the blocks without a language; those of a shell (`sh`) need a second process, or a device."""
    blocks = re.findall(r"^```\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    return [each for block in blocks for each in COMMAND.findall(block)]


def program(page: Path) -> str:
    return "\n".join(PYTHON.findall(page.read_text()))


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    for name, number in FEW.items():
        monkeypatch.setitem(DEFAULTS, name, number)
    monkeypatch.setattr("bridge.theorems.sources.Tabular.most", lambda self, samples: 1)


@pytest.mark.parametrize("page", [page for page in PAGES if program(page)], ids=lambda page: page.stem)
def test_the_program_of_a_page_runs(page: Path, few: None, capsys: pytest.CaptureFixture[str]) -> None:
    Path("own.py").write_text(program(page))
    runpy.run_path("own.py", run_name="__main__")
    printed = capsys.readouterr().out
    assert all(text in printed for text in re.findall(r"print\(.*?\)\s+# (.+)", program(page)))


def runs(page: Path) -> list[str]:
    return commands(page.read_text())


@pytest.mark.long
@pytest.mark.parametrize("page", [page for page in PAGES if runs(page)], ids=lambda page: page.stem)
def test_the_commands_of_a_page_run(page: Path, few: None, capsys: pytest.CaptureFixture[str]) -> None:
    theorem = program(DOCS / "learn" / "table.md") if page.stem == "use" else program(page)
    if "boundsmith new own.py" not in runs(page):
        Path("own.py").write_text(theorem)
    for each in runs(page):
        assert main(shlex.split(each)[1:]) == 0, (each, capsys.readouterr().err)


@pytest.mark.parametrize(
    ("model", "begins", "ends"),
    [(Record, "## Record", "A row is"), (Row, "A row is", "## Witness"), (Witness, "## Witness", "## Certificate")],
)
def test_the_page_of_formats_has_every_field(model: type[Record | Row | Witness], begins: str, ends: str) -> None:
    part = (DOCS / "formats.md").read_text().partition(begins)[2].partition(ends)[0]
    first = [line.split("|")[1] for line in part.splitlines() if line.startswith("| ")]
    assert {name for cell in first for name in re.findall(r"`(\w+)`", cell)} == set(model.model_fields)
