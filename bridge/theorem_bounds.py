"""The bounds of a theorem at one point, in every tier and scope, and the letters that they are read at."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import flint
import sympy as sp
import torch
from torch import Tensor

from bridge.balls import MOST_BITS, bits_for
from bridge.kept_runs import KeptRuns
from bridge.lowering import lower
from bridge.own_bounds import OwnBounds, own_bound
from bridge.own_letters import PROMPT, STATED, means_the_prompts, numbers_for, stated_at_own_letters
from bridge.pair import Pair
from bridge.prompt_formula import PromptFormula, prompt_formula
from bridge.record import Verdict
from bridge.study import Case, Inputs, Refusal
from bridge.theorem import Function
from bridge.theorem_networks import NetworkReadings
from bridge.theorem_numbers import premises_at
from bridge.theorem_readings import AtPrompt, Bindings, bindings, bound_on_balls, bounds_of, in_groups, shared_reading
from bridge.theorem_runs import TheoremRuns
from bridge.verdicts import Bound
from symbolic.statements import Quantity

READ_BITS = 64  # for bounds at a prompt that are smaller than those of the network, to 2^-60 of them
ABOVE_ROUNDING = 64  # times the rounding
TOO_SMALL = f"to read the derivation at so small a bound would take more than {MOST_BITS} bits"


class TheoremBounds(TheoremRuns):
    """A theorem at one point, as far as its derivations go."""

    refused: Refusal | None
    _derived: dict[int, tuple[Quantity, Bound | None]]
    _prompt_formulas: dict[str, PromptFormula]
    _readings: dict[tuple[str | None, ...], AtPrompt]
    bounds_on_balls: KeptRuns[Any]

    # Quantities, with the scopes that their readings add.

    @cached_property
    def bindings(self) -> Bindings:
        """What the handles bind."""
        if self.theorem.handles is None or self.refused is not None:
            return Bindings()
        return bindings(self, super().bounded(), self.sample(1, seed=0))

    @cached_property
    def _scoped(self) -> dict[str, Quantity]:
        # A distance of the theorem's own is none of the norms in which steps are bounded; quantities of the point say
        # their scopes themselves.
        own = self.theorem.distance is not None or self.theorem.at_point.quantities is not None
        found = Bindings() if own else self.bindings
        scoped = {each.name: found.scopes(each) for each in self.result.quantities}
        return {
            each.name: each if scoped[each.name] == each.scopes else replace(each, scopes=scoped[each.name])
            for each in self.result.quantities
        }

    def bounded(self) -> list[Quantity]:
        return [self._scoped[each.name] for each in super().bounded()]

    def quantity(self, name: str) -> Quantity:
        return self._scoped[super().quantity(name).name]

    # Tiers.

    def refusal(self, quantity: Quantity) -> Refusal | None:
        return self.refused

    def printed(self, quantity: Quantity) -> Bound | None:
        letters = self.theorem.at_point.printed_letters
        if quantity.printed is None or not self._has_values(quantity.printed.bound):
            return None
        if letters is None or (self.refused is not None and self.refused.verdict is Verdict.OUTSIDE):
            return super().printed(quantity)
        own = self.known.call(letters, {"quantity": quantity.name})
        return self._at_hand(quantity, "printed", Case.printed(self.with_letters(own), quantity))

    def with_letters(self, letters: Mapping[sp.Symbol, Any]) -> Self:
        other = super().with_letters(letters)
        other._derived = {}
        return other

    # Each search for a quantity asks for it, and each of its rows.
    def derived(self, quantity: Quantity) -> Bound | None:
        kept = self._derived.get(id(quantity))
        if kept is None or kept[0] is not quantity:
            kept = self._derived[id(quantity)] = quantity, self._derive(quantity)
        return kept[1]

    def _derive(self, quantity: Quantity) -> Bound | None:
        expression = quantity.derived()
        known = expression is not None and self._has_values(expression)
        return self._at_hand(quantity, "derived", super().derived(quantity)) if known else None

    def _has_values(self, expression: sp.Expr) -> bool:
        """Whether letters have values that nothing could give where the network cannot be built."""
        return self.refused is None or expression.free_symbols <= set(self.values)

    def _at_hand(self, quantity: Quantity, tier: str, bound: Bound | None) -> Bound | None:
        """The bound, outside its hypotheses where the theorem says so."""
        if bound is None or self.theorem.at_point.outside is None or self.refused is not None or not quantity.scopes:
            return bound
        why = self.known.call(self.theorem.at_point.outside, {"quantity": quantity.name, "tier": tier})
        return replace(bound, outside=why) if why else bound

    def instance(self, quantity: Quantity, scope: str, inputs: Inputs | None = None) -> Bound | None:
        if scope not in quantity.scopes:
            return None
        if scope == "network" or inputs is None:
            return self._at_hand(quantity, "instance", self._of_all_prompts(quantity))
        return self._at_hand(quantity, "instance", self._at_prompt(quantity, scope, inputs))

    def _of_all_prompts(self, quantity: Quantity) -> Bound | None:
        """That of the derivation, or of its reading from norms, where that is less."""
        if self.theorem.norms is None:
            return super().instance(quantity, "network")
        found = self._network_readings.bound(quantity)
        if found is not None and not self.theorem.by_rules:
            return Bound(found)
        bound = None if found is None else super().instance(quantity, "network")
        return None if bound is None or found is None else replace(bound, ball=_lesser(bound.ball, found))

    @cached_property
    def _network_readings(self) -> NetworkReadings:
        return NetworkReadings(self)

    def _at_prompt(self, quantity: Quantity, scope: str, inputs: Inputs) -> Bound | None:
        if self.theorem.bounds is not None:
            return own_bound(self, quantity, scope, inputs, READ_BITS + self.extra_bits)
        if self._is_read(quantity, scope) and self.reads_alone(quantity):
            found, remark = bound_on_balls(self, self._shown_with(quantity), scope, inputs, READ_BITS + self.extra_bits)
            if found is not None:
                return Bound(found, remark=remark)
            bound = super().instance(quantity, scope, inputs)
            return None if bound is None else replace(bound, remark=remark)
        bound = super().instance(quantity, scope, inputs)
        if bound is None or not self._is_read(quantity, scope):
            return bound
        bits = bits_for(bound.ball) + self.extra_bits
        if bits > MOST_BITS:  # exact runs are not tried there either
            return replace(bound, remark=f"{TOO_SMALL}; the bound is that of the rules")
        found, remark = bound_on_balls(self, [quantity], scope, inputs, bits)
        bound = replace(bound, ball=bound.ball if found is None else _lesser(bound.ball, found), remark=remark)
        read = quantity.name in self.bindings.read
        return bound.resting_on(premises_at(self, quantity, inputs)) if read else bound

    def _shown_with(self, quantity: Quantity) -> list[Quantity]:
        """The quantity, and those that are shown at the same prompts and share its reading."""
        shown = self.bounded() if self.theorem.search.leading else []
        same = [q for q in shown if q.name in self.bindings.read and shared_reading(q) == shared_reading(quantity)]
        return [quantity, *(each for each in same if each.name != quantity.name)]

    # What is printed or claimed, at a prompt.

    def prompt_tiers(self, quantity: Quantity) -> tuple[str, ...]:
        return tuple(tier for tier in STATED if stated_at_own_letters(self, quantity, tier) is not None)

    @property
    def letters_of_prompts(self) -> frozenset[sp.Symbol]:  # type: ignore[override]  # depends on the theorem
        return frozenset(s for s in self.theorem.knows if means_the_prompts(self.theorem, s, "claimed"))

    def tier_at(self, quantity: Quantity, tier: str, scope: str, inputs: Inputs | None) -> Bound | None:
        stated = stated_at_own_letters(self, quantity, tier) if tier in STATED and scope != "network" else None
        if stated is None or inputs is None:
            return super().tier_at(quantity, tier, scope, inputs)
        numbers = numbers_for(self, stated, self.instance_values(PROMPT, inputs))
        bound = Bound(self.ball(stated.formula, numbers), strict=stated.strict, remark=stated.remark(tier))
        return self._at_hand(quantity, tier, bound)

    def stated_bounds(self, quantity: Quantity, tier: str, inputs: Inputs) -> Tensor:
        stated = stated_at_own_letters(self, quantity, tier)
        assert stated is not None  # asked of the tiers of prompts
        at_prompt = {s: self.prompt_functions[s] for s in stated.own if s in self.prompt_functions}
        numbers = numbers_for(self, stated, {**self._of_network, **at_prompt})
        formula = self._stated_formula(quantity, tier, stated.formula, numbers)
        like = next(iter(inputs.values())).double().new_ones(len(next(iter(inputs.values()))))
        found = {s: self.known.batched(each, inputs) for s, each in at_prompt.items()}
        values = [found[s] if s in found else like * float(numbers[s]) for s in formula.letters]
        bound: Tensor = formula.bound(*values) * like
        return bound

    def _stated_formula(
        self, quantity: Quantity, tier: str, formula: sp.Expr, numbers: Mapping[sp.Symbol, Any]
    ) -> PromptFormula:
        name = f"{tier}: {quantity.name}"
        if name not in self._prompt_formulas:
            bound = formula.subs({s: x for s, x in numbers.items() if isinstance(x, int)})
            letters = tuple(sorted(bound.free_symbols, key=str))
            self._prompt_formulas[name] = PromptFormula(letters, lower(bound, "torch", args=letters))
        return self._prompt_formulas[name]

    # Letters.

    def _is_read(self, quantity: Quantity, scope: str) -> bool:
        return scope != "network" and self.theorem.distance is None and self.is_bounded(quantity)

    def is_bounded(self, quantity: Quantity) -> bool:
        """Whether more than a formula bounds it at prompts."""
        return self.theorem.bounds is not None or quantity.name in self.bindings.read

    def reads_alone(self, quantity: Quantity) -> bool:
        """Whether the reading of its derivation gives its bounds at prompts, and no formula."""
        return self.theorem.bounds is not None or (not self.theorem.by_rules and quantity.name in self.bindings.read)

    @property
    def extra_bits(self) -> int:
        """Beyond those that telling the bounds from 0 takes: what is read at a prompt may be far below them."""
        return self.cancelled_bits + (READ_BITS if self.theorem.handles is not None else 0)

    @property
    def network_letters(self) -> Mapping[sp.Symbol, flint.arb]:
        """The letters that this network knows better, at all of its prompts."""
        return self._of_network

    def instance_values(self, scope: str, inputs: Inputs | None) -> dict[sp.Symbol, Any]:
        if scope == "network" or inputs is None:
            return dict(self._of_network)
        one = self.members(inputs)
        at_prompt = {letter: self.known.number(each, one) for letter, each in self.prompt_functions.items()}
        return {**self._of_network, **at_prompt}

    @cached_property
    def _of_network(self) -> dict[sp.Symbol, flint.arb]:
        found = {}
        for letter, functions in self.theorem.knows.items():
            of_network = [each for each in functions if self.theorem.scope_of(each) == "network"]
            if of_network:
                found[letter] = self.known.number(of_network[-1], {})
        return found

    @cached_property
    def prompt_functions(self) -> dict[sp.Symbol, Function]:
        return {
            letter: each
            for letter, functions in self.theorem.knows.items()
            for each in functions
            if self.theorem.scope_of(each) == "prompt"
        }

    def prompt_bounds(self, quantity: Quantity, inputs: Inputs, scope: str) -> Tensor:
        return self._prompt_bound(quantity, inputs, self._read_bounds([quantity], inputs, scope))

    def sample_bounds(self, quantities: Sequence[Quantity], inputs: Inputs, scope: str) -> dict[str, Tensor]:
        if self.company is None:
            return super().sample_bounds(quantities, inputs, scope)
        read = self._read_bounds(quantities, inputs, scope)
        return {quantity.name: self._prompt_bound(quantity, inputs, read) for quantity in quantities}

    def _prompt_bound(self, quantity: Quantity, inputs: Inputs, read: Mapping[str, Tensor]) -> Tensor:
        """By its formula, or as it was read, whichever is less."""
        if quantity.name in read and self.reads_alone(quantity):
            return read[quantity.name] + self.rounding_beside
        formula, letters = self.prompt_formula(quantity), self.prompt_functions
        at_prompt = {s: self.known.batched(letters[s], inputs) for s in formula.letters if s in letters}
        like = next(iter(inputs.values())).double().new_ones(len(next(iter(inputs.values()))))
        values = [at_prompt[s] if s in at_prompt else like * self.number(s) for s in formula.letters]
        bound: Tensor = formula.bound(*values) * like
        return torch.minimum(bound, read[quantity.name]) + self.rounding_beside if quantity.name in read else bound

    def _read_bounds(self, quantities: Sequence[Quantity], inputs: Inputs, scope: str) -> dict[str, Tensor]:
        """Of those that are read in that scope: of each derivation at once."""
        like = next(iter(inputs.values())).double().new_ones(len(next(iter(inputs.values()))))
        found: dict[str, Tensor] = {}
        for group in self.read_together([each for each in quantities if self._is_read(each, scope)]):
            function = self.reading_of(group, scope)
            numbers = {name: like * self.number(letter) for name, letter in function.letters.items()}
            found |= self.known.batched(function, {**inputs, **numbers})
        return found

    def read_together(self, quantities: Sequence[Quantity]) -> list[list[Quantity]]:
        """Groups of quantities that one reading bounds, of some that are bounded in one scope."""
        if self.theorem.bounds is not None:
            return [list(quantities)] if quantities else []
        return in_groups(quantities)

    @cached_property
    def rounding_beside(self) -> float:
        """What is added to a bound that is read at a prompt, for the attack alone.

        Such a bound may be as small as an error: a ratio to it would say how inputs round, where errors are smallest.
        """
        return ABOVE_ROUNDING * self._estimated_rounding

    def reading_of(self, quantities: Sequence[Quantity], scope: str | None) -> "AtPrompt | OwnBounds":
        """The bounds that one reading of their derivation gives at a prompt, on tensors, by quantity.

        Without a scope each prompt has to say whether its own is local (`IS_LOCAL`).
        """
        names, own = [quantity.name for quantity in quantities], self.theorem.bounds
        key = (*names, scope)
        if own is not None and scope is not None:
            return OwnBounds(own.tensors if isinstance(own, Pair) else own, names, scope)
        if key not in self._readings:
            use = bounds_of(quantities, scope, by_rules=self.theorem.by_rules)
            self._readings[key] = AtPrompt(self, quantities[0], use, scope_is_given=scope is None)
        return self._readings[key]

    def prompt_formula(self, quantity: Quantity) -> PromptFormula:
        """The bound at a prompt, in the letters that are not integers; lowered once, as an attack asks at each step."""
        if quantity.name not in self._prompt_formulas:
            known = {*self.prompt_functions, *self._of_network}
            whole = {s: x for s, x in self.values.items() if isinstance(x, int) and s not in self._of_network}
            self._prompt_formulas[quantity.name] = prompt_formula(quantity, known, self.prompt_functions, whole)
        return self._prompt_formulas[quantity.name]

    def number(self, letter: sp.Symbol) -> float:
        """A letter that is the same at every prompt."""
        return float({**self.values, **self._of_network}[letter])


def _lesser(one: flint.arb, other: flint.arb) -> flint.arb:
    """The lesser of two bounds, of which both hold; where balls overlap, the lesser upper end."""
    return one if one.upper() <= other.upper() else other
