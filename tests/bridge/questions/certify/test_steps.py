"""Steps of a certificate: what is proved by them, that it is checked again, and that no forged one is confirmed."""

import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from bridge.questions.certify import samples
from bridge.questions.certify.certificate import CertifiedClaim, certificate_text, digest, inequality_record
from bridge.questions.certify.checking import check_certificate
from bridge.questions.certify.deadline import Deadline
from bridge.questions.certify.finding import found_by_steps
from bridge.questions.certify.forms import Enclosures
from bridge.questions.certify.goals import ProofGoal, narrowed
from bridge.questions.certify.letters import are_equal
from bridge.questions.certify.nodes import Leaf, Reduction, boxes_in
from bridge.questions.certify.proving import Status, prove
from bridge.questions.certify.reading import read_inequality
from bridge.questions.certify.standalone import CHECKER_OF_STEPS
from bridge.questions.certify.step_neurons import ByNeurons
from bridge.questions.certify.step_records import STEPS
from bridge.questions.certify.steps import (
    ByAmgm,
    ByCases,
    ByFactors,
    ByLinear,
    ByLipschitz,
    ByLogs,
    ByMonotone,
    ByOrder,
    ByPiece,
    BySquares,
    BySum,
    ProofStep,
)
from bridge.questions.certify.verifying import fault_of_step
from symbolic import UsageError
from tests.bridge.questions.certify import by_points, inequalities
from tests.bridge.questions.certify.records import checked

BITS = 64
R = sp.Rational
x, y, z = sp.symbols("x y z", real=True)
NESTED = sp.sqrt(1 + sp.sqrt(2))
NOT_STANDALONE = {"GELU from below", "GELU below ReLU", "squares of sine and cosine"}  # erf; sin^2 = 1 - cos^2


def goal(f: sp.Expr, *where: sp.Expr, low: Any = -1, high: Any = 1) -> ProofGoal:
    """On [low, high] for each letter of f and of the conditions."""
    letters = sorted(set().union(*(each.free_symbols for each in (f, *where))), key=str)
    return ProofGoal(f, tuple((s, R(low), R(high)) for s in letters), where)


# ---- What is proved


@pytest.mark.parametrize("source", ["TEXTBOOK", "PAPERS", "DECAYS", "LIPSCHITZ", "NETWORKS", "REPORTS"])
def test_sharp_inequalities_are_proved_and_confirmed(source: str, tmp_path: Path) -> None:
    outcomes = {
        name: [prove(claim, seconds=inf, most_boxes=4_000) for claim in read_inequality(text, ranges)]
        for name, text, *ranges in getattr(inequalities, source)
    }
    assert [name for name, found in outcomes.items() if any(each.status is not Status.PROVED for each in found)] == []
    file = tmp_path / "c.json"
    file.write_text(certificate_text([CertifiedClaim(each) for found in outcomes.values() for each in found]))
    again = check_certificate(str(file))
    assert [claim.title for claim in again.claims if not claim.confirmed] == []
    assert sum(claim.boxes * claim.copies for claim in again.claims) == sum(
        boxes_in(each.nodes) for found in outcomes.values() for each in found
    )
    known = [CertifiedClaim(each) for name, found in outcomes.items() if name not in NOT_STANDALONE for each in found]
    code, printed = checked(tmp_path, json.loads(certificate_text(known)), CHECKER_OF_STEPS)
    assert code == 0, printed


def test_the_suite_is_large_enough() -> None:
    assert len(inequalities.TRUE) + len(inequalities.FALSE) >= 90


@pytest.mark.parametrize("case", inequalities.FALSE, ids=[name for name, *_ in inequalities.FALSE])
def test_false_ones_are_refuted(case: tuple[str, ...]) -> None:
    _, text, *ranges = case
    assert prove(read_inequality(text, ranges)[-1], seconds=inf, most_boxes=500).status is Status.REFUTED


def lowered(case: tuple[str, ...]) -> Any:
    """The inequality with 1/20 taken off: one that was sharp is false, and those above 1/20 stay true."""
    _, text, *ranges = case
    claim = read_inequality(text, ranges)[-1]
    return replace(claim, expression=claim.expression - R(1, 20))


# Without its samples the search takes every step that it can think of.
@pytest.mark.long
@pytest.mark.parametrize("at", range(10))
def test_nothing_false_is_proved_without_samples(at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples.RegionSample, "seems", lambda self, expression: True)
    for case in [*inequalities.TRUE, *inequalities.FALSE][at::10]:
        claim = lowered(case) if case in inequalities.TRUE else read_inequality(case[1], case[2:])[-1]
        if by_points.fails(inequality_record(claim)):
            assert found_by_steps(Enclosures(claim), Deadline(inf), most_boxes=400) == (), case


