"""The losses of training stage II (wang2024, C.1 and C.2), derived from their definitions term by term.

Tokens x_1 .. x_L are independent standard normals; stage I has left y_s = x_{s-1}. The target sums over
s = 2 .. L-1, the network over s = 2 .. `upper`: L-2 as (10) prints it, L-1 as (19) and Lemma D.4 have it.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import sympy as sp

from symbolic.derivations.derivation import DerivationError
from symbolic.dynamics.gaussian import GaussianMean, gaussian_mean
from symbolic.statements.errata import Erratum, Weight
from symbolic.topics.induction.training import (
    L,
    M,
    g,
    g_star,
    h,
    h_star,
    p,
    v,
    v_star,
)
from symbolic.words.citations import WANG2024, Citation

AS_PRINTED = L - 2  # the upper end of the network's sums in (10)
AS_NEEDED = L - 1  # that of the target's sum, with which (19) and (22) hold

UPPER_END = Erratum(
    Weight.DEFINITION,
    Citation(WANG2024, "Section 5.1.2", "(10)"),
    sentence="the sums of the network in (10) end at `s = L-2`",
    reading="`L-1` is meant, since Lemma D.4, `M(p)` and the target have sums to `L-1`; with sums to `L-2` no `y_s` is "
    "`x_{L-2}`, so that the 4-gram loss is at least `g*^2/2` and the point `(g*, h*, +oo, w*)` is not a fixed "
    "point",
    repair="sums over `s = 2 .. L-1` in (10) and in Appendix C",
    survives="yes: (19), (22) and the fixed point hold with sums to `L-1`",
)

a = sp.Symbol("a", real=True)  # of Lemma D.3
_key, _value, _query = sp.symbols("x_s-1 x_s x_L", real=True)
_other_key, _other_value = sp.symbols("x_r-1 x_r", real=True)


def missing(upper: sp.Expr) -> int:
    """How many terms a sum over s = 2 .. upper lacks of s = 2 .. L-1. Raises DerivationError except for 0, 1, 2."""
    lag = sp.expand(L - 1 - upper)
    if lag not in (0, 1, 2):
        raise DerivationError(f"losses: the upper end of the sum has to be L-1, L-2 or L-3, not {sp.sstr(upper)}")
    return int(lag)


# Sums of softmax weights (Lemma D.4).


@cache
def geometric_sum(exponent: sp.Expr, count: sp.Expr) -> sp.Expr:
    """The sum of e^(-exponent k) over k = 0 .. count-1, closed by M and proved by induction on the count."""
    n = sp.Symbol("n", integer=True, positive=True)
    start = sp.simplify(M(exponent, sp.Integer(0)))
    step = sp.simplify(M(exponent, n + 1) - M(exponent, n) - sp.exp(-exponent * n))
    if start != 0 or step != 0:
        raise DerivationError(f"geometric sum: the closed form is not one for the exponent {sp.sstr(exponent)}")
    return M(exponent, count)


def gram_weight(place: sp.Expr, upper: sp.Expr) -> sp.Expr:
    """softmax(-p (L-1-s)) over s = 2 .. upper, at s = upper - place.

    The factor e^{-p (L-1-upper)} is common to all of them, so that the weight depends on the place only.
    """
    return sp.exp(-p * place) / geometric_sum(p, L - 2 - missing(upper))


def derive_squares(upper: sp.Expr = AS_NEEDED) -> sp.Expr:
    """Lemma D.4: the sum of the squared weights. (e^-pk)^2 = e^(-2p k), and the denominator is common."""
    count = L - 2 - missing(upper)
    return geometric_sum(2 * p, count) * gram_weight(sp.Integer(0), upper) ** 2


@cache
def derive_gram(upper: sp.Expr = AS_NEEDED) -> sp.Expr:
    """L_G4 = E (g* x_{L-2} - g sum_s weight_s x_{s-1})^2 / 2 in closed form."""
    # E[x_i x_j] is 1 for i = j and 0 otherwise.
    square, cross = (gaussian_mean(e, 0, (_key, _other_key)).value for e in (_key**2, _key * _other_key))
    # x_{L-2} is seen by the key s = L-1 only: the last one if the sum goes so far.
    seen = gram_weight(sp.Integer(0), upper) if missing(upper) == 0 else sp.Integer(0)
    squares = derive_squares(upper)
    target = g_star**2 * square / 2
    network = g**2 * (squares * square + (1 - squares) * cross) / 2
    return target + network - g_star * g * (seen * square + (1 - seen) * cross)


# Pairs (s, r) of terms of two sums, by which of x_{s-1}, x_s, x_{r-1}, x_r are the same token.


@dataclass(frozen=True)
class PairClass:
    """Pairs of terms that share their tokens in the same way: how many, and the mean of the terms' product."""

    name: str
    count: sp.Expr
    mean: GaussianMean


