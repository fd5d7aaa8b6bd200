"""A bound at a prompt on tensors: what an attack compares errors with, at each of its steps."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp
import torch

from bridge.lowering import Lowered, lower
from bridge.lowering.conditions import bound_to, claims_of
from symbolic.derivations.worst_cases import closed, where_real
from symbolic.statements.result import Quantity
from symbolic.words.errors import UsageError

ROUNDING = 2.0**-40  # relative to the terms of a condition: within it, exact arithmetic decides


@dataclass(frozen=True)
class PromptFormula:
    """A bound on tensors, and its letters in the order of its arguments.

    Beyond a condition on the prompt it bounds nothing, and is infinite: an attack is not drawn there.
    """

    letters: tuple[sp.Symbol, ...]
    formula: Lowered
    conditions: tuple[tuple[Lowered, Lowered], ...] = ()  # what must not be negative, and how large its terms are

    def bound(self, *values: Any) -> Any:
        found = self.formula(*values)
        for margin, size in self.conditions:
            found = torch.where(margin(*values) < -ROUNDING * size(*values), torch.inf, found)
        return found


def prompt_formula(
    quantity: Quantity,
    at_hand: Collection[sp.Symbol],
    of_prompt: Collection[sp.Symbol],
    numbers: Mapping[sp.Symbol, Any],
) -> PromptFormula:
    """That of the derivation, in the letters at hand; the others at their worst case, and at these numbers."""
    worst = closed({s: x for s, x in (quantity.worst_case or {}).items() if s not in at_hand})
    bound = where_real(quantity.general_bound().xreplace(worst).subs(numbers))
    terms = [each for each in _terms(quantity, worst, numbers) if each[0].free_symbols & set(of_prompt)]
    letters = tuple(sorted(bound.free_symbols.union(*(each[0].free_symbols for each in terms)), key=str))
    conditions = tuple((lower(each, "torch", args=letters), lower(size, "torch", args=letters)) for each, size in terms)
    return PromptFormula(letters, lower(bound, "torch", args=letters), conditions)


def _terms(
    quantity: Quantity, worst: Mapping[sp.Symbol, sp.Expr], numbers: Mapping[sp.Symbol, Any]
) -> list[tuple[sp.Expr, sp.Expr]]:
    """What must not be negative where the bound holds, with the absolute values of its terms added up."""
    assert quantity.derivation is not None  # it has a bound
    steps, found = quantity.derivation.upto(quantity.concluded_by), []
    for obligation in (each for each in steps.obligations if each.open):
        try:
            at_worst = bound_to(obligation.condition, frozenset(worst.items()))
            claims = claims_of(bound_to(at_worst, frozenset(numbers.items())))
        except UsageError:  # no inequality: exact arithmetic decides it alone
            continue
        found += [(margin, sp.Add(*map(sp.Abs, sp.Add.make_args(margin)))) for margin, _ in claims]
    return found
