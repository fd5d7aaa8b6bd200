"""What an exported theorem concludes holds wherever its printed hypotheses do; a sentence that does not is noticed."""

from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

from benchmarks.exported import Outcome, judged, tally_of
from bridge.theorems.building import theorem
from bridge.theorems.check import Check, Sides
from bridge.theorems.parts import AtPoint
from bridge.theorems.registry import find_theorem
from symbolic.derivations.derivation import Derivation, Norm, Step
from symbolic.derivations.obligations import Obligation
from symbolic.statements.result import Kind, Quantifier, Quantity
from symbolic.words.errors import UsageError
from tests.corners.points import SOURCES, theorem_of

POINTS = 3
SLOW = {"induction.phases", "icgd.trajectory", "induction.lyapunov_gram", "universal.risk", "machines.turing_margin"}
MARKED = [pytest.param(name, marks=pytest.mark.long if name in SLOW else ()) for name in SOURCES]


@pytest.mark.parametrize("name", MARKED)
def test_each_conclusion_holds_at_corners_of_the_printed_hypotheses(name: str) -> None:
    tally = tally_of(theorem_of(name), POINTS, seed=0)
    assert tally.failed == {}
    assert tally.points > 0


# Planted sentences.

n = sp.Symbol("n", integer=True, positive=True)
a = sp.Symbol("a", real=True)
j = sp.Symbol("j", integer=True, positive=True)


def stated(name: str = "count", bound: Any = n, **more: Any) -> Quantity:
    derivation = Derivation((Step(name, Norm.INF, "own", sp.sympify(bound)),))
    return Quantity(
        name, "q", "a count", "", "all sizes", Kind.UPPER, Quantifier.FOR_ALL, derivation, scopes=(), **more
    )


def outcomes(quantity: Quantity, sides: Any, params: dict[str, Any] | None = None, **more: Any) -> list[Outcome]:
    own = theorem("own.count", parameters={n: 4}, checks=[Check(quantity, sides)], **more)
    return [each.outcome for each in judged(find_theorem(own), params or {})]


def test_what_holds_is_held() -> None:
    assert outcomes(stated(), lambda n: Sides(n)) == [Outcome.HELD]


def test_a_bound_that_is_violated_fails() -> None:
    assert outcomes(stated(), lambda n: Sides(n + 1)) == [Outcome.FAILED]


def test_a_hypothesis_that_is_not_printed_fails() -> None:
    def sides(n: int) -> Sides:
        return Sides(n, outside="n is even" if n % 2 else "")

    assert outcomes(stated(), sides) == [Outcome.HELD]
    assert outcomes(stated(), sides, {"n": 3}) == [Outcome.FAILED]


def test_a_condition_that_is_printed_is_none_that_fails() -> None:
    owed = Obligation("n is small", sp.Le(n, 4))
    step = Step("count", Norm.INF, "own", sp.sympify(n), obligations=(owed,))
    quantity = Quantity(
        "count", "q", "a count", "", "all sizes", Kind.UPPER, Quantifier.FOR_ALL, Derivation((step,)), scopes=()
    )
    assert outcomes(quantity, lambda n: Sides(min(n, 4))) == [Outcome.HELD]
    assert outcomes(quantity, lambda n: Sides(n + 1), {"n": 5}) == [Outcome.BESIDE]


def test_a_printed_range_of_a_parameter_is_none_that_fails() -> None:
    ranged = stated(indices=(sp.Ge(n, 4),))
    assert outcomes(ranged, lambda n: Sides(n)) == [Outcome.HELD]
    assert outcomes(ranged, lambda n: Sides(n + 1), {"n": 3}) == [Outcome.BESIDE]


@pytest.mark.parametrize(
    ("indices", "expected"),
    [((), {Outcome.FAILED}), ((sp.Le(j, 2),), {Outcome.HELD}), ((sp.Le(j, 3),), {Outcome.HELD, Outcome.FAILED})],
)
def test_an_index_has_the_range_for_which_there_are_members(indices: Any, expected: set[Outcome]) -> None:
    family = stated("p[j]", 2 * j, indices=indices)
    members = tuple(stated(f"p[{place}]", 2 * place) for place in (1, 2))
    assert set(of_family(family, members)) == expected


def test_a_member_has_the_bound_of_its_family() -> None:
    family = stated("p[j]", 2 * j, indices=(sp.Le(j, 2),))
    members = (stated("p[1]", 2), stated("p[2]", 5))
    assert of_family(family, members) == [Outcome.HELD, Outcome.FAILED]


def of_family(family: Quantity, members: tuple[Quantity, ...]) -> list[Outcome]:
    own = theorem("own.count", parameters={n: 4}, checks=[Check(each, lambda: Sides(1)) for each in members])
    statement = replace(own.statement, quantities=(family,))
    own = replace(own, statement=statement, at_point=AtPoint(quantities=lambda: members))
    return [each.outcome for each in judged(find_theorem(own), {})]


def test_a_point_that_is_refused_is_counted_apart() -> None:
    def sides(n: int) -> Sides:
        raise UsageError("own.count: n is too large")

    own = theorem("own.count", parameters={n: 4}, checks=[Check(stated(), sides)])
    tally = tally_of(find_theorem(own), 1, seed=0)
    assert (tally.points, dict(tally.refused)) == (0, {"own.count: n is too large": 1})
