"""The pictures and tables of the README are those that its theorem gives today."""

import re
from pathlib import Path

import pytest

from bridge.cli import main
from tests.examples.test_readme import PYTHON, ROOT

PICTURES = ROOT / "docs" / "pictures"
THEOREM = str(ROOT / "examples" / "own_theorem.py")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def numbers(text: str) -> list[float]:
    return [float(each) for each in NUMBER.findall(text)]


def test_the_page_of_latex_is_that_of_its_theorem(capsys: pytest.CaptureFixture[str]) -> None:
    """Of which `make pictures` draws the picture."""
    assert main(["latex", THEOREM, "--standalone"]) == 0
    assert capsys.readouterr().out.strip() == (PICTURES / "theorem.tex").read_text().strip(), "run `make pictures`"


@pytest.mark.long
def test_the_plot_is_that_of_its_theorem(tmp_path: Path) -> None:
    new = tmp_path / "error.svg"
    (command,) = re.findall(r"^boundsmith compare \$theorem (.*) error\.svg", (PICTURES / "draw.sh").read_text(), re.M)
    assert main(["compare", THEOREM, *command.split(), str(new), "--untitled"]) == 0
    shown, drawn = (path.read_text() for path in (PICTURES / "error.svg", new))
    shown, drawn = (re.sub(r'(id="|url\(#|href="#)\w+', r"\1", text) for text in (shown, drawn))
    assert NUMBER.sub("", shown) == NUMBER.sub("", drawn), "run `make pictures`"
    assert numbers(shown) == pytest.approx(numbers(drawn), abs=0.5), "run `make pictures`"


@pytest.mark.long
@pytest.mark.parametrize("page", ["README.md", "docs/learn/table.md"])
def test_the_table_that_is_shown_is_the_one_that_is_printed(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / page).read_text()
    shown = re.findall(r"^```text\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)[0].splitlines()
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(PYTHON.findall(text)[0])
    names = ",".join(each.strip() for each in shown[0].split("┃")[1:-1])
    scope = [] if "prompt" in text.split("```text")[1] else ["--scope", "network"]
    assert main(["compare", "own.py", "--columns", names, *scope]) == 0
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    begins = printed.index(shown[0])
    for old, new in zip(shown, printed[begins : begins + len(shown)], strict=True):
        assert NUMBER.sub("", old).split() == NUMBER.sub("", new).split()
        assert numbers(old) == pytest.approx(numbers(new), rel=0.02)
