"""A derivation in LaTeX reads as a proof: numbered steps in sentences, premises by number, nothing trivially true."""

import ast
import re
from pathlib import Path

import pytest
import sympy as sp

from symbolic import find_result
from symbolic.calculus import Norm, add, apply_function, given, iterate, linear_map, recursion_from
from symbolic.derivations.derivation import Approximated
from symbolic.latex.page import Page
from symbolic.latex.printing import result_latex
from symbolic.latex.proofs import NOTATION, proofs
from symbolic.latex.sentences import BOUNDED, HOW, RECURRENCES, sentence
from symbolic.latex.sizes import FUNCTIONS, WHY
from symbolic.statements.result import Kind, Quantifier, Quantity, Result
from symbolic.words.names import name_in_words, name_latex

ITEM = re.compile(r"\\item\[\((\d+)\)\] (.*?)(?=\n\\item\[\(\d+\)\]|\n\\end\{itemize\})", re.S)
ENDINGS = re.compile(r"(\s|\\\]|\\end\{(aligned|gather\*|gathered)\}|\})*$")  # behind the full stop of a display
CALCULUS = Path(__file__).parents[3] / "symbolic" / "calculus"
eps, rho, q = sp.symbols("eps rho q", positive=True)
N = sp.Symbol("N", integer=True, positive=True)


@pytest.fixture(scope="module")
def proof() -> str:
    return result_latex(find_result("icgd.backward")).partition(r"\paragraph{Derivation")[2]


def test_each_step_has_a_number_and_its_premises_come_before(proof: str) -> None:
    items = {int(number): words for number, words in ITEM.findall(proof)}
    assert list(items) == list(range(1, len(items) + 1))
    referred = [(number, int(other)) for number, words in items.items() for other in re.findall(r"\((\d+)\)", words)]
    assert referred
    assert all(other < number for number, other in referred)


def test_every_step_is_a_sentence(proof: str) -> None:
    for _, words in ITEM.findall(proof):
        assert words[0].isupper()
        assert ENDINGS.sub("", words).endswith(".")


def test_a_step_that_several_derivations_share_is_shown_once(proof: str) -> None:
    assert proof.count("made in the input") == 1
    assert len(re.findall(r"\\paragraph\{Derivation", proof)) >= 1


def test_no_obligation_is_trivially_true_and_an_exact_value_has_no_error(proof: str) -> None:
    assert r"\text{True}" not in proof
    exact = next(words for _, words in ITEM.findall(proof) if "the input" in words)
    assert exact == "No error is made in the input: $e_{x} = 0$."


def test_a_recursion_over_members_shows_its_recurrence_and_all_that_enters_it(proof: str) -> None:
    items = dict(ITEM.findall(proof))
    number, backward = next((n, words) for n, words in items.items() if "e_{s(l + 1)}" in words)
    assert r"e_{s(l)} &\le" in backward
    assert r"(l = N - 2, \dots, j)" in backward
    slope = next(n for n, words in items.items() if r"e_{r'(j)} \le" in words)
    assert f"and by ({slope}), the errors" in backward
    forward = next(words for n, words in items.items() if "e_{p(l - 1)}" in words)
    assert r"with $e_{p(0)} = 0$. Hence" in forward
    assert int(number) > int(slope)


@pytest.mark.long
def test_every_rule_has_words() -> None:
    rules = {
        call.args[2].value
        for path in CALCULUS.glob("*.py")
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "rule_step"
        if isinstance(call.args[2], ast.Constant)
    }
    assert len(rules) > 20
    assert rules - {*BOUNDED, *HOW, *RECURRENCES} == {"softmax concentration"}
    given_a_size = {"Lipschitz map", "accumulation", "comparison", "contraction", "correction", "quadratic convergence"}
    given_a_size |= {"recursion", "proximal gradient", "descent", "gradient descent"}  # the last three are numbers
    assert rules - {*WHY, *FUNCTIONS, *HOW} == given_a_size


def stated(value: Approximated) -> str:
    own = Quantity("y", "y", "", "", "", Kind.UPPER, Quantifier.FOR_ALL, value.derivation, value.name)
    result = Result("own", "own", find_result("icgd.step").citation, "", (), (), (own,))
    return "\n".join(proofs(result, Page(result.notation)))


