"""Rule 13: the budget of probability, shared by the events on which a bound holds."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import mpmath
import sympy as sp

from symbolic.calculus.recursions import LinearRecursion
from symbolic.calculus.repetition import Repetition
from symbolic.derivations.derivation import (
    Approximated,
    Derivation,
    DerivationError,
    Obligation,
    Step,
    as_expr,
    rule_step,
)
from symbolic.derivations.events import Events, ShareSymbol, total_failure
from symbolic.derivations.obligations import at_most, positive, real
from symbolic.derivations.operations import Operation

ROUNDS = 100  # of the search for the best shares
DENOMINATOR = 10**9  # of a share of the budget


class ShareObligation(Obligation):
    """That a probability lies in (0, 1]."""


def probability(what: str, share: sp.Expr) -> tuple[Obligation, ...]:
    low = ShareObligation(f"{what} is positive", sp.true if share.is_positive else sp.Gt(share, 0))
    high = ShareObligation(f"{what} is at most 1", at_most(what, share, sp.Integer(1)).condition)
    return tuple(each for each in (low, high) if each.open)


# The shares s_k of events that are counted c_k times take sum c_k s_k = delta. With s_k = w_k delta / c_k any weights
# w_k > 0 that add up to at most 1 are allowed. As c_k >= 1, each share is at most delta.
def within_budget(
    x: Approximated, name: str, *, delta: Any, weights: Mapping[str, Any] | None = None, reason: str = ""
) -> Approximated:
    """x with its free shares chosen so that all its events together fail with a probability of at most `delta`.

    Shares are equal, or in proportion to `weights`, by the names of the events (`best_shares` finds good ones).
    """
    delta = as_expr(delta)
    real("within_budget", name, delta=delta)
    if delta.is_nonpositive or (delta - 1).is_positive:
        raise DerivationError(
            f"within_budget: the budget of '{name}' is {sp.sstr(delta)}; give a probability of failure above 0, at "
            f"most 1"
        )
    free, left = _free(x.events), delta - total_failure(_fixed(x.events))
    tied = [event.name for event in _fixed(x.events) if event.share.free_symbols & set(free)]
    if tied:
        raise DerivationError(
            f"within_budget: the share of {', '.join(tied)} is given in terms of a free one; give it a number, a "
            f"letter of yours, or none"
        )
    if not free:
        raise DerivationError(f"within_budget: '{x.name}' has no event with a free share; its shares are given")
    if left.is_nonpositive:
        raise DerivationError(
            f"within_budget: nothing of the budget {sp.sstr(delta)} of '{name}' is left for {', '.join(_names(free))}: "
            f"the given shares are {sp.sstr(delta - left)}"
        )
    shares = {
        letter: _weights(free, weights)[letter.name] * left / sp.Add(*(event.count for event in events))
        for letter, events in free.items()
    }
    chosen = with_shares(x, shares)
    step = rule_step(
        name,
        x.norm,
        "budget of probability",
        x.error_symbol,
        reason=reason or f"since `{sp.sstr(left)}` is shared by {', '.join(_names(free))}",
        obligations=(
            *probability("delta", delta),
            *(positive("within_budget", name, rest=left) if left != delta else ()),
        ),
    )
    flags = {"probabilities": x.probabilities, "affine": x.affine}
    return chosen.follows(step, dim=chosen.dim, size=chosen.size_symbol, radius=chosen.own_radius, **flags)


def _free(events: Events) -> dict[ShareSymbol, Events]:
    """The events of each share that is a letter."""
    letters = dict.fromkeys(event.share for event in events if isinstance(event.share, ShareSymbol))
    return {letter: tuple(event for event in events if event.share == letter) for letter in letters}


def _fixed(events: Events) -> Events:
    return tuple(event for event in events if not isinstance(event.share, ShareSymbol))


def _names(free: Mapping[ShareSymbol, Events]) -> list[str]:
    return [events[0].name for events in free.values()]


def _weights(free: Mapping[ShareSymbol, Events], given: Mapping[str, Any] | None) -> dict[str, sp.Expr]:
    """By the letter of the share. Raises DerivationError for weights of other events, and for too large ones."""
    names = _names(free)
    weights = {name: sp.Rational(1, len(free)) for name in names} if given is None else dict(given)
    exact = {
        name: sp.Rational(weight) if isinstance(weight, float) else as_expr(weight) for name, weight in weights.items()
    }
    if sorted(exact) != sorted(names) or any(w.is_nonpositive for w in exact.values()) or sum(exact.values()) > 1:
        raise DerivationError(
            f"within_budget: the weights are {given}; give a positive one to each of {', '.join(sorted(names))}, in "
            f"all at most 1"
        )
    return {letter.name: exact[events[0].name] for letter, events in free.items()}


def with_shares(x: Approximated, shares: Mapping[Any, sp.Expr]) -> Approximated:
    """x with these expressions in the place of free shares, in all its steps."""
    return replace(
        x,
        dim=x.dim.xreplace(dict(shares)),
        size=x.size.xreplace(dict(shares)),
        radius=None if x.radius is None else x.radius.xreplace(dict(shares)),
        derivation=Derivation(tuple(_step_with(step, shares) for step in x.derivation.steps)),
    )


def _step_with(step: Step, shares: Mapping[Any, sp.Expr]) -> Step:
    if not step.events and not step.local.free_symbols & set(shares):
        return step
    recursion = step.recursion
    return replace(
        step.with_bounds(lambda bound: bound.xreplace(dict(shares))),
        events=tuple(event.xreplace(dict(shares)) for event in step.events),
        obligations=tuple(each.subs(shares) for each in step.obligations if not _is_of(each, shares)),
        recursion=recursion.subs(shares) if isinstance(recursion, LinearRecursion) else recursion,
        operation=_operation_with(step.operation, shares),
    )


def _is_of(obligation: Obligation, shares: Mapping[Any, sp.Expr]) -> bool:
    """Whether it says that one of these shares is a probability: the budget sees to that."""
    return isinstance(obligation, ShareObligation) and bool(obligation.condition.free_symbols & set(shares))


def _operation_with(operation: Operation | None, shares: Mapping[Any, sp.Expr]) -> Operation | None:
    return (
        replace(operation, layer=with_shares(operation.layer, shares))
        if isinstance(operation, Repetition)
        else operation
    )


# At a minimum of the bound under sum c_k s_k = delta all dB/ds_k are in proportion to c_k (rule 9, by Lagrange): the
# weight of event k is in proportion to -s_k dB/ds_k. That number varies slowly with the shares, and setting the weights
# to it again and again settles. Whatever it settles at is a valid choice.
def best_shares(x: Approximated, *, delta: Any, at: Mapping[sp.Symbol, Any]) -> dict[str, sp.Rational]:
    """The weights of the events that minimise the bound, `within_budget(x, ..., weights=...)`, at one point.

    `at` gives the letters of the bound numbers. The weights are good choices near that point, and valid at all.
    """
    free = _free(x.events)
    values = {letter: as_expr(value) for letter, value in at.items()}
    counts = [sp.Add(*(event.count for event in events)).xreplace(values) for events in free.values()]
    budget = (as_expr(delta) - total_failure(_fixed(x.events))).xreplace(values)
    bound = x.error.xreplace(values)
    unknown = (bound.free_symbols | sp.Add(*counts, budget).free_symbols) - set(free)
    if unknown or not free:
        named = ", ".join(sorted(map(str, unknown))) or "no free share"
        raise DerivationError(f"best_shares: '{x.name}' has {named}; give each letter but the shares a number in `at`")
    elasticities = sp.lambdify(list(free), [-letter * sp.diff(bound, letter) for letter in free], "mpmath")
    weights = [mpmath.mpf(1) / len(free)] * len(free)
    for _ in range(ROUNDS):
        shares = [
            w * mpmath.mpf(sp.N(budget, 20)) / mpmath.mpf(sp.N(c, 20)) for w, c in zip(weights, counts, strict=True)
        ]
        found = elasticities(*shares)
        weights = [each / sum(found) for each in found]
    return dict(zip(_names(free), map(_rounded_down, weights), strict=True))


def _rounded_down(weight: Any) -> sp.Rational:
    """A fraction of at most this weight, so that all of them add up to at most 1."""
    return sp.Rational(max(1, int(mpmath.floor(weight * DENOMINATOR))), DENOMINATOR)
