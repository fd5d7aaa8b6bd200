"""Obligations become proofs: over ranges, at a theorem's parameters, and for certified suprema."""

import itertools
from fractions import Fraction
from typing import Any

import flint
import pytest
import sympy as sp

from bridge.lowering.conditions import truth
from bridge.lowering.enclosures import supremum
from bridge.lowering.relu_sums import Interpolant, interpolate
from bridge.questions.certify.obligations import (
    discharge,
    obligation_inequalities,
    open_obligations,
    stated_obligations,
)
from bridge.questions.certify.proving import Status, prove
from bridge.theorems.registry import theorems
from numeric.balls import float_above
from symbolic import UsageError
from symbolic.calculus.activations import ACTIVATIONS
from symbolic.derivations.derivation import Derivation, Norm, Obligation, Step
from symbolic.derivations.inequalities import Inequality

a, b = sp.symbols("a b", positive=True)
HALF = sp.Rational(1, 2)


def derivation(*conditions: Any) -> Derivation:
    obligations = tuple(Obligation(f"condition {at}", each) for at, each in enumerate(conditions))
    return Derivation((Step("step", Norm.INF, "given", a, obligations=obligations),))


@pytest.mark.parametrize(
    ("condition", "ranges", "verdict"),
    [
        (a * b <= 1, {a: (0.0, 0.5), b: (1, 2)}, Status.PROVED),
        (a * b < 1, {a: (0.0, 0.5), b: (1, 2)}, Status.REFUTED),
        (a * b < 1, {a: (0.0, 0.5), b: (1, Fraction(199, 100))}, Status.PROVED),
        (a * b >= 1, {a: 0.5, b: 2}, Status.PROVED),
        (a * b > 1, {a: flint.arb(0.75, 0.25), b: 3}, Status.PROVED),
        (a * b > 1, {a: flint.arb(0.75, 0.5), b: 3}, Status.REFUTED),
        (sp.And(a <= 1, b <= 2), {a: (0, 1), b: (0, 2)}, Status.PROVED),
        (sp.And(a <= 1, b <= 2), {a: (0, 1), b: (0, 3)}, Status.REFUTED),
        (sp.exp(-a) >= 1 - a, {a: (HALF, 2)}, Status.PROVED),
        (sp.Eq(a, b), {a: 1, b: 2}, Status.REFUTED),
    ],
    ids=map(str, range(10)),
)
def test_an_obligation_is_proved_or_refuted_over_its_ranges(condition: Any, ranges: Any, verdict: Status) -> None:
    (found,) = discharge(derivation(condition), ranges)
    assert (found.verdict, found.step, found.reason) == (verdict, "step", "")


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (a * b <= 1, "no range is given for b"),
        (sp.Or(a <= 1, a >= 2), "is not an inequality"),
        (sp.Ne(a, 1), "is not an inequality"),
    ],
)
def test_what_cannot_be_tried_is_listed_with_its_reason(condition: Any, message: str) -> None:
    (found,) = discharge(derivation(condition), {a: 1})
    assert (found.verdict, found.outcomes) == (Status.UNDECIDED, ())
    assert message in found.reason


def test_discharged_obligations_are_not_open() -> None:
    done = Step("step", Norm.INF, "given", a, obligations=(Obligation("done", a <= 1, "a theorem"),))
    assert open_obligations(Derivation((done,))) == []


def test_a_range_that_is_not_finite_is_refused() -> None:
    with pytest.raises(UsageError, match="is not finite"):
        obligation_inequalities("step", Obligation("small", a <= 1), {a: flint.arb("inf")})


# Conditions at points.


@pytest.mark.parametrize(
    ("condition", "values", "held"),
    [
        (a <= 1, {a: 1}, True),
        (a < 1, {a: 1}, False),
        (3 * a <= 1, {a: Fraction(1, 3)}, True),
        (10 * a > 1, {a: 0.1}, True),  # the double 0.1 is above 1/10
        (a <= 1, {a: flint.arb(1, 1e-9)}, None),
        (a <= 1, {a: flint.arb(0.5, 0.25)}, True),
        (sp.exp(a) > sp.E, {a: 1 + 2.0**-52}, True),
        (sp.sin(a) ** 2 + sp.cos(a) ** 2 >= 1, {a: 0.3}, None),
        (sp.Or(a <= 1, b <= 1), {a: 2, b: flint.arb(1, 0.5)}, None),
        (sp.Or(a <= 1, b <= 1), {a: 2, b: 1}, True),
        (sp.And(a <= 1, b <= 1), {a: 2, b: flint.arb(1, 0.5)}, False),
        (sp.Ne(a, 1), {a: 1}, False),
        (sp.Ne(a, 1), {a: 2}, True),
        (a <= b, {a: 1}, None),
        (sp.true, {}, True),
    ],
    ids=map(str, range(15)),
)
def test_conditions_are_decided_by_balls(condition: Any, values: Any, held: bool | None) -> None:
    assert truth(condition, values) is held


