"""Rule 9: choose a free knob (a temperature, a number of heads, a rank) from the bound itself."""

from dataclasses import dataclass
from typing import Any

import sympy as sp

from symbolic.derivation import DerivationError, as_expr


@dataclass(frozen=True)
class Knob:
    """The value of a free parameter and the bound that it gives, both closed."""

    symbol: sp.Symbol
    value: sp.Expr
    bound: sp.Expr


# At an interior minimum of a differentiable bound the derivative vanishes; if that has one positive solution and the
# second derivative is positive there, and the bound is larger towards both ends of (0, oo), the solution is the global
# minimum. (The ends decide: a bound with one stationary point that is larger at both ends has its minimum there.)
def minimise(bound: Any, knob: sp.Symbol) -> Knob:
    """The knob in (0, oo) that minimises `bound`, in closed form. Raises DerivationError where there is none."""
    bound = as_expr(bound)
    if not knob.is_positive:
        raise DerivationError(f"minimise: declare the knob {knob} as a positive symbol")
    try:
        stationary = sp.solve(sp.diff(bound, knob), knob)
    except NotImplementedError:
        stationary = []
    candidates = [value for value in stationary if value.is_positive is not False and value.is_real is not False]
    if len(candidates) != 1:
        found = f"{len(candidates)} stationary points" if candidates else "no stationary point in closed form"
        raise DerivationError(
            f"minimise: the bound {sp.sstr(bound)} has {found} in {knob}; use bridge.solve numerically"
        )
    value = sp.simplify(candidates[0])
    curvature = sp.simplify(sp.diff(bound, knob, 2).subs(knob, value))
    if curvature.is_positive is not True and not _ends_are_higher(bound, knob):
        raise DerivationError(f"minimise: cannot show that {knob} = {sp.sstr(value)} is a minimum of {sp.sstr(bound)}")
    return Knob(knob, value, sp.simplify(bound.subs(knob, value)))


def _ends_are_higher(bound: sp.Expr, knob: sp.Symbol) -> bool:
    return all(sp.limit(bound, knob, end, direction) == sp.oo for end, direction in ((0, "+"), (sp.oo, "-")))


# If the bound decreases in the knob, every knob from the solution of bound = accuracy on is enough, and none below is.
def knob_for(bound: Any, knob: sp.Symbol, accuracy: Any) -> Knob:
    """The least knob whose bound is at most `accuracy`, in closed form, for a bound that decreases in the knob.

    Monotone is shown by the sign of the derivative, else DerivationError. An integer knob is rounded up.
    """
    bound, accuracy = as_expr(bound), as_expr(accuracy)
    target = sp.Dummy(knob.name, positive=True)  # solved over the reals, rounded up at the end
    smooth = bound.subs(knob, target)
    slope = sp.factor(sp.simplify(sp.diff(smooth, target)))
    if not (slope.is_negative or slope.is_nonpositive):
        raise DerivationError(f"knob_for: cannot show that {sp.sstr(bound)} decreases in {knob}")
    try:
        solutions = [value for value in sp.solve(sp.Eq(smooth, accuracy), target) if value.is_real is not False]
    except NotImplementedError:
        solutions = []
    if len(solutions) != 1:
        raise DerivationError(f"knob_for: {sp.sstr(bound)} = {accuracy} has no closed solution; use bridge.solve")
    value = sp.simplify(solutions[0])
    value = sp.ceiling(value) if knob.is_integer else value
    return Knob(knob, value, bound.subs(knob, value))
