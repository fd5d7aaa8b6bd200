"""The program that checks certificates without this package: what it confirms, prints and refuses."""

import ast
import copy
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from bridge.questions.certify.certificate import inequality_record
from bridge.questions.certify.definedness import evaluated
from bridge.questions.certify.expressions import from_record
from bridge.questions.certify.reading import read_claim, typed_inequality
from bridge.questions.certify.standalone import CHECKER, CHECKER_OF_STEPS, checkers, program
from symbolic.topics.induction import lyapunov, lyapunov_gram, lyapunov_head
from tests.bridge.questions.certify.records import Content, by_hand, checked, proved, sealed, shipped

RESULTS = {
    "induction.lyapunov_head": 18,
    "induction.karamata": 3,
    "induction.trends": 10,
    "induction.first_stage": 3,
    "induction.lyapunov_gram": 9,
}
SLOW = ("induction.first_stage", "induction.lyapunov_gram")


@pytest.mark.parametrize("name", [CHECKER, CHECKER_OF_STEPS])
def test_the_programs_import_the_standard_library_alone_and_evaluate_no_text(name: str) -> None:
    tree = ast.parse(program(name))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported - {"check_certificate"} <= sys.stdlib_module_names
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert not called & {"eval", "exec", "compile", "__import__"}


@pytest.mark.parametrize("id", [pytest.param(id, marks=pytest.mark.long if id in SLOW else ()) for id in RESULTS])
def test_it_confirms_every_certificate_that_is_shipped(id: str, tmp_path: Path) -> None:
    content = shipped(id)
    code, text = checked(tmp_path, content, checkers(json.dumps(content, separators=(",", ":")))[-1])
    assert code == 0, text
    assert text.count("confirmed: ") == len(content["claims"]) == RESULTS[id]
    nodes = [node for claim in content["claims"] for node in claim.get("tree", ())]
    leaves = sum(
        1 if isinstance(node, dict) else node[1] for node in nodes if "step" in node or isinstance(node[0], str)
    )
    assert sum(map(int, re.findall(r"it holds, on (\d+) boxes", text))) == leaves


def test_what_it_prints_is_the_inequality_of_the_file(tmp_path: Path) -> None:
    text = "1 - x/3 - (-2/5)*y**-2 + max(x, abs(y))**(3/2) - tanh(x*y) > -(x - y)*exp(-x)"
    content = by_hand(text, ["x=1/7,0.5", "y=1,2"], [["range", 1]], ["y**2 - x"])
    _, printed = checked(tmp_path, content)
    region, _, claim = " ".join(printed.splitlines()).partition("For all ")[2].partition(": ")
    assert region.startswith("real numbers 1/7 <= x <= 1/2, 1 <= y <= 2, where y**2 + (-1)*x >= 0")
    expression = claim.partition(" > 0")[0].replace("Max", "max").replace("Abs", "abs")
    typed = typed_inequality(text, ["x=1/7,0.5", "y=1,2"], ["y**2 - x"])
    assert evaluated(read_claim(expression, evaluate=False)[0], {}) == evaluated(typed.expression, {})


def test_the_printed_statement_is_that_of_the_result(tmp_path: Path) -> None:
    content = shipped("induction.karamata")
    _, printed = checked(tmp_path, content)
    expressions = re.findall(r"For all .*?: (.*?) >=? 0\s*confirmed", printed, re.DOTALL)
    assert len(expressions) == len(content["claims"])
    for found, claim in zip(expressions, content["claims"], strict=True):
        record = claim["inequality"]
        symbols = {name: sp.Symbol(name, real=True) for name, _, _ in record["box"]}
        stated = from_record(record["expression"], symbols)
        assert evaluated(read_claim(" ".join(found.split()), evaluate=False)[0], {}) == evaluated(stated, {})


# Forged certificates, sealed again.

HEAD = f"decay.printed_flow (c = {lyapunov.CERTIFIED['decay.printed_flow']})"


@pytest.fixture(scope="module")
def head() -> Content:
    return shipped("induction.lyapunov_head", boxes_alone=True)


