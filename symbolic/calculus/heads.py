"""Rule 6 beside a sink: softmax weights, scaled up, as linear functions of their scores."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import sympy as sp

from symbolic.derivations.derivation import Approximated, DerivationError, Norm, as_expr, require_norm, rule_step
from symbolic.derivations.obligations import real
from symbolic.derivations.operations import Operation


class Second(StrEnum):
    """The head that is subtracted: none, one with scores 0, or one with the opposite scores (then both count half)."""

    NONE = "none"
    CONSTANT = "constant"
    OPPOSITE = "opposite"


@dataclass(frozen=True)
class SinkSoftmax(Operation):
    """e^C softmax(s) of the keys beside a sink of score C, less the `second` head; it approximates s, or 1 + s."""

    sink: sp.Expr
    second: Second


# n keys have the scores s_j, |s_j| <= r, and one more, the sink, has the score C. With t_j = e^C softmax(s)_j,
#   u = n e^(-C),  v = e^(-C) sum_i e^(s_i) between u e^(-r) and u e^r,  h(v) = v / (1 + v):  t_j = e^(s_j) (1 - h(v)).
# h is concave and h(0) = 0, so that a h(v) <= h(a v) for a <= 1, and h(a v) <= a h(v) for a >= 1.
#   none:      t_j - (1 + s_j) is at most e^(s_j) - 1 - s_j, and at least min over x of e^x / (1 + v) - 1 - x
#              = -log(1 + v) >= -u e^r.
#   constant:  t_j - 1 / (1 + u) - s_j = (e^(s_j) - 1 - s_j) + h(u) - e^(s_j) h(v). With the least v it is convex in
#              s_j; at r, h(u) <= e^r h(u e^(-r)), and at -r, h(u) - e^(-r) h(u e^(-r)) <= (1 - e^(-2r)) h(u), at
#              most 2 e^(-r) sinh(r) u. It is at least h(u) - e^r h(u e^r) >= -(e^(2r) - 1) u = -2 e^r sinh(r) u.
#   opposite:  (t_j - t_j') / 2 - s_j = (sinh s_j - s_j) - (e^(s_j) h(v) - e^(-s_j) h(v')) / 2, v' that of -s, is odd in
#              s: its upper bound will do. With the least v and the largest v' it is convex in s_j on [0, r], as then
#              1 - h(v) >= 1 - h(v'), and at r the second term is <= 0. For s_j <= 0 the first is <= 0, and the second
#              at most (e^r h(u e^r) - e^(-r) h(u e^(-r))) / 2 <= u sinh(2r).
# What is left of e^x and sinh x, for |x| <= r, without a difference that cancels: by the integral remainders
#   e^x - 1 - x = x^2 / 2 E e^(x B),  sinh x - x = x^3 / 6 E cosh(x B'),  B, B' in [0, 1], E B = 1/3, E B'^2 = 1/10,
# and e^(x B) <= 1 + B (e^x - 1) for x >= 0 and <= 1 below, cosh(x B') <= 1 + B'^2 (cosh x - 1):
#   |e^x - 1 - x| <= r^2 (2 + e^r) / 6,  |sinh x - x| <= r^3 (9 + cosh r) / 60.
# An error e of the scores counts once, beside the bounds at r + e for the approximate scores.
# Equality: C -> oo, exact scores at r - e, moved up to r, r -> 0. The largest known ratio for exact scores, r <= 1 and
# u <= r^2 / 1000 is 1.11; it grows without limit with r and u: for one key and u = r^2 / 12 it is 3.9 at r = 1 and 13
# at r = 2.
def heads_as_linear(
    scores: Approximated, name: str, *, sink: Any, second: Second | str = Second.CONSTANT, reason: str = ""
) -> Approximated:
    """e^C softmax(s_hat) of the n = `scores.dim` keys beside a sink of score C: sup norm in, sup norm out.

    Against s itself, once a second head takes the constant away; against 1 + s without one. Of second order in the
    scores, of third with the opposite head. The sink's value is 0: then it only changes what the weights add up to.
    """
    second = second_head(name, second)
    require_norm("heads_as_linear", scores, Norm.INF)
    sink = as_expr(sink)
    real("heads_as_linear", name, sink=sink)
    at, leak = scores.size_symbol + scores.error_symbol, scores.dim * sp.exp(-sink)
    step = rule_step(
        name,
        Norm.INF,
        "softmax beside a sink",
        scores.error_symbol + _remainder(second, at, leak),
        reason=reason or REASONS[second],
        operation=SinkSoftmax(sink, second),
    )
    constant = sp.S.One if second is Second.NONE else sp.S.Zero
    return scores.follows(step, dim=scores.dim, size=constant + scores.size_symbol)


REASONS = {
    Second.NONE: "since `e^C softmax(s)_j = e^(s_j) / (1 + v)`, `v <= n e^(r-C)`, and `e^x` is about `1 + x`",
    Second.CONSTANT: "since `e^C (softmax(s) - softmax(0))_j` is `e^(s_j) - 1` up to what the sink loses, `n e^(-C)`",
    Second.OPPOSITE: "since `e^C (softmax(s) - softmax(-s))_j / 2` is `sinh s_j` up to what the sink loses, `n e^(-C)`",
}


def _remainder(second: Second, r: sp.Expr, leak: sp.Expr) -> sp.Expr:
    """By how much the weights of exact scores, at most r in size, miss their linear part; `leak` is n e^(-C)."""
    exponential = r**2 * (2 + sp.exp(r)) / 6
    match second:
        case Second.NONE:
            return sp.Max(exponential, leak * sp.exp(r))
        case Second.CONSTANT:
            return sp.Max(exponential + 2 * sp.exp(-r) * sp.sinh(r) * leak, 2 * sp.exp(r) * sp.sinh(r) * leak)
        case Second.OPPOSITE:
            return sp.Max(r**3 * (9 + sp.cosh(r)) / 60, leak * sp.sinh(2 * r))


def second_head(name: str, second: Second | str) -> Second:
    try:
        return Second(second)
    except ValueError:
        known = ", ".join(each for each in Second)
        raise DerivationError(f"heads_as_linear: second is {second!r} for '{name}'; give one of {known}") from None
