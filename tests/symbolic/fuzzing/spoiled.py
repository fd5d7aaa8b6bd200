"""A call of a rule that violates what the rule presupposes of one of its numbers."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import sympy as sp

from symbolic.calculus import DerivationError
from tests.symbolic.fuzzing.evaluation import satisfied

SIGNED = {"slope", "gap", "lead", "rate", "sink", "value", "place"}  # numbers of either sign
COUNTS = {"dim", "depth", "count", "steps", "keys", "place"}


def spoiled(named: Mapping[str, Any], letters: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
    """The numbers among the named arguments, each with what it must not be; `letters` stand for numbers."""
    for key, value in named.items():
        plain = isinstance(value, int | float | sp.Expr) and not isinstance(value, bool) and key != "order"
        if not plain or (isinstance(value, sp.Symbol) and value not in letters):
            continue
        yield key, sp.nan
        if key not in SIGNED:
            yield key, -1
        if key in COUNTS:
            yield key, sp.Rational(5, 2)


def refuses(
    rule: Callable[..., Any], arguments: tuple[Any, ...], named: Mapping[str, Any], letters: Mapping[Any, Any]
) -> bool:
    """Whether the rule raises DerivationError, or owes what is false at these letters; no other exception will do."""
    try:
        found = rule(*arguments, **named)
    except DerivationError:
        return True
    except Exception:
        return False
    last = found.derivation.steps[-1].obligations
    return any(owed.open and not satisfied(owed.condition, letters) for owed in last)
