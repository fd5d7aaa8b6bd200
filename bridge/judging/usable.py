"""Bounds that no premise excuses: an upper bound on a size that is negative, and one that is not a number.

Of a size, such as an error or a count, every upper bound is at least 0. A formula of ours that is negative is none:
where a premise fails it has no number, where one is open it is undecided, and where all of them hold the derivation
contradicts itself. A printed or claimed formula is what somebody states, so a negative one is refuted like any other.
"""

from dataclasses import replace

import flint
import sympy as sp

from bridge.instances.bound import Bound
from bridge.instances.bounds import Bounds
from bridge.instances.inputs import Batch
from bridge.instances.letters import letters_at
from symbolic.derivations.derivation import Norm
from symbolic.statements.catalogue import RUNNING
from symbolic.statements.result import Kind, Quantity
from symbolic.words.prose import joined

Tiers = dict[str, Bound]

OURS = ("derived", "instance")
SIZES = ("norm", "count", "probability", "mean square")  # in the words of `Quantity.norm`, of what a check finds
NO_NUMBER = flint.arb("nan")
OPEN = "its formula gives no bound here, where a premise is open"
UNDEFINED = "its formula is not defined here"


class ContradictionError(AssertionError):
    """A bound of this program that cannot hold, though all of its premises do: a bug of ours."""


def is_size(quantity: Quantity) -> bool:
    """Whether no value of the quantity is negative: errors, norms, counts, probabilities.

    A difference that a check finds, such as the descent of a loss, has either sign.
    """
    an_error = bool(quantity.scopes) or quantity.derivation is not None
    return an_error or quantity.norm in list(Norm) or any(word in quantity.norm for word in SIZES)


def _is_above(quantity: Quantity) -> bool:
    """Whether its bounds are upper ones; that of an error which is 0 is one."""
    return quantity.kind is Kind.UPPER or (quantity.kind is Kind.EXACT and bool(quantity.scopes))


def usable(at: Bounds, quantity: Quantity, scope: str | None, bounds: Tiers, one: Batch | None = None) -> Tiers:
    """The bounds, which are some of those `at` a point, without the numbers of those that say nothing here.

    Raises ContradictionError for a bound of ours that no premise excuses. That of a theorem of the user's own is
    undecided, and a remark says why.
    """
    return {tier: _usable(at, quantity, scope, tier, bound, one) for tier, bound in bounds.items()}


def _usable(at: Bounds, quantity: Quantity, scope: str | None, tier: str, bound: Bound, one: Batch | None) -> Bound:
    undefined = bound.ball.is_nan()
    negative = bool(bound.ball < 0) and _is_above(quantity) and is_size(quantity)
    if not (undefined or negative or bound.impossible):
        return bound
    none = replace(bound, ball=NO_NUMBER)
    if bound.outside:
        return none
    if tier not in OURS:
        return replace(none, remark=_remarked(bound, tier, UNDEFINED)) if undefined else bound
    if bound.conditional:
        return replace(none, remark=_remarked(bound, tier, OPEN))
    if undefined:
        return replace(none, remark=_remarked(bound, tier, UNDEFINED))
    where = tier if scope is None else f"{tier} at one prompt" if scope != "network" else f"{tier} for all prompts"
    words = f"{where}: {_why(at, quantity, scope, bound, one)}"
    if at.letters.known.theorem.id in RUNNING:
        raise ContradictionError(f"{at.letters.known.theorem.id}: '{quantity.name}', {words}")
    return replace(none, remark=joined([bound.remark, words]))


def _remarked(bound: Bound, tier: str, words: str) -> str:
    return joined([bound.remark, f"{tier}: {words}"])


def _why(at: Bounds, quantity: Quantity, scope: str | None, bound: Bound, one: Batch | None) -> str:
    what = bound.impossible or f"its formula is {float(bound.ball):.4g}"
    return (
        f"no upper bound, as {what}, although every premise that its derivation states holds; "
        f"{_letters(at, quantity, scope, one)}"
    )


def _letters(at: Bounds, quantity: Quantity, scope: str | None, one: Batch | None) -> str:
    """The letters of the bound with their values there."""
    if quantity.derivation is None:
        params = at.letters.known.params.items()
        return ", ".join(f"{name} = {value}" for name, value in params if isinstance(value, int | float | str))
    at_hand = {} if scope is None else at.letters.at(scope, one)
    values = letters_at(quantity, at_hand)
    known = {**at.letters.numbers, **at_hand}
    letters = sorted(quantity.general_bound().free_symbols, key=str)
    balls = {
        s: at.letters.ball(sp.sympify(values.get(s, s)), known) if s not in at_hand else at_hand[s] for s in letters
    }
    return ", ".join(f"{letter} = {float(ball):.6g}" for letter, ball in balls.items())
