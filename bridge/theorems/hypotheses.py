"""The hypotheses of a theorem: relations between parameters, and the signs that their symbols assume."""

from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp
from sympy.logic.boolalg import Boolean

from symbolic.statements.result import Hypothesis
from symbolic.words.errors import UsageError

CONTRADICTION = "it contradicts the assumptions of its symbols; or it was written with ==, where sp.Eq is meant"
SIGNS = {"negative": sp.Lt, "nonpositive": sp.Le}
PLAIN = "a hypothesis of the theorem"
UNCHECKED = ("even", "odd", "prime", "composite", "zero", "irrational")  # assumptions of a symbol


def hypothesis_of(given: Any, parameters: Mapping[sp.Symbol, Any]) -> Hypothesis:
    """A relation between parameters, or a `Hypothesis` as it is. Raises UsageError for anything else."""
    if isinstance(given, Hypothesis):
        return given
    if given == sp.false:
        raise UsageError(f"a hypothesis is False whatever the parameters are: {CONTRADICTION}")
    letters = sorted(getattr(given, "free_symbols", ()), key=str)
    if not isinstance(given, Boolean) or not letters or any(letter not in parameters for letter in letters):
        raise UsageError(f"the hypothesis {given} is not a relation between parameters; give one such as n >= 2")
    return Hypothesis(str(letters[0]), given, PLAIN)


def _signs(parameters: Mapping[sp.Symbol, Any]) -> tuple[Hypothesis, ...]:
    """What the symbols themselves assume and the derivation may have used. Raises UsageError for other than signs."""
    found = []
    for symbol in parameters:
        others = [each for each in UNCHECKED if getattr(symbol, f"is_{each}")]
        if others:
            raise UsageError(f"the parameter {symbol} is declared {others[0]}, which is not checked; omit it")
        for declared, relation in SIGNS.items():
            if getattr(symbol, f"is_{declared}"):
                condition = relation(symbol, 0, evaluate=False)
                found.append(Hypothesis(symbol.name, condition, f"{symbol.name} is declared {declared}"))
                break
        if symbol.is_positive:
            least = sp.Ge(symbol, 1, evaluate=False) if symbol.is_integer else sp.Gt(symbol, 0, evaluate=False)
            found.append(Hypothesis(symbol.name, least, f"{symbol.name} is declared positive"))
        elif symbol.is_nonnegative:
            found.append(Hypothesis(symbol.name, sp.Ge(symbol, 0, evaluate=False), f"{symbol.name} is declared >= 0"))
    return tuple(found)


def with_signs(given: Sequence[Hypothesis], parameters: Mapping[sp.Symbol, Any]) -> tuple[Hypothesis, ...]:
    """Those of the symbols first, but for what a `Hypothesis` of the author's states, with a reason of its own."""
    own = [each for each in given if each.reason != PLAIN]
    signs = [each for each in _signs(parameters) if not any(_implies(one.condition, each.condition) for one in own)]
    return *signs, *given


def _implies(one: Any, sign: Any) -> bool:
    """Whether a bound of a parameter from below is at least the one that its sign says."""
    same = isinstance(one, sp.Gt | sp.Ge) and one.lhs == sign.lhs and one.rhs.is_number
    return same and bool(one.rhs > sign.rhs or (one.rhs == sign.rhs and isinstance(one, type(sign) | sp.Gt)))
