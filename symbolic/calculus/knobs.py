"""Rule 9: choose a free knob (a temperature, a number of heads, a rank) from the bound itself."""

from dataclasses import dataclass
from typing import Any

import sympy as sp

from symbolic.derivation import DerivationError, as_expr


@dataclass(frozen=True)
class Knob:
    """The value of a free parameter and the bound that it gives, both closed; valid where `condition` holds."""

    symbol: sp.Symbol
    value: sp.Expr
    bound: sp.Expr
    condition: Any = sp.true


# On (0, oo), where the bound has no pole, a single stationary point at which the second derivative is positive is the
# global minimum: the derivative changes sign there and nowhere else. So it is if the bound grows without limit towards
# both ends. Such a bound falls before the point and rises after it, so that of whole numbers its two neighbours are
# best.
def minimise(bound: Any, knob: sp.Symbol) -> Knob:
    """The knob in (0, oo), or the positive whole number, that minimises `bound`, in closed form.

    Raises DerivationError where there is no closed form, or where it cannot be shown to be the minimum.
    """
    bound = as_expr(bound)
    if not knob.is_positive:
        raise DerivationError(f"minimise: declare the knob {knob} as a positive symbol")
    real = sp.Dummy(knob.name, positive=True)
    smooth = bound.subs(knob, real)
    value = _only_stationary_point(smooth, real, knob)
    curvature = sp.simplify(sp.diff(smooth, real, 2).subs(real, value))
    if curvature.is_positive is not True and not _ends_are_higher(smooth, real):
        raise DerivationError(f"minimise: cannot show that {knob} = {sp.sstr(value)} is a minimum of {sp.sstr(bound)}")
    if not knob.is_integer:
        return Knob(knob, value, sp.simplify(smooth.subs(real, value)))
    below, above = sp.Max(1, sp.floor(value)), sp.ceiling(value)
    at_below, at_above = smooth.subs(real, below), smooth.subs(real, above)
    return Knob(knob, sp.Piecewise((below, at_below <= at_above), (above, True)), sp.Min(at_below, at_above))


def _only_stationary_point(smooth: sp.Expr, real: sp.Dummy, knob: sp.Symbol) -> sp.Expr:
    try:
        stationary = sp.solve(sp.diff(smooth, real), real)
        poles = sp.solve(sp.denom(sp.together(smooth)), real)
    except NotImplementedError:
        stationary, poles = [], []
    candidates = [sp.simplify(value) for value in stationary if value.is_real is not False]
    if len(candidates) != 1:
        found = f"{len(candidates)} stationary points" if candidates else "no stationary point in closed form"
        raise DerivationError(f"minimise: {sp.sstr(smooth)} has {found} in {knob}; use bridge.solve numerically")
    if candidates[0].is_positive is not True:
        raise DerivationError(f"minimise: cannot show that the stationary point {knob} = {candidates[0]} is positive")
    if poles:
        raise DerivationError(f"minimise: {sp.sstr(smooth)} has a pole at {knob} = {poles[0]}")
    return candidates[0]


def _ends_are_higher(bound: sp.Expr, knob: sp.Expr) -> bool:
    return all(sp.limit(bound, knob, end, direction) == sp.oo for end, direction in ((0, "+"), (sp.oo, "-")))


# If the bound decreases in the knob, every knob from the solution of bound = accuracy on is enough, and none below is.
# A solution exists as soon as the accuracy is above the limit at oo; one that is not positive says that every knob
# will do.
def knob_for(bound: Any, knob: sp.Symbol, accuracy: Any) -> Knob:
    """The least knob whose bound is at most `accuracy`, in closed form, for a bound that decreases in the knob.

    Monotone is shown by the sign of the derivative, else DerivationError. An integer knob is rounded up, to 1 at least.
    `condition` of the answer: the accuracy is above what the bound tends to, else no knob is enough.
    """
    bound, accuracy = as_expr(bound), as_expr(accuracy)
    target = sp.Dummy(knob.name, positive=True)  # solved over the reals, rounded up at the end
    smooth = bound.subs(knob, target)
    slope = sp.factor(sp.simplify(sp.diff(smooth, target)))
    if not (slope.is_negative or slope.is_nonpositive):
        raise DerivationError(f"knob_for: cannot show that {sp.sstr(bound)} decreases in {knob}")
    best = sp.limit(smooth, target, sp.oo)
    condition = sp.Gt(accuracy, best)
    if condition == sp.false:
        raise DerivationError(f"knob_for: no {knob} is enough: the bound tends to {best}, and {accuracy} is asked for")
    try:
        # Solved without the sign of the knob: a solution that is not positive is an answer too (every knob will do).
        free = sp.Dummy(knob.name, real=True)
        solutions = [v for v in sp.solve(sp.Eq(bound.subs(knob, free), accuracy), free) if v.is_real is not False]
    except NotImplementedError:
        solutions = []
    if len(solutions) != 1:
        raise DerivationError(f"knob_for: {sp.sstr(bound)} = {accuracy} has no closed solution; use bridge.solve")
    value = sp.simplify(solutions[0])
    value = sp.Max(1, sp.ceiling(value)) if knob.is_integer else value
    return Knob(knob, value, bound.subs(knob, value), condition)
