"""Bounds at a prompt that a theorem proves in its own way, and not by a reading of its derivations."""

import inspect
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import flint
import sympy as sp

from bridge.arguments import arguments_of
from bridge.pair import Pair
from bridge.verdicts import Bound
from numeric.exact_cost import TooLargeForExact
from symbolic.statements import Quantity

if TYPE_CHECKING:
    import bridge.theorem_bounds


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


def own_bound(
    case: "bridge.theorem_bounds.TheoremBounds", quantity: Quantity, scope: str, inputs: Any, bits: int
) -> Bound | None:
    """At one prompt, as a proof; None where that is too large for exact arithmetic."""
    given, known = case.theorem.bounds, case.bounds_on_balls.at(inputs, scope, bits)
    names = [each.name for each in case.bounded() if scope in each.scopes]
    function = OwnBounds(given.balls if isinstance(given, Pair) else given, names, scope)
    try:
        known |= known or case.known.exactly(function, case.members(inputs, bits), bits)
    except TooLargeForExact:
        return None
    found = known[quantity.name]
    if isinstance(found, str):
        return Bound(flint.arb("inf"), conditional=True, outside=found)
    return Bound(found.balls[0])
