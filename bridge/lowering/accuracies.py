"""From the target accuracy of a bound to accuracies of its parts, as coarse as the bound allows."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import flint
import sympy as sp

from bridge.lowering.ball_values import evaluate_ball, letters_of, require_numbers
from numeric.balls import float_above, float_below
from symbolic.calculus import cheapest_split
from symbolic.derivations.exact_numbers import as_formula, as_number, as_positive, require_symbols
from symbolic.words.errors import UsageError

CALL = "accuracies_within"
TINY = 1e-40  # an accuracy at which a bound is its slope at 0
BISECTIONS = 60
CLOSE = 1e-6  # relative: as near to the largest scale as the answer need be


def accuracies_within(
    bound: sp.Expr,
    values: Mapping[sp.Symbol, Any],
    costs: Mapping[sp.Symbol, float],
    eps: Any,
    *,
    power: Any,
    most: Mapping[sp.Symbol, Any] | None = None,
) -> dict[sp.Symbol, float]:
    """Accuracies (letters of `costs`) at which the bound, evaluated on balls, is at most `eps`.

    The bound has to grow with each of them and to vanish with all. Part i of accuracy e costs `costs[i] e^-power`. The
    accuracies are raised in the direction that is cheapest to first order, as far as the bound itself allows; those in
    `most` stay below their limit. `values`: numbers or balls for the other letters.
    Raises UsageError if no float64 accuracies are small enough; for an `eps` or a limit that is not positive, an
    infinite `eps`, a negative cost, a power that is not positive; and for letters without a value or a cost.
    """
    bound, eps = as_formula(CALL, "bound", bound), _float_below("eps", eps)
    power, limits = as_positive(CALL, "power", power), _limits(most or {})
    _check(bound, values, costs, limits)

    def at(accuracies: Mapping[sp.Symbol, float]) -> flint.arb:
        exact = {symbol: flint.arb(accuracies.get(symbol, 0.0)) for symbol in costs}
        return evaluate_ball(bound, {**values, **exact})

    slopes = {symbol: float_above(at({symbol: TINY}) / TINY) for symbol in costs}
    split = cheapest_split(slopes, costs, eps, power=power)
    direction = {symbol: float(split.accuracies[symbol]) for symbol in costs}
    direction |= {symbol: min(direction[symbol], limit) for symbol, limit in limits.items()}
    scale = _largest_scale(lambda t: at({symbol: t * e for symbol, e in direction.items()}) <= eps)
    return {symbol: scale * e for symbol, e in direction.items()}


def _limits(most: Mapping[sp.Symbol, Any]) -> dict[sp.Symbol, float]:
    require_symbols(CALL, "most", most)
    return {x: math.inf if limit == math.inf else _float_below(f"most[{x}]", limit) for x, limit in most.items()}


def _float_below(name: str, value: Any) -> float:
    """The largest float64 that is surely at most a positive number."""
    found = float_below(evaluate_ball(as_positive(CALL, name, value), {}))
    if not 0 < found < math.inf:
        raise UsageError(f"{CALL}: {name} = {value!s:.80}; give a positive number in the range of float64")
    return found


def _check(bound: sp.Expr, values: Any, costs: Any, limits: Mapping[sp.Symbol, float]) -> None:
    require_symbols(CALL, "costs", costs)
    for symbol, cost in costs.items():
        if as_number(CALL, f"costs[{symbol}]", cost).is_negative:
            raise UsageError(f"{CALL}: costs[{symbol}] = {cost}; give a number >= 0")
    if unknown := [str(symbol) for symbol in limits if symbol not in costs]:
        raise UsageError(
            f"{CALL}: most limits {', '.join(unknown)}, which is not an accuracy; `costs` names "
            f"{', '.join(map(str, costs)) or 'none'}"
        )
    require_symbols(CALL, "values", values)
    require_numbers(
        CALL, letters_of(bound, {**dict.fromkeys(costs, 0), **values}, CALL), {**dict.fromkeys(costs, 0), **values}
    )


def _largest_scale(holds: Callable[[float], bool]) -> float:
    """The largest scale in (0, 1] that holds, to a relative CLOSE or 2^-BISECTIONS; the predicate is monotone."""
    if holds(1.0):
        return 1.0
    low, high = 1.0, 1.0
    while not holds(low):
        low, high = low / 4, low
        if low == 0.0:
            raise UsageError("no accuracy of the parts keeps the bound within the given eps")
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
        if high <= low * (1 + CLOSE):
            break
    return low