TEMPLATES = (
    "({p}*x + {q}*y)**2 {s}",
    "(x*y - {p})**2*(x**2 + {q}) {s}",
    "abs({p}*x - y) + abs(x + {q}) >= {q} {s}",
    "max({p}*x, {q}*y) - min(x, y) {s}",
    "exp({p}*x) - 1 - {p}*x {s}",
    "x**4 + {q}*y**4 - {p}*x*y {s}",
    "{q}*x**2 + y**2 - {p}*x*y {s}",
    "({p}*x**2 - {q}*x)*(x - y)**2 {s}",
    "tanh({p}*x)*x {s}",
    "{p}*abs(x - y) - abs(sin(x) - sin(y)) {s}",
    "log(1 + exp({p}*x)) - max({p}*x, 0) {s}",
    "(x - {p})**3*(x - {q}) {s}",
    "cosh({p}*x) - 1 - {q}*x**2 {s}",
    "(x + {p})*log(x + {p} + 4) - (x + {p}) {s}",
)


def drawn(rng: random.Random) -> tuple[str, list[str], list[Fraction]]:
    """A statement that is often sharp, or false by little."""
    p, q = (Fraction(rng.randrange(-6, 7), rng.choice((1, 2, 3))) for _ in range(2))
    shift = rng.choice(("", "", "+ 1/100", "- 1/100", "- 1/1000000"))
    text = rng.choice(TEMPLATES).format(p=f"({p})", q=f"({q})", s=shift)
    names = [name for name in ("x", "y") if name in text.replace("exp", "").replace("max", "")]
    ends = [sorted((rng.randrange(-3, 4), rng.randrange(-3, 4))) for _ in names]
    ranges = [f"{name}={low},{high + 1}" for name, (low, high) in zip(names, ends, strict=True)]
    return text, ranges, [p, q, q / (p or 1)]


@pytest.mark.parametrize(("count", "seed"), [(100, 1), pytest.param(2_000, 2, marks=pytest.mark.long)])
def test_random_statements_that_are_proved_hold_at_points(count: int, seed: int) -> None:
    rng, proved = random.Random(seed), 0
    for _ in range(count):
        text, ranges, special = drawn(rng)
        for claim in read_inequality(text, ranges):
            outcome = prove(claim, seconds=inf, most_boxes=60)
            if outcome.status is Status.PROVED:
                proved += 1
                assert by_points.fails(inequality_record(claim), special) == "", (text, ranges)
    assert proved > count / 5


# ---- What is not a proof


def means(b: tuple[int, ...], *parts: tuple[tuple[int, ...], Any]) -> ByAmgm:
    """A monomial, and those of its mean with their weights; each share is 1."""
    return ByAmgm(((b, tuple((a, R(weight), R(1)) for a, weight in parts)),))


# |x| on [-1, 1]: the neuron max(x, 0) has h - x >= 0 and the chord x + 1 - 2 h >= 0.
RELU = (((0, Fraction(1)),),)
HALF, ONE, NONE = Fraction(1, 2), Fraction(1), Fraction(0)


def neurons(*tree: Any, of: Any = RELU) -> ByNeurons:
    return ByNeurons(of, tree)