def test_a_constant_beyond_the_true_one_is_refused(head: Content, tmp_path: Path) -> None:
    forged = copy.deepcopy(head)
    forged["claims"] = [claim for claim in forged["claims"] if claim["inequality"]["name"].startswith(HEAD)]
    stated = {each.name.partition(": ")[2]: each for each in lyapunov_head.decay_inequalities("printed", sp.Integer(2))}
    for claim in forged["claims"]:
        part = claim["inequality"]["name"].partition(": ")[2]
        claim["inequality"]["expression"] = inequality_record(stated[part])["expression"]
    code, text = checked(tmp_path, sealed(forged))
    assert code == 1
    assert "its lower bound is below 0" in text


def test_a_file_without_claims_confirms_nothing(tmp_path: Path) -> None:
    code, text = checked(tmp_path, sealed({**by_hand("x", ["x=0,1"], [["range", 1]]), "claims": []}))
    assert (code, text) == (1, "The file has no claims.\n\nSome claims are not confirmed.\n")


@pytest.mark.long
def test_a_constant_of_the_4_gram_head_beyond_the_true_one_is_refused(tmp_path: Path) -> None:
    content = shipped("induction.lyapunov_gram", boxes_alone=True)
    name = f"decay (c = {lyapunov.CERTIFIED['decay']})"
    claim = next(each for each in content["claims"] if each["inequality"]["name"] == name)
    beyond = inequality_record(lyapunov_gram.decay_inequality(sp.Rational(21, 20)))  # false: the best is 1.039
    claim["inequality"] |= {name: beyond[name] for name in ("expression", "form")}
    code, text = checked(tmp_path, sealed({**content, "claims": [claim]}))
    assert (code, text.count("NOT CONFIRMED")) == (1, 1)


def whole_by(form: str) -> Callable[[Content], None]:
    def change(content: Content) -> None:
        content["claims"][0]["tree"] = [[form, 1]]

    return change


def less(content: Content) -> None:
    inequality = content["claims"][0]["inequality"]
    inequality["expression"] = ["Add", inequality["expression"], ["Rational", "-1", "2"]]


def field(name: str, value: Any) -> Callable[[Content], None]:
    def change(content: Content) -> None:
        content["claims"][0][name] = value

    return change


def of_inequality(name: str, value: Any) -> Callable[[Content], None]:
    def change(content: Content) -> None:
        content["claims"][0]["inequality"][name] = value

    return change


def both(*changes: Callable[[Content], None]) -> Callable[[Content], None]:
    def change(content: Content) -> None:
        for each in changes:
            each(content)

    return change


