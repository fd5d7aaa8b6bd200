"""Every letter of an exported theorem is introduced in it: the LaTeX is read as people read it, without the program."""

import pytest

from symbolic import results
from symbolic.latex.paper_text import theorem_latex
from symbolic.statements.result import Result
from tests.symbolic.latex.latex_letters import RAW, undefined

# Letters that this reader does not see introduced: their own sentence binds them ("all |a| <= C_a"), or they are in the
# name of an object whose entry this reader does not take apart. A result without an entry has none.
OPEN = {
    "icgd.derivative": "y",
    "icgd.forward": "y",
    "icgd.relu_sum": "r",
    "induction.balance": r"w_{\rm{KQ}}",
    "induction.figure2": r"L_{\rm{IH2}} L_{\rm{G4}}",
    "induction.first_stage": "d",
    "induction.patches": r"\mathrm{keys}_{1} \mathrm{keys}_{L-n} \mathrm{patches}_{1} \mathrm{patches}_{L-n} "
        r"\mathrm{patch}_{L-n+2} \mathrm{query}_{L-n+2} \mathrm{values}_{1} \mathrm{values}_{L-n}",
    "induction.phases": "z T d X T_{1}",
    "induction.trends": r"h_{(24)} h_{\rm{repaired}}",
    "induction.vanilla": "D",
    "machines.turing": r"\mathcal{Z} k \mathcal{A} \mathrm{Bin}_{j} s y m_{2} c r o s_{3} h_{1} r_{4} "
        r"r_{3} r_{2} x_{l_i} m_{1} W_{1} \theta_{\rm{C.1}} \theta_{\rm{C.2}} "
        r"\theta_{\rm{C.3}} \theta_{\rm{C.4}} \theta_{\rm{C.5}} \theta_{\rm{C.6}} "
        r"\theta_{\rm{C.7}} \theta_{\rm{C.8}}",
    "machines.turing_margin": r"\mathcal{Z} \mathcal{A}",
    "universal.barron": r"a b \rho N I c",
    "universal.covering": r"\hat{f} \hat{x} c",
    "universal.features": r"\mathcal{F}",
    "universal.risk": r"\mathcal{F} T",
    "universal.transformer": "T V",
}  # fmt: skip


@pytest.mark.parametrize("result", results().values(), ids=lambda result: result.id)
def test_every_letter_of_an_exported_theorem_is_introduced(result: Result) -> None:
    """A letter that is mended has to leave the list, and a new one is an error. No name of SymPy's is left either."""
    text = theorem_latex(result)
    assert sorted(undefined(text)) == sorted(OPEN.get(result.id, "").split())
    domains = (each.domain.replace("oo", "infinity") for each in result.quantities)  # tables have them, in ASCII
    for each in (text, result.latex(), *domains):
        assert RAW.findall(each) == []


@pytest.mark.parametrize(
    "text",
    ["for $Eq(d, 1)$", r"$\text{abs}(a_{j})$", r"$\operatorname{Max}\left(a, b\right)$", "Piecewise((0, 1))", "K**N",
     r"$\text{ Abs }$", "0 < x < oo", r"$\mathrm{lamda}$"],
)  # fmt: skip
def test_a_name_of_sympys_is_found(text: str) -> None:
    assert RAW.search(text)
    assert not RAW.search(r"$\max\left(a, b\right) + \lambda^{\text{Max-Planck}}$ and the Product rule of $oops(x)$")


OPENING = "Let the integer $N \\ge 1$ (number of examples) and the number $B > 0$ (a bound) be given."
NOTATION = (
    r"Notation: $x_t$: value at time $t$; $\hat x_t$: its copy; $f$: function of a number; $W$: has the rows $w_k$."
)


@pytest.mark.parametrize(
    ("conclusion", "missing"),
    [
        (r"\[ |x_{t-1}| \le B. \]", []),
        (r"\[ |\hat x_{N+1} - x_{N+1}| \le B. \]", []),
        (r"\[ \max_i |x_i| + \sum_{j=0}^{N} j \le B. \]", []),
        (r"\[ |x| \le B. \]", ["x"]),
        (r"\[ |x_{L}| \le B. \]", ["L"]),
        (r"\[ |\hat f - f| \le B. \]", [r"\hat{f}"]),
        (r"\[ f' + f'' \le B \]", []),
        (r"\[ B' \le 1 \]", ["B'"]),
        (r"\[ \sup_{w \in W} w \le \inf_V e^{N}. \]", ["V"]),
        (r"\[ w_1 \le 1 \]", []),
        (r"\[ B_x \le s_{1} \]", ["B_{x}", "s_{1}"]),
        ("\\[ B \\le s_{1} \\]\nwhere\n\\begin{gather*}\ns_{1} = N^{2} + k.\n\\end{gather*}", ["k"]),
        ("For $0 < z < 1$:\n\\[ z \\le B. \\]", []),
        ("The distance to the set $V$ at $v$ is at most r.", ["V", "v", "r"]),
        ("For the layer $k$, at `beta`\n\\[ k \\le \\beta \\le \\mathrm{ReLU}(B) + \\mathcal{O}(N) \\]", [r"\beta"]),
    ],
)  # fmt: skip
def test_letters_are_found_missing(conclusion: str, missing: list[str]) -> None:
    assert undefined("\n\n".join([OPENING, NOTATION, conclusion])) == missing


def test_a_definition_holds_from_its_paragraph_on() -> None:
    use = r"\[ B \le s_{1} \]"
    defines = "\\[ N \\le s_{1} \\]\nwhere\n\\begin{gather*}\ns_{1} = B.\n\\end{gather*}"
    assert undefined("\n\n".join([OPENING, defines, use])) == []
    assert undefined("\n\n".join([OPENING, use, defines])) == ["s_{1}"]


def test_equations_of_a_list_are_definitions_only_behind_a_word_that_defines() -> None:
    listed = "Notation: $y$: $g$, {} $g = B$, $h = g + N$ and $v = h$."
    assert undefined("\n\n".join([OPENING, listed.format("where")])) == []
    assert undefined("\n\n".join([OPENING, listed.format("near")])) == ["g", "h"]  # "and" defines
    assert undefined("\n\n".join([OPENING, listed.format("where").replace("$h = g + N$", "$h$")])) == ["h"]
