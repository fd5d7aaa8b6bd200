"""One of two values, by a condition on letters: each has its own derivation, used in its own case."""

from dataclasses import dataclass
from typing import Any

import sympy as sp

from symbolic.derivations.derivation import Approximated, require_norm, rule_step
from symbolic.derivations.obligations import unless
from symbolic.derivations.operations import Operation


@dataclass(frozen=True)
class Cases(Operation):
    """The first premise where `when` holds at the letters of the instance, the second elsewhere."""

    when: Any


# Each of two derivations is used in its own case only, and has no obligations in the other.
def either(first: Approximated, when: Any, second: Approximated, *, name: str, reason: str = "") -> Approximated:
    """`first` where the relation `when` holds, `second` where it does not; both in one norm."""
    require_norm("either", first, second.norm)
    dim = sp.Piecewise((first.dim, when), (second.dim, True))
    step = rule_step(
        name,
        first.norm,
        "case distinction",
        sp.Piecewise((first.error_symbol, when), (second.error_symbol, True)),
        reason=reason or "each in its own case",
        operation=Cases(when),
    )
    shared = {s.name for s in first.derivation.steps} & {s.name for s in second.derivation.steps}
    here = first.with_obligations(lambda owed: unless(sp.Not(when), owed), shared)
    there = second.with_obligations(lambda owed: unless(when, owed), shared)
    size = sp.Piecewise((first.size_symbol, when), (second.size_symbol, True))
    return here.follows(step, there, dim=dim, size=size)
