"""Names of letters and steps as LaTeX that compiles: no second index, no second superscript, whatever stands behind."""

import itertools
import re

import pytest
import sympy as sp

from symbolic import find_result
from symbolic.latex.proof_text import proof_latex
from symbolic.latex.typesetting import latex
from symbolic.statements.catalogue import RUNNING
from symbolic.words.names import error_symbol, member_error, name_in_words, name_latex

TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\s+|.", re.S)
STEMS = ("a", "mu", "rho0", "xhat")
SCRIPTS = ("", "'", "''", "_1", "_12", "_n", "_max", "_{n-2}", "_{k+1}", "_a_b", "^2", "^{k+1}", "*")
NAMES = [f"{stem}{one}{two}" for stem, one, two in itertools.product(STEMS, SCRIPTS, SCRIPTS)]


def complaint(text: str) -> str:
    """What TeX would say of the scripts: each nucleus has at most one index and one superscript; a prime is one.

    Primes may be followed by a superscript at once, which TeX adds to them.
    """
    states: list[list[bool]] = [[False, False, False]]  # of each open group: index, superscript, prime just before
    argument, groups = False, list[bool]()  # whether the next token is a script; whether a group is one
    for token in TOKEN.findall(text):
        index, above, primed = states[-1]
        if token.isspace():
            continue
        if token == "{":
            groups.append(argument)
            states.append([False, False, False])
            argument = False
        elif token == "}":
            states.pop()
            if not groups or not states:
                return f"a bracket closes nothing in {text}"
            if not groups.pop():
                states[-1] = [False, False, False]
        elif token == "_":
            if index or argument:
                return f"double subscript in {text}"
            states[-1], argument = [True, above, False], True
        elif token == "^":
            if (above and not primed) or argument:
                return f"double superscript in {text}"
            states[-1], argument = [index, True, False], True
        elif token == "'" and not argument:
            if above and not primed:
                return f"double superscript in {text}"
            states[-1] = [index, True, True]
        elif argument:
            argument = False
        else:
            states[-1] = [False, False, False]
    return "" if len(states) == 1 and not argument else f"something is left open in {text}"


@pytest.mark.parametrize("wrong", ["a'_{1}^{2}", "a^2^3", "a_1_2", "{a", "a_", "x^{2}'", "a^{\\prime}'", "a}"])
def test_the_validator_sees_what_tex_refuses(wrong: str) -> None:
    assert complaint(wrong)


@pytest.mark.parametrize(
    "right", ["a_{1}'^{2}", "{a'_1}^2", "a''^2_3", r"\sum_{k=0}^{n} x_k", r"\left(a^2\right)^2", ""]
)
def test_the_validator_lets_pass_what_tex_reads(right: str) -> None:
    assert not complaint(right)


@pytest.mark.parametrize("name", NAMES)
def test_a_letter_is_set_with_any_power(name: str) -> None:
    letter = sp.Symbol(name, positive=True)
    for power in (1, 2, -2, sp.Rational(1, 2), sp.Symbol("n"), sp.Symbol("b'")):
        for shown in (latex(letter**power), latex(error_symbol(name) ** power), name_latex(name)):
            assert not complaint(shown)
            assert "{" not in name or r"\{" not in shown
    assert not complaint(latex(member_error(f"{name}[j]", sp.Symbol("j")) ** 2))


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a'_1", "a_{1}'"), ("a_1'", "a_{1}'"), ("mu_{n-2}", r"\mu_{n-2}"), ("mu_{n-2}'", r"\mu_{n-2}'"),
        ("a''_b", "a_{b}''"), ("x_max", r"x_{\mathrm{max}}"), ("a'^2", r"a^{\prime 2}"), ("w*", r"w^{\star}"),
        ("alpha_{k+1}^2", r"\alpha_{k+1}^{2}"),
    ],
)  # fmt: skip
def test_index_and_primes_are_kept(name: str, shown: str) -> None:
    assert latex(sp.Symbol(name)) == shown
    assert name_latex(name) == shown or name == "x_max"


@pytest.mark.parametrize("written", [r"\tau'_1", r"\hat a'_n", "a'", r"\bar x_1", r"w^\star", "b^2", r"\|S\|_F"])
def test_notation_may_have_a_power(written: str) -> None:
    letter = sp.Symbol("t", positive=True)
    for power in (2, 3, sp.Symbol("n")):
        assert not complaint(latex(letter**power, {letter: written}))


@pytest.mark.parametrize("id", RUNNING)
def test_the_letters_of_every_result_are_set_with_any_power(id: str) -> None:
    result = find_result(id)
    for letter in filter(lambda each: isinstance(each, sp.Symbol), result.notation):
        for power in (1, 2, -3, sp.Symbol("n")):
            assert not complaint(latex(letter**power, result.notation))


@pytest.mark.parametrize("id", [each for each in RUNNING if each.startswith("looped")])
def test_displays_of_proofs_compile(id: str) -> None:
    proof = proof_latex(find_result(id))
    for formula in re.findall(r"\\\[(.*?)\\\]|\$(.*?)\$", proof, re.S):
        assert not complaint("".join(formula).replace("&", ""))


@pytest.mark.parametrize(
    ("name", "formula", "words"),
    [
        ("<x_{1:L-2}, x_L>", r"\langle x_{1:L-2}, x_{L}\rangle ", r"$\langle x_{1:L-2}, x_{L}\rangle $"),
        ("beta*<x, y>", r"\beta\,\langle x, y\rangle ", r"$\beta\,\langle x, y\rangle $"),
        ("2*A x", r"2\,A\,x", r"$2\,A\,x$"),
        ("<(X; x), x>", r"\langle \text{(X; x)}, x\rangle ", r"``$\langle $(X; x)$, x\rangle $''"),
    ],
)
def test_products_in_names_are_formulas(name: str, formula: str, words: str) -> None:
    assert name_latex(name) == formula
    assert name_in_words(name) == words
