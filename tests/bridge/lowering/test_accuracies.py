"""Accuracies of the parts from the accuracy of the whole: within it, no finer than need be, and the cheapest."""

from fractions import Fraction

import pytest
import sympy as sp

import boundsmith as bs
from symbolic.words.errors import UsageError

a, b, K = sp.symbols("a b K", positive=True)
HALF = sp.Rational(1, 2)
COSTS = {a: 3.0, b: 1.0}


def test_a_linear_bound_is_spent_as_in_closed_form() -> None:
    found = bs.formulas.accuracies_within(5 * a + K * b, {K: 2}, COSTS, 0.1, power=HALF)
    exact = bs.rules.cheapest_split({a: 5, b: 2}, COSTS, Fraction(1, 10), power=HALF).accuracies
    assert found == pytest.approx({symbol: float(each) for symbol, each in exact.items()}, rel=1e-5)


@pytest.mark.parametrize("eps", [1e-9, 0.1, 10.0])
def test_a_bound_with_products_is_met_and_nearly_spent(eps: float) -> None:
    bound = a + b + 50 * a * b
    found = bs.formulas.accuracies_within(bound, {}, COSTS, eps, power=HALF)
    assert 0.99999 * eps < bound.subs(found) <= eps


def test_a_limit_is_kept() -> None:
    found = bs.formulas.accuracies_within(a + b, {}, COSTS, 0.1, power=HALF, most={a: 0.01})
    free = bs.formulas.accuracies_within(a + b, {}, COSTS, 0.1, power=HALF)
    assert found[a] <= 0.01 < free[a]
    assert found[b] == pytest.approx(free[b])


@pytest.mark.parametrize("number", [sp.Rational(1, 10), sp.Rational(1, 5), sp.sqrt(2) / 7])
def test_an_accuracy_that_no_float_is_exactly_is_not_exceeded(number: sp.Expr) -> None:
    found = bs.formulas.accuracies_within(a, {}, {a: 1.0}, number, power=HALF)[a]
    limited = bs.formulas.accuracies_within(a, {}, {a: 1.0}, 5, power=HALF, most={a: number})[a]
    assert sp.Rational(found) <= number
    assert sp.Rational(limited) <= number
    assert limited == pytest.approx(float(number), rel=1e-12)


def test_an_accuracy_below_all_floats_is_refused() -> None:
    with pytest.raises(UsageError, match=r"eps = .*; give a positive number in the range of float64"):
        bs.formulas.accuracies_within(a, {}, {a: 1.0}, sp.Rational(1, 10**400), power=HALF)


def test_a_bound_that_no_accuracy_meets() -> None:
    with pytest.raises(UsageError, match="no accuracy of the parts keeps the bound within the given eps"):
        bs.formulas.accuracies_within(a + b + K, {K: 1.0}, COSTS, 0.5, power=HALF)
