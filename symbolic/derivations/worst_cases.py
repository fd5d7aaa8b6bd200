"""Worst cases of letters. One may be a formula in others, `{a: 1/2, S: 1/(1 - a)}`.

A formula that holds under a condition (a < 1) is typed in those letters: an instance that knows a evaluates both, the
formula and the condition, at the a that it knows. Typed at the worst case of a it would hold under another condition
than the one that the instance decides.
"""

from collections.abc import Mapping

import sympy as sp

from symbolic.derivations.obligations import DerivationError

NO_NUMBERS = (sp.nan, sp.zoo, sp.I)  # in a formula at a worst case beyond its condition: 1/(1 - a) at a = 1


def where_real(formula: sp.Basic) -> sp.Basic:
    """The formula or condition; nan where it is at values at which it is no real number."""
    return sp.nan if formula.has(*NO_NUMBERS) else formula


def closed(values: Mapping[sp.Symbol, sp.Expr]) -> dict[sp.Symbol, sp.Expr]:
    """Each value with every letter replaced by its own value, until none is left that has one.

    A letter whose value is itself stays. Raises DerivationError for values that go round in a circle.
    """
    own = {letter: value for letter, value in values.items() if value != letter}
    found = dict(values)
    for _ in own:
        if not any(value.free_symbols & own.keys() for letter, value in found.items() if letter in own):
            return found
        found = {letter: value.xreplace(own) if letter in own else value for letter, value in found.items()}
    if circle := sorted(str(s) for s in own if found[s].free_symbols & own.keys()):
        raise DerivationError(f"the worst cases of {', '.join(circle)} refer to each other; give one of them a value")
    return found
