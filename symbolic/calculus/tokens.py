"""Rule 4, along tokens: all of them less their mean, those of two values one after the other, some of them."""

from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from symbolic.derivations.derivation import Approximated, DerivationError, Obligation, as_expr, rule_step
from symbolic.derivations.obligations import at_most, whole
from symbolic.derivations.operations import Operation


@dataclass(frozen=True)
class Centring(Operation):
    """Each token less the mean of all, of which there are at most `count`."""

    count: sp.Expr = field(compare=False)


@dataclass(frozen=True)
class TokensAppended(Operation):
    """The tokens of the first value, then those of the second; a vector is one token."""


@dataclass(frozen=True)
class TokenAt(Operation):
    """The token at that place, from the end on where it is negative, or those from a first place up to another."""

    place: int | tuple[int, int | None]


def centring_factor(count: Any) -> sp.Expr:
    """How much farther than its tokens a token of `count` may be from their mean."""
    return 2 * (1 - 1 / as_expr(count))


# With m the mean of n tokens v_j, v_i - m = (1/n) sum_{j != i} (v_i - v_j). If all of them are within r of some c, then
# ||v_i - v_j|| <= 2 r and ||v_i - m|| <= 2 (1 - 1/n) r: so for the errors, around 0, and for the exact tokens. Those
# are moved by one vector, and stay within r of c - m. Equality: one token at c + r u, all others at c - r u.
def centre(x: Approximated, name: str, *, count: Any, reason: str = "") -> Approximated:
    """The `count` tokens of x (or fewer), each less the mean of all."""
    count = as_expr(count)
    factor, radius = centring_factor(count), x.radius_symbol
    step = rule_step(
        name,
        x.norm,
        "centring",
        factor * x.error_symbol,
        obligations=whole("centre", name, least=1, count=count),
        reason=reason or "since a token is the mean of its distances from all tokens away from their mean",
        operation=Centring(count),
    )
    return x.follows(step, dim=x.dim, size=factor * radius, radius=radius)


# Each token obeys the bounds of its own value. Equality: any. Tokens that are centred have the mean 0, which is as near
# to any centre of theirs as they are, so that tokens that are 0 stand within the same radius.
def append(x: Approximated, y: Approximated, name: str, *, reason: str = "") -> Approximated:
    """The tokens of x, then those of y; a vector is one token.

    The radius of centred tokens (`centre`) is kept where the others are 0.
    """
    if x.norm is not y.norm or sp.simplify(x.dim - y.dim) != 0:
        raise DerivationError(
            f"append: '{x.name}' is bounded in R^{x.dim} in the {x.norm}-norm and '{y.name}' in R^{y.dim} in the "
            f"{y.norm}-norm; both have to be one (change_norm)"
        )
    step = rule_step(
        name,
        x.norm,
        "appended tokens",
        sp.Max(x.error_symbol, y.error_symbol),
        reason=reason or "since each token is one of them",
        operation=TokensAppended(),
    )
    radius = _radius_beside_zero(x, y) or _radius_beside_zero(y, x)
    return x.follows(step, y, dim=x.dim, size=sp.Max(x.size_symbol, y.size_symbol), radius=radius)


def _radius_beside_zero(x: Approximated, y: Approximated) -> sp.Expr | None:
    return x.own_radius if isinstance(x.derivation.step(x.name).operation, Centring) and y.size.is_zero else None


# ||v_hat_i - v_i|| is at most the bound on all tokens. Equality: the token with the largest error.
def token(x: Approximated, name: str, *, place: Any, count: Any, reason: str = "") -> Approximated:
    """One of the `count` tokens of x: the one at `place`, from 0 on, or from -1 on backwards.

    Some of them: `place` is a pair, of the first and of the one after the last (None: up to the end).
    """
    first, *stop = place if isinstance(place, tuple) and len(place) == 2 else (place,)
    if not _is_place(first) or not all(each is None or _is_place(each) for each in stop):
        raise DerivationError(
            f"token: the place of '{name}' is {place!r}; give a whole number, such as -1, or a pair, such as (0, -1)"
        )
    count = as_expr(count)
    owed = whole("token", name, least=1, count=count)
    among = _some(name, place, count) if stop else _among(name, first, count)
    step = rule_step(
        name,
        x.norm,
        "some tokens" if stop else "one token",
        x.error_symbol,
        obligations=(*owed, *among),
        reason=reason or ("since each is one of them" if stop else "since it is one of them"),
        operation=TokenAt(place),
    )
    flags = {"probabilities": x.probabilities, "affine": x.affine}
    return x.follows(step, dim=x.dim, size=x.size_symbol, radius=x.own_radius, **flags)


def _is_place(given: Any) -> bool:
    return isinstance(given, int) and not isinstance(given, bool)


def tokens_between(place: tuple[int, int | None], count: Any) -> sp.Expr:
    """How many of `count` tokens stand from the first place up to the other one, which counts no more."""
    first, last = (end if end >= 0 else as_expr(count) + end for end in (place[0], 0 if place[1] is None else place[1]))
    return sp.Add(as_expr(count) if place[1] is None else last, -first)


def _some(name: str, place: tuple[int, int | None], count: sp.Expr) -> tuple[Obligation, ...]:
    first, stop = place
    owed = at_most(f"there are enough tokens for '{name}'", sp.S.One, tokens_between(place, count))
    ends = (*([first] if first < 0 else []), *([stop - 1] if stop is not None and stop > 0 else []))
    needed = (each for end in ends for each in _among(name, end, count))  # a first place counted from 0 follows
    return (*needed, *((owed,) if owed.open else ()))


def _among(name: str, place: int, count: sp.Expr) -> tuple[Obligation, ...]:
    needed = sp.Integer(place + 1 if place >= 0 else -place)
    owed = at_most(f"there are enough tokens for '{name}'", needed, count)
    return (owed,) if owed.open else ()
