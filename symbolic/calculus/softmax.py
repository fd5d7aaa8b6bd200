"""Rule 6: softmax and hard max, and the attention that averages with their weights."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from symbolic.calculus.geometric import geometric_sum
from symbolic.calculus.sums import OF_WEIGHTS, factor_in_words
from symbolic.derivations.derivation import (
    Approximated,
    Derivation,
    DerivationError,
    Norm,
    NormName,
    Obligation,
    as_expr,
    as_norm,
    require_norm,
    rule_step,
)
from symbolic.derivations.obligations import nonnegative, real, whole
from symbolic.derivations.operations import Handle, Operation, unnamed
from symbolic.words.citations import WANG2024, Citation


@dataclass(frozen=True)
class Softmax(Operation):
    """softmax of the scores."""


@dataclass(frozen=True)
class HardMax(Operation):
    """The unit vector of the largest score, which leads by at least `margin`.

    `inverse_temperature` is that of the softmax that approximates it, oo for none.
    """

    inverse_temperature: sp.Expr
    margin: sp.Expr = field(compare=False)


@dataclass(frozen=True)
class Concentration(Operation):
    """The unit vector of the largest score, which softmax of the scores approximates; the scores are exact.

    Softmax gives the other keys at most the weight `lost`.
    """

    scores: Handle
    lost: sp.Expr = field(compare=False)


@dataclass(frozen=True)
class Attention(Operation):
    """The averages of the values under the weights: weights (..., n), values (..., n, m)."""


@dataclass(frozen=True)
class Exclusion(Operation):
    """x, against (1 - w) x_hat + w v with one key too many: its value v (..., m), and w = 1 / (1 + sum_i e^(l_i)).

    l (..., n) are the leads of the n proper scores over that key's; w <= `leak`, ||v - x_hat|| <= `diameter`.
    """

    foreign: Handle
    leads: Handle
    leak: sp.Expr = field(compare=False)
    diameter: sp.Expr = field(compare=False)


# How far two scores move against each other, in units of the norm of what all of them move by: u_i - u_j is at most
# 2 ||u||_inf, sqrt(2) ||u||_2 and ||u||_1. Equality: u_i = -u_j, the others 0 (in the sup norm: anything).
APART = {Norm.INF: sp.Integer(2), Norm.TWO: sp.sqrt(2), Norm.ONE: sp.Integer(1)}


# Let q = softmax(theta), q' = softmax(theta + u), and let w be the most by which two scores move against each other,
# at most `APART` ||u||. For a set A of keys with P = q(A), the odds q'_i / q'_j of a key i in A against a key j outside
# are at most e^w q_i / q_j, so that q'(A) is at most P e^w / (P e^w + 1 - P), and q'(A) - P is largest at
# P = 1 / (1 + e^(w/2)), where it is tanh(w/4). With A the keys whose weights grow: they gain at most tanh(w/4)
# together, and the others lose as much; the change is at most `OF_WEIGHTS` times that in each norm.
# Equality, for all nine pairs of norms: two keys, theta = (-w/4, w/4), u = (w/2, -w/2). From the sup norm to itself and
# to the 1-norm it is attained with any number of keys above 1: one of them grows, of weight P, and all others fall.
# (The usual 2 |u|_inf for the 1-norm, Lemma D.1 of wang2024, is twice the slope at 0 and exceeds the trivial 2.)
def softmax(
    scores: Approximated, name: str, *, target: NormName = Norm.ONE, affine: bool = False, reason: str = ""
) -> Approximated:
    """softmax of approximated scores, from any norm to any; from sup norm to 1-norm at most 2 tanh(e/2) <= min(e, 2).

    The error is tanh(e/2) in the sup norm, sqrt(2) tanh(e/2) in the 2-norm; from the 2-norm e / sqrt(2), from the
    1-norm e / 2 counts in the place of e. `affine`: the larger bound with x in the place of tanh(x), which is affine in
    the error, so that layers with it can be repeated; it is attained as e -> 0, and its ratio to the sharp bound, 1.31
    at e = 2 in the sup norm, grows without limit with e.
    """
    target = as_norm(target)
    moved = APART[scores.norm] * scores.error_symbol / 4
    step = rule_step(
        name,
        target,
        "softmax",
        OF_WEIGHTS[target] * (moved if affine else sp.tanh(moved)),  # tanh(x) <= x
        reason=reason or _by_softmax(scores.norm, target, affine),
        source=_PRINTED if not affine and (scores.norm, target) == (Norm.INF, Norm.ONE) else None,
        sharp=not affine,
        operation=Softmax(),
    )
    return scores.follows(step, dim=scores.dim, size=sp.Integer(1), probabilities=True)


_PRINTED = Citation(WANG2024, "Lemma D.1", "which prints `2 ||t' - t||_inf`")


def _by_softmax(source: Norm, target: Norm, affine: bool) -> str:
    change, share = f"||t' - t||_{source}", APART[source] / 4
    if affine:
        bound = factor_in_words(OF_WEIGHTS[target] * share, change)
    else:
        bound = factor_in_words(OF_WEIGHTS[target], f"tanh({factor_in_words(share, change)})")
    return f"`||softmax(t') - softmax(t)||_{target} <= {bound}`"


# With scores -g_0, -g_1, ..., g_0 = 0 the winner's weight is 1 / (1 + T), T = sum over k >= 1 of e^(-g_k), and all
# other weights add up to T / (1 + T): the distance to the winner's unit vector is exactly 2 T / (1 + T). It grows with
# T, so any lower bounds on the gaps will do. Equality: always, when the gaps are exact.
def concentrate(
    name: str,
    *,
    count: Any,
    slope: Any = None,
    gap: Any = None,
    gaps: Callable[[sp.Symbol], Any] | None = None,
    reason: str = "",
    scores: str = "",
) -> Approximated:
    """Softmax weights of `count` keys against the unit vector of the winner, in the 1-norm.

    The gap of the k-th key to the winner (k = 1 .. count - 1) is `slope` * k (a linear position bias), or the same
    `gap` for all, or gaps(k). `scores` is the handle of the scores.
    """
    count = as_expr(count)
    k = sp.Dummy("k", integer=True, positive=True)  # no symbol of the caller's can be captured
    if [slope, gap, gaps].count(None) != 2:
        raise DerivationError(f"concentrate: '{name}' needs exactly one of slope, gap and gaps")
    obligations = whole("concentrate", name, least=1, count=count)
    if slope is not None:  # T = q (1 + .. + q^(n-2)) and 1 + T = 1 + .. + q^(n-1): their quotient loses the 1 - q
        real("concentrate", name, slope=as_expr(slope))
        ratio = sp.exp(-as_expr(slope))
        lost = ratio * geometric_sum(ratio, count - 1) / geometric_sum(ratio, count)
    elif gap is not None:
        real("concentrate", name, gap=as_expr(gap))
        lost = _lost_weight((count - 1) * sp.exp(-as_expr(gap)))
    elif gaps is not None:
        real("concentrate", name, gap=as_expr(gaps(k)))
        lost = _lost_weight(sp.Sum(sp.exp(-as_expr(gaps(k))), (k, 1, count - 1)).doit())
    real("concentrate", name, weight=lost)
    step = rule_step(
        name,
        Norm.ONE,
        "softmax concentration",
        2 * lost,
        obligations=obligations,
        reason=reason or "since the weights beside the winner's add up to `T/(1+T)`, `T = sum_k exp(-gap_k)`",
        operation=Concentration(scores, lost) if scores else unnamed("scores"),
    )
    return Approximated(name, count, Norm.ONE, sp.Integer(1), Derivation((step,)), probabilities=True)


def _require_weights(rule: str, weights: Approximated) -> None:
    """Raises DerivationError unless the exact weights add up to 1 and the approximate ones are probabilities."""
    require_norm(rule, weights, Norm.ONE)
    if not weights.holds_weights:
        raise DerivationError(
            f"{rule}: '{weights.name}' is not known to hold probabilities (exact and approximate); take weights from a "
            f"softmax or hard max, or declare them with given(..., probabilities=True), or affine=True if the exact "
            f"ones may be negative"
        )


def _lost_weight(others: sp.Expr) -> sp.Expr:
    """The weight that a winner of weight 1 / (1 + others) leaves to the others."""
    return others / (1 + others)


# At temperature 1/beta and margin m (every other score at least m below the winner's) rule `concentrate` gives
# T <= (count - 1) e^(-beta m). If the scores carry an error e, two of them move against each other by at most c e, with
# c of `APART` (2 in the sup norm), so that the margin that is left is m - c e. Equality: all others exactly m below,
# moved up by e while the winner moves down by e; in the 1- and 2-norm, two keys.
def softmax_to_hard_max(
    scores: Approximated, name: str, *, margin: Any, inverse_temperature: Any, reason: str = ""
) -> Approximated:
    """softmax(beta * scores_hat) against the hard max of the exact scores, in the 1-norm, beta >= 0.

    Obligation: margin > 2 e, for scores in the sup norm; sqrt(2) e in the 2-norm, e in the 1-norm.
    """
    margin, beta = as_expr(margin), as_expr(inverse_temperature)
    others = (scores.dim - 1) * sp.exp(-beta * (margin - APART[scores.norm] * scores.error_symbol))
    step = rule_step(
        name,
        Norm.ONE,
        "softmax to hard max",
        2 * _lost_weight(others),
        reason=reason
        or "since errors of the scores shrink the margin by at most twice their size, and the rest bounds the weights",
        obligations=(
            *nonnegative("softmax_to_hard_max", name, inverse_temperature=beta),
            _margin_survives(scores, margin, name),
        ),
        operation=HardMax(beta, margin),
    )
    return scores.follows(step, dim=scores.dim, size=sp.Integer(1), probabilities=True)


# If the winner leads by the margin m and no score moves against another by as much, at most c e (`APART`), the winner
# still leads: the hard max of the approximate scores is that of the exact ones, error 0. Sharp: at c e = m there can be
# a tie.
def hard_max(scores: Approximated, name: str, *, margin: Any, reason: str = "") -> Approximated:
    """The unit vector of the largest score, exact as long as the margin survives.

    Obligation: margin > 2 e, for scores in the sup norm; sqrt(2) e in the 2-norm, e in the 1-norm.
    """
    margin = as_expr(margin)
    step = rule_step(
        name,
        Norm.ONE,
        "hard max",
        sp.Integer(0),
        reason=reason or "since a winner still wins after errors below half of its margin",
        obligations=(_margin_survives(scores, margin, name),),
        operation=HardMax(sp.oo, margin),
    )
    return scores.follows(step, dim=scores.dim, size=sp.Integer(1), probabilities=True)


def _margin_survives(scores: Approximated, margin: sp.Expr, name: str) -> Obligation:
    real("hard max", name, margin=margin)
    return Obligation(
        f"the margin of '{name}' survives the errors of its scores", sp.Gt(margin, APART[scores.norm] * scores.error)
    )


# For weights a, a_hat that add up to 1, a_hat >= 0, and any centre c, since sum(a_hat - a) = 0:
#   sum a_hat_i v_hat_i - sum a_i v_i = sum a_hat_i (v_hat_i - v_i) + sum (a_hat_i - a_i)(v_i - c),
# which is at most e_v + e_a max_i ||v_i - c||: the values count with their radius, not with their size. Equality: two
# values v = +-radius around c, errors of v all alike and of the sign that a_hat - a gives.
# The exact average: if a >= 0 too, it is a mean, no larger than the values and no farther from c; if not, the values
# count with ||a||_1, as sum a_i v_i - c = sum a_i (v_i - c). Equality: v_i = +-size, by the sign of a_i.
def attend(weights: Approximated, values: Approximated, name: str, *, reason: str = "") -> Approximated:
    """The average of `values` (each in their norm) under softmax `weights` (1-norm).

    The approximate weights are probabilities; the exact ones add up to 1 and may be negative (`softmax_as_linear`).
    Uses `values.radius`, the distance of the exact values from some common centre, or their size if it is unknown.
    """
    _require_weights("attend", weights)
    radius = values.radius_symbol
    step = rule_step(
        name,
        values.norm,
        "attention",
        values.error_symbol + radius * weights.error_symbol,
        reason=reason or "since both weight vectors add up to 1, and only the distances from a centre count",
        operation=Attention(),
    )
    total = sp.Integer(1) if weights.probabilities else weights.size_symbol
    return weights.follows(step, values, dim=values.dim, size=total * values.size_symbol, radius=total * radius)


# One key too many, with weight w: out_hat = (1 - w) out_1 + w v, so out_hat - out = (out_1 - out) + w (v - out_1), at
# most e + w * diameter. If its score is 0 and the other `count` scores are at least `lead`, then
# w <= 1 / (1 + count e^lead). Equality: all others exactly at `lead`, and out, out_1, v in one line.
def exclude(
    value: Approximated,
    name: str,
    *,
    count: Any,
    lead: Any,
    diameter: Any,
    reason: str = "",
    foreign: str = "",
    leads: str = "",
) -> Approximated:
    """An attention output whose softmax also sees one foreign key, `lead` below each of the `count` proper ones.

    `diameter` bounds the distance of the foreign value from the average of the proper ones, in value's norm.
    `foreign` is the handle of that value, `leads` that of the leads of the proper scores, `count` for each token.
    """
    count, lead, diameter = as_expr(count), as_expr(lead), as_expr(diameter)
    real("exclude", name, lead=lead)
    leak = _lost_weight(sp.exp(-lead) / count)
    step = rule_step(
        name,
        value.norm,
        "foreign key",
        value.error_symbol + diameter * leak,
        obligations=(*nonnegative("exclude", name, diameter=diameter), *whole("exclude", name, least=1, count=count)),
        reason=reason
        or "since a key outside the sum has a weight of at most `1/(1 + n e^g)`, where `n` keys lead it by `g`",
        operation=Exclusion(foreign, leads, leak, diameter) if foreign and leads else unnamed("foreign", "leads"),
    )
    return value.follows(step, dim=value.dim, size=value.size_symbol)
