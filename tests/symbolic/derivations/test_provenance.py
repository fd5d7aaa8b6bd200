"""How each derived bound was obtained: computed from its steps, weakest part first, and never better than it is."""

from collections.abc import Callable

import pytest
import sympy as sp

from symbolic import calculus
from symbolic.calculus import Approximated, LinearRecursion, confine, finite_depth, given, iterate, recursion_from
from symbolic.calculus.invariants import Invariant, MonotoneRecursion
from symbolic.derivations.derivation import Derivation, Norm, Step
from symbolic.derivations.provenance import Derived, Provenance, weakest
from symbolic.statements.result import Kind, Quantifier, Quantity
from tests.symbolic.cases import CASES

RULES, ALGEBRA, CERTIFICATE, HAND = Provenance
e, L_f, eps, R = sp.symbols("e L_f eps R", positive=True)


def start(error: sp.Expr = e, name: str = "x") -> Approximated:
    return given(name, dim=3, size=1, error=error)


def applied(x: Approximated, name: str = "f", **more: object) -> Approximated:
    return calculus.apply_function(x, name, eps=eps, lipschitz=L_f, size=1, **more)


def by_hand(name: str, *premises: str, local: sp.Expr = e) -> Step:
    return Step(name, Norm.INF, "recursion", local, premises)


def quantity(**more: object) -> Quantity:
    return Quantity("f", "f", "a number", "sup norm", "everywhere", Kind.UPPER, Quantifier.FOR_ALL, **more)


def test_the_weakest_part_decides() -> None:
    for place, word in enumerate(Provenance):
        for other in list(Provenance)[: place + 1]:
            assert weakest((word, other)) is weakest((other, None, word)) is word
    assert weakest(()) is weakest((None,)) is HAND


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_rule_makes_a_step_by_rules(case) -> None:
    """What is given in a case by a formula stays by hand; the last step is the rule's own."""
    last = case.sharp().value.derivation.steps[-1]
    assert last.provenance is (None if case.rule == "given" else RULES)


def test_the_exported_rules_are_among_the_cases() -> None:
    makes_values = {
        name for name in calculus.__all__ if name.islower() and _returns_a_value(getattr(calculus, name))
    } - {"given"}
    assert makes_values == {case.rule for case in CASES} & makes_values


def _returns_a_value(rule: Callable[..., object]) -> bool:
    return rule.__annotations__.get("return") in (Approximated, "Approximated")


def test_a_derivation_of_rules_from_letters_and_numbers_is_by_rules() -> None:
    for error in (e, sp.Integer(0), sp.Rational(1, 3)):
        assert applied(start(error)).derivation.provenance is RULES


def test_a_formula_in_the_place_of_a_hypothesis_is_by_hand() -> None:
    typed = applied(start(2 * e / R))
    assert typed.derivation.provenance is HAND
    assert typed.derivation.by_hand == ("x",)


def test_a_hypothesis_alone_is_by_hand() -> None:
    assert start().derivation.provenance is HAND
    assert start().derivation.by_hand == ()


def test_a_step_of_ones_own_is_by_hand_whatever_its_rule_is_called() -> None:
    derivation = applied(start()).derivation.then(by_hand("g", "f"))
    assert derivation.provenance is HAND
    assert quantity(derivation=derivation, step="g").origin == f"{HAND} (g)"


def test_steps_that_do_not_matter_do_not_count() -> None:
    derivation = applied(start()).derivation
    both = Derivation((by_hand("g"), *derivation.steps))
    assert both.provenance is HAND
    assert quantity(derivation=both).provenance is RULES
    assert [step.name for step in both.resting_on("f").steps] == ["x", "f"]


def test_an_error_that_enters_a_bound_counts_as_a_premise() -> None:
    used = Step("h", Norm.INF, "own", by_hand("g").error + e, provenance=RULES)
    assert quantity(derivation=Derivation((by_hand("g"), used)), step="h").provenance is HAND


def test_a_recursion_has_the_word_of_its_layer() -> None:
    premise = start(sp.Dummy("e", nonnegative=True), "layer")
    ours = applied(premise)
    hand = ours.follows(by_hand("g", "f", local=ours.error_symbol), dim=ours.dim, size=ours.size)
    for layer, word in ((ours, RULES), (hand, HAND)):
        recursion = recursion_from(premise, layer)
        assert iterate(start(), "path", recursion, 5, size=1).derivation.provenance is word
    plain = LinearRecursion(sp.Integer(0), L_f, eps)
    assert iterate(start(), "path", plain, 5, size=1).derivation.provenance is RULES


def test_a_range_that_is_stated_by_hand_is_no_induction() -> None:
    radius = sp.Symbol("r", positive=True)
    shown = finite_depth(MonotoneRecursion(sp.Integer(1), radius / 2 + 1, radius), 3, 2)
    stated = Invariant(sp.Integer(2), (), "clear")
    local = applied(start(), radius=sp.Integer(2))
    assert confine(local, shown).derivation.provenance is RULES
    assert confine(local, stated).derivation.provenance is HAND


def test_a_closed_form_is_by_hand_unless_it_says_otherwise() -> None:
    assert quantity().provenance is None
    assert quantity().origin == ""
    assert quantity(derive=lambda: eps).provenance is HAND
    assert quantity(derive=lambda: None).provenance is None
    assert quantity(derive=lambda: eps, obtained=ALGEBRA).provenance is ALGEBRA
    assert quantity(derive=lambda: Derived(eps)).provenance is HAND
    found = quantity(derive=lambda: Derived(eps, RULES).rewritten(lambda bound: 2 * bound))
    assert (found.provenance, found.closed_form) == (RULES, 2 * eps)
    assert quantity(obtained=CERTIFICATE).origin == CERTIFICATE


def test_what_is_stated_of_a_derivation_can_only_be_weaker() -> None:
    derivation = applied(start()).derivation
    assert quantity(derivation=derivation, obtained=HAND).provenance is HAND
    wrong = derivation.then(by_hand("g", "f"))
    assert quantity(derivation=wrong, step="g", obtained=RULES).provenance is HAND