FORGED: dict[str, tuple[ProofGoal, ProofStep, str]] = {
    "product": (goal(x**2 - 2 * x + 1), ByFactors(R(1), ((x - 2, 2, 0),)), "the product is not"),
    "sign of a product": (goal(x**3), ByFactors(R(-1), ((x, 2, 0), (-x, 1, 1))), "negative"),
    "odd power as even": (goal(x**3), ByFactors(R(1), ((x, 3, 0),)), "has no sign"),
    "square of a root": (goal(x), ByFactors(R(1), ((sp.sqrt(x), 2, 0),)), "not defined"),
    "pole": (goal(1 / x**2), ByFactors(R(1), ((x, -2, 0),)), "not shown to be defined|not defined"),
    "exponent 0": (goal(x, y), ByFactors(R(1), ((x, 1, 1), (y, 0, 0))), "an exponent is 0 or too large"),
    "exponent 65": (goal(x**65), ByFactors(R(1), ((x, 65, 1),)), "an exponent is 0 or too large"),
    "sum": (goal(x + y), BySum((x, y, -R(1, 9))), "the sum is not"),
    "cases of another letter": (goal(x), ByCases(z), "other letters"),
    "cases where a root ends": (goal(x), ByCases(sp.sqrt(x)), "not shown to be defined"),
    "no kink": (goal(sp.Abs(x)), ByPiece(x, 0), "neither Abs"),
    "no such piece": (goal(sp.Abs(x)), ByPiece(sp.Abs(x), 2), "no such piece"),
    "negative multiplier": (goal(x, -x), ByLinear(((0, R(-1)),)), "a multiplier is negative"),
    "no such condition": (goal(x, x + y), ByLinear(((1, R(1)),)), "a multiplier is negative"),
    "rest": (goal(x - R(1, 10), x), ByLinear(((0, R(9, 10)),)), "what is left is negative"),
    "not affine": (goal(x**2), ByLinear(), "not affine"),
    "kink": (goal(sp.Abs(x) + x), ByMonotone(x, 1), "not shown to be differentiable"),
    "root at 0": (goal(sp.sqrt(x), low=0), ByMonotone(x, 1), "not shown to be differentiable"),
    "pole inside": (goal(-1 / x), ByMonotone(x, 1), "not shown to be d"),
    "jumps that a derivative hides": (goal(sp.atan(sp.tan(x)), low=0, high=3), ByMonotone(x, 1), "not shown to be d"),
    "side that is not affine": (goal(x, x**2 - y), ByMonotone(x, 1, (0,)), "not affine in x"),
    "no such side": (goal(x), ByMonotone(x, 1, (0,)), "no such condition"),
    "another letter": (goal(x), ByMonotone(y, 1), "no such coordinate"),
    "sign 0 of a slope": (goal(x), ByMonotone(x, 0), "no such coordinate or sign"),
    "weights of squares": (goal(-(x**2)), BySquares(((R(-1), x, ()),)), "a weight is negative"),
    "squares of another": (goal(x**2 - R(1, 9)), BySquares(((R(1), x, ()),)), "the sum of squares is not"),
    "imaginary square": (goal(-(x**2)), BySquares(((R(1), sp.sqrt(-1) * x, ()),)), "not a finite real"),
    "side of squares": (goal(x - 1), BySquares(((R(1), sp.Integer(1), (("low", y),)),)), "no such side"),
    "condition of squares": (goal(x), BySquares(((R(1), R(1), (("where", 0),)),)), "no such condition"),
    "condition by a letter": (goal(x, x), BySquares(((R(1), R(1), (("where", x),)),)), "no such condition"),
    "kind of a side": (goal(x), BySquares(((R(1), R(1), (("middle", x),)),)), "no such side"),
    "mean too small": (goal(x**2 + y**2 - 3 * x * y), means((1, 1), ((2, 0), "1/2"), ((0, 2), "1/2")), "too small"),
    "weights": (goal(x**2 + y**2 - x * y), means((1, 1), ((2, 0), "1/2"), ((0, 2), "1/3")), "do not add up"),
    "negative weight": (goal(x**2), means((2,), ((2,), "3/2"), ((2,), "-1/2")), "a weight is not positive"),
    "negative share": (goal(x**2), ByAmgm((((2,), (((2,), R(1), R(-1)),)),)), "a weight is not positive"),
    "weights by 65": (goal(x**2), means((2,), ((2,), "1/65"), ((2,), "64/65")), "too large a denominator"),
    "another mean": (goal(x**4 + y**2 - x * y), means((1, 1), ((4, 0), "1/2"), ((0, 2), "1/2")), "another monomial"),
    "share too large": (goal(x**2 / 9 + y**2 - 2 * x * y), means((1, 1), ((2, 0), "1/2"), ((0, 2), "1/2")), "the rest"),
    "monomial of one letter": (goal(x**2 + y**2), means((1, 1), ((2,), "1/2"), ((0, 2), "1/2")), "not one exponent"),
    "mean of three letters": (goal(x**2 + y**2), means((1, 1), ((2, 2, 0), "1")), "not one exponent"),
    "odd monomial": (goal(x**3 + x - x**2), means((2,), ((3,), "1/2"), ((1,), "1/2")), "may be negative"),
    "order above a low": (goal(x - y), ByOrder(R(0)), "below the base"),
    "order": (goal(x - y, low=0), ByOrder(R(0)), "coefficient is negative"),
    "order of six letters": (goal(sp.Add(*sp.symbols("u:6", real=True)), low=0), ByOrder(R(0)), "too many letters"),
    "order of no polynomial": (goal(sp.exp(x), low=0), ByOrder(R(0)), "coefficient is negative"),
    "65 logarithms": (goal(65 * sp.log(x + 3)), ByLogs(), "an exponent is too large"),
    "no logarithm": (goal(x**2), ByLogs(), "no logarithm"),
    "Lipschitz in no letter": (goal(x), ByLipschitz((z, x), z, R(1)), "no such letters"),
    "Lipschitz to no letter": (goal(x), ByLipschitz((x, z), x, R(1)), "no such letters"),
    "Lipschitz in one letter": (goal(x, y), ByLipschitz((x, x), x, R(1)), "no such letters"),
    "Lipschitz with a parameter": (
        goal(sp.Abs(x - y) - sp.Abs(z * x - z * y)),
        ByLipschitz((x, y), z * x, R(1)),
        "the function has other letters",
    ),
    "kink that is no neuron": (goal(sp.Abs(x - y)), neurons((), of=()), "not among the neurons"),
    "no network": (goal(x**2), neurons(()), "neither affine nor a kink"),
    "neuron of a later one": (goal(sp.Abs(x)), neurons((), of=(((1, ONE),),)), "unknown letter"),
    "neuron of no size": (goal(sp.Abs(x)), neurons((), of=(((0, NONE),),)), "unknown letter"),
    "chord of the wrong sign": (goal(1 - 2 * sp.Max(x, 0)), neurons(((0, NONE, -ONE),)), "wrong sign"),
    "neuron that may be off": (goal(x - sp.Max(x, 0)), neurons(((0, -ONE, NONE),)), "wrong sign"),
    "chord of a neuron that is on": (goal(sp.Max(x, 0)), neurons(0, ((0, NONE, ONE),), ()), "wrong sign"),
    "multiplier of no neuron": (goal(sp.Max(x, 0)), neurons(((1, ONE, NONE),)), "wrong sign or place"),
    "negative condition": (goal(sp.Max(x, 0), x - y), neurons(((1, -ONE, NONE),)), "wrong sign or place"),
    "condition that is no network": (goal(sp.Max(x, 0), x**2 - y), neurons(((1, ONE, NONE),)), "wrong sign or place"),
    "neuron cut twice": (goal(sp.Max(x, 0)), neurons(0, 0, (), (), ()), "no such neuron to cut"),
    "tree too short": (goal(sp.Max(x, 0)), neurons(0, ()), "truncated"),
    "tree too long": (goal(sp.Max(x, 0)), neurons((), ()), "complete before its end"),
    "network too low": (goal(sp.Abs(x) - R(1, 10**9)), neurons(0, ((0, -ONE, NONE),), ()), "negative on a part"),
    "relaxation too low": (goal(sp.Abs(x) + x / 2), neurons(()), "negative on a part"),
    "Lipschitz of another": (
        goal(sp.Abs(x - y) - sp.Abs(x**2 - y**2)),
        ByLipschitz((x, y), x, R(1)),
        "another inequality",
    ),
    "Lipschitz of a kink": (
        goal(sp.Abs(x - y) - sp.Abs(sp.Abs(x) - sp.Abs(y))),
        ByLipschitz((x, y), sp.Abs(x), R(1)),
        "not differentiable",
    ),
}


