"""What a derivation starts from, against the domains of the inputs that it names; its end, against the network."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp

from bridge.domains import Domain
from bridge.lowering.conditions import truth
from symbolic.derivations.derivation import Norm, Step
from symbolic.statements.result import Quantity
from symbolic.words.errors import UsageError

Values = Mapping[sp.Symbol, Any]


def require_covered(
    id: str, quantities: Sequence[Quantity], inputs: Mapping[str, Domain], names: Mapping[str, str], values: Values
) -> None:
    """Every given of a derivation that has the name of an input is at least as large as that input.

    `inputs` are domains at numbers, `names` what messages call them. A given that is about something else of that name
    (a row of the input, say) is not compared. Raises UsageError.
    """
    for quantity in quantities:
        steps = quantity.derivation.steps if quantity.derivation is not None else ()
        for step in steps:
            if step.rule == "given" and step.name in inputs:
                _require_covered(id, step, inputs[step.name], names[step.name], quantity, values)


def _require_covered(id: str, step: Step, domain: Domain, name: str, quantity: Quantity, values: Values) -> None:
    dim, size = (sp.sympify(each, strict=True).xreplace(quantity.at_worst) for each in step.about[:2])
    whole = truth(sp.Eq(dim, math.prod(int(each) for each in domain.shape)), values) is True
    if not whole and step.norm is not Norm.INF:
        return
    largest = domain.bound(step.norm)
    if truth(sp.Le(largest, size), values) is False:
        raise UsageError(
            f"{id}: '{quantity.name}' is derived for {step.name} of {step.norm}-norm at most {sp.sstr(size)}, but the "
            f"input {step.name} in {name} has {step.norm}-norm up to {sp.sstr(largest)}; make them agree"
        )


def require_entries(id: str, name: str, expected: sp.Expr, found: int, values: Values) -> None:
    """The arrays of a quantity have as many entries as its derivation is about. Raises UsageError."""
    if truth(sp.Eq(expected, found), values) is False:
        raise UsageError(
            f"{id}: '{name}' has {found} entries in network and reference, but its derivation is about "
            f"{sp.sstr(expected)}; return the array that the derivation concludes{_several(expected, found, values)}"
        )


def _several(expected: sp.Expr, found: int, values: Values) -> str:
    """The dimension to derive instead, where the arrays hold several vectors: L*d, if one parameter is their number."""
    counts = [s for s, x in values.items() if isinstance(x, int) and truth(sp.Eq(expected * x, found), values)]
    letters = [s for s in counts if isinstance(s, sp.Symbol) and s not in expected.free_symbols]
    if letters:
        return f", or derive it for all {letters[0]} of them at once: dim={sp.sstr(letters[0] * expected)}"
    return ""
