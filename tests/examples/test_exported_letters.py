"""The theorems of the examples, as LaTeX prints them, introduce every letter that they show."""

from pathlib import Path

import pytest

from bridge.theorems.theorem_files import read_theorem
from symbolic.latex.paper_text import theorem_latex
from tests.symbolic.latex.latex_letters import RAW, undefined

EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = [*sorted(EXAMPLES.glob("*.py")), *sorted(EXAMPLES.glob("theorem_package/*.py"))]
THEOREMS = [each for each in FILES if "own = " in each.read_text(encoding="utf-8")]
# Letters that a statement still shows without an introduction. A file without an entry has none.
OPEN = {"own_class.py": r"\mathcal{F}"}


@pytest.mark.parametrize("file", THEOREMS, ids=lambda file: file.name)
def test_every_letter_of_an_exported_example_is_introduced(file: Path) -> None:
    text = theorem_latex(read_theorem(str(file)).statement)
    assert sorted(undefined(text)) == sorted(OPEN.get(file.name, "").split())
    assert "For ," not in text
    assert RAW.findall(text) == []


def test_all_examples_but_the_flow_state_a_theorem() -> None:
    assert {each.name for each in FILES} - {each.name for each in THEOREMS} == {"own_flow.py"}
