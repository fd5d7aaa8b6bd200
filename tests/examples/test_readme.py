"""Whatever the README, the pages of docs and the examples folder show is run as it stands."""

import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import boundsmith.rules
from bridge.cli import main
from bridge.questions.compare import DEFAULTS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text()
PAGES = [README, *(path.read_text() for path in sorted((ROOT / "docs").glob("*.md")))]
PYTHON = re.compile(r"```python\n(.*?)```", flags=re.DOTALL)
STEPS = PYTHON.findall(TUTORIAL.partition("\n## ")[0])  # one program, explained piece by piece
RULES = PYTHON.findall(TUTORIAL.partition("\n## By rules")[2].partition("\n## ")[0])  # another one
PIECES = {*STEPS, *RULES}
SINGLE = [each for page in PAGES for each in PYTHON.findall(page) if each not in PIECES]
SNIPPETS = ["\n".join(STEPS), "\n".join(RULES), *SINGLE]
BLOCKS = [block for page in PAGES for block in re.findall(r"^```\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)]
SHOWN = [each for block in BLOCKS for each in re.findall(r"^(boundsmith [^#\n]*)", block, flags=re.MULTILINE)]
COMMANDS = list(dict.fromkeys(each.strip() for each in SHOWN))
WRITES = re.compile(r"(boundsmith new|-o|--output) \S+$")  # a file that a later command may read
FEW = {"samples": 8, "attack": 5, "restarts": 2}  # in place of the default budget, which tests nothing more here
GENERATED = ROOT / "docs" / "generated"
SCRIPTS = sorted((ROOT / "examples").glob("*.py"))


def run(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    if not (folder / "examples").exists():
        (folder / "examples").symlink_to(ROOT / "examples")
    return subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=False, timeout=600)


def written_pages() -> list[Path]:
    built = (GENERATED, ROOT / "docs" / "_build")
    return [path for path in sorted((ROOT / "docs").rglob("*.md")) if not any(each in path.parents for each in built)]


def test_the_first_pages_are_short() -> None:
    assert len(README.encode()) <= 6_000
    assert (ROOT / "CONTRIBUTING.md").stat().st_size <= 6_000
    assert len((ROOT / "CHANGELOG.md").read_text().splitlines()) <= 40


def test_every_link_leads_to_a_page_and_its_heading() -> None:
    for path in (*ROOT.glob("*.md"), *written_pages()):
        for target, _, anchor in re.findall(r"\]\(([^)#:]*)(#?)([\w-]*)\)", path.read_text()):
            page = (path.parent / target) if target else path
            if GENERATED in page.parents:
                continue  # `make docs` writes it, and stops at a broken link
            headings = re.findall(r"^#+ (.*)$", page.read_text(), flags=re.MULTILINE) if page.suffix == ".md" else []
            assert page.exists()
            assert not anchor or anchor in {re.sub(r"[^\w -]", "", each).lower().replace(" ", "-") for each in headings}


def test_the_readme_shows_python_and_commands() -> None:
    assert len(STEPS) >= 5
    assert len(SNIPPETS) >= 3
    assert len(COMMANDS) >= 6


def test_the_machine_that_is_shown_is_the_one_in_the_folder() -> None:
    machine = (ROOT / "examples" / "evens.tm").read_text()
    assert f"```\n{machine}```" in (ROOT / "docs" / "command.md").read_text()


def test_the_table_of_rules_has_every_rule() -> None:
    table = TUTORIAL.partition("\n## Rules\n")[2].partition("\n## ")[0]
    first = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    listed = [name for cell in first for name in re.findall(r"`(\w+)`", cell)]
    assert sorted(listed) == sorted(boundsmith.rules.__all__)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Small budgets, in a folder that has the examples."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    for name, number in FEW.items():
        monkeypatch.setitem(DEFAULTS, name, number)
    monkeypatch.setattr("bridge.theorems.sources.Tabular.most", lambda self, samples: 1)


@pytest.mark.parametrize("snippet", SNIPPETS, ids=range(len(SNIPPETS)))
def test_readme_python_runs(snippet: str, few: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "snippet.py").write_text(snippet)
    runpy.run_path("snippet.py", run_name="__main__")
    promised = re.findall(r"print\(.*?\)\s+# (.+)", snippet)
    printed = capsys.readouterr().out
    assert all(text in printed for text in promised)


def test_the_gradient_that_is_shown_is_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    section = TUTORIAL.partition("\n## Gradients\n")[2].partition("\n## ")[0]
    exec(compile(PYTHON.findall(section)[0], "snippet", "exec"), {})
    (shown,) = re.findall(r"^```text\n(.*?)^```", section, flags=re.DOTALL | re.MULTILINE)
    assert shown in capsys.readouterr().out


@pytest.mark.long
def test_a_snippet_runs_in_a_process_of_its_own(tmp_path: Path) -> None:
    done = run([sys.executable, "-W", "error", "-c", SNIPPETS[-1]], tmp_path)
    assert done.returncode == 0, done.stderr


def writers(command: str) -> list[str]:
    """The commands above it that write a file which this one reads."""
    earlier = COMMANDS[: COMMANDS.index(command)]
    written = {shlex.split(each)[-1]: each for each in earlier if WRITES.search(each)}
    return [each for file, each in written.items() if file in shlex.split(command)]


def test_the_executable_that_is_installed_runs(tmp_path: Path) -> None:
    assert run([str(Path(sys.executable).with_name("boundsmith")), "list"], tmp_path).returncode == 0


def as_parameter(command: str) -> Any:
    """Comparisons of results that come with the package take long."""
    return pytest.param(command, marks=[pytest.mark.long] if re.match(r"boundsmith compare \w+\.\w+ ", command) else [])


LAST = [each for each in COMMANDS if not any(each in writers(one) for one in COMMANDS)]


@pytest.mark.parametrize("command", [as_parameter(each) for each in LAST])
def test_readme_commands_run(command: str, few: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for each in (*writers(command), command):
        assert main(shlex.split(each)[1:]) == 0, capsys.readouterr().err
    named = re.findall(r"--(?:plot|output) (\S+)", command)
    assert all((tmp_path / name).stat().st_size > 100 for name in named)


@pytest.mark.long
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_examples_run(script: Path, few: None, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out
