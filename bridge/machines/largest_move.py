"""The largest move of all parameters under which every condition surely holds: rule 11's inversion, with Arb's word."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import sympy as sp

from bridge.balls import as_exact, evaluate_ball
from bridge.lowering import lower

STEPS = 60  # of the bisection
RETREAT = 1e-9  # relative: from the bisection's floats to what balls confirm


@dataclass(frozen=True)
class Condition:
    """`bound`, in `unknown` and symbols that `values` bind, has to stay at most `limit` (below it, if `strict`)."""

    name: str
    bound: sp.Expr
    values: Mapping[sp.Symbol, Any]
    limit: Any
    strict: bool = False

    def holds(self, unknown: sp.Symbol, at: float) -> bool:
        """By balls: True only if it surely holds."""
        known = {s: as_exact(v) for s, v in {**self.values, unknown: at}.items() if s in self.bound.free_symbols}
        difference = evaluate_ball(sp.sympify(self.limit) - self.bound, known)
        return bool(difference > 0) if self.strict else bool(difference >= 0)


@dataclass(frozen=True)
class LargestMove:
    """The move, certified, and which condition stands in the way of a larger one."""

    move: float
    binding: str


def largest_move(conditions: Sequence[Condition], unknown: sp.Symbol, *, most: float = 1.0) -> LargestMove:
    """The largest `unknown` in (0, most] at which every condition holds, up to the bisection's accuracy.

    The conditions are upper bounds that stay valid for smaller moves. Raises ValueError if balls confirm no point.
    """
    found = [(_crossing(each, unknown, most), each.name) for each in conditions]
    move, binding = min(found)
    for _ in range(STEPS):
        if move > 0 and all(each.holds(unknown, move) for each in conditions):
            return LargestMove(move, binding)
        move *= 1 - RETREAT if move > 0 else 1.0
    raise ValueError(f"largest_move: no {unknown} > 0 is confirmed; '{binding}' stands in the way")


@lru_cache(maxsize=64)
def _lowered(bound: sp.Expr, symbols: tuple[sp.Symbol, ...]) -> Any:
    return lower(bound, "numpy", args=symbols)


def _crossing(condition: Condition, unknown: sp.Symbol, most: float) -> float:
    """Where the bound reaches its limit, by bisection in floats; `most` if it does not."""
    symbols = tuple(sorted(condition.bound.free_symbols - {unknown}, key=str))
    bound = _lowered(condition.bound, (unknown, *symbols))
    numbers = [float(condition.values[symbol]) for symbol in symbols]
    below, above, limit = 0.0, most, float(condition.limit)
    if float(bound(most, *numbers)) <= limit:
        return most
    for _ in range(STEPS):
        middle = (below + above) / 2
        below, above = (middle, above) if float(bound(middle, *numbers)) <= limit else (below, middle)
    return below
