"""Lemma 1: the derived bound term by term."""

import sympy as sp

from symbolic.topics.universal import features as theory
from symbolic.topics.universal.features import d, delta, eps, mass, members, n, tau


def test_the_bound_is_bias_deviation_and_cover() -> None:
    deviation = 3 * mass * sp.sqrt(2 * sp.log(2 * members * (1 + 2 / eps) ** d / delta) / n)
    expected = mass / (4 * tau) + deviation + (3 * mass * tau + mass) * eps
    assert sp.simplify(theory.derive_lemma_1().error - expected) == 0


def test_the_probability_is_spent_and_named() -> None:
    quantity = theory.FEATURES.quantity("features")
    assert sp.simplify(quantity.may_fail - delta) == 0
    assert quantity.over == (theory.DRAW,)
    assert not quantity.derivation.conditional or all(
        "there are members" in each.statement for each in quantity.derivation.obligations if each.open
    )


def test_the_one_norm_is_below_the_printed_one_without_a_probability() -> None:
    printed = theory.FEATURES.quantity("one_norm").printed.bound
    assert sp.expand(printed - theory.one_norm()) == mass + 3 * theory.at_zero
