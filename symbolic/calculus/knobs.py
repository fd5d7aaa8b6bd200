"""Rule 9: choose a free knob (a temperature, a number of heads, a rank) from the bound itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from symbolic.calculus.inversion import Tamed, limit_at_infinity, limit_at_zero, monotonicity, poles, solutions
from symbolic.derivations.derivation import DerivationError, as_expr
from symbolic.derivations.obligations import real
from symbolic.words.shown import brief


@dataclass(frozen=True)
class Knob:
    """The value of a free parameter and the bound that it gives, both in closed form; valid where `condition` holds."""

    symbol: sp.Symbol
    value: sp.Expr
    bound: sp.Expr
    condition: Any = sp.true

    __repr__ = brief


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
    tamed = Tamed.of(bound.subs(knob, real))
    smooth = tamed.expression
    value = _only_stationary_point(smooth, real, knob, tamed)
    curvature = sp.simplify(sp.diff(smooth, real, 2).subs(real, value))
    if curvature.is_positive is not True and not _ends_are_higher(smooth, real):
        raise DerivationError(
            f"minimise: cannot show that {knob} = {tamed.back(value)} is a minimum of {sp.sstr(bound)}"
        )
    if not knob.is_integer:
        return Knob(knob, tamed.back(value), tamed.back(sp.simplify(smooth.subs(real, value))))
    below, above = sp.Max(1, sp.floor(tamed.back(value))), sp.ceiling(tamed.back(value))
    at_below, at_above = bound.subs(knob, below), bound.subs(knob, above)
    return Knob(knob, sp.Piecewise((below, at_below <= at_above), (above, True)), sp.Min(at_below, at_above))


def _only_stationary_point(smooth: sp.Expr, real: sp.Dummy, knob: sp.Symbol, tamed: Tamed) -> sp.Expr:
    shown = sp.sstr(tamed.back(smooth))
    slope = sp.diff(smooth, real)
    stationary = (solutions(slope, real, sp.Integer(0)) if real in slope.free_symbols else ()) or ()
    candidates = [value for value in map(sp.simplify, stationary) if not value.is_nonpositive]
    if len(candidates) != 1:
        found = f"{len(candidates)} stationary points" if candidates else "no stationary point in closed form"
        raise DerivationError(f"minimise: {shown} has {found} in {knob}; use bs.solve numerically")
    if candidates[0].is_positive is not True:
        at = tamed.back(candidates[0])
        raise DerivationError(f"minimise: cannot show that the stationary point {knob} = {at} is positive")
    where = poles(smooth, real)
    if where is None or where:
        place = f"may have a pole in {knob}" if where is None else f"has a pole at {knob} = {tamed.back(where[0])}"
        raise DerivationError(f"minimise: {shown} {place}")
    return candidates[0]


def _ends_are_higher(bound: sp.Expr, knob: sp.Expr) -> bool:
    return all(sp.limit(bound, knob, end, direction) == sp.oo for end, direction in ((0, "+"), (sp.oo, "-")))


def _never_positive(value: sp.Expr) -> bool:
    return bool(value.is_extended_real is False or _simplest(value).is_negative)


def _simplest(value: sp.Expr) -> sp.Expr:
    """A product of powers of letters is as simple as it gets, and SymPy would take long to find that."""
    monomial = all(factor.as_base_exp()[0].is_Atom for factor in sp.Mul.make_args(value))
    return value if monomial else sp.simplify(value)


# If the bound decreases in the knob, every knob from the solution of bound = accuracy on is enough, and none below is.
# A solution exists as soon as the accuracy is above the limit at oo; if it is not positive, every knob is large
# enough.
def knob_for(bound: Any, knob: sp.Symbol, accuracy: Any) -> Knob:
    """The least knob whose bound is at most `accuracy`, in closed form, for a bound that decreases in the knob.

    Raises DerivationError unless the sign of the derivative shows that the bound decreases. An integer knob is rounded
    up, to 1 at least. `condition` of the answer: the accuracy is above the limit of the bound (else no knob is large
    enough), and at most the bound at 0 (else every knob is large enough).
    """
    bound, accuracy = as_expr(bound), as_expr(accuracy)
    real("knob_for", knob.name, accuracy=accuracy)
    target = sp.Dummy(knob.name, positive=True)  # solved over the reals, rounded up at the end
    tamed = Tamed.of(bound.subs(knob, target))
    if monotonicity(tamed.expression, target) != -1:
        raise DerivationError(f"knob_for: cannot show that {sp.sstr(bound)} decreases in {knob}")
    best = limit_at_infinity(tamed.expression, target)
    if best is None:
        raise DerivationError(f"knob_for: no limit of {sp.sstr(bound)} in {knob} is known; use bs.solve")
    condition = sp.Gt(accuracy, tamed.back(best))
    if condition == sp.false:
        reached = tamed.back(best)
        raise DerivationError(
            f"knob_for: no {knob} is large enough: the bound tends to {reached}, and the accuracy is {accuracy}"
        )
    highest = limit_at_zero(tamed.expression, target)
    if highest is None:
        raise DerivationError(f"knob_for: no limit of {sp.sstr(bound)} at {knob} = 0 is known; use bs.solve")
    in_reach = sp.true if highest.has(sp.oo) else sp.Le(accuracy, tamed.back(highest))
    if in_reach == sp.false:  # every knob is large enough
        value = sp.Integer(1 if knob.is_integer else 0)
        return Knob(knob, value, bound.subs(knob, value), condition)
    level = sp.Dummy("accuracy", positive=True)
    found = [value for value in solutions(tamed.expression, target, level) or () if not _never_positive(value)]
    if len(found) != 1:
        raise DerivationError(f"knob_for: {sp.sstr(bound)} = {accuracy} has no closed solution; use bs.solve")
    value = tamed.back(_simplest(found[0])).subs(level, accuracy)
    if value.is_extended_real is False:
        raise DerivationError(f"knob_for: {sp.sstr(bound)} never equals {accuracy}; give an accuracy that it attains")
    value = sp.Max(1, sp.ceiling(value)) if knob.is_integer else value
    return Knob(knob, value, bound.subs(knob, value), sp.And(condition, in_reach))


@dataclass(frozen=True)
class AccuracySplit:
    """Accuracies that spend a whole accuracy at the least `cost`, in closed form."""

    accuracies: dict[sp.Symbol, sp.Expr]
    cost: sp.Expr

    __repr__ = brief


# Minimise T = sum kappa_i eps_i^(-p) on sum C_i eps_i = eps: T is convex, so that Lagrange's condition is sufficient.
# p kappa_i eps_i^(-p-1) = lambda C_i gives eps_i = mu (kappa_i / C_i)^q with q = 1/(p + 1), and the constraint
# mu sum C_k^(1-q) kappa_k^q = eps. What costs nothing (kappa_i = 0) gets eps_i = 0. What the bound does not feel
# (C_i = 0) may be as coarse as eps itself.
def cheapest_split(
    coefficients: Mapping[sp.Symbol, Any], costs: Mapping[sp.Symbol, Any], accuracy: Any, *, power: Any
) -> AccuracySplit:
    """The accuracies eps_i with sum C_i eps_i = accuracy at the least sum of costs_i / eps_i^power.

    A bound that is sum C_i eps_i to first order is then met by approximants that need costs_i / eps_i^power pieces
    each: 1/2 for interpolation by lines. Numbers or expressions, all >= 0, and power > 0. Raises DerivationError for
    others, and where coefficients and costs name different accuracies.
    """
    if set(coefficients) != set(costs):
        raise DerivationError("cheapest_split: coefficients and costs have to name the same accuracies")
    share = {symbol: as_expr(value) for symbol, value in coefficients.items()}
    cost = {symbol: as_expr(value) for symbol, value in costs.items()}
    whole, power = as_expr(accuracy), as_expr(power)
    real("cheapest_split", "the split", accuracy=whole, power=power)
    if any(each.is_negative for each in (*share.values(), *cost.values(), whole)) or power.is_positive is False:
        raise DerivationError("cheapest_split: give coefficients, costs and accuracy >= 0, and a power > 0")
    felt = [symbol for symbol, c in share.items() if c.is_zero is not True]
    q = 1 / (power + 1)
    total = sp.Add(*(share[symbol] ** (1 - q) * cost[symbol] ** q for symbol in felt))
    found = dict.fromkeys(share, whole)
    for symbol in felt:
        free = cost[symbol].is_zero is True
        found[symbol] = sp.Integer(0) if free else whole * (cost[symbol] / share[symbol]) ** q / total
    spent = (cost[symbol] / each**power for symbol, each in found.items() if cost[symbol].is_zero is not True)
    return AccuracySplit(found, sp.Add(*spent))