def family(place: str) -> Approximated:
    x = given("x", dim=2, norm=Norm.TWO, size=1, error=rho)
    before = given("y[before]", dim=2, norm=Norm.TWO, size=1, error=sp.Dummy("e", nonnegative=True))
    layer = linear_map(before, "layer", operator_norm=q, dim=2)
    depth = N - 1 if place == "N-1" else N
    last = iterate(x, f"y[{place}]", recursion_from(before, layer), depth, size=1)
    return linear_map(last, f"z[{place}]", operator_norm=3, dim=2, reason="by hand")


def test_the_same_argument_at_another_place_is_not_made_twice() -> None:
    first, second = family("N-1"), family("N")
    items = dict(ITEM.findall(stated(add(first, second, name="y"))))
    assert items["3"].startswith("By hand, the linear image $z(N-1)$ of $y(N-1)$~(2) satisfies")
    assert items["4"].startswith("As in (2), with $N$ in the place of $N - 1$,")
    assert items["5"].startswith("As in (3), with $N$ in the place of $N - 1$,")


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("by Hoelder", "By Hoelder, the linear image of (1) satisfies"),
        ("`||A v|| <= a ||v||`", r"Since $\|A\,v\|\le a\|v\|$, the linear image of (1) satisfies"),
        ("rows of norm 1", "The linear image of (1) (rows of norm 1) satisfies"),
    ],
)
def test_any_reason_stands_in_a_sentence(reason: str, words: str) -> None:
    image = linear_map(given("the input", dim=2, size=1), "some image", operator_norm=1, dim=2, reason=reason)
    assert sentence(image.derivation.steps[-1], {"the input": "1"}) == words


def test_errors_in_another_norm_than_the_usual_one_say_so() -> None:
    x = given("x", dim=4, size=1, norm=Norm.TWO, error=rho)
    image = linear_map(x, "image", operator_norm=1, dim=4)
    entries = linear_map(image, "entries", operator_norm=1, dim=4, target=Norm.INF)
    text = stated(entries)
    assert text.startswith(f"{NOTATION.format(v='v')}: the 2-norm where no other norm is named.")
    assert text.count("Here the norm is the sup norm.") == 1
    assert "Here the norm is the sup norm." in text.partition("(3)")[2]
    assert stated(image).startswith(f"{NOTATION.format(v='v')}: the 2-norm.")


def test_open_conditions_are_stated_once_and_a_premise_without_an_error_leaves_no_letter() -> None:
    x = given("x", dim=1, size=rho)
    values = [apply_function(x, name, eps=eps, lipschitz=q, size=1, radius=2) for name in ("f", "g of x")]
    text = stated(add(*values, name="y"))
    assert text.startswith(NOTATION.format(v="v"))
    assert "the argument of $f$ stays in $[-2,2]$: $\\rho \\leq 2$." in text
    assert "As in (2), this needs that the argument of ``$g$ of $x$'' stays in" in text
    assert text.count("leq 2") == 1
    assert "e_{x}" in text.partition("(2)")[0]
    assert "e_{x}" not in text.partition("(2)")[2]


@pytest.mark.parametrize(
    ("name", "latex", "words"),
    [
        ("V^T s[N]", r"V^{\top}\,s(N)", r"$V^{\top}\,s(N)$"),
        ("v - eta gradient", r"v - \eta\text{ gradient}", r"``$v - \eta$ gradient''"),
        ("output.mask_3", r"\text{output},\,\text{mask 3}", "``output, mask 3''"),
        ("features of a path", r"\text{features of a path}", "``features of a path''"),
        ("rho_0", r"\rho_{0}", r"$\rho_{0}$"),
        ("y_hat", r"\hat{y}", r"$\hat{y}$"),
        ("largest |z|", r"\text{largest }|z|", "``largest $|z|$''"),
        ("r(W p)", r"\text{r(W p)}", "``r(W p)''"),
    ],
)
def test_names_are_mathematics_or_words(name: str, latex: str, words: str) -> None:
    assert name_latex(name) == latex
    assert name_in_words(name) == words