# The results that run.


@pytest.fixture(scope="module")
def open_ones() -> dict[str, set[str]]:
    found = {
        id: {o.statement for quantity in theorem.statement.quantities for _, o in open_obligations(quantity)}
        for id, theorem in theorems().items()
    }
    return {id: statements for id, statements in found.items() if statements}


@pytest.mark.long
def test_every_open_obligation_of_a_running_result_can_be_stated_at_its_defaults(
    open_ones: dict[str, set[str]],
) -> None:
    assert "icgd.trajectory" in open_ones
    for id, statements in open_ones.items():
        stated, cannot = stated_obligations(id, defaults(id))
        assert cannot == []
        assert {each.meaning.removeprefix("obligation: ") for each in stated} >= statements  # more, of one loop each


def defaults(id: str) -> dict[str, Any]:
    known = {p.name: p.default for p in theorems()[id].statement.parameters if p.default is not None}
    return {name: value[0] if isinstance(value, tuple) else value for name, value in known.items()}


@pytest.mark.parametrize(("eta", "verdict"), [(0.05, Status.PROVED), (0.06, Status.REFUTED)])
def test_the_step_is_short_or_not(eta: float, verdict: Status) -> None:
    (stated,), _ = stated_obligations("icgd.trajectory", {**defaults("icgd.trajectory"), "eta": eta})
    assert prove(stated).status is verdict


# Suprema.


@pytest.mark.parametrize("name", ["tanh", "sigmoid", "softplus"])
@pytest.mark.parametrize("order", [0, 2])
def test_certified_suprema_are_proved_and_a_smaller_bound_is_refuted(name: str, order: int) -> None:
    chosen = ACTIVATIONS[name]
    function = chosen.derivative(order)
    bound = supremum(function, chosen.t, -2, 3)
    assert prove(supremum_inequality(function, chosen.t, -2, 3, bound)).status is Status.PROVED
    assert prove(supremum_inequality(function, chosen.t, -2, 3, bound * 0.99)).status is Status.REFUTED


def supremum_inequality(expr: sp.Expr, symbol: sp.Symbol, low: Any, high: Any, bound: flint.arb) -> Inequality:
    """sup |expr| <= the least float64 above the bound, over low <= symbol <= high: balls cannot decide equality."""
    real, most = sp.Symbol(symbol.name, real=True), sp.Rational(float_above(bound))
    expr = expr.xreplace({symbol: real})
    return Inequality("supremum", sp.Min(most - expr, most + expr), {real: (sp.Rational(low), sp.Rational(high))})


def written_out(found: Interpolant) -> sp.Expr:
    """The sum of ReLUs with its float64 coefficients exactly, ReLU by ReLU."""
    total = sp.Rational(Fraction(found.relu_sum.constant))
    for hinges in (found.relu_sum.right, found.relu_sum.left):
        rows = zip(hinges.weights.tolist(), hinges.slopes.tolist(), hinges.offsets.tolist(), strict=True)
        for row in rows:
            weight, slope, offset = (sp.Rational(Fraction(number)) for number in row)
            total += weight * sp.Max(0, slope * found.symbol + offset)
    return total


def statuses(found: Interpolant, bound: Any) -> list[Status]:
    """sup |sum - function| <= bound, cell by cell."""
    difference = written_out(found) - found.function
    edges = found.relu_sum.knots.tolist()
    cells = [supremum_inequality(difference, found.symbol, low, high, bound) for low, high in itertools.pairwise(edges)]
    return [prove(each).status for each in cells]


@pytest.mark.long
def test_the_certified_error_of_an_interpolant_is_proved_in_every_cell() -> None:
    t = sp.Symbol("t", real=True)
    found = interpolate(sp.tanh(t), t, 2.0, cells=8)
    assert statuses(found, found.error) == [Status.PROVED] * 8
    assert Status.REFUTED in statuses(found, found.error * 0.9)
