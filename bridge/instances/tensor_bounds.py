"""The bounds at prompts on tensors: what an attack compares errors with, and what chooses among random inputs.

Shapes: B prompts.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import sympy as sp
import torch
from torch import Tensor

from bridge.instances.at_prompt import AtPrompt, in_groups
from bridge.instances.bounds import Bounds
from bridge.instances.inputs import Batch
from bridge.instances.own_bounds import OwnBounds, own_bounds
from bridge.instances.own_letters import numbers_for
from bridge.instances.prompt_formula import PromptFormula, prompt_formula
from bridge.instances.runs import Runs
from bridge.lowering import lower
from symbolic.statements.result import Quantity

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
