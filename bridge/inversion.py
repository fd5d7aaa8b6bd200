"""The largest perturbation at which every condition surely holds: rule 11 for several bounds, confirmed by balls.

One bound with a closed solution is inverted by `largest_safe` (symbolic/calculus/perturbations.py).
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import sympy as sp

from bridge.balls import evaluate_ball, letters_of
from bridge.lowering import lower
from numeric.bisection import last_that_holds
from symbolic.statements import UsageError

STEPS = 60  # of the bisection
RETREAT = 1e-9  # relative: from the bisection's floats to what balls confirm


@dataclass(frozen=True)
class Condition:
    """`bound`, in the perturbation and symbols that `values` bind, has to stay at most `limit` (below it: `strict`).

    Values are numbers or balls, the limit a number. The bound has to be valid for every smaller perturbation too.
    """

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
        return evaluate_ball(_difference(self.limit, self.bound), {**self.values, unknown: at})

    def crossing(self, unknown: sp.Symbol, most: float) -> float:
        """Where the bound reaches its limit, by bisection in floats; `most` if it does not."""
        symbols = tuple(sorted(self.bound.free_symbols - {unknown}, key=str))
        bound, limit = _lowered(self.bound, (unknown, *symbols)), float(self.limit)
        numbers = [float(self.values[symbol]) for symbol in symbols]

        def within(at: float) -> bool:
            return float(bound(at, *numbers)) <= limit

        return most if within(most) else last_that_holds(within, 0.0, most, steps=STEPS)


@dataclass(frozen=True)
class LargestPerturbation:
    """The perturbation, certified, and the name of the condition that decides it.

    At `above` that condition surely fails, and beyond it too where its bound grows; infinite if balls confirm no such
    point near by.
    """

    size: float
    binding: str
    above: float = math.inf


def largest_perturbation(
    conditions: Iterable[Condition], unknown: sp.Symbol, *, most: float = 1.0
) -> LargestPerturbation:
    """The largest `unknown` in (0, most] at which every condition holds, up to the bisection's accuracy.

    The conditions are upper bounds that stay valid for smaller perturbations: what balls confirm at the answer is then
    true of all perturbations up to it.

    Raises UsageError without conditions, for values that are missing, and where balls confirm no point.
    """
    every = tuple(conditions)
    _check(every, unknown, most)
    size, binding = most, every[0]
    for each in every:
        if (crossing := each.crossing(unknown, size)) < size:
            size, binding = crossing, each
    for _ in range(STEPS):
        if size > 0 and all(each.holds(unknown, size) for each in every):
            return LargestPerturbation(size, binding.name, _failing(binding, unknown, size))
        size *= 1 - RETREAT
    raise UsageError(
        f"largest_perturbation: no {unknown} > 0 is confirmed; '{binding.name}' decides: its bound has to be below "
        f"the limit {binding.limit} as {unknown} tends to 0"
    )


def _check(conditions: Sequence[Condition], unknown: sp.Symbol, most: float) -> None:
    if not conditions:
        raise UsageError("largest_perturbation: no conditions came; give at least one")
    if not 0 < most < math.inf:
        raise UsageError(f"largest_perturbation: most = {most}; give a positive finite number")
    for each in conditions:
        letters_of(each.bound, {**each.values, unknown: 0}, f"largest_perturbation: '{each.name}'")


def _failing(condition: Condition, unknown: sp.Symbol, size: float) -> float:
    """A point a little above `size` at which the condition surely fails; infinite if there is none so near."""
    points = (size * (1 + 2**k * RETREAT) for k in range(1, 8))
    return next((point for point in points if condition.fails(unknown, point)), math.inf)


@lru_cache(maxsize=64)
def _difference(limit: Any, bound: sp.Expr) -> sp.Expr:
    return sp.sympify(limit) - bound


@lru_cache(maxsize=64)
def _lowered(bound: sp.Expr, symbols: tuple[sp.Symbol, ...]) -> Callable[..., Any]:
    return lower(bound, "numpy", args=symbols)
