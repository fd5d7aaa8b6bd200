"""Expressions at numbers of any kind (floats, tensors, balls), each kind with its own root."""

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import sympy as sp

from symbolic.derivations.derivation import DerivationError
from symbolic.derivations.evaluation import TermByTerm, whole

Root = Callable[[Any], Any]


def root(number: Any) -> Any:
    """The root of a number of any kind: a ball and a tensor know their own."""
    if hasattr(number, "sqrt"):
        return number.sqrt()
    return sp.sqrt(number) if isinstance(number, sp.Basic) else math.sqrt(number)


def evaluate(expression: sp.Expr, values: Mapping[sp.Symbol, Any], *, sqrt: Root = root) -> Any:
    """The expression where its letters are numbers of one kind; sums, products, powers and roots are of that kind.

    Raises DerivationError for a letter without a number, and for a constant that floats do not hold exactly.
    """
    arguments, function = _compiled(expression, sqrt)
    missing = [letter.name for letter in arguments if letter not in values]
    if missing:
        raise DerivationError(f"evaluate: {sp.sstr(expression)} needs numbers for {', '.join(missing)}; give them")
    return function(*(values[letter] for letter in arguments))


@lru_cache(maxsize=4096)
def _compiled(expression: sp.Expr, sqrt: Root) -> tuple[tuple[sp.Symbol, ...], Callable[..., Any]]:
    _require_exact(expression)
    arguments = tuple(sorted(expression.free_symbols, key=str))
    run = {"sqrt": sqrt, "summed": _summed, "multiplied": _multiplied}
    printer = TermByTerm({"fully_qualified_modules": False, "inline": True, "allow_unknown_functions": True})
    return arguments, sp.lambdify(arguments, expression, modules=[run, "math"], printer=printer)


def _summed(term: Callable[[int], Any], first: Any, last: Any) -> Any:
    """Forwards, or nothing."""
    return sum(map(term, range(whole(first), whole(last) + 1)))


def _multiplied(term: Callable[[int], Any], first: Any, last: Any) -> Any:
    return math.prod(map(term, range(whole(first), whole(last) + 1)))


# Constants become floats: a third would be rounded, and a ball around it would not hold it.
def _require_exact(expression: sp.Expr) -> None:
    rounded = {each for each in expression.atoms(sp.Rational) if each.q & (each.q - 1)}
    rounded |= {each for each in sp.preorder_traversal(expression) if each.is_number and not each.is_Rational}
    if rounded:
        names = ", ".join(sorted(map(sp.sstr, rounded)))
        raise DerivationError(f"evaluate: floats do not hold {names} exactly; give a letter in its place")
