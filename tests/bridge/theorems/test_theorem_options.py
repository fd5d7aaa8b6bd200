"""What few theorems need: what is built once, two implementations, a distance, precision, memory, conditions."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import flint
import pytest
import sympy as sp
import torch
from torch import Tensor

import boundsmith as bs
from bridge.domains import Box
from bridge.instances.instance import Instance
from bridge.judging.judged import again
from bridge.judging.measure import rounding_estimate
from bridge.limits.cost import Work
from bridge.questions.solving.dependence import through_network
from bridge.theorems.check import Check, Sides
from bridge.theorems.pair import Pair
from bridge.theorems.parts import ExactRuns
from bridge.theorems.record import Witness
from bridge.theorems.theorem import Theorem
from numeric.balls.limits import TooLargeForExact
from symbolic.derivations.derivation import Derivation, Norm, Step
from symbolic.statements.result import Kind, Parameter, Printed, Quantifier, Quantity, Result
from symbolic.words.citations import Citation
from symbolic.words.errors import UsageError

B = sp.Symbol("B", positive=True)
n = sp.Symbol("n", integer=True, positive=True)
C = sp.Symbol("C", positive=True)
OWN = Citation(None, "own")


def quantity(name: str, bound: Any, kind: Kind = Kind.UPPER, **more: Any) -> Quantity:
    derivation = Derivation((Step(name, Norm.INF, "own", sp.sympify(bound)),))
    return Quantity(
        name, "e", "an error", "sup norm", "x", kind, Quantifier.FOR_ALL, derivation, scopes=("network",), **more
    )


def own(*quantities: Quantity, **fields: Any) -> Theorem:
    parameters = (Parameter("B", B, "a size", 2.0), Parameter("n", n, "a count", 3, integer=True))
    statement = Result("own", "own", OWN, "claim", parameters, (), quantities, symbols={C: "a number of the network"})
    fields = {"inputs": {"x": Box(n, size=B)}, "network": lambda x: x, "reference": lambda x: 0 * x, **fields}
    return Theorem(statement, quantities[0].name, **fields)


def instance_of(theorem: Theorem, **params: Any) -> Instance:
    return Instance.of(theorem, params)


def run(theorem: Theorem, **params: Any) -> Mapping[str, Any]:
    found = bs.compare(theorem, samples=8, attack=20, restarts=4, **params)
    return {row.quantity: row for row in found}


# What is built.


def test_what_is_built_is_built_once_from_parameters_and_from_what_came_before() -> None:
    calls: list[tuple[str, Any]] = []

    def table(n: int) -> Tensor:
        calls.append(("table", n))
        return torch.arange(float(n), dtype=torch.float64)

    def total(table: Tensor, B: float) -> float:
        calls.append(("total", B))
        return B * float(table.sum())

    theorem = own(
        quantity("error", B * C),
        built={"table": table, "total": total},
        network=lambda x, table: x * table,
        knows={C: (lambda table: table.amax(),)},
        checks=(),
    )
    assert run(theorem)["error"].derived == 4.0
    assert calls == [("table", 3), ("total", 2.0)]
    assert instance_of(theorem).known.built["total"] == 6.0


def test_a_parameter_reaches_a_bound_through_what_is_built() -> None:
    built = {
        "table": lambda n: torch.ones(n, dtype=torch.float64),
        "twice": lambda table: 2 * table,
        "idle": lambda B: B,
    }
    letters = {C: (lambda twice: twice.sum(),)}
    assert through_network(own(quantity("error", C), built=built, knows=letters)) == ("n",)
    assert through_network(own(quantity("error", B), built=built)) == ()


def test_an_unknown_name_is_refused_and_what_is_built_before_is_offered() -> None:
    built = {"table": lambda n: n, "total": lambda m: m, "after": lambda n: n}
    with pytest.raises(UsageError, match=r"what builds total takes m, .* it may take B, n, table$"):
        own(quantity("error", B), built=built)
    with pytest.raises(UsageError, match=r"what builds total takes after, .* it may take B, n, table$"):
        own(quantity("error", B), built=built | {"total": lambda after: after})


# Two implementations.


def test_a_pair_runs_one_function_on_tensors_and_the_other_on_balls() -> None:
    ran: list[str] = []

    def on(kind: str, factor: float) -> Any:
        def function(x: Any) -> Any:
            ran.append(kind)
            return factor * x

        return function

    at = instance_of(own(quantity("error", B), network=Pair(on("tensors", 1.0), on("balls", 0.5))))
    inputs = at.inputs.project({"x": torch.full((1, 3), 2.0, dtype=torch.float64)})
    assert at.runs.errors(inputs, ["error"])["error"].tolist() == [2.0]
    assert ran == ["tensors"]
    error, rounding = at.runs.exact(inputs, ["error"], 96)["error"]
    assert error == 1  # that of the balls; the distance of the two counts as rounding
    assert rounding == 1.0
    with pytest.raises(UsageError, match="the reference takes z"):
        own(quantity("error", B), reference=Pair(lambda x: x, lambda z: z))


# A distance.


def test_a_distance_of_its_own_measures_floats_and_balls() -> None:
    def largest_square(found: Any, truth: Any, n: int) -> Any:
        return n * ((found - truth) ** 2).amax()

    theorem = own(quantity("error", 3 * B**2), distance=largest_square)
    row = run(theorem)["error"]
    assert (row.derived, row.exact, row.attacked) == (12.0, 12.0, 12.0)
    with pytest.raises(UsageError, match="the distance takes z"):
        own(quantity("error", B), distance=lambda found, z: found)


@pytest.mark.parametrize(("most", "hidden"), [(0, True), (2048, False)])
def test_more_bits_see_through_what_cancels(most: int, hidden: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bits that the theorem asks for, and the double of what left the error unknown."""
    monkeypatch.setattr("bridge.instances.runs.MOST_BITS_TRIED", most)

    def cancelled(x: Any) -> Any:
        return (x + 2.0**200) - 2.0**200

    theorem = own(quantity("error", B), network=cancelled, reference=lambda x: x)
    thirds = {"x": torch.ones(1, 3, dtype=torch.float64, device="cpu") / 3}
    errors = [
        instance_of(replace(theorem, exact=ExactRuns(bits=bits))).runs.exact(thirds, ["error"], 96)["error"][0]
        for bits in (0, 200)
    ]
    assert (errors[0].upper() > 1) is hidden
    assert errors[1] == 0