@pytest.mark.parametrize("forged", FORGED)
def test_a_forged_step_is_refused(forged: str) -> None:
    of, step, words = FORGED[forged]
    assert re.search(words, fault_of_step(of, Reduction(step, ()), BITS))


def test_each_kind_of_step_is_among_the_forged_ones() -> None:
    assert {type(step) for _, step, _ in FORGED.values()} == set(STEPS.values())


# On x >= y and x >= -y, x is least at |y|. x + 2 y is >= 0 on the side x = y, and not on the other one.
def test_every_lower_side_needs_a_proof() -> None:
    of, step, linear = goal(x + 2 * y, x - y, x + y, high=2), ByMonotone(x, 1, (0, 1)), (Reduction(ByLinear(), ()),)
    slope, end, first, second = step.children(of, BITS)
    assert (slope.expression, end.empty) == (1, True)
    assert (first.ranges, first.expression) == (((y, R(0), R(2)),), 3 * y)
    assert (second.ranges, second.expression) == (((y, R(-1), R(0)),), y)
    trees = ((Leaf("range"),), (Leaf("empty"),), linear)
    assert "needs 4 parts; it has 3" in fault_of_step(of, Reduction(step, trees), BITS)
    assert "what is left is negative" in fault_of_step(of, Reduction(step, (*trees, linear)), BITS)
    honest = goal(x + y / 2, x - y, x + y, high=2)
    assert fault_of_step(honest, Reduction(step, (*trees, linear)), BITS) == ""


