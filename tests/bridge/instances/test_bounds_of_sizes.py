"""A contract over all results: no bound on a size is negative or no number, whatever the parameters."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
import sympy as sp

from bridge.instances.bound import Bound
from bridge.instances.goals import prompt_scopes
from bridge.instances.instance import Instance
from bridge.instances.point import require_affordable
from bridge.judging.usable import is_size, usable
from bridge.limits.run import Format, Run
from bridge.questions.compare import grid_of
from bridge.theorems.record import TIERS
from bridge.theorems.registry import registered_theorem
from bridge.theorems.theorem import Theorem
from symbolic.derivations.derivation import DerivationError
from symbolic.statements.catalogue import RUNNING
from symbolic.statements.result import Kind, Quantity
from symbolic.words.errors import UsageError
from tests.yardstick.records import stored

POINTS = 8  # for each result; most of them are refused, or have a bound for each layer
WHOLE = (1, 1, 2, 2, 3, 5, 8)
REAL = (1e-6, 1e-4, 0.01, 0.1, 0.25, 0.5, 0.9, 1.0, 1.0, 2.0, 8.0, 18.0, 1e3)
FORMATS = ("float64", "float32", "bfloat16", "float16")
CHEAP = ("looped.", "universal.proximal", "universal.sigmoid", "icgd.relu_sum")


def corner(theorem: Theorem, seed: int) -> dict[str, Any]:
    """Some of the parameters at values near the ends of their ranges."""
    draw = random.Random(f"{theorem.id} {seed}")
    share = draw.choice((0.15, 0.4))
    params = [p for p in theorem.statement.parameters if p.symbol is not None]
    return {p.name: draw.choice(WHOLE if p.integer else REAL) for p in params if draw.random() < share}


def instances(id: str) -> Iterator[Instance]:
    theorem = registered_theorem(id)
    for seed in range(POINTS):
        try:
            point = grid_of(theorem, corner(theorem, seed))[0]
            require_affordable(theorem, point, "a corner:")
            yield Instance.of(theorem, point, Run(format=Format.named(FORMATS[seed % len(FORMATS)])))
        except (UsageError, DerivationError):
            continue


def bounds_of(instance: Instance, quantity: Quantity) -> Iterator[tuple[str | None, str, Bound | None]]:
    """Each bound with its scope and its tier, as rows have them; those of prompts at a random one."""
    scope = "network" if quantity.scopes else None
    inputs, bounds = instance.inputs.sample(1, seed=0) if quantity.scopes else {}, instance.bounds
    yield scope, "printed", bounds.printed(quantity)
    yield scope, "derived", bounds.derived(quantity)
    for each in quantity.scopes:
        yield each, "instance", bounds.instance(quantity, each, inputs if each in prompt_scopes(quantity) else None)


def check(instance: Instance) -> None:
    for quantity in instance.bounds.quantities.values() if instance.refusal is None else ():
        for scope, tier, bound in bounds_of(instance, quantity):
            if bound is None:
                continue
            inputs = instance.inputs.sample(1, seed=0) if scope in prompt_scopes(quantity) else None
            # It raises where nothing excuses the bound.
            found = usable(instance.bounds, quantity, scope, {tier: bound}, inputs)[tier]
            what = f"{instance.theorem.id} at {instance.shown}: {tier} of '{quantity.name}' ({scope})"
            assert not found.ball.is_nan() or found.outside, what
            signed = quantity.kind in (Kind.LOWER, Kind.RATE) or not is_size(quantity)
            assert signed or not found.ball < 0, what


@pytest.mark.parametrize("id", [each for each in RUNNING if each.startswith(CHEAP)])
def test_no_bound_on_a_size_is_negative_at_a_corner(id: str) -> None:
    for instance in instances(id):
        check(instance)


@pytest.mark.long
@pytest.mark.parametrize("id", [each for each in RUNNING if not each.startswith(CHEAP)])
def test_no_bound_on_a_size_is_negative_at_any_corner(id: str) -> None:
    for instance in instances(id):
        check(instance)


@pytest.mark.parametrize("id", RUNNING)
def test_no_stored_row_has_a_negative_bound_on_a_size(id: str) -> None:
    stated = {each.name: each for each in registered_theorem(id).statement.quantities}
    for row in stored(id):
        size = is_size(stated[row.quantity]) if row.quantity in stated else row.scope is not None
        if row.kind == Kind.UPPER and size:
            assert all((getattr(row, tier) or 0) >= 0 for tier in TIERS), row


# Letters at hand.


def conditional_letters(id: str) -> Iterator[tuple[Quantity, sp.Symbol, sp.Expr]]:
    """Worst cases that may be negative, of letters that no instance knows, where a condition has a letter at hand."""
    theorem = registered_theorem(id)
    for quantity in theorem.stated:
        if quantity.derivation is None:
            continue
        owed = [each for each in quantity.derivation.upto(quantity.step or quantity.name).obligations if each.open]
        if {s for each in owed for s in each.condition.free_symbols} & set(theorem.knows):
            letters = set(quantity.worst_case or {}) - set(theorem.knows)
            sizes = [s for s in letters if s.is_nonnegative and s in quantity.general_bound().free_symbols]
            yield from (
                (quantity, s, (quantity.worst_case or {})[s])
                for s in sizes
                if quantity.at_worst[s].is_nonnegative is not True
            )


@pytest.mark.parametrize("id", RUNNING)
def test_a_formula_under_a_condition_is_typed_in_the_letters_of_the_condition(id: str) -> None:
    known = set(registered_theorem(id).knows)
    for quantity, letter, formula in conditional_letters(id):
        assert formula.free_symbols & known, f"{quantity.name}: {letter} at worst holds under another condition"


def test_the_contract_sees_a_letter_under_a_condition() -> None:
    (found,) = {letter.name for _, letter, _ in conditional_letters("looped.chain_of_thought")}
    assert found == "S"
