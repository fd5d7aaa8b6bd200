"""Bounds at a prompt that a theorem proves in its own way, and not by a reading of its derivations."""

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

import flint
import sympy as sp

from bridge.instances.bound import Bound
from bridge.instances.known import Known
from bridge.limits.arguments import arguments_of
from bridge.theorems.pair import Pair
from bridge.theorems.theorem import Theorem
from numeric.balls import BallArray
from numeric.balls.limits import TooLargeForExact


class OwnBounds:
    """Those of some quantities in one scope, as a function of what the theorem's function takes."""

    def __init__(self, given: Any, names: Iterable[str], scope: str) -> None:
        self.given, self.names, self.scope = given, list(names), scope
        self.letters: dict[str, sp.Symbol] = {}
        keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD
        taken = [name for name in arguments_of(given) if name != "scope"]
        self.__signature__ = inspect.Signature([inspect.Parameter(name, keyword) for name in taken])

    def __call__(self, **known: Any) -> dict[str, Any]:
        found = self.given(scope=self.scope, **known)
        return {name: found[name] for name in self.names}


def own_bounds(theorem: Theorem, names: Iterable[str], scope: str) -> OwnBounds:
    """On tensors, for an attack."""
    given = theorem.bounds
    return OwnBounds(given.tensors if isinstance(given, Pair) else given, names, scope)


def own_bounds_at(
    known: Known, names: Iterable[str], scope: str, members: Mapping[str, BallArray], bits: int
) -> dict[str, Bound | None]:
    """By name, at one prompt, as proofs; None where that is too large for exact arithmetic."""
    given, wanted = known.theorem.bounds, list(names)
    function = OwnBounds(given.balls if isinstance(given, Pair) else given, wanted, scope)
    try:
        found = known.exactly(function, members, bits)
    except TooLargeForExact:
        return dict.fromkeys(wanted)
    return {name: _bound(each) for name, each in found.items()}


def _bound(found: Any) -> Bound:
    """A text says which hypothesis is not verified."""
    if isinstance(found, str):
        return Bound(flint.arb("inf"), conditional=True, outside=found)
    return Bound(found.balls[0])
