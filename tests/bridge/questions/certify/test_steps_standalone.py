"""Steps of certificates, checked by the program without this package: each confirmed, and each forgery refused."""

import copy
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from bridge.questions.certify.certificate import inequality_record
from bridge.questions.certify.reading import typed_inequality
from bridge.questions.certify.standalone import CHECKER, CHECKER_OF_STEPS
from tests.bridge.questions.certify.records import Content, by_hand, checked, sealed

RANGE, EMPTY = [["range", 1]], [["empty", 1]]


def expression(text: str) -> Any:
    """The record of an expression in letters of any range."""
    letters = set(re.findall(r"\b[abxyz]\b", text))
    return inequality_record(typed_inequality(text, [f"{letter}=0,1" for letter in letters]))["expression"]


def step(name: str, children: Sequence[Any] = (), **fields: Any) -> list[Any]:
    return [{"step": name, **fields, "children": list(children)}]


def linear(*multipliers: Sequence[Any]) -> list[Any]:
    return step("linear", multipliers=[list(each) for each in multipliers])


def piece(choice: int, sign: str) -> list[Any]:
    """|x - y| by its sign, where `cases` at x - y has it as its condition."""
    children = [linear([0, "1"]), linear([0, sign])]
    return step("piece", children, node=expression("abs(x - y)"), choice=choice)


SQUARE = ["x=0,2", "y=0,2"]
MEANS = [[[4, 2], "1/3", "1"], [[2, 4], "1/3", "1"], [[0, 0], "1/3", "1"]]
SCHUR = "x*(x - y)*(x - z) + y*(y - x)*(y - z) + z*(z - x)*(z - y)"
# The inequality, ranges and conditions, and the proof of it.
PROOFS: dict[str, tuple[str, list[str], list[str], list[Any]]] = {
    "factors": (
        "(a*b - 2)**2*(2*a**2 + 2*b**2 - 1)/3",
        ["a=1/2,3", "b=1/2,3"],
        [],
        step(
            "factors",
            [RANGE],
            constant="1/3",
            factors=[[expression("a*b - 2"), 2, 0], [expression("2*a**2 + 2*b**2 - 1"), 1, 1]],
        ),
    ),
    "sum": (
        "exp(x) - 1 + (x - y)**2",
        SQUARE,
        [],
        step("sum", [[["slope", 1]], RANGE], terms=[expression("exp(x) - 1"), expression("(x - y)**2")]),
    ),
    "cases": (
        "abs(x - y) - (x - y)",
        SQUARE,
        [],
        step("cases", [piece(0, "0"), piece(1, "2")], at=expression("x - y")),
    ),
    "monotone": (
        "exp(x) - exp(y)",
        ["x=0,1", "y=1/2,1"],
        ["x - y"],
        step("monotone", [RANGE, EMPTY, linear()], letter="x", sign=1, where=[0]),
    ),
    "squares": (
        "x**2 + y**2 - 2*x*y + x*(2 - x)",
        SQUARE,
        [],
        step(
            "squares",
            terms=[["1", expression("x - y"), []], ["1", ["Rational", "1", "1"], [["low", "x"], ["high", "x"]]]],
        ),
    ),
    "amgm": (
        "x**4*y**2 + x**2*y**4 + 1 - 3*x**2*y**2",
        ["x=-2,2", "y=-2,2"],
        [],
        step("amgm", groups=[[[2, 2], MEANS]]),
    ),
    "order": (SCHUR, [*SQUARE, "z=0,2"], [], step("order", base="0")),
    "logs": ("log(1 + x)/2 - log(1 + x/2)/2 + x/9", ["x=0,1"], [], step("logs", [[["slope", 1]]])),
    "lipschitz": (
        "3/2*abs(x - y) - abs(tanh(x) - tanh(y))",
        ["x=-1,1", "y=-1,1"],
        [],
        step("lipschitz", [RANGE, RANGE], letters=["x", "y"], function=expression("tanh(x)"), constant="3/2"),
    ),
    "neurons": (  # a cut, a neuron that is on, the chord of max(2 y, 0), and the condition
        "abs(x) + abs(y) - abs(x + y) + x/9 + y/9 + 2/3*y + 2/3 - max(y, 0)",
        ["x=-1,1", "y=-1,2"],
        ["x + y"],
        step(
            "neurons",
            neurons=[[[0, "2"], [1, "2"]], [[0, "2"]], [[1, "2"]]],
            tree=[
                0,
                [[0, "-1", "0"], [1, "17/18", "0"], [2, "17/18", "1/12"]],
                [[2, "0", "1/12"], [3, "1/9", "0"]],
            ],
        ),
    ),
}


