"""Rule 13: means of random draws, the maximum over many of them, and a cover of a class; its budget is in `shares`.

A conclusion holds on *events* (symbolic/derivations/events.py), which every later rule passes on: the bound of the
derivation then holds with a probability of at least 1 minus the sum of their shares, over the randomness they name.

    one = given("one draw", dim=1, size=B)
    mean = sample_mean(one, "mean", count=n, event=Event("features", over="the draw of Lambda"))
    all_of_them = cover(mean, "class", members=m, radius=eps, lipschitz=L)  # or union_bound(mean, ..., members=m)
    within_budget(all_of_them, "error", delta=delta)  # B sqrt(2 log(2 m/delta)/n) + 2 L eps
"""

from typing import Any

import sympy as sp

from symbolic.calculus.shares import probability
from symbolic.derivations.derivation import (
    Approximated,
    DerivationError,
    Norm,
    Obligation,
    as_expr,
    require_norm,
    rule_step,
)
from symbolic.derivations.events import Event
from symbolic.derivations.obligations import at_most, nonnegative, real, whole

FINEST = sp.Rational(1, 2**52)  # radius of a cover: between 1 and 2, float64 numbers are that far apart


# --- means of n draws ------------------------------------------------------------------------------------------------


# Hoeffding: for independent Z_i with E exp(s (Z_i - mu_i)) <= exp(s^2 sigma^2 / 2) for all real s, and s = n t/sigma^2,
#   P(mean Z - mean mu >= t) <= exp(-s t) prod E exp(s (Z_i - mu_i) / n) <= exp(-n t^2 / (2 sigma^2)),
# and the same for -Z. Draws in an interval of length 2c have sigma = c (Hoeffding's lemma). There are two signs and dim
# coordinates; the share of failure is 2 dim exp(-n t^2 / (2 sigma^2)) at t = sigma sqrt(2 log(2 dim / share) / n). The
# approximate draws are within e of the exact ones, and so are their means.
# Not sharp, but nearly: let a draw be +-t with the probability share/2 each, else 0, with the largest t for which it is
# sub-Gaussian with sigma = 1. It deviates by t with the probability of the share, and the bound over t is 1.18 at a
# share of 1/2, the largest ratio known for shares of at most 1/2; it is 1.0005 at 1/100 and tends to 1 as the share
# tends to 0. Draws in an interval: n draws of +-c are all alike with the probability 2^(1-n), where the ratio is
# sqrt(2 log 2) = 1.18 for every n; for many draws, whose mean is about normal, it is 1.26 at 1/100, and tends to 1.
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
        reason=reason or f"by Hoeffding's inequality for `{sp.sstr(count)}` independent draws",
        obligations=(
            *whole("sample_mean", name, least=1, count=count),
            *nonnegative("sample_mean", name, sigma=x.closed(spread)),
            *probability(f"share of {event.name}", share),
        ),
        sharp=False,
        events=(event,),
    )
    return x.follows(step, dim=x.dim, size=x.size_symbol, radius=x.own_radius)


# With Z_j the deviation of the mean in coordinate j of member k, of the 2 dim m numbers +-Z_j the largest has
#   exp(s E max) <= E sum exp(s Z) <= 2 dim m exp(s^2 sigma^2 / (2n)),
# s = sqrt(2 n log(2 dim m)) / sigma; and E max |Z_j| <= sqrt(E sum Z_j^2) <= sqrt(dim m) sigma / sqrt(n). In the
# 2-norm E ||mean - mu|| <= sqrt(E ||mean - mu||^2) = sqrt(mean of E ||z_i - mu_i||^2 / n), and the deviation from mu is
# at most that from any centre. Equality: one draw of +-c, one coordinate, one member; in the 2-norm along any
# direction; of m members by the variance: one of them, drawn at random, deviates by +-sqrt(m) sigma, the others by 0.
# For sub-Gaussian draws the same, with as much as they may deviate, has a ratio of at most 1.03 for m > 1.
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
    owed = _members("expected_mean", name, members)
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
        reason=reason or f"by the variance of the mean of `{sp.sstr(count)}` independent draws",
        obligations=(
            *whole("expected_mean", name, least=1, count=count),
            *nonnegative("expected_mean", name, sigma=x.closed(spread)),
            *owed,
        ),
        mean_over=over,
    )
    return x.follows(step, dim=x.dim, size=x.size_symbol, radius=x.own_radius)


def _largest(x: Approximated, members: sp.Expr, *, by_variance: bool) -> sp.Expr:
    """How much larger the expectation of the largest deviation is than the spread of one."""
    several = members * (x.dim if x.norm is Norm.INF else 1)
    root, logarithm = sp.sqrt(several), sp.sqrt(2 * sp.log(2 * several))
    return root if several == 1 or by_variance else sp.Min(root, logarithm)


def _spread(rule: str, x: Approximated, sigma: Any) -> sp.Expr:
    """The sub-Gaussian parameter of a draw: half the width of its range, or the one that is given."""
    if sigma is None:
        return x.radius_symbol
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
    real(rule, name, members=members)
    if (members - 1).is_negative:
        raise DerivationError(f"{rule}: '{name}' has {sp.sstr(members)} members; give at least 1")
    owed = at_most(f"there are members of '{name}'", sp.Integer(1), members)
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
        reason=reason or f"by a union bound over `{sp.sstr(members)}` members",
        obligations=_members("union_bound", name, members),
        members=members,
    )
    flags = {"probabilities": x.probabilities, "affine": x.affine}
    return x.follows(step, dim=x.dim, size=x.size_symbol, radius=x.own_radius, **flags)


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
        reason=reason or f"by a union bound over a cover of `{sp.sstr(members)}` members, one of them near",
        obligations=(
            *nonnegative("cover", name, lipschitz=moves, exact_lipschitz=exact_moves, radius=radius),
            *_members("cover", name, members),
            *_not_too_fine(name, radius),
        ),
        members=members,
    )
    return x.follows(step, dim=x.dim, size=x.size_symbol + exact_moves * radius)


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
