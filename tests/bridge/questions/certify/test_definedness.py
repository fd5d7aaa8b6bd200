"""Definedness is decided on the expression as it was given, in proving and in checking, however it enters."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from bridge.questions.certify.boxes import simplest
from bridge.questions.certify.certificate import CertifiedClaim, certificate_text
from bridge.questions.certify.checking import check_certificate
from bridge.questions.certify.definedness import EVERYWHERE, OF_ARGUMENT, Relation, conditions_of
from bridge.questions.certify.forms import Enclosures
from bridge.questions.certify.proving import Leaf, Outcome, Split, Status, prove
from bridge.questions.certify.reading import DEFINED, read_inequality
from symbolic.derivations.inequalities import Inequality

x, y = sp.symbols("x y", real=True)
R = sp.Rational
MOST = 400  # boxes

# A rewrite removes what is undefined: text, range, the point where it is.
UNDEFINED = [
    ("1/(1+exp(1/x)) + 1/(1+exp(-1/x)) <= 1", "x=0,15", 0),
    ("1/(1+exp(1/x)) + 1/(1+exp(-1/x)) <= 1", "x=-1,1", 0),
    ("1/(1+exp(tan(x))) + 1/(1+exp(-tan(x))) <= 1", "x=0,3", None),
    ("1/(1+exp(gamma(x))) + 1/(1+exp(-gamma(x))) <= 1", "x=-3,3", -3),
    ("log(x) + 5 - log(x)", "x=-1,1", -1),
    ("sqrt(x)**2 + 2", "x=-1,1", -1),
    ("exp(log(x)) + 2", "x=-1,1", -1),
    ("x/x", "x=-1,1", 0),
    ("0/x", "x=0,0", 0),
    ("2**(x/x)", "x=-1,1", 0),
    ("1/(1/x) + 2", "x=-1,1", 0),
    ("0*tan(x) + 1", "x=0,3", None),
    ("0*gamma(x) + 1", "x=-5/2,-1/2", -1),
    ("gamma(x)/gamma(x)", "x=-1/2,1", 0),
    ("loggamma(x) - loggamma(x) + 1", "x=-1/2,-1/4", Fraction(-1, 2)),
    ("asin(x) - asin(x)", "x=0,2", 2),
    ("x**(1/3)*x**(2/3) + 2", "x=-1,1", -1),
    ("log(log(x)) - log(log(x))", "x=1/2,2", Fraction(1, 2)),
    ("sqrt(1 - 1/x)**2 + 3", "x=1/2,2", Fraction(1, 2)),
    ("(x - 1)**2/(x - 1) + 3", "x=0,3", None),
    ("abs(1/(x**2 - 2))/abs(1/(x**2 - 2))", "x=1,2", None),
    ("min(1/x, 1) - min(1/x, 1)", "x=-1,2", 0),
]


@pytest.mark.parametrize(("text", "range", "at"), UNDEFINED)
def test_what_is_undefined_somewhere_is_not_proved_and_says_where(text: str, range: str, at: Any) -> None:
    claim = read_inequality(text, [range])[-1]
    outcome = prove(claim, most_boxes=MOST)
    assert outcome.status is Status.UNDECIDED
    assert outcome.boxes < MOST
    where = "somewhere in x in [" if at is None else f"at x = {at}: it requires"
    assert f"it is undefined {where}" in outcome.reason


@pytest.mark.parametrize(("text", "range", "at"), UNDEFINED)
def test_a_file_without_its_claims_of_definedness_is_not_confirmed(
    text: str, range: str, at: Any, tmp_path: Path
) -> None:
    claim = read_inequality(text, [range])[-1]
    forms = ("range", "slope", "hessian", "form")
    for tree in [*((Leaf(form),) for form in forms), _cut(claim, 4)]:
        path = tmp_path / "c.json"
        path.write_text(certificate_text([CertifiedClaim(Outcome(claim, Status.PROVED, tree, share=1.0))]))
        (checked,) = check_certificate(str(path)).claims
        assert not checked.confirmed
        assert "is not proved by the form" in checked.reason
        if tree == (Leaf("range"),):
            assert checked.reason.endswith("the expression is not shown to be defined there")


def _cut(claim: Inequality, depth: int) -> tuple[Any, ...]:
    """The whole box in 2^depth parts, each proved by its range."""

    def nodes(low: Fraction, high: Fraction, left: int) -> list[Any]:
        if not left or low == high:
            return [Leaf("range")]
        middle = (low + high) / 2
        return [Split(0, middle), *nodes(low, middle, left - 1), *nodes(middle, high, left - 1)]

    ((low, high),) = Enclosures(claim).root
    return tuple(nodes(low, high, depth))


DEFINED_EVERYWHERE = [
    ("1/(1+exp(1/x)) + 1/(1+exp(-1/x)) <= 1", "x=1/3,15", []),
    ("1/(1+exp(tan(x))) + 1/(1+exp(-tan(x))) <= 1", "x=-3/2,3/2", []),
    ("1/(1+exp(gamma(x))) + 1/(1+exp(-gamma(x))) <= 1", "x=-9/10,-1/10", []),
    ("log(x) + 5 - log(x)", "x=1/3,1", []),
    ("sqrt(x)**2 + 2", "x=0,1", []),
    ("sqrt(1/3 - x) + 1", "x=0,1/3", []),
    ("sqrt(x - x**2) + 1", "x=0,1", []),
    ("asin(x) - asin(x) + 2", "x=-1/2,1", []),
    ("asin(x) - asin(x) + 2", "x=1/3,2", ["1 - x**2 >= 0"]),
    ("sqrt(x) + 1", "x=-1,1/3", ["x >= 0"]),
    ("log(x) + 3", "x=-1,1", ["x >= 1/7"]),
    ("x/x", "x=-2,-1/7", []),
    ("1/(1/x) + 2", "x=1/7,1", []),
    ("log(log(x)) + 5", "x=2,3", []),
    ("log(x - x**2 + 1/10) - log(x - x**2 + 1/10) + 2", "x=0,1", []),
    ("1/(x - x**2 + 1/10) - 1/(x - x**2 + 1/10) + 2", "x=0,1", []),
    ("2**x + x**x", "x=1/2,2", []),
]


@pytest.mark.parametrize(("text", "range", "where"), DEFINED_EVERYWHERE)
def test_what_is_defined_is_proved_and_confirmed_without_further_claims(
    text: str, range: str, where: list[str], tmp_path: Path
) -> None:
    outcome = prove(read_inequality(text, [range], where)[-1], most_boxes=MOST)
    assert outcome.status is Status.PROVED
    path = tmp_path / "c.json"
    path.write_text(certificate_text([CertifiedClaim(outcome)]))
    assert check_certificate(str(path)).holds


def test_an_expression_of_python_is_decided_as_it_was_given() -> None:
    """SymPy has simplified `x/x` before anyone sees it; a tree that it has not simplified keeps its pole."""
    unit = {x: (0, 1)}
    quotient = sp.Mul(x, sp.Pow(x, -1, evaluate=False), evaluate=False)
    assert prove(Inequality("simplified", x / x, unit)).status is Status.PROVED
    assert prove(Inequality("as given", quotient, unit)).status is Status.UNDECIDED
    assert prove(Inequality("as given", quotient, {x: (R(1, 5), 1)})).status is Status.PROVED
    sides = sp.Add(sp.log(x), sp.Mul(-1, sp.log(x), evaluate=False), evaluate=False)
    assert "it is undefined at x = 0" in prove(Inequality("logarithms", sides, unit)).reason


def test_a_point_refutes_only_where_the_expression_and_the_conditions_are_defined(tmp_path: Path) -> None:
    """The lowest value of the simplified expression, x - 1/2, is at -1, where sqrt(x)**2 - 1/2 is undefined."""
    claim = read_inequality("sqrt(x)**2 >= 1/2", ["x=-1,1"])[-1]
    outcome = prove(claim)
    assert outcome.status is Status.REFUTED
    assert 0 <= outcome.point[x] < Fraction(1, 2)
    path = tmp_path / "c.json"
    for point, reason in ((Fraction(-1, 2), "not shown to be defined at the point"), (outcome.point[x], "")):
        refuted = Outcome(claim, Status.REFUTED, point={x: point}, value=float(point) - 0.5)
        path.write_text(certificate_text([CertifiedClaim(refuted)]))
        (checked,) = check_certificate(str(path)).claims
        assert checked.reason.endswith(reason)
        assert checked.confirmed is not bool(reason)
    condition = read_inequality("x >= 0", ["x=-1,1"], ["log(x) - log(x) >= 0"])[-1]
    assert prove(condition, most_boxes=50).status is not Status.REFUTED
    assert not Enclosures(condition).inside((Fraction(-1, 2),))


def test_the_lowest_point_refutes_only_if_the_expression_is_defined_there() -> None:
    outcome = prove(read_inequality("1/(1/x) >= 1/2", ["x=0,1"])[-1])
    assert outcome.status is Status.REFUTED
    assert 0 < outcome.point[x] < Fraction(1, 2)


def test_an_end_just_outside_of_the_domain_is_not_taken_for_its_edge() -> None:
    """x - 1/3 is -1e-30 there, which a ball of 64 bits does not tell from 0."""
    low = Fraction(1, 3) - Fraction(1, 10**30)
    for end, proved in ((low, False), (Fraction(1, 3), True)):
        claim = read_inequality("sqrt(x - 1/3)**2 + 2", [f"x={end},1"])[-1]
        assert (prove(claim, most_boxes=50).status is Status.PROVED) is proved


def test_a_quadratic_form_is_shown_only_where_the_expression_is_defined(tmp_path: Path) -> None:
    pole = sp.Pow(x**2 - R(1, 2), -1)
    given = sp.Add(x**2, y**2, pole, sp.Mul(-1, pole, evaluate=False), evaluate=False)
    form = ((x, y), ((sp.Integer(1), sp.Integer(0)), (sp.Integer(0), sp.Integer(1))))
    for box, proved in ({x: (-1, 1), y: (-1, 1)}, False), ({x: (-R(1, 2), R(1, 2)), y: (-1, 1)}, True):
        claim = Inequality("form", given, box, where=(y + 2,), form=form)
        assert (prove(claim, most_boxes=50).status is Status.PROVED) is proved
        path = tmp_path / "c.json"
        path.write_text(certificate_text([CertifiedClaim(Outcome(claim, Status.PROVED, (Leaf("form"),), share=1.0))]))
        assert check_certificate(str(path)).holds is proved


def test_a_quadratic_form_is_shown_only_where_its_entries_are_defined(tmp_path: Path) -> None:
    """sqrt(x)^2 is x where sqrt(x) is real; the ball of sqrt on [-1, 0] is that of its part in the domain, 0."""
    root = sp.sqrt(x)
    for form in (
        ((sp.Integer(1),), (((root + 1) * (root - 1) + R(3, 2),),)),
        ((root, sp.Integer(1)), ((sp.Integer(1), sp.Integer(0)), (sp.Integer(0), R(1, 2)))),
    ):
        claim = Inequality("form", x + R(1, 2), {x: (-1, 0)}, form=form)
        assert prove(claim, most_boxes=50).status is not Status.PROVED
        path = tmp_path / "c.json"
        path.write_text(certificate_text([CertifiedClaim(Outcome(claim, Status.PROVED, (Leaf("form"),), share=1.0))]))
        assert not check_certificate(str(path)).holds
    inside = Inequality("form", x + R(1, 2), {x: (0, 1)}, form=form)
    assert Enclosures(inside).shown_by(Enclosures(inside).root, "form")


def test_what_is_undefined_everywhere_is_undecided_at_once() -> None:
    zero = sp.Add(x, sp.Mul(-1, x, evaluate=False), evaluate=False)
    quotient = sp.Mul(x, sp.Pow(zero, -1, evaluate=False), evaluate=False)
    assert prove(Inequality("nowhere", quotient, {x: (0, 1)})).reason == "it is undefined at x = 0: it requires 0 != 0"
    inverse = sp.Pow(sp.Pow(zero, -1, evaluate=False), -1, evaluate=False)
    assert "it is undefined at x = 0" in prove(Inequality("nowhere", inverse, {x: (0, 1)})).reason


# ---- The conditions themselves, against SymPy's values at points

POINTS = [R(p, q) for q in (1, 2, 3) for p in range(-9, 10)]
NODES = [function(x) for function in OF_ARGUMENT] + [
    sp.digamma(x),
    x**-1,
    x**-2,
    x ** R(1, 3),
    x ** R(-1, 2),
    2**x,
    x**x,
]


@pytest.mark.parametrize("node", NODES, ids=str)
def test_the_conditions_of_a_node_hold_where_it_is_a_real_number(node: sp.Expr) -> None:
    """Only x**x is asked for more: at the negative whole numbers it is one by accident."""
    for point in POINTS:
        outcome = prove(Inequality("node", sp.Abs(node, evaluate=False) + 1, {x: (point, point)}))
        value = node.xreplace({x: point})
        real = bool(value.is_finite and value.is_real) and (node != x**x or bool(point > 0))
        if isinstance(node, sp.loggamma):
            real = bool(point > 0)  # its branch
        assert (outcome.status is Status.PROVED) is real, point


def test_every_node_of_a_certificate_has_its_conditions_known() -> None:
    from bridge.questions.certify.expressions import FUNCTIONS, OPERATIONS

    known = {*EVERYWHERE, *OF_ARGUMENT, sp.Pow}
    assert {*FUNCTIONS.values(), *OPERATIONS.values()} <= known


def test_an_unknown_function_is_never_known_to_be_defined() -> None:
    (condition,) = conditions_of(sp.zeta(x), {})
    assert condition.relation is Relation.NEVER
    assert condition.words == "zeta(x) known to be a real number"


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [("1/3", "1/2", "1/2"), ("-1", "5", "0"), ("-7/5", "-6/5", "-4/3"), ("31/10", "32/10", "16/5"), ("2", "2", "2")],
)
def test_the_simplest_fraction_of_an_interval(low: str, high: str, expected: str) -> None:
    assert simplest(Fraction(low), Fraction(high)) == Fraction(expected)


def test_definedness_is_listed_with_the_claim() -> None:
    names = [each.name for each in read_inequality("log(x) - log(x) + x/x", ["x=1,2"])]
    assert names == [f"{DEFINED}x", f"{DEFINED}x**2", "log(x) - log(x) + x/x"]


def test_a_maximum_of_what_is_nowhere_defined_is_undecided_with_the_reason():
    (defined, claim) = read_inequality("max(asin(x**2 + 4), 0) >= -5", ["x=0,1"])
    assert prove(defined, most_boxes=9).status is Status.REFUTED
    outcome = prove(claim, most_boxes=9)
    assert outcome.status is Status.UNDECIDED
    assert "it is undefined at x = 0: it requires 1 - (x**2 + 4)**2 >= 0" in outcome.reason
