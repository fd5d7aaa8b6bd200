"""LaTeX of parts of statements: quantities, tiers, parts, macros, documents that compile; what is refused."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from bridge.theorems.latex import Excerpt, cited, read_macros, statements_latex
from bridge.theorems.theorem_files import read_theorem
from symbolic.statements.catalogue import RUNNING, find_result
from symbolic.words.errors import UsageError

STEP = find_result("icgd.step")
ROOT = Path(__file__).parents[3]
FOLDERS = ("examples", "examples/theorem_package", "bridge/templates")
OWN = [path for folder in FOLDERS for path in sorted((ROOT / folder).glob("*.py")) if path.name != "own_flow.py"]
needs_tex = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")


@pytest.mark.long
def test_an_excerpt_has_the_chosen_quantities_tiers_and_their_letters() -> None:
    derived = Excerpt(("gradient",), "derived").latex(STEP)
    assert re.findall(r"\\paragraph\{(.*?)\}", derived)[0] == "Error of the gradient of the risk."
    assert "Printed" not in derived
    assert "Erratum" not in derived
    assert "number of ReLUs for $r$" not in derived  # the meaning of M_1, which no bound on the gradient has
    printed = Excerpt(("gradient",), "printed").latex(STEP)
    assert "Printed" in printed
    assert "Derived" not in printed


def test_the_theorem_is_a_sentence_and_the_proof_its_steps() -> None:
    theorem = Excerpt(("output",), "derived", part="theorem").latex(find_result("induction.vanilla"))
    assert theorem.startswith(r"Let the integers $L \ge 3$ (number of tokens)")
    assert r"L\ge 3$, the error of the last output token" in theorem
    assert "satisfies the upper bound" in theorem
    assert r"\lambda" not in theorem  # a hypothesis on the gate, which the chosen quantity does not have
    assert r"\item" not in theorem
    proof = Excerpt(("output",), part="proof").latex(find_result("induction.vanilla"))
    letters, errors, first = proof.splitlines()[:3]
    assert letters.startswith("The proof uses the letters ")
    assert errors.startswith("For a quantity $v$ of the proof,")
    assert first == r"\begin{itemize}"
    assert "Let" not in proof
    assert "satisfies the upper bound" not in proof


@pytest.mark.long
def test_letters_are_commands_of_the_readers_own_document(tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text(json.dumps({"B_v": r"\rowbound", "K": r"\width"}))
    excerpt = Excerpt(macros=read_macros(tmp_path / "m.json"))
    text = excerpt.latex(STEP)
    assert r"\rowbound \sqrt{\width}" in text
    assert "B_{v}" not in re.sub(r"\$[^$]*\$", "", text)  # words keep the paper's letters
    document = statements_latex([STEP], excerpt, standalone=True)
    assert r"\newcommand{\rowbound}{B_{v}}" in document


@pytest.mark.long
def test_several_results_have_one_bibliography() -> None:
    results = [STEP, find_result("icgd.forward"), find_result("induction.vanilla")]
    assert [paper.key for paper in cited(results)] == ["wu2024", "wang2024"]
    document = statements_latex(results, Excerpt(), standalone=True)
    assert document.count(r"\bibitem") == 2
    assert document.count(r"\begin{document}") == 1


@needs_tex
@pytest.mark.parametrize("part", ["", "theorem", "proof"])
def test_all_results_compile_as_one_document(part: str, tmp_path: Path) -> None:
    results = [*(find_result(id) for id in RUNNING), *(read_theorem(str(path)).statement for path in OWN)]
    (tmp_path / "all.tex").write_text(statements_latex(results, Excerpt(part=part), standalone=True))
    call = ["pdflatex", "-interaction=nonstopmode", "all.tex"]
    said = [subprocess.run(call, cwd=tmp_path, capture_output=True, check=False).stdout for _ in range(2)]
    last = said[-1].decode(errors="replace")
    assert "\n!" not in last
    assert "undefined" not in last
    wide = [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt too wide\)", last)]
    assert max(wide, default=0) <= 2


@pytest.mark.parametrize(
    ("macros", "message"),
    [
        ({"B_v": r"\B", "K": r"\B"}, r"B_v, K have the same command \\B"),
        ({"B_v": "Bv"}, "'B_v' has 'Bv'; give a command of letters"),
        ({"B_v": r"\d"}, r"\\d, which LaTeX itself uses"),
        ({"B_v": r"\frac"}, r"\\frac, which LaTeX itself uses"),
        ({"B_w": r"\Bw"}, "icgd.step has no letter 'B_w'. Nearest: B_y, B_x, B_v"),
    ],
)
def test_macros_that_clash_are_refused(macros: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Excerpt(macros=macros).latex(STEP)


@pytest.mark.parametrize("macro", [r"\mybeta", r"\Bv", r"\width"])
def test_a_name_that_latex_does_not_have_is_taken(macro: str) -> None:
    assert macro in Excerpt(("gradient",), macros={"B_v": macro}).latex(STEP)


@pytest.mark.parametrize("content", ["[1]", '{"B_v": 1}'])
def test_macros_are_an_object_of_texts(content: str, tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text(content)
    with pytest.raises(UsageError, match="is not an object of texts"):
        read_macros(tmp_path / "m.json")
