"""Rule 13: means of random draws, the maximum over many of them, a cover of a class, and a budget of probability.

A conclusion holds on *events* (symbolic/events.py), which every later rule passes on: the bound of the derivation then
holds with a probability of at least 1 minus the sum of their shares, over the randomness that they name.

    one = given("one draw", dim=1, size=B)
    mean = sample_mean(one, "mean", count=n, event=Event("features", over="the draw of Lambda"))
    all_of_them = cover(mean, "class", members=m, radius=eps, lipschitz=L)  # or union_bound(mean, ..., members=m)
    within_budget(all_of_them, "error", delta=delta)  # B sqrt(2 log(2 m/delta)/n) + 2 L eps
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import mpmath
import sympy as sp

from symbolic.calculus.recursions import LinearRecursion
from symbolic.calculus.repetition import Repetition
from symbolic.derivation import (
    Approximated,
    Derivation,
    DerivationError,
    Norm,
    Obligation,
    Step,
    as_expr,
    require_norm,
    rule_step,
)
from symbolic.events import Event, Events, ShareSymbol, total_failure
from symbolic.obligations import at_most, nonnegative, positive, whole
from symbolic.operations import Operation

FINEST = sp.Rational(1, 2**52)  # radius of a cover: between 1 and 2, float64 numbers are that far apart
ROUNDS = 100  # of the search for the best shares
DENOMINATOR = 10**9  # of a share of the budget


class ShareObligation(Obligation):
    """That a probability lies in (0, 1]."""


def _probability(what: str, share: sp.Expr) -> tuple[Obligation, ...]:
    low = ShareObligation(f"{what} is positive", sp.true if share.is_positive else sp.Gt(share, 0))
    high = ShareObligation(f"{what} is at most 1", at_most(what, share, sp.Integer(1)).condition)
    return tuple(each for each in (low, high) if each.open)


# --- means of n draws ------------------------------------------------------------------------------------------------


# Hoeffding: for independent Z_i with E exp(s (Z_i - mu_i)) <= exp(s^2 sigma^2 / 2) for all real s, and s = n t/sigma^2,
#   P(mean Z - mean mu >= t) <= exp(-s t) prod E exp(s (Z_i - mu_i) / n) <= exp(-n t^2 / (2 sigma^2)),
# and the same for -Z. Draws in an interval of length 2c have sigma = c (Hoeffding's lemma). There are two signs and dim
# coordinates; the share of failure is 2 dim exp(-n t^2 / (2 sigma^2)) at t = sigma sqrt(2 log(2 dim / share) / n). The
# approximate draws are within e of the exact ones, and so are their means.
# Not sharp: for normal draws, n = 1 and share = 1/100, the bound over the true quantile is 1.26, and it tends to 1 as
# the share tends to 0. For shares of at most 1/2 the largest known ratio is 2.47 (share 1/2).
def sample_mean(
    x: Approximated, name: str, *, count: Any, event: Event, sub_gaussian: Any = None, reason: str = ""
) -> Approximated:
    """The mean of `count` independent draws of x_hat against the expectation of x, on an event (Hoeffding).

    Each draw of x has the bounds of x in the sup norm, whatever is drawn: its coordinates lie within x's radius (else
    its size) of a centre. `sub_gaussian`: instead each coordinate deviates from its expectation by a sub-Gaussian
    number, E exp(s z) <= exp(s^2 sigma^2 / 2), and the size of x bounds the expectation alone (0 for noise). The draws
    need not be of one distribution; the expectation is then the mean of theirs. Nothing else that x depends on may
    depend on the draws: raises DerivationError if x rests on an event over the same randomness.
    """
    require_norm("sample_mean", x, Norm.INF)
    count, spread = as_expr(count), _spread("sample_mean", x, sub_gaussian)
    _require_independent(x, event)
    share = as_expr(event.share)
    step = rule_step(
        name,
        Norm.INF,
        "sample mean",
        x.error_symbol + spread * sp.sqrt(2 * sp.log(2 * x.dim / share) / count),
        premises=(x.name,),
        reason=reason or f"Hoeffding's inequality for {sp.sstr(count)} independent draws",
        obligations=(
            *whole("sample_mean", name, least=1, count=count),
            *nonnegative("sample_mean", name, sigma=spread),
            *_probability(f"share of {event.name}", share),
        ),
        sharp=False,
        events=(event,),
    )
    return x.follows(step, dim=x.dim, size=x.size, radius=x.radius)


# With Z_j the deviation of the mean in coordinate j of member k, of the 2 dim m numbers +-Z_j the largest has
#   exp(s E max) <= E sum exp(s Z) <= 2 dim m exp(s^2 sigma^2 / (2n)),
# s = sqrt(2 n log(2 dim m)) / sigma; and E max |Z_j| <= sqrt(E sum Z_j^2) <= sqrt(dim m) sigma / sqrt(n). In the
# 2-norm E ||mean - mu|| <= sqrt(E ||mean - mu||^2) = sqrt(mean of E ||z_i - mu_i||^2 / n), and the deviation from mu is
# at most that from any centre. Equality: one draw of +-c, one coordinate, one member.
def expected_mean(
    x: Approximated,
    name: str,
    *,
    count: Any,
    over: str,
    members: Any = 1,
    deviation: Any = None,
    sub_gaussian: Any = None,
    reason: str = "",
) -> Approximated:
    """The mean of `count` independent draws of x_hat against the expectation of x: the error in expectation over them.

    x as in `sample_mean`, in the sup norm for the largest error of `members` such means, or in the 2-norm for one.
    `deviation` bounds the root of the mean square deviation (of each coordinate; in the 2-norm of the vector), where
    draws are not bounded. In the 2-norm the bound is one on the root of the mean square error too.
    """
    require_norm("expected_mean", x, Norm.INF, Norm.TWO)
    if not over:
        raise DerivationError(f"expected_mean: '{name}' names no randomness; say what is drawn, over='the sample'")
    count, members = as_expr(count), as_expr(members)
    spread = _spread("expected_mean", x, deviation if deviation is not None else sub_gaussian)
    if x.norm is Norm.TWO and members != 1:
        raise DerivationError("expected_mean: several members are bounded in the sup norm; apply change_norm first")
    if x.norm is Norm.TWO and deviation is None and sub_gaussian is not None:
        raise DerivationError(
            f"expected_mean: sub_gaussian is about one coordinate, and '{x.name}' is bounded in the 2-norm; give "
            f"deviation, the root of the mean square of the 2-norm"
        )
    step = rule_step(
        name,
        x.norm,
        "expected mean",
        x.error_symbol + spread * _largest(x, members, by_variance=deviation is not None) / sp.sqrt(count),
        premises=(x.name,),
        reason=reason or f"variance of the mean of {sp.sstr(count)} independent draws",
        obligations=(
            *whole("expected_mean", name, least=1, count=count),
            *nonnegative("expected_mean", name, sigma=spread),
            *_members("expected_mean", name, members),
        ),
        mean_over=over,
    )
    return x.follows(step, dim=x.dim, size=x.size, radius=x.radius)


def _largest(x: Approximated, members: sp.Expr, *, by_variance: bool) -> sp.Expr:
    """How much larger the expectation of the largest deviation is than the spread of one."""
    several = members * (x.dim if x.norm is Norm.INF else 1)
    root, logarithm = sp.sqrt(several), sp.sqrt(2 * sp.log(2 * several))
    return root if several == 1 or by_variance else sp.Min(root, logarithm)


def _spread(rule: str, x: Approximated, sigma: Any) -> sp.Expr:
    """The sub-Gaussian parameter of a draw: half the width of its range, or the one that is given."""
    if sigma is None:
        return x.size if x.radius is None else x.radius
    sigma = as_expr(sigma)
    if sigma.is_finite is False or sigma.is_negative or sigma is sp.nan:
        raise DerivationError(
            f"{rule}: the draws of '{x.name}' have sigma = {sp.sstr(sigma)}, so they are not sub-Gaussian; give a "
            f"finite sigma >= 0, or draws that are bounded"
        )
    return sigma


def _require_independent(x: Approximated, event: Event) -> None:
    used = [other.name for other in x.events if other.over == event.over]
    if used:
        raise DerivationError(
            f"sample_mean: '{x.name}' already rests on {', '.join(used)}, over {event.over}; draws that depend on each "
            f"other have no such mean. Fix the argument, and cover all its values (cover)"
        )


# --- many means at once ----------------------------------------------------------------------------------------------


def _members(rule: str, name: str, members: sp.Expr) -> tuple[Obligation, ...]:
    if (members - 1).is_negative:
        raise DerivationError(f"{rule}: '{name}' has {sp.sstr(members)} members; give at least 1")
    owed = at_most(f"number of members of '{name}'", sp.Integer(1), members)
    return (owed,) if owed.open else ()


# P(one of m events fails) <= m P(one fails). Equality: events that exclude each other.
def union_bound(x: Approximated, name: str, *, members: Any, reason: str = "") -> Approximated:
    """The largest of the errors of `members` values, each bounded as x is: the events of x, that many of each.

    A number of members may be a bound on a covering number, and no whole number.
    """
    members = as_expr(members)
    step = rule_step(
        name,
        x.norm,
        "union bound",
        x.error_symbol,
        premises=(x.name,),
        reason=reason or f"union over {sp.sstr(members)} members",
        obligations=_members("union_bound", name, members),
        members=members,
    )
    flags = {"probabilities": x.probabilities, "affine": x.affine}
    return x.follows(step, dim=x.dim, size=x.size, radius=x.radius, **flags)


# Let c be the member of the cover nearest to f. Then
#   ||x_hat(f) - x(f)|| <= ||x_hat(f) - x_hat(c)|| + ||x_hat(c) - x(c)|| + ||x(c) - x(f)|| <= L r + e + L_exact r,
# where e holds for all m members of the cover at once. Equality: x_hat and x that move apart.
def cover(
    x: Approximated,
    name: str,
    *,
    members: Any,
    radius: Any,
    lipschitz: Any,
    exact_lipschitz: Any = None,
    reason: str = "",
) -> Approximated:
    """The error for every f of a class, from x, the error at one f: union over a cover of radius `radius`.

    The cover has `members` members, and each f is within `radius` of one of them. x_hat is `lipschitz` in f and x is
    `exact_lipschitz` (by default as x_hat is: a mean and its expectation), in the norm of x, whatever is drawn.
    """
    members, radius, moves = as_expr(members), as_expr(radius), as_expr(lipschitz)
    exact_moves = moves if exact_lipschitz is None else as_expr(exact_lipschitz)
    if x.mean_over and members != 1:
        raise DerivationError(
            f"cover: '{x.name}' is bounded in expectation, of which there is no union; give the members to "
            f"expected_mean, and members = 1 here"
        )
    step = rule_step(
        name,
        x.norm,
        "cover",
        x.error_symbol + (moves + exact_moves) * radius,
        premises=(x.name,),
        reason=reason or f"union over a cover with {sp.sstr(members)} members, and the distance to the nearest",
        obligations=(
            *nonnegative("cover", name, lipschitz=moves, exact_lipschitz=exact_moves, radius=radius),
            *_members("cover", name, members),
            *_not_too_fine(name, radius),
        ),
        members=members,
    )
    return x.follows(step, dim=x.dim, size=x.size + exact_moves * radius)


def _not_too_fine(name: str, radius: sp.Expr) -> tuple[Obligation, ...]:
    if radius.is_zero:
        return ()
    if radius.is_number and radius < FINEST:
        raise DerivationError(
            f"cover: the cover of '{name}' has the radius {sp.sstr(radius)}, finer than float64 tells two numbers "
            f"apart; give a radius of at least 2^-52, or 0 for a finite class"
        )
    owed = at_most(f"the cover of '{name}' is no finer than float64", FINEST, radius)
    return (owed,) if owed.open else ()


# --- the budget ------------------------------------------------------------------------------------------------------


# The shares s_k of events that are counted c_k times take sum c_k s_k = delta. With s_k = w_k delta / c_k any weights
# w_k > 0 that add up to at most 1 are allowed. As c_k >= 1, each share is at most delta.
def within_budget(
    x: Approximated, name: str, *, delta: Any, weights: Mapping[str, Any] | None = None, reason: str = ""
) -> Approximated:
    """x with its free shares chosen so that all its events together fail with a probability of at most `delta`.

    Shares are equal, or in proportion to `weights`, by the names of the events (`best_shares` finds good ones).
    """
    delta = as_expr(delta)
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
        premises=(x.name,),
        reason=reason or f"{sp.sstr(left)} shared by {', '.join(_names(free))}",
        obligations=(
            *_probability("delta", delta),
            *(positive("within_budget", name, rest=left) if left != delta else ()),
        ),
    )
    flags = {"probabilities": x.probabilities, "affine": x.affine}
    return chosen.follows(step, dim=chosen.dim, size=chosen.size, radius=chosen.radius, **flags)


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
