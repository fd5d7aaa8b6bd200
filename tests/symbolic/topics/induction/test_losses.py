"""The losses derived from their definitions, against the printed forms and against enumeration at small sizes."""

import itertools
import math

import numpy as np
import pytest
import sympy as sp

from symbolic.derivations.derivation import DerivationError
from symbolic.topics.induction import losses_derivation as losses
from symbolic.topics.induction.losses_derivation import (
    AS_NEEDED,
    AS_PRINTED,
    derive_gram,
    derive_head,
    derive_softmax_head,
)
from symbolic.topics.induction.training import LOSS_GRAM, LOSS_HEAD, L, g, g_star, h, h_star, p, v, v_star

POINT = {p: 0.7, g: 0.4, g_star: 0.6, v: 0.11, v_star: 0.2, h: 0.3, h_star: 0.5}


def number(expression: sp.Expr, length: int) -> float:
    return float(expression.subs({**POINT, L: length}))


def gram_by_weights(length: int, upper: int) -> float:
    """Half the squared norm of the coefficients of x_1 .. x_L in target minus network."""
    keys = np.arange(2, upper + 1)
    weights = np.exp(-POINT[p] * (length - 1 - keys))
    coefficients = np.zeros(length + 1)
    coefficients[length - 2] = POINT[g_star]
    coefficients[keys - 1] -= POINT[g] * weights / weights.sum()
    return float(coefficients @ coefficients) / 2


def head_by_quadrature(length: int, upper: int) -> float:
    """Given x_L the tokens are independent: every pair of terms by one-dimensional Gauss-Hermite sums."""
    nodes, mass = np.polynomial.hermite_e.hermegauss(80)
    mass = mass / mass.sum()
    target = dict.fromkeys(range(2, length), (POINT[h_star], POINT[v_star]))
    network = dict.fromkeys(range(2, upper + 1), (-POINT[h], POINT[v]))
    total = 0.0
    for (s, (c, a)), (r, (d, b)) in itertools.product([*target.items(), *network.items()], repeat=2):
        means = np.ones_like(nodes)
        for token in {s, s - 1, r, r - 1}:
            tilt = a * (token == s - 1) + b * (token == r - 1)
            power = (token == s) + (token == r)
            means = means * (mass * nodes**power * np.exp(tilt * np.outer(nodes, nodes))).sum(axis=1)
        total += c * d * float(mass @ means)
    return total / 2 / (length - 2) ** 2


def test_the_printed_losses_follow_for_a_sum_up_to_l_minus_1() -> None:
    assert sp.simplify(derive_gram(AS_NEEDED) - LOSS_GRAM) == 0
    assert sp.simplify(derive_head(AS_NEEDED) - LOSS_HEAD) == 0


@pytest.mark.parametrize("upper", [AS_NEEDED, AS_PRINTED], ids=str)
@pytest.mark.parametrize("length", [5, 8])
def test_both_sums_agree_with_enumeration(upper: sp.Expr, length: int) -> None:
    end = int(upper.subs(L, length))
    assert math.isclose(number(derive_gram(upper), length), gram_by_weights(length, end), rel_tol=1e-12)
    assert math.isclose(number(derive_head(upper), length), head_by_quadrature(length, end), rel_tol=1e-9)


def test_the_upper_end_of_10_costs_a_relative_1_over_l_minus_2_in_each_term_of_the_network() -> None:
    difference = derive_head(AS_PRINTED) - derive_head(AS_NEEDED)
    network = derive_head(AS_NEEDED) - derive_head(AS_NEEDED).subs(h, 0)
    assert sp.simplify(difference + network / (L - 2)) == 0
    at_optimum = {v: v_star, h: h_star}
    assert sp.simplify(derive_head(AS_NEEDED).subs(at_optimum)) == 0
    assert number(derive_head(AS_PRINTED).subs(at_optimum), 9) > 0


def test_with_the_upper_end_of_10_the_4_gram_is_never_learnt() -> None:
    assert sp.diff(derive_gram(AS_PRINTED), g).subs(g, 0) == 0
    assert sp.simplify(derive_gram(AS_PRINTED).subs(g, 0) - g_star**2 / 2) == 0


@pytest.mark.parametrize("lags", [(0, 0), (0, 1), (1, 1), (0, 2), (2, 1)], ids=str)
@pytest.mark.parametrize("length", [6, 9])
def test_the_classes_hold_every_pair_once(lags: tuple[int, int], length: int) -> None:
    counts = {"equal": 0, "after": 0, "before": 0, "apart": 0}
    for s, r in itertools.product(*(range(2, length - lag) for lag in lags)):
        counts[{0: "equal", 1: "after", -1: "before"}.get(r - s, "apart")] += 1
    found = losses.pair_classes(v_star, lags[0], v, lags[1])
    assert {each.name: int(each.count.subs(L, length)) for each in found} == counts


def test_the_condition_is_that_of_the_equal_pairs() -> None:
    condition = losses.head_condition()
    assert condition.subs({v: sp.Rational(2, 5), v_star: sp.Rational(2, 5)}) == sp.true
    assert condition.subs({v: sp.Rational(1, 2), v_star: sp.Rational(1, 10)}) == sp.false


def test_the_softmax_loss_is_approached_at_the_rate_1_over_l() -> None:
    """Weights of one query x_L = x at many keys, by the law of large numbers: seeded, to three standard errors."""
    a, b, count = 0.2, 0.11, 4000
    generator = np.random.default_rng(0)
    queries, mass = np.polynomial.hermite_e.hermegauss(12)
    sums = np.zeros(len(queries))
    for _ in range(40):
        scores = np.outer(queries, generator.standard_normal(count))
        first, second = (np.exp(c * scores) / np.exp(c * scores).sum(axis=1, keepdims=True) for c in (a, b))
        sums += count * (first * second).sum(axis=1) / 40
    limit = float(losses.derive_softmax_pair(v_star, v).value.subs({v_star: a, v: b}))
    assert math.isclose(float(mass @ sums) / mass.sum(), limit, rel_tol=2e-3)
    assert not math.isclose((1 - (a + b) ** 2) ** -0.5, limit, rel_tol=2e-3)  # what (22) has there


def test_the_softmax_loss_vanishes_at_the_target() -> None:
    assert sp.simplify(derive_softmax_head().subs({v: v_star, h: h_star})) == 0


def test_an_upper_end_that_is_none_is_refused() -> None:
    with pytest.raises(DerivationError, match="not L"):
        derive_head(L)
    with pytest.raises(DerivationError, match="not L - 4"):
        derive_gram(L - 4)
