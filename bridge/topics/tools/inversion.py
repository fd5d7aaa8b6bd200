"""The largest perturbation at which every condition surely holds: rule 11 for several bounds, by balls.

One bound with a closed solution is inverted by `largest_safe` (symbolic/calculus/perturbations.py).
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import sympy as sp

from bridge.lowering.ball_values import evaluate_ball, letters_of, require_numbers
from numeric.balls import float_below
from numeric.search.bisection import last_that_holds
from symbolic.derivations.exact_numbers import as_formula, as_number, as_positive, exactly, require_symbols
from symbolic.words.errors import UsageError
from symbolic.words.shown import brief

CALL = "largest_perturbation"
STEPS = 53  # of the bisection: the answer and the next float64 above it
MOST = "most"  # what decides where no condition does


@dataclass(frozen=True)
class Condition:
    """`bound`, in the perturbation and symbols that `values` bind, has to stay at most `limit` (below it: `strict`).

    Values are numbers or balls, the limit a number; a float is the binary rational that it is. The bound has to be
    valid for every smaller perturbation too.

    Raises UsageError for a bound that is not an expression, for a limit that is not a finite number and for values that
    are not by symbol.
    """

    name: str
    bound: sp.Expr
    values: Mapping[sp.Symbol, Any]
    limit: Any
    strict: bool = False

    __repr__ = brief

    def __post_init__(self) -> None:
        call = f"Condition {self.name!r}"
        require_symbols(call, "values", self.values)
        object.__setattr__(self, "bound", exactly(as_formula(call, "bound", self.bound)))
        object.__setattr__(self, "limit", as_number(call, "limit", self.limit))

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

    def largest(self, unknown: sp.Symbol, below: float) -> float:
        """The largest point at which it surely holds, below one at which it may not: by halving, then by bisection.

        Raises UsageError where it surely holds at none.
        """

        def holds(at: float) -> bool:
            return self.holds(unknown, at)

        high, low = below, below / 2
        while low > 0 and not holds(low):
            high, low = low, low / 2
        if low == 0:
            raise UsageError(
                f"{CALL}: no {unknown} > 0 is confirmed; '{self.name}' decides: its bound has to be below the limit "
                f"{self.limit} as {unknown} tends to 0"
            )
        return last_that_holds(holds, low, high, steps=STEPS)


@dataclass(frozen=True)
class LargestPerturbation:
    """The perturbation, certified, and the name of the condition that decides it; "most" where the range ends first.

    At `above` that condition surely fails, and beyond it too where its bound grows; infinite if balls confirm no such
    point near by.
    """

    size: float
    binding: str
    above: float = math.inf

    __repr__ = brief


def largest_perturbation(conditions: Iterable[Condition], unknown: sp.Symbol, *, most: Any = 1) -> LargestPerturbation:
    """The largest `unknown` in (0, most] at which every condition surely holds, to the last float64.

    The conditions are upper bounds that stay valid for smaller perturbations: what balls confirm at the answer is then
    true of all perturbations up to it.

    Raises UsageError without conditions, for values that are missing or no numbers, for a `most` that is not positive
    and finite, and where balls confirm no point.
    """
    every = _checked(conditions, unknown)
    size, binding = float_below(evaluate_ball(as_positive(CALL, MOST, most), {})), None
    if size == 0:
        raise UsageError(f"{CALL}: most = {most!s:.80} is below all floats; give a larger one")
    while (next_one := next((each for each in every if not each.holds(unknown, size)), None)) is not None:
        size, binding = next_one.largest(unknown, size), next_one
    if binding is None:
        return LargestPerturbation(size, MOST)
    return LargestPerturbation(size, binding.name, _failing(binding, unknown, size))


def _checked(conditions: Iterable[Condition], unknown: sp.Symbol) -> tuple[Condition, ...]:
    if isinstance(conditions, Condition) or not isinstance(conditions, Iterable):
        raise UsageError(f"{CALL}: conditions = {conditions!r:.80}; give a list of Conditions")
    every = tuple(conditions)
    if not every:
        raise UsageError(f"{CALL}: no conditions came; give at least one")
    if wrong := [each for each in every if not isinstance(each, Condition)]:
        raise UsageError(f"{CALL}: conditions hold {wrong[0]!r:.80}; give Conditions")
    if not isinstance(unknown, sp.Symbol):
        raise UsageError(f"{CALL}: unknown = {unknown!r:.80}; give the symbol of the perturbation")
    for each in every:
        values = {**each.values, unknown: 0}
        require_numbers(f"{CALL}: '{each.name}'", letters_of(each.bound, values, f"{CALL}: '{each.name}'"), values)
    return every


def _failing(condition: Condition, unknown: sp.Symbol, size: float) -> float:
    """A point a little above `size` at which the condition surely fails; infinite if there is none so near."""
    points = (size * (1 + 2.0 ** (k - STEPS)) for k in range(1, 30, 2))
    return next((point for point in points if condition.fails(unknown, point)), math.inf)


@lru_cache(maxsize=64)
def _difference(limit: sp.Expr, bound: sp.Expr) -> sp.Expr:
    return limit - bound
