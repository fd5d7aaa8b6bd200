"""The largest perturbation of all parameters at which every condition surely holds: rule 11, confirmed by balls."""

import math
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
        spare = self._spare(unknown, at)
        return bool(spare > 0) if self.strict else bool(spare >= 0)

    def fails(self, unknown: sp.Symbol, at: float) -> bool:
        """By balls: True only if it surely does not hold."""
        spare = self._spare(unknown, at)
        return bool(spare <= 0) if self.strict else bool(spare < 0)

    def _spare(self, unknown: sp.Symbol, at: float) -> Any:
        spare, symbols = _difference(self.limit, self.bound)
        return evaluate_ball(spare, {s: as_exact(at if s == unknown else self.values[s]) for s in symbols})


@dataclass(frozen=True)
class LargestMove:
    """The move, certified, and the condition that decides it.

    At `above` that condition surely fails, and beyond it too, as its bound grows with the move; infinite if balls
    confirm no such point.
    """

    move: float
    binding: str
    above: float = math.inf


def largest_move(conditions: Sequence[Condition], unknown: sp.Symbol, *, most: float = 1.0) -> LargestMove:
    """The largest `unknown` in (0, most] at which every condition holds, up to the bisection's accuracy.

    The conditions are upper bounds that stay valid for smaller moves. Raises ValueError if balls confirm no point.
    """
    move, binding = most, conditions[0]
    for each in conditions:
        if (crossing := _crossing(each, unknown, move)) < move:
            move, binding = crossing, each
    for _ in range(STEPS):
        if move > 0 and all(each.holds(unknown, move) for each in conditions):
            return LargestMove(move, binding.name, _failing(binding, unknown, move))
        move *= 1 - RETREAT if move > 0 else 1.0
    raise ValueError(f"largest_move: no {unknown} > 0 is confirmed; '{binding.name}' decides")


def _failing(condition: Condition, unknown: sp.Symbol, move: float) -> float:
    """A point a little above `move` at which the condition surely fails; infinite if there is none so near."""
    points = (move * (1 + 2**k * RETREAT) for k in range(1, 8))
    return next((point for point in points if condition.fails(unknown, point)), math.inf)


@lru_cache(maxsize=64)
def _difference(limit: Any, bound: sp.Expr) -> tuple[sp.Expr, tuple[sp.Symbol, ...]]:
    spare = sp.sympify(limit) - bound
    return spare, tuple(sorted(spare.free_symbols, key=str))


@lru_cache(maxsize=64)
def _lowered(bound: sp.Expr, symbols: tuple[sp.Symbol, ...]) -> Any:
    return lower(bound, "numpy", args=symbols)


def _crossing(condition: Condition, unknown: sp.Symbol, most: float) -> float:
    """Where the bound reaches its limit, by bisection in floats; `most` if it does not."""
    _, every = _difference(condition.limit, condition.bound)
    symbols = tuple(symbol for symbol in every if symbol != unknown)
    bound = _lowered(condition.bound, (unknown, *symbols))
    numbers = [float(condition.values[symbol]) for symbol in symbols]
    below, above, limit = 0.0, most, float(condition.limit)
    if float(bound(most, *numbers)) <= limit:
        return most
    for _ in range(STEPS):
        middle = (below + above) / 2
        below, above = (middle, above) if float(bound(middle, *numbers)) <= limit else (below, middle)
    return below
