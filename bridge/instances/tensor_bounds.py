"""The bounds at prompts on tensors: what an attack compares errors with, and what chooses among random inputs.

Shapes: B prompts.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp
import torch
from torch import Tensor

from bridge.instances.bindings import AtPrompt, in_groups
from bridge.instances.bounds import Bounds
from bridge.instances.inputs import Batch
from bridge.instances.letters import numbers_for
from bridge.instances.own_bounds import OwnBounds, own_bounds
from bridge.instances.runs import Runs
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
        margins = [margin for margin, _ in claims if not margin.atoms(sp.Dummy)]  # of every layer: likewise
        found += [(margin, sp.Add(*map(sp.Abs, sp.Add.make_args(margin)))) for margin in margins]
    return found


ABOVE_ROUNDING = 64  # times the rounding


class TensorBounds:
    """In float64 and differentiable."""

    def __init__(self, bounds: Bounds, runs: Runs) -> None:
        self._bounds, self._runs = bounds, runs
        self._letters, self._known = bounds.letters, bounds.letters.known
        self._formulas: dict[str, PromptFormula] = {}

    def at(self, quantities: Sequence[Quantity], batch: Batch, scope: str) -> dict[str, Tensor]:
        """The bound of that scope at each prompt, (B), by quantity: by its formula, or as it is read, if that is less.

        One that is read may be as small as an error: a ratio to it would say how inputs round, where errors are
        smallest. So some rounding is added.
        """
        like, read = _ones(batch), dict[str, Tensor]()
        for group in self.groups([each for each in quantities if self._bounds.is_read(each)]):
            function = self.reading(group, scope)
            numbers = {name: like * self._letters.number(letter) for name, letter in function.letters.items()}
            read |= self._known.batched(function, {**batch, **numbers})
        return {each.name: self._least(each, batch, read.get(each.name)) for each in quantities}

    def _least(self, quantity: Quantity, batch: Batch, read: Tensor | None) -> Tensor:
        if read is not None and self._bounds.reads_alone(quantity):
            return read + self.rounding_beside
        formula, like, of_prompt = self.formula(quantity), _ones(batch), self._letters.of_prompt
        at_prompt = {s: self._known.batched(of_prompt[s], batch) for s in formula.letters if s in of_prompt}
        values = [at_prompt[s] if s in at_prompt else like * self._letters.number(s) for s in formula.letters]
        bound: Tensor = formula.bound(*values) * like
        return bound if read is None else torch.minimum(bound, read) + self.rounding_beside

    @cached_property
    def rounding_beside(self) -> float:
        """What is added to a bound that is read."""
        return ABOVE_ROUNDING * self._runs.estimated_rounding

    def groups(self, quantities: Sequence[Quantity]) -> list[list[Quantity]]:
        """Those that one reading bounds, of some that are bounded in one scope."""
        if self._known.theorem.bounds is not None:
            return [list(quantities)] if quantities else []
        return in_groups(quantities)

    def reading(self, quantities: Sequence[Quantity], scope: str | None) -> AtPrompt | OwnBounds:
        """The bounds of such a group, by quantity; without a scope each prompt says whether its own is local."""
        if self._known.theorem.bounds is not None and scope is not None:
            return own_bounds(self._known.theorem, [each.name for each in quantities], scope)
        return self._bounds.readings.bounds(quantities, scope)

    def formula(self, quantity: Quantity) -> PromptFormula:
        """The bound at a prompt, in the letters that are not integers; lowered once, as an attack asks at each step."""
        if quantity.name not in self._formulas:
            of_network, of_prompt = self._letters.of_network, self._letters.of_prompt
            whole = {s: x for s, x in self._letters.numbers.items() if isinstance(x, int) and s not in of_network}
            known = {*of_prompt, *of_network}
            self._formulas[quantity.name] = prompt_formula(quantity, known, of_prompt, whole)
        return self._formulas[quantity.name]

    def stated(self, quantity: Quantity, tier: str, batch: Batch) -> Tensor:
        """The printed or claimed bound at each input, in the letters of the prompt."""
        stated, of_prompt = self._bounds.at_own_letters(quantity, tier), self._letters.of_prompt
        assert stated is not None  # asked of the tiers of prompts
        at_prompt = {s: of_prompt[s] for s in stated.own if s in of_prompt}
        numbers = numbers_for(self._letters, stated, {**self._letters.of_network, **at_prompt})
        formula, like = self._stated_formula(quantity, tier, stated.formula, numbers), _ones(batch)
        found = {s: self._known.batched(each, batch) for s, each in at_prompt.items()}
        values = [found[s] if s in found else like * float(numbers[s]) for s in formula.letters]
        bound: Tensor = formula.bound(*values) * like
        return bound

    def _stated_formula(
        self, quantity: Quantity, tier: str, formula: sp.Expr, numbers: Mapping[sp.Symbol, Any]
    ) -> PromptFormula:
        name = f"{tier}: {quantity.name}"
        if name not in self._formulas:
            bound = formula.subs({s: x for s, x in numbers.items() if isinstance(x, int)})
            letters = tuple(sorted(bound.free_symbols, key=str))
            self._formulas[name] = PromptFormula(letters, lower(bound, "torch", args=letters))
        return self._formulas[name]


def _ones(batch: Batch) -> Tensor:
    first = next(iter(batch.values()))
    return first.double().new_ones(len(first))
