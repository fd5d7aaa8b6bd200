"""Worst cases of letters that are formulas in other letters."""

import pytest
import sympy as sp

from symbolic.derivations.derivation import DerivationError, given
from symbolic.derivations.worst_cases import closed
from symbolic.statements.result import Kind, Quantifier, Quantity

a, b, S = sp.symbols("a b S", positive=True)
R = sp.Symbol("R", positive=True)


def test_values_are_put_into_each_other() -> None:
    found = closed({S: b / (1 - a), b: 2 * a, a: R / 3})
    assert found == {a: R / 3, b: 2 * R / 3, S: 2 * R / 3 / (1 - R / 3)}


def test_a_letter_that_stays_is_left_in_the_others() -> None:
    assert closed({R: R, S: 2 * R}) == {R: R, S: 2 * R}
    assert closed({S: 1 / (1 - a)}) == {S: 1 / (1 - a)}


def test_values_that_go_round_in_a_circle_are_refused() -> None:
    with pytest.raises(DerivationError, match="the worst cases of S, a refer to each other; give one of them a value"):
        closed({S: 1 / (1 - a), a: S / 2, b: R})


def test_the_derived_bound_and_what_is_shown_beside_it_are_closed() -> None:
    value = given("out", dim=1, size=1, error=2 * S)
    quantity = Quantity(
        "out", "e", "an error", "sup norm", "everywhere", Kind.UPPER, Quantifier.FOR_ALL,
        derivation=value.derivation, worst_case={a: sp.Rational(1, 3), S: 1 / (1 - a)},
    )  # fmt: skip
    assert quantity.derived() == 3
    assert quantity.bound_at == {S: sp.Rational(3, 2)}
