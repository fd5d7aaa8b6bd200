"""Rule 7 for a network of equal layers: one layer is derived, and repeated to any symbolic depth."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from symbolic.calculus.layers import iterate, recursion_from
from symbolic.calculus.recursions import LinearRecursion
from symbolic.derivation import Approximated, DerivationError, Step, as_expr, error_symbol, given, with_operation
from symbolic.obligations import Obligation, shown_at_most
from symbolic.operations import Operation

FIRST_INDEX = 1 << 40  # SymPy counts its own from below 10^7


@dataclass(frozen=True)
class Repetition(Operation):
    """`depth` equal layers, one after the other: `layer` is derived from its premise `premise`.

    A handle of the layer that is bound to a tuple stands for its l-th member in layer l.
    """

    premise: str
    layer: Approximated
    depth: sp.Expr

    @property
    def handles(self) -> tuple[str, ...]:
        inner = (step.operation for step in self.layer.derivation.steps if step.name != self.premise)
        return tuple(dict.fromkeys(h for each in inner if each for h in each.handles))


# A layer is derived once, from a premise whose error is a symbol e; its bound is the step of a recursion in e, which
# `iterate` solves for the given depth. Nothing is proved here that these two rules do not prove.
def repeat(x: Approximated, name: str, layer: Callable[[Approximated], Approximated], depth: Any) -> Approximated:
    """The value after `depth` equal layers, starting from x. `layer` derives one of them from its argument.

    The layer has to keep the norm, the dimension and the size of x (tokens in [-1, 1] stay there, say): its argument
    is a given with these, and with an error of its own. Raises DerivationError for a layer that does not.
    """
    premise = given(f"a layer of {name}", dim=x.dim, norm=x.norm, size=x.size, error=_error_of(name))
    one = layer(premise)
    recursion = _recursion(name, premise, one)
    owed = tuple(each for each in _kept(premise, one) if each not in recursion.obligations)
    recursion = replace(recursion, obligations=recursion.obligations + owed)
    found = iterate(x, name, recursion, depth, size=x.size)  # of any depth, 0 too: a layer keeps the size
    return with_operation(found, Repetition(premise.name, one, as_expr(depth)))


def steps_of_one_layer(step: Step) -> tuple[Step, ...]:
    """The steps of one layer of a repetition, in its argument's error e_l; their obligations are those of `step`."""
    if not isinstance(step.operation, Repetition) or step.recursion is None:
        return ()
    premise, before = step.operation.premise, sp.Symbol("e_l", nonnegative=True)
    return tuple(
        replace(
            each,
            local=each.local.xreplace({error_symbol(premise): before}),
            premises=tuple("its argument" if name == premise else name for name in each.premises),
            obligations=(),
        )
        for each in step.operation.layer.derivation.steps
        if each.name != premise
    )


# The same letter for the same name, so that a value that is derived twice is derived alike; no other symbol equals it.
def _error_of(name: str) -> sp.Dummy:
    return sp.Dummy("e", dummy_index=FIRST_INDEX + zlib.crc32(name.encode()), nonnegative=True)


def _recursion(name: str, premise: Approximated, one: Approximated) -> LinearRecursion:
    try:
        return recursion_from(premise, one)
    except DerivationError as error:
        raise DerivationError(
            f"repeat: one layer of '{name}' has the bound {sp.sstr(one.error)}, and the size {sp.sstr(one.size)} for "
            f"an argument of size {sp.sstr(premise.size)}; a layer needs a bound that is affine in the error "
            f"{premise.error} of its argument (softmax(..., affine=True) has one) and has to keep its size ({error})"
        ) from error


# A bound that does not depend on the size of the premise lets layers differ in it (`recursion_from`). Equal layers
# have one size for all depths, so here the layer has to keep it in any case.
def _kept(premise: Approximated, one: Approximated) -> tuple[Obligation, ...]:
    """The obligation under which the layer keeps the size of its argument, if that is not certain."""
    if sp.simplify(one.dim - premise.dim) != 0:
        raise DerivationError(f"repeat: '{one.name}' has {one.dim} coordinates, and its argument {premise.dim}")
    smaller = shown_at_most(one.size, premise.size)
    if smaller == sp.false:
        raise DerivationError(f"repeat: '{one.name}' has the size {one.size}, above that of its argument")
    obligation = Obligation(f"the size of '{one.name}' is at most that of the layer's premise", smaller)
    return (obligation,) if obligation.open else ()