def certificate(name: str) -> Content:
    text, ranges, where, tree = PROOFS[name]
    return by_hand(text, ranges, copy.deepcopy(tree), where)


@pytest.mark.parametrize("name", PROOFS)
def test_a_proof_by_each_step_is_confirmed(name: str, tmp_path: Path) -> None:
    code, text = checked(tmp_path, certificate(name), CHECKER_OF_STEPS)
    assert code == 0, text


def put(*path: Any, to: Any) -> Callable[[Any], None]:
    """Changes an entry of the first step."""

    def change(claim: Any) -> None:
        at = claim["tree"][0]
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = to

    return change


def drop_a_side(claim: Any) -> None:
    del claim["tree"][0]["children"][1]


def only_one_side(claim: Any) -> None:
    """One of several lower sides: the box's end is left out, and the condition's side alone is looked at."""
    claim["tree"][0]["where"] = []
    claim["tree"][0]["children"] = [RANGE, linear()]


def swap(claim: Any) -> None:
    claim["tree"][0]["children"].reverse()


def enlarge(letter: int, low: str) -> Callable[[Any], None]:
    def change(claim: Any) -> None:
        claim["inequality"]["box"][letter][1] = low

    return change


def lower(claim: Any) -> None:
    claim["inequality"]["expression"] = ["Add", claim["inequality"]["expression"], ["Rational", "-1", "20"]]


def hide_a_pole(claim: Any) -> None:
    """Adds 0/(x - c), with c inside of the range of the first letter x: the identities stay true."""
    (letter, low, high), expression = claim["inequality"]["box"][0], claim["inequality"]["expression"]
    middle = (Fraction(low) + Fraction(high)) / 2
    apart = ["Add", ["Symbol", letter], ["Rational", str(-middle.numerator), str(middle.denominator)]]
    zero = ["Mul", ["Rational", "0", "1"], ["Pow", apart, ["Rational", "-1", "1"]]]
    claim["inequality"]["expression"] = ["Add", expression, zero]


def cancel_a_factor(claim: Any) -> None:
    claim["tree"][0]["factors"] += [[expression("a - 1"), 2, 0], [expression("a - 1"), -2, 0]]


