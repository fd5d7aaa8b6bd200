"""Rule 5: maps that do not expand: projections onto convex sets, soft thresholds."""

from dataclasses import dataclass
from typing import Any

import sympy as sp

from symbolic.calculus.sums import norm_of_ones
from symbolic.derivations.derivation import Approximated, Norm, as_expr, require_norm, rule_step
from symbolic.derivations.obligations import nonnegative
from symbolic.derivations.operations import Handle, Operation, Unread, unnamed


@dataclass(frozen=True)
class Clip(Operation):
    """The projection onto the box [low, high], whose ends are numbers or arrays."""

    low: Handle
    high: Handle


@dataclass(frozen=True)
class SoftThreshold(Operation):
    """sign(x) max(|x| - t, 0); t is a number, or a pair (exact, approximate).

    Of a number that is bound alone, the approximate one is within `error`.
    """

    threshold: Handle
    error: sp.Expr


ANY_SET = Unread("its set is any convex one; a box has operands, box=True, low=, high=")


# The projection P onto a closed convex set is 1-Lipschitz in the 2-norm: (u - Pu).(Pv - Pu) <= 0 and the same with u
# and v exchanged add up to ||Pu - Pv||^2 <= (u - v).(Pu - Pv). Onto a box it clips each coordinate, a 1-Lipschitz
# function, so that it is 1-Lipschitz in every p-norm. Equality: both points inside the set.
def project(
    x: Approximated, name: str, *, size: Any, box: bool = False, reason: str = "", low: str = "", high: str = ""
) -> Approximated:
    """The projection of x onto a closed convex set (x in the 2-norm) or onto a box (any norm).

    `size` bounds the exact value's projection: the norm of the set's points, or x.size where the set contains 0.
    `low` and `high` are the handles of a box's corners.
    """
    if not box:
        require_norm("project", x, Norm.TWO)
    size = as_expr(size)
    step = rule_step(
        name,
        x.norm,
        "projection",
        x.error_symbol,
        obligations=nonnegative("project", name, size=size),
        reason=reason or "since projections do not expand",
        operation=Clip(low, high) if box and low and high else unnamed("low", "high") if box else ANY_SET,
    )
    return x.follows(step, dim=x.dim, size=size)


# S_t(u) = sign(u) max(|u| - t, 0) is 1-Lipschitz in u (its derivative is 0 or 1) and in t (0 or -sign u), coordinate by
# coordinate: |S_t'(u') - S_t(u)| <= |u' - u| + |t' - t|. Equality: u' > u > t > t'. An exact threshold is t >= 0, so
# that |S_t(u)| <= |u|; t' may be negative: S_t' is t - t' away from S_t where |u'| > t, and at most that elsewhere.
def soft_threshold(
    x: Approximated, name: str, *, threshold_error: Any = 0, reason: str = "", threshold: str = ""
) -> Approximated:
    """S_t(x) with a threshold t >= 0 known up to `threshold_error` (the same in each coordinate), in any p-norm.

    `threshold` is the handle of t.
    """
    threshold_error = as_expr(threshold_error)
    step = rule_step(
        name,
        x.norm,
        "soft threshold",
        x.error_symbol + threshold_error * norm_of_ones(x.norm, x.dim),
        obligations=nonnegative("soft_threshold", name, threshold_error=threshold_error),
        reason=reason or "since soft thresholding is 1-Lipschitz in its argument and in its threshold",
        operation=SoftThreshold(threshold, threshold_error) if threshold else unnamed("threshold"),
    )
    return x.follows(step, dim=x.dim, size=x.size_symbol)
