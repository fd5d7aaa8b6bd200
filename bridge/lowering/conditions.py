"""Conditions on numbers and balls, decided rigorously."""

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy as sp

from bridge.lowering import LoweringError
from bridge.lowering.ball_values import as_exact, evaluate_ball
from numeric.balls.decisions import both, either, negation
from symbolic.derivations.worst_cases import where_real
from symbolic.words.errors import UsageError

Claim = tuple[sp.Expr, bool]  # expressions that must be >= 0, or > 0 where True
COMPARISONS = {sp.Ge: (1, False), sp.Gt: (1, True), sp.Le: (-1, False), sp.Lt: (-1, True)}


@lru_cache(maxsize=1024)
def bound_to(condition: Any, letters: frozenset[tuple[sp.Symbol, Any]]) -> Any:
    """The condition with these symbols replaced; nan, which nothing decides, where it then compares no real numbers.

    Cached: a search uses the same one at every point.
    """
    try:
        bound = sp.sympify(condition, strict=True).subs(dict(letters))
    except TypeError:  # SymPy orders no complex numbers
        return sp.nan
    return where_real(bound)


@lru_cache(maxsize=1024)
def claims_of(condition: Any) -> tuple[Claim, ...]:
    """The inequalities that a condition consists of; none for one that is true. Raises UsageError for another kind."""
    if condition == sp.true:
        return ()
    if isinstance(condition, sp.And):
        return tuple(claim for part in sorted(condition.args, key=str) for claim in claims_of(part))
    if isinstance(condition, sp.Eq):
        difference = condition.lhs - condition.rhs
        return (difference, False), (-difference, False)
    if type(condition) in COMPARISONS:
        sign, strict = COMPARISONS[type(condition)]
        return ((sign * (condition.lhs - condition.rhs), strict),)
    raise UsageError(f"the condition {sp.sstr(condition)} is not an inequality, so it cannot be proved on a box")


# Each inequality is decided by a ball that contains both of its sides' difference; where the ball straddles 0 (an
# equality, say) and all numbers are rational, SymPy's exact arithmetic decides.
def truth(condition: Any, values: Mapping[sp.Symbol, Any]) -> bool | None:
    """Whether a condition holds at these values (numbers or balls), rigorously; None if this is undecided."""
    if condition in (sp.true, sp.false):
        return bool(condition)
    if isinstance(condition, sp.And | sp.Or):
        together = both if isinstance(condition, sp.And) else either
        return together(*(truth(part, values) for part in condition.args))
    if isinstance(condition, sp.Not):
        return negation(truth(condition.args[0], values))
    if isinstance(condition, sp.Ne):
        return negation(truth(sp.Eq(condition.lhs, condition.rhs), values))
    try:
        return both(*(_sign_shows(expression, strict, values) for expression, strict in claims_of(condition)))
    except (UsageError, LoweringError):
        return None


def _sign_shows(expression: sp.Expr, strict: bool, values: Mapping[sp.Symbol, Any]) -> bool | None:
    if not expression.free_symbols <= set(values):
        return None
    at = {symbol: as_exact(values[symbol]) for symbol in expression.free_symbols}
    ball = evaluate_ball(expression, at)
    if ball > 0 or (ball >= 0 and not strict):
        return True
    if ball < 0 or (ball <= 0 and strict):
        return False
    exact = {s: sp.Rational(x) for s, x in at.items() if isinstance(x, int | Fraction)}
    number = expression.xreplace(exact) if len(exact) == len(at) else sp.nan
    if not number.is_Rational:
        return None
    return bool(number > 0) if strict else bool(number >= 0)