FORGERIES = [
    ("factors", put("constant", to="-1/3"), "their product is not f"),
    ("factors", put("constant", to="1/2"), "their product is not f"),
    ("factors", put("factors", 0, 0, to=expression("a*b - 1")), "their product is not f"),
    ("factors", put("factors", 0, 1, to=4), "their product is not f"),
    ("factors", put("factors", 1, 2, to=-1), "the product of the signs is negative"),
    ("factors", put("factors", 1, 2, to=0), "a sign is wrong"),
    ("factors", cancel_a_factor, "a denominator is not shown to differ from 0"),
    ("factors", enlarge(0, "-1"), "its lower bound is below 0"),
    ("sum", put("terms", 0, to=expression("exp(x)")), "it is not f"),
    ("sum", enlarge(0, "-1"), "sum, child 0"),
    ("cases", swap, "linear: the rest may be negative"),
    ("cases", put("children", 0, 0, "choice", to=1), "linear: the rest may be negative"),
    ("cases", put("children", 1, 0, "children", 1, 0, "multipliers", to=[[0, "-2"]]), "a multiplier is negative"),
    ("cases", put("children", 1, 0, "children", 1, 0, "multipliers", to=[]), "the rest may be negative"),
    ("cases", put("at", to=expression("1/(x - 1)")), "a denominator is not shown to differ from 0"),
    ("cases", put("children", 0, 0, "node", to=expression("x - y")), "it is of Abs, Max or Min only"),
    ("cases", put("at", to=expression("x - 1")), "the claim cannot be read"),  # it narrows, and is no condition
    ("monotone", drop_a_side, "it has 2 of 3 children"),
    ("monotone", only_one_side, "the rest is not affine"),
    ("monotone", put("sign", to=-1), "it has 3 of 2 children"),
    ("monotone", enlarge(1, "0"), "child 1"),
    ("monotone", put("children", 1, to=RANGE), "the region is empty, and the tree has boxes"),
    ("monotone", put("children", 2, to=EMPTY), "does not know empty here"),
    ("monotone", put("sign", to=0), "the sign is neither 1 nor -1"),
    ("squares", put("terms", 0, 1, to=expression("x - y + log(y - 1)*0")), "log is not shown to be > 0"),
    ("amgm", put("groups", 0, 0, to=[2]), "a monomial has wrong exponents"),
    ("amgm", put("groups", 0, 1, 0, 1, to="-1/3"), "a term may be negative"),
    ("amgm", put("groups", 0, 1, 0, 2, to="-1"), "a term may be negative"),
    ("squares", put("terms", 0, 0, to="-1"), "a weight is negative"),
    ("squares", put("terms", 0, 1, to=expression("x + y")), "the sum is not f"),
    ("squares", put("terms", 1, 2, to=[["low", "x"], ["high", "y"]]), "the sum is not f"),
    ("amgm", put("groups", 0, 1, 0, 1, to="1/2"), "the shares are too small"),
    ("amgm", put("groups", 0, 1, 0, 2, to="1/2"), "the shares are too small"),
    ("amgm", put("groups", 0, 1, 0, 2, to="2"), "the rest may be negative"),
    ("amgm", put("groups", 0, 1, 0, 0, to=[3, 2]), "a term may be negative"),
    ("amgm", put("groups", 0, 1, 0, 0, to=[2, 2]), "is another monomial"),
    ("order", put("base", to="1/2"), "a letter may be below the base"),
    ("order", enlarge(0, "-1"), "a letter may be below the base"),
    ("logs", put("children", to=[]), "it has 0 of 1 children"),
    ("logs", enlarge(0, "-1/2"), "logs, child 0"),
    ("lipschitz", put("constant", to="1"), "f is not L |x - y| - |F(x) - F(y)|"),
    ("lipschitz", put("function", to=expression("x")), "f is not L |x - y| - |F(x) - F(y)|"),
    ("neurons", put("tree", 1, 1, 1, to="-1/2"), "a multiplier has a wrong sign"),
    ("neurons", put("tree", 1, 2, 2, to="-1/12"), "a multiplier has a wrong sign"),
    ("neurons", put("tree", 1, 0, 2, to="1/12"), "a multiplier has a wrong sign"),  # the neuron is on
    ("neurons", put("tree", 2, 1, 1, to="-1/9"), "a multiplier has a wrong sign"),
    ("neurons", put("tree", 2, 1, 0, to=4), "a multiplier has no place"),
    ("neurons", put("tree", 1, 2, 2, to="1/6"), "what is left may be negative"),
    ("neurons", put("tree", 2, to=[]), "what is left may be negative"),
    ("neurons", put("tree", to=[0]), "the tree is truncated"),
    ("neurons", put("tree", to=[0, 0, [], [], []]), "there is no such cut"),
    ("neurons", put("neurons", 1, 0, 0, to=3), "one has an unknown letter"),
    ("neurons", put("neurons", 2, 0, 0, to=0), "a kink is none of the neurons"),
    ("neurons", enlarge(1, "-2"), "what is left may be negative"),
    ("lipschitz", put("step", to="trust"), "does not know the step trust"),
    *((name, lower, "") for name in PROOFS),
    *((name, hide_a_pole, "a denominator is not shown to differ from 0") for name in PROOFS),
]


@pytest.mark.parametrize(("name", "change", "message"), FORGERIES, ids=range(len(FORGERIES)))
def test_a_forged_step_is_refused(name: str, change: Callable[[Any], None], message: str, tmp_path: Path) -> None:
    content = certificate(name)
    change(content["claims"][0])
    code, text = checked(tmp_path, sealed(content), CHECKER_OF_STEPS)
    assert code == 1, text
    assert message in " ".join(text.split())


def test_the_first_program_names_a_step_that_it_does_not_know(tmp_path: Path) -> None:
    code, text = checked(tmp_path, certificate("squares"), CHECKER)
    assert code == 1
    assert "this program does not know the step squares" in text


def test_a_step_proves_no_strict_inequality(tmp_path: Path) -> None:
    content = certificate("squares")
    content["claims"][0]["inequality"]["strict"] = True
    assert checked(tmp_path, sealed(content), CHECKER_OF_STEPS)[0] == 1
