"""The values of the letters of a bound in an instance: known at hand, or at their worst case given those at hand."""

from collections.abc import Mapping
from typing import Any

import sympy as sp

from bridge.instances.bound import Checked
from bridge.instances.letters import Letters
from bridge.lowering.ball_values import as_exact, evaluate_ball
from bridge.lowering.conditions import bound_to, truth
from numeric.balls import float_above
from symbolic.derivations.worst_cases import closed
from symbolic.statements.result import Quantity

Values = Mapping[sp.Symbol, Any]  # numbers and balls; formulas for the letters that are not at hand


def letters_at(quantity: Quantity, at_hand: Mapping[sp.Symbol, Any]) -> Values:
    """The letters with a worst case: those at hand by their numbers, the others by formulas in these and parameters.

    A worst case that is a formula in a letter at hand is so evaluated at the number at hand, as every condition is.
    """
    worst = quantity.worst_case or {}
    numbers = {letter: at_hand[letter] for letter in worst if letter in at_hand}
    return {**closed({letter: value for letter, value in worst.items() if letter not in numbers}), **numbers}


def formulas_of(values: Mapping[sp.Symbol, Any]) -> dict[sp.Symbol, sp.Expr]:
    return {letter: value for letter, value in values.items() if isinstance(value, sp.Basic)}


def decided(point: Values, quantity: Quantity, values: Values) -> tuple[Checked, ...]:
    """The open obligations on the bound, at the same values of letters as the bound."""
    assert quantity.derivation is not None  # it has obligations
    formulas = formulas_of(values)
    numbers = {**point, **{letter: value for letter, value in values.items() if letter not in formulas}}
    letters = frozenset(formulas.items())
    steps = quantity.derivation.upto(quantity.concluded_by)
    found = [
        Checked(o.statement, truth(bound_to(o.condition, letters), numbers), sp.sstr(o.condition))
        for o in steps.obligations
        if o.open
    ]
    return tuple(dict.fromkeys(found))


def number_where_it_holds(quantity: Quantity, point: Values, at_hand: Values | None = None) -> float | None:
    """The bound at these numbers, rounded up, for a table; None where an obligation is not met at the same numbers."""
    values = letters_at(quantity, at_hand or {})
    if any(each.holds is not True for each in decided(point, quantity, values)):
        return None
    formulas = formulas_of(values)
    numbers = {**point, **{letter: value for letter, value in values.items() if letter not in formulas}}
    ball = evaluate_ball(quantity.general_bound().xreplace(formulas), {s: as_exact(x) for s, x in numbers.items()})
    return float_above(ball)


def holds_conditionally(quantity: Quantity, values: Values) -> bool:
    """Whether a letter stands at a worst case of the hypotheses that may be negative, while others are at hand.

    It then bounds a size under a condition, 1/(1 - a) for a < 1, on the worst case of letters of which the instance
    knows others: a condition is decided at both.
    """
    formulas = formulas_of(values)
    at_hand = values.keys() - formulas.keys()
    return bool(at_hand) and any(
        letter.is_nonnegative and value.is_nonnegative is not True and not value.free_symbols & at_hand
        for letter, value in formulas.items()
        if value != letter and value == quantity.at_worst[letter] and letter in quantity.general_bound().free_symbols
    )


# SymPy simplifies formulas by the sign of a letter, and every step uses it: no bound has a meaning at another sign.
def wrong_sign(letters: Letters, quantity: Quantity, values: Values) -> str:
    """The letters of the bound that are no sizes here, though they are not negative; "" where there are none."""
    numbers = {**letters.numbers, **{letter: x for letter, x in values.items() if not isinstance(x, sp.Basic)}}
    suspects = [s for s in sorted(quantity.general_bound().free_symbols, key=str) if s.is_nonnegative and s in values]
    found = []
    for letter in suspects:
        value = values[letter]
        if isinstance(value, sp.Basic):
            value = 0 if value.is_nonnegative or value == letter else letters.ball(value, numbers)
        if value < 0:
            found.append(f"`{letter}` is {float(value):.4g}")
    return " and ".join(found)