def test_a_region_is_narrowed_until_nothing_changes() -> None:
    found = narrowed(goal(x * y, 2 * x - 1, y - 2 * x + 1, 3 - x, high=R(1, 2), low=-2))
    assert found == ProofGoal(y / 2, ((y, R(0), R(1, 2)),), ())
    assert narrowed(goal(x, x - 2)).empty
    assert narrowed(goal(x, sp.Integer(-1), x + y)).empty


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        (sp.exp((x + y) / 2) ** 2, sp.exp(x) * sp.exp(y), True),
        (sp.tanh(x), 1 - 2 / (sp.exp(2 * x) + 1), True),
        (sp.sqrt(x * y), sp.sqrt(x) * sp.sqrt(y), False),  # not where both are negative
        (sp.sqrt(x + 1) ** 3, (x + 1) * sp.sqrt(x + 1), True),
        (sp.cosh(x) ** 2 - sp.sinh(x) ** 2, sp.Integer(1), True),
        (sp.sin(x) ** 2 + sp.cos(x) ** 2, sp.Integer(1), True),
        (x, x + R(1, 10**9), False),
        (x**sp.pi, x**3, False),
        (sp.sqrt(sp.pi) * (sp.sqrt(sp.pi) - x), sp.pi - sp.sqrt(sp.pi) * x, True),
        (sp.sqrt(sp.sin(x)) * (1 + sp.sqrt(sp.sin(x))), sp.sqrt(sp.sin(x)) + sp.sin(x), True),
        (sp.sqrt(sp.sin(x)) * sp.cos(x) ** 2, sp.sqrt(sp.sin(x)) * (1 - sp.sin(x) ** 2), True),
        (sp.sqrt(sp.cos(x)) * sp.cos(x) ** 2, sp.sqrt(sp.cos(x)) * (1 - sp.sin(x) ** 2), True),
        (sp.sqrt(2) * (sp.sqrt(2) + NESTED) ** 2, 2 * sp.sqrt(2) + 4 * NESTED + sp.sqrt(2) * NESTED**2, True),
    ],
)
def test_expressions_are_equal_as_quotients_in_letters(a: sp.Expr, b: sp.Expr, equal: bool) -> None:
    assert are_equal(a, b) is equal


# ---- Files

Edit = Callable[[dict[str, Any]], object]


def certified(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(certificate_text([CertifiedClaim(prove(read_inequality(text, ["x=-2,2"])[-1]))]))
    return found


def rechecked(content: dict[str, Any], tmp_path: Path) -> Any:
    file = tmp_path / "c.json"
    file.write_text(json.dumps({**content, "digest": digest(content)}))
    (claim,) = check_certificate(str(file)).claims
    return claim


def step_of(content: dict[str, Any]) -> dict[str, Any]:
    return next(node for node in content["claims"][0]["tree"] if isinstance(node, dict))


def test_an_edited_step_is_not_confirmed(tmp_path: Path) -> None:
    content = certified("x**4 >= 2*x**2 - 1")
    assert step_of(content)["step"] == "factors"
    assert rechecked(content, tmp_path).confirmed
    step_of(content)["constant"] = "2"
    assert "the product is not the expression" in rechecked(content, tmp_path).reason
    step_of(content)["constant"] = "1"
    step_of(content)["children"].append([["range", 1]])
    assert "needs 0 parts; it has 1" in rechecked(content, tmp_path).reason


def test_a_strict_inequality_has_no_steps(tmp_path: Path) -> None:
    content = certified("x**4 >= 2*x**2 - 1")
    content["claims"][0]["inequality"]["strict"] = True
    content["claims"][0]["inequality"]["name"] = "x**4 > 2*x**2 - 1"
    assert "no step proves a strict inequality" in rechecked(content, tmp_path).reason


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda s: s.__setitem__("step", "magic"), "'magic' is not a step; the steps are factors, sum"),
        (lambda s: s.__setitem__("constant", "0.5"), "not a whole number|not an exact rational"),
        (lambda s: s.__setitem__("more", 1), "has unknown more"),
        (lambda s: s.pop("factors"), "lacks factors"),
        (lambda s: s.__setitem__("factors", [["x"]]), "should be a list of 3"),
        (lambda s: s["factors"][0].__setitem__(1, "2"), "should be a whole number"),
        (lambda s: s.__setitem__("children", None), "should be a list of trees"),
        (lambda s: s.__setitem__("children", [[["open", 1]]]), "neither a cut nor a form"),
    ],
)
def test_what_is_no_step_is_refused(edit: Edit, words: str, tmp_path: Path) -> None:
    content = certified("x**4 >= 2*x**2 - 1")
    edit(step_of(content))
    with pytest.raises(UsageError, match=words):
        rechecked(content, tmp_path)
