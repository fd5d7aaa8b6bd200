"""Rule 6 for small scores: softmax attention in place of linear attention."""

from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from symbolic.calculus.softmax import APART
from symbolic.derivations.derivation import Approximated, Norm, as_expr, rule_step
from symbolic.derivations.obligations import nonnegative
from symbolic.derivations.operations import Operation


@dataclass(frozen=True)
class LinearSoftmax(Operation):
    """The linear weights (1 + s_i - mean s) / n, which softmax approximates; `half_range` of the scores s."""

    half_range: sp.Expr = field(compare=False)


CURVATURE = 2 / (3 * sp.sqrt(3))


# Let q(t) = softmax(t s). For a key drawn with the weights q(t), let x be its score, m the mean and V the variance of
# x. Then q_i' = q_i (s_i - m) and q_i'' = q_i ((s_i - m)^2 - V). The linear map ell(s)_i = (1 + s_i - mean s) / n is
# q(0) + q'(0), and Taylor's formula with integral remainder gives
#   ||softmax(s) - ell(s)||_1 <= int_0^1 (1 - t) E|(x - m)^2 - V| dt.
# Let B be the event (x - m)^2 <= V and b its probability; E|(x - m)^2 - V| = 2 f, f = b V - E[1_B (x - m)^2].
#   Give all keys in B the mean score of B: f grows by b (1 - b) times their variance. Move the scores outside B to the
#   two ends of the range, with their mean kept: f grows by b (1 - b) times the variance that they gain. Now let the
#   ends be 0 and 1, with probability p at 1, b at c and the rest at 0:
#     f = b (p - 2 p^2 + (1 - 2b) (2 p c - (1 - b) c^2)).
#   If b <= 1/2, it is largest at c = p / (1 - b): f = b p (1 - p / (1 - b)) <= b (1 - b) / 4 <= 1/16. If b > 1/2, it is
#   convex in c and largest at an end, by symmetry at c = 0: f = b p (1 - 2p) <= p (1 - p) (1 - 2p) <= 1 / (6 sqrt 3).
# So for scores of half range r, E|(x - m)^2 - V| <= (2r)^2 / (3 sqrt 3), and the remainder is at most
# 2 r^2 / (3 sqrt 3). The errors of the scores add 2 tanh(e/2), by rule `softmax` (with c e/2 in the place of e, where
# two scores move against each other by at most c e); that is the tighter split, as the other one, by ell(s_hat), costs
# the remainder at r + e, and e.
# Equality: constant scores, of which k out of n err upwards by e = log((n - k) / k) and the others downwards (in the
# 1- and 2-norm: two keys of equal scores that err apart, e -> 0). The
# constant of the remainder is the least one: two values, r -> 0, a share p = (3 - sqrt 3) / 6 of the keys ahead. For
# r <= 1 the largest known ratio of bound to error is 1.14 (e = 0.355 r^2, r -> 0), and 1.10 for exact scores; stated in
# the 2-norm (`change_norm`) it is 1.26 for these, r -> 0. It grows without limit with r, as the remainder is never
# above 2 r.
# The size: entries of ell(s) are negative where s_i < mean s - 1. If a share 1 - a of the keys is there, their mean
# score is at most 2 r a below the mean of all, so that ||ell(s)||_1 <= 1 + 2 (1 - a) (2 r a - 1); the largest value of
# the last term, at a = 1/2 + 1 / (4r), is (2r - 1)^2 / (4r), where r >= 1/2. Equality: a share a of the keys at r, the
# others at -r.
def softmax_as_linear(scores: Approximated, name: str, *, half_range: Any = None, reason: str = "") -> Approximated:
    """softmax(s_hat) against the linear weights (1 + s_i - mean s) / n of the exact scores: any norm in, 1-norm out.

    `half_range` bounds (max s - min s) / 2 over the n exact scores of a query; by default their size does (over
    sqrt(2) in the 2-norm, over 2 in the 1-norm). Shifts of
    the scores change neither side. The linear weights add up to 1, and are negative where s_i < mean s - 1.
    The bound holds for all scores; it is of second order in `half_range`. With exact scores it also bounds linear
    weights in place of softmax.
    """
    apart = APART[scores.norm]
    r = apart * scores.size_symbol / 2 if half_range is None else as_expr(half_range)
    step = rule_step(
        name,
        Norm.ONE,
        "softmax as a linear map",
        CURVATURE * r**2 + 2 * sp.tanh(apart * scores.error_symbol / 4),
        obligations=nonnegative("softmax_as_linear", name, half_range=scores.closed(r)),
        reason=reason or "by the Taylor remainder of `softmax(t s)` at `t = 1`, and the rule of softmax",
        operation=LinearSoftmax(scores.closed(r)),
    )
    from_half = sp.Max(r, sp.Rational(1, 2))
    return scores.follows(step, dim=scores.dim, size=from_half + 1 / (4 * from_half), affine=True)
