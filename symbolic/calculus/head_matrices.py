"""Rule 6 beside a sink, for all queries at once: scaled softmax weights as linear functions, in the 2-norm."""

from typing import Any

import sympy as sp

from symbolic.calculus.heads import REASONS, Second, second_head
from symbolic.derivations.derivation import Approximated, Norm, as_expr, require_norm, rule_step
from symbolic.derivations.obligations import nonnegative, real, whole
from symbolic.derivations.operations import Unread


# Letters as in symbolic/calculus/heads.py, for one query: the weights less s_j are
# (e^(s_j) - 1 - s_j) - (e^(s_j) h(v) - h(u)) with the constant second head, and
# (sinh s_j - s_j) - (e^(s_j) h(v) - e^(-s_j) h(v')) / 2 with the opposite one. For
# |s_j| <= r, and all scores of the query, those of keys without a value too, at most R in absolute value,
#   |e^s - 1 - s| <= |s| r (2 + e^r) / 6,  |sinh s - s| <= |s| r^2 (9 + cosh r) / 60,
# and the second terms are at most (e^(2R) - 1) u and u sinh(2R) as there, u = n e^(-C) of all n keys. In the 2-norm
# over all scores s_hat, with ||s_hat|| <= ||s|| + e, the triangle inequality gives the bound.
# Equality: C -> oo and r -> 0, all scores at r - e and moved up to r, |s| r as much as |s|^2. For exact scores and
# C -> oo the largest known ratio is 1.10 for r <= 1; it grows without limit with r.
def heads_as_matrix(
    scores: Approximated,
    name: str,
    *,
    sink: Any,
    reach: Any,
    keys: Any,
    widest: Any = None,
    second: Second | str = Second.CONSTANT,
    reason: str = "",
) -> Approximated:
    """e^C (softmax(s_hat) - that of a second head) against s, for the scores of any number of queries as one vector.

    2-norm in, 2-norm out. `reach` bounds each score at hand; `widest` bounds those of all `keys` of a query, also of
    keys that are not part of the vector, if there are any.
    """
    second = second_head(name, second)
    require_norm("heads_as_matrix", scores, Norm.TWO)
    sink, reach, keys = map(as_expr, (sink, reach, keys))
    widest = reach if widest is None else as_expr(widest)
    real("heads_as_matrix", name, sink=sink)
    relative, lost = _relative(second, reach), _lost(second, widest, keys * sp.exp(-sink))
    error = scores.error_symbol + (scores.size_symbol + scores.error_symbol) * relative + sp.sqrt(scores.dim) * lost
    step = rule_step(
        name,
        Norm.TWO,
        "softmax beside a sink",
        error,
        obligations=(
            *nonnegative("heads_as_matrix", name, reach=reach, widest=widest),
            *whole("heads_as_matrix", name, least=1, keys=keys),
        ),
        reason=reason or REASONS[second],
        operation=Unread("its scores are those of all queries in one vector; heads_as_linear takes those of one"),
    )
    constant = sp.sqrt(scores.dim) if second is Second.NONE else sp.S.Zero
    return scores.follows(step, dim=scores.dim, size=constant + scores.size_symbol)


def _relative(second: Second, r: sp.Expr) -> sp.Expr:
    """By how much, in ratio to a score of at most r, its weight beside a sink at oo misses it."""
    return r**2 * (9 + sp.cosh(r)) / 60 if second is Second.OPPOSITE else r * (2 + sp.exp(r)) / 6


def _lost(second: Second, widest: sp.Expr, leak: sp.Expr) -> sp.Expr:
    """By how much the sink lowers a weight; `leak` is n e^(-C)."""
    match second:
        case Second.NONE:
            return sp.exp(2 * widest) * leak
        case Second.CONSTANT:
            return 2 * sp.exp(widest) * sp.sinh(widest) * leak
        case Second.OPPOSITE:
            return sp.sinh(2 * widest) * leak