def test_a_run_of_too_many_ball_operations_is_given_up() -> None:
    at = instance_of(own(quantity("error", B), exact=ExactRuns(limit=100)))
    with pytest.raises(TooLargeForExact, match="more than 100 ball operations"):
        at.runs.exact({"x": torch.ones(1, 3, dtype=torch.float64)}, ["error"], 96)


def test_an_estimate_of_rounding_refutes_no_identity() -> None:
    theorem = own(
        quantity("error", 0, Kind.EXACT, trivial=B), reference=lambda x: x * (1 + 1e-6), exact=ExactRuns(limit=1)
    )
    assert rounding_estimate(instance_of(theorem)) == 2.0
    row = run(theorem)["error"]
    assert set(row.verdict.values()) == {bs.Verdict.UNDECIDED}
    assert row.measured > 0


def absorbed(x: Any) -> Any:
    """x, of which float64 loses all but four digits and float32 all."""
    return (x + 1e12) - 1e12


def test_rounding_that_float32_says_nothing_of_refutes_nothing() -> None:
    bound = quantity("error", sp.Float(1e-9), trivial=B)
    theorem = own(bound, network=absorbed, reference=lambda x: x, exact=ExactRuns(limit=1))
    assert rounding_estimate(instance_of(theorem)) == math.inf
    row = run(theorem)["error"]
    assert set(row.verdict.values()) == {bs.Verdict.UNDECIDED}
    assert row.measured > 1e-9


def test_a_bound_that_no_run_resolves_is_not_refuted_by_rounding() -> None:
    tiny = quantity("error", sp.exp(-(10**6)))
    row = run(own(tiny, network=lambda x: absorbed(x / 3), reference=lambda x: x / 3))["error"]
    assert set(row.verdict.values()) == {bs.Verdict.NOT_REPRESENTABLE}
    assert row.measured > 1e-9 > row.exact  # the exact run encloses the error, if not as closely as the bound
    doubled = run(own(tiny, network=lambda x: 2 * x, reference=lambda x: x))["error"]
    assert bs.Verdict.VIOLATED in doubled.verdict.values()


# Memory.


def test_prompts_run_in_parts_and_what_cannot_fit_is_refused() -> None:
    theorem = own(quantity("error", B), work=lambda n: Work(numbers=2**22 * n))
    assert instance_of(theorem, n=1).known.part == 4
    assert instance_of(theorem, n=100).known.part == 1
    assert instance_of(own(quantity("error", B))).known.part is None
    prompts = torch.arange(1.0, 8, dtype=torch.float64)[:, None].expand(7, 3)
    assert instance_of(theorem).runs.errors({"x": prompts}, ["error"])["error"].tolist() == [1, 2, 3, 4, 5, 6, 7]
    with pytest.raises(UsageError, match=r"own: .* needs about .* GiB of memory.*; lower n"):
        instance_of(theorem, n=10**9)


# Checks and printed formulas.


def count(name: str, **more: Any) -> Check:
    stated = quantity(name, n, Kind.EXACT, **more)
    return Check(stated, lambda n: Sides(found=n, rounding=0.0))


def test_a_check_of_a_count_shows_that_it_is_exact_and_attained() -> None:
    check = count("count")
    row = run(own(quantity("error", B), check.quantity, checks=(check,)))["count"]
    assert (row.measured, row.exact, row.rounding, row.derived) == (3.0, 3.0, 0.0, 3.0)
    assert row.flags == {"derived": ["attained"]}


def test_a_check_is_absent_where_its_condition_does_not_hold() -> None:
    check = count("count", indices=(sp.Ge(n, 2),))
    theorem = own(quantity("error", B), check.quantity, checks=(check,))
    assert set(run(theorem)) == {"error", "count"}
    assert set(run(theorem, n=1)) == {"error"}
    witness = Witness(result="own", quantity="count", params={}, inputs={}, error_lower=0.0, bounds={})
    with pytest.raises(UsageError, match=r"has no quantity or check 'count'\. It has: error\."):
        again(instance_of(theorem, n=1), witness, {})


def test_a_formula_with_an_unspecified_constant_is_shown_and_judges_nothing() -> None:
    printed = Printed(C * B, OWN, unspecified=(C,))
    row = run(own(quantity("error", B, printed=printed)))["error"]
    assert row.printed is None
    assert set(row.verdict) == {"derived", "instance"}
    with pytest.raises(UsageError, match="nothing gives C in the bound of 'error' a value"):
        own(quantity("error", B, printed=Printed(C * B, OWN)))


def test_balls_of_letters_are_exact() -> None:
    at = instance_of(own(quantity("error", C), knows={C: (lambda B: B / torch.tensor(3),)}))
    assert at.letters.numbers[C].overlaps(flint.arb(2) / 3)
    assert at.letters.numbers[C].rad() < flint.arb(2) ** -80