def pair_classes(a: sp.Expr, lag_a: int, b: sp.Expr, lag_b: int) -> tuple[PairClass, ...]:
    """All pairs of exp(a x_L x_{s-1}) x_s and exp(b x_L x_{r-1}) x_r over s = 2 .. L-1-lag_a, r = 2 .. L-1-lag_b.

    r = s + 1 is possible for s up to the lower of L-1-lag_a and L-2-lag_b, which gives the count of "after".
    """
    equal = gaussian_mean(_value**2, (a + b) * _query * _key, (_key, _value, _query))
    # r = s + 1 has x_{r-1} = x_s: the product is x_s x_r exp(x_L (a x_{s-1} + b x_s)). r = s - 1 is its mirror image.
    after = gaussian_mean(_value * _other_value, _query * (a * _key + b * _value), (_key, _value, _other_value, _query))
    before = gaussian_mean(
        _value * _other_value, _query * (a * _other_value + b * _other_key), (_value, _other_value, _other_key, _query)
    )
    four = (_key, _other_key, _value, _other_value, _query)
    apart = gaussian_mean(_value * _other_value, _query * (a * _key + b * _other_key), four)
    n_equal, n_after, n_before = (
        L - 2 - max(lags) for lags in ((lag_a, lag_b), (lag_a, lag_b + 1), (lag_a + 1, lag_b))
    )
    n_apart = sp.expand((L - 2 - lag_a) * (L - 2 - lag_b) - n_equal - n_after - n_before)
    return (
        PairClass("equal", n_equal, equal),
        PairClass("after", n_after, after),
        PairClass("before", n_before, before),
        PairClass("apart", n_apart, apart),
    )


@cache
def derive_head(upper: sp.Expr = AS_NEEDED) -> sp.Expr:
    """The simplified L_IH2 of C.2 (exp / (L-2) in the place of softmax), in closed form."""
    lag = missing(upper)
    target, network, mixed = (_sum_over_pairs(*each) for each in _head_products(lag))
    return h_star**2 * target / 2 + h**2 * network / 2 - h_star * h * mixed


def head_condition(upper: sp.Expr = AS_NEEDED) -> Any:
    """Where every mean in `derive_head` exists."""
    products = _head_products(missing(upper))
    return sp.And(*(each.mean.condition for pairs in products for each in pair_classes(*pairs)))


def _head_products(lag: int) -> tuple[tuple[sp.Expr, int, sp.Expr, int], ...]:
    """Target by target, network by network, target by network: the scales of the exponents, and the missing terms."""
    return (v_star, 0, v_star, 0), (v, lag, v, lag), (v_star, 0, v, lag)


def _sum_over_pairs(a: sp.Expr, lag_a: int, b: sp.Expr, lag_b: int) -> sp.Expr:
    classes = pair_classes(a, lag_a, b, lag_b)
    return sp.Add(*(sp.factor(each.count / (L - 2) ** 2) * each.mean.value for each in classes))


# The true softmax, to first order in 1/L.


def derive_softmax_pair(a: sp.Expr, b: sp.Expr) -> GaussianMean:
    """The limit of (L-2) sum_s E[weight_s(a) weight_s(b)] for the weights softmax_s(a x_L x_{s-1}).

    Given x_L the keys are independent, so (L-2) weight_s(a) tends to e^{a x_L x} over its mean, and the sum of n
    products of weights, times n, to the mean of the product of those. Then x_L is integrated over.
    """
    numerator = gaussian_mean(1, (a + b) * _query * _key, (_key,)).value
    denominators = [gaussian_mean(1, c * _query * _key, (_key,)).value for c in (a, b)]
    given_query = sp.powsimp(numerator / sp.Mul(*denominators))
    exponent = sp.expand(sp.expand_log(sp.log(given_query), force=True))
    return gaussian_mean(1, exponent, (_query,))


def derive_softmax_head() -> sp.Expr:
    """L_IH2 of C.2 with the softmax as it is, to first order in 1/L: of each product of sums the pairs s = r."""
    # By Stein, E[x_s x_r f] is the mean of d^2 f / dx_s dx_r for s != r. The value x_s enters each denominator as one
    # key of n = L-2, which costs 1/n; as the key of the next term it enters one weight in full. So the n^2 pairs apart,
    # of weights of size 1/n^2, give 1/n^2 in sum, and so do the 2n neighbours.
    target, network, mixed = (derive_softmax_pair(*pair).value for pair in ((v_star, v_star), (v, v), (v_star, v)))
    return (h_star**2 * target / 2 + h**2 * network / 2 - h_star * h * mixed) / (L - 2)


@cache
def early_gap_is_first_order() -> bool:
    """Whether (L-2)^2 times the gap that the sum to L-2 makes is free of L: the gap is 1/(L-2) of (22) then."""
    gap = derive_head(AS_PRINTED) - derive_head(AS_NEEDED)
    return not sp.factor(gap * (L - 2) ** 2).has(L)


@cache
def derive_gaussian() -> sp.Expr:
    """Lemma D.3."""
    X, Y, Z = sp.symbols("X Y Z", real=True)
    return gaussian_mean(Z**2, a * X * Y, (X, Y, Z)).value