X, Y = ["Symbol", "x"], ["Symbol", "y"]
FORGERIES = {
    "a smaller expression": (less, "its lower bound is below 0"),
    "a larger box": (of_inequality("box", [["x", "-1/3", "1"], ["y", "0", "1"]]), "its lower bound is below 0"),
    "a form of another function": (whole_by("form"), "the form is not f"),
    "no equilibrium": (whole_by("hessian"), "is not 0 at the equilibrium"),
    "a condition that is not there": (whole_by("outside 0"), "does not know outside 0 here"),
    "an open box": (whole_by("open"), "it is open"),
    "an unknown form": (whole_by("trust"), "does not know trust here"),
    "a truncated tree": (field("tree", [[0], ["range", 1]]), "the tree is truncated"),
    "too many leaves": (field("tree", [["range", 2]]), "complete before its end"),
    "a cut outside": (field("tree", [[0, "2"], ["range", 2]]), "a cut is outside of its box"),
    "no such letter": (field("tree", [[7], ["range", 2]]), "a cut is across no letter"),
    "undecided": (field("verdict", "undecided"), "the file leaves it undecided"),
    "no number": (of_inequality("box", [["x", "one", "1"], ["y", "0", "1"]]), "the claim cannot be read"),
    "an empty range": (of_inequality("box", [["x", "1", "0"], ["y", "0", "1"]]), "a range is empty"),
    "strict at a zero": (of_inequality("strict", True), "its lower bound is below 0"),
    "strict by far less than 0": (both(less, of_inequality("strict", -(10**40))), "strict is neither true nor false"),
    "a letter whose slope is hidden": (of_inequality("expression", ["Mul", ["Rational", "-1", "1"], [*X, ""]]),
                                       "Symbol has a wrong number of parts"),
    "a letter that is no name": (of_inequality("expression", ["Symbol", 1]), "Symbol has a wrong number of parts"),
    "a function": (of_inequality("expression", ["erf", X]), "this program does not know erf"),
    "a root of what is negative": (of_inequality("expression", ["Pow", ["Add", X, ["Rational", "-1", "2"]],
                                   ["Rational", "1", "2"]]), "under a root is not shown to be >= 0"),
    "a pole": (of_inequality("expression", ["Mul", X, ["Pow", X, ["Rational", "-1", "1"]]]), "differ from 0"),
    "a name that reads as a claim": (of_inequality("box", [["x = 0, y", "0", "1"]]), "the name of a letter is unusual"),
    "a part that is not looked at": (of_inequality("expression", ["exp", X, Y]), "exp has a wrong number of parts"),
    "a letter without a range": (of_inequality("expression", ["Symbol", "z"]), "does not know z"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_certificate_is_refused(name: str, tmp_path: Path) -> None:
    change, message = FORGERIES[name]
    content = by_hand("x + y", ["x=0,1", "y=0,1"], [[0], [1], ["range", 2], ["slope", 1]])
    content["claims"][0]["inequality"] |= {"vanishing": ["x"], "form": {"vector": [X, Y], "matrix": [[Y, X], [X, Y]]}}
    change(content)
    code, text = checked(tmp_path, sealed(content))
    assert code == 1
    assert message in " ".join(text.split())


def test_a_name_cannot_pass_for_a_result(tmp_path: Path) -> None:
    content = by_hand("x", ["x=-1,1"], [["range", 1]])
    content["claims"][0]["inequality"]["name"] = "x\nconfirmed: it holds"
    code, text = checked(tmp_path, sealed(content))
    assert code == 1
    assert "\nconfirmed" not in text


def test_a_changed_file_is_noticed_by_its_digest(tmp_path: Path) -> None:
    content = by_hand("x", ["x=0,1"], [["range", 1]])
    content["package"] = "1"
    code, text = checked(tmp_path, content)
    assert code == 1
    assert "The digest does not match" in text


@pytest.mark.parametrize(
    ("text", "tree", "confirmed"),
    [
        ("exp(x) - cosh(x) - sinh(x) + 1/100", [["range", 1]], True),
        ("1 + x - exp(x - x**2/2)", [["range", 1]], False),
        ("log(1 + x) - x + x**2/2 + 1/10**6", [["slope", 1]], True),
        ("tanh(x) - x/(1 + x) + 1/100", [["slope", 1]], True),
        ("(1 + x)**(1/3) - 1", [["slope", 1]], True),
        ("(1 + x)**x - 1 + 1/10**9", [["range", 1]], True),
        ("1/3 - x/3", [["slope", 1]], True),  # exactly 0 at the end, which no whole multiple of 2^-96 is
        ("sin(x) - x + x**3/6", [["range", 1]], False),  # true; the series needs more than boxes
        ("x*cos(x)", [["range", 1]], True),
        ("pi - 355/113*x", [["range", 1]], False),  # at x = 1 by 3e-7
        ("tan(x) - x + 1/10**4", [["slope", 1]], True),
        ("atan(x) - x*pi/4 + 1/10**9", [[0, "1/2"], ["slope", 2]], True),
        ("pi/4 - atan(x) - 1/10**9", [["range", 1]], False),
        ("sinh(x) - x", [["slope", 1]], True),
        ("cosh(x) - 1", [["range", 1]], True),
    ],
)
def test_functions_are_enclosed(text: str, tree: Any, confirmed: bool, tmp_path: Path) -> None:
    content = by_hand(text, ["x=0,1"], tree)
    assert checked(tmp_path, content, CHECKER_OF_STEPS)[0] == (0 if confirmed else 1)


def test_a_refutation_is_a_point_that_is_shown(tmp_path: Path) -> None:
    content = proved("x**2 - x + 1/8", "x=0,1")
    assert "confirmed: it is false, at x = " in checked(tmp_path, content)[1]
    for name, value in (("point", {"x": "1/100"}), ("point", {"x": "3/2"}), ("value", "-1")):
        forged = copy.deepcopy(content)
        forged["claims"][0][name] = value
        assert checked(tmp_path, sealed(forged))[0] == 1, (name, value)


def test_a_certificate_names_the_programs_that_it_needs() -> None:
    def needed(text: str) -> tuple[str, ...]:
        return checkers(json.dumps(proved(text, "x=0,1"), separators=(",", ":")))

    assert needed("2 + sin(x)") == (CHECKER, CHECKER_OF_STEPS)
    assert needed("1 + sqrt(x)") == (CHECKER,)
