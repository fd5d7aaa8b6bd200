"""Rule 6 for losses: log-softmax, and the cross-entropy of a label."""

from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from symbolic.calculus.softmax import APART
from symbolic.derivations.derivation import Approximated, Norm, as_expr, rule_step
from symbolic.derivations.obligations import nonnegative
from symbolic.derivations.operations import Handle, Operation, unnamed


@dataclass(frozen=True)
class LogSoftmax(Operation):
    """log softmax of the scores."""


@dataclass(frozen=True)
class CrossEntropy(Operation):
    """-sum_i y_i log softmax(s)_i: scores s (..., n), weights y over the classes (..., n), of a label 1 at its class.

    At the exact scores softmax gives classes other than the label at most the weight `others`.
    """

    label: Handle
    others: sp.Expr = field(compare=False)


# With p = softmax(s), and w the most by which two scores move against each other, at most `APART` ||u||,
#   log softmax(s + u)_i - log p_i = -log(p_i + sum_(j != i) p_j e^(u_j - u_i))
# is between -log(p_i + (1 - p_i) e^w) and -log(p_i + (1 - p_i) e^(-w)), of which the former is farther from 0:
# (p + q e^w)(p + q e^(-w)) >= (p + q)^2 by Cauchy and Schwarz. It grows to w as p_i -> 0.
# Equality, in the limit p_i -> 0: two scores that move apart; in the sup norm any number of them.
# The size: -log p_i = log(1 + sum_(j != i) e^(s_j - s_i)). Equality: two scores apart; in the sup norm any number.
def log_softmax(scores: Approximated, name: str, *, reason: str = "") -> Approximated:
    """log softmax of approximated scores, from any norm to the sup norm: from the sup norm 2 e, attained as p -> 0.

    From the 2-norm e sqrt(2), from the 1-norm e. The size is v + log(n - 1 + e^-v) for n scores, v = 2 size in the sup
    norm, likewise in the others.
    """
    step = rule_step(
        name,
        Norm.INF,
        "log-softmax",
        APART[scores.norm] * scores.error_symbol,
        reason=reason or _by_scores(scores.norm),
        operation=LogSoftmax(),
    )
    return scores.follows(step, dim=scores.dim, size=largest_surprise(scores.size_symbol, scores.norm, scores.dim))


# For a label i it is the above; for weights y, sum_i y_i log(p_i + (1 - p_i) e^w) <= log(p + (1 - p) e^w), where
# p = sum_i y_i p_i, as the logarithm is concave. This falls in p >= 1 - others.
# Equality: two scores that move apart, the label's down; in the sup norm any number of them.
def cross_entropy(
    scores: Approximated, name: str, *, label: str = "", others: Any = 1, reason: str = ""
) -> Approximated:
    """-log softmax(scores) of a label, or its mean under weights over the classes, which are exact: one number.

    The error is log(1 + others (e^(2 e) - 1)) from the sup norm (2 e counts e sqrt(2) from the 2-norm, e from the
    1-norm), where `others` bounds the weight that softmax of the exact scores gives to other classes; 1 always does.
    `label` is the handle of the weights, 1 for the label and 0 for other classes.
    """
    others, moved = as_expr(others), APART[scores.norm] * scores.error_symbol
    step = rule_step(
        name,
        Norm.INF,
        "cross-entropy",
        sp.log(1 + others * (sp.exp(moved) - 1)),
        obligations=nonnegative("cross_entropy", name, others=others),
        reason=reason or _by_scores(scores.norm),
        operation=CrossEntropy(label, others) if label else unnamed("label"),
    )
    return scores.follows(step, dim=sp.Integer(1), size=largest_surprise(scores.size_symbol, scores.norm, scores.dim))


def largest_surprise(size: sp.Expr, norm: Norm, count: sp.Expr) -> sp.Expr:
    """At least -log softmax of `count` scores of that size."""
    if count == 1:  # where SymPy may not see that the formula is 0
        return sp.Integer(0)
    apart = APART[norm] * size
    return apart + sp.log(count - 1 + sp.exp(-apart))


def _by_scores(norm: Norm) -> str:
    times = {Norm.INF: "2 ", Norm.TWO: "sqrt(2) ", Norm.ONE: ""}[norm]
    return f"since two scores move against each other by at most `{times}||t' - t||_{norm}`"
