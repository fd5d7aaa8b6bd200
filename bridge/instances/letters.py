"""The letters of a statement at one point: what the parameters, the network and a prompt give them."""

import copy
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import flint
import sympy as sp
import torch

from bridge.instances.inputs import Batch, Inputs
from bridge.instances.kept_runs import KeptRuns
from bridge.instances.known import Known
from bridge.limits.arguments import Function
from bridge.lowering.ball_values import as_exact, evaluate_ball
from bridge.theorems.check import enclosed as near_number
from symbolic.derivations.worst_cases import where_real
from symbolic.statements.result import Result

ENLARGED = 1e-6  # relative: letters that are computed in float64


class Letters:
    """Their numbers and balls. `given` are those of the parameters; `built`: whether there is a network to ask."""

    def __init__(
        self, known: Known, inputs: Inputs, stated: Result, given: Mapping[sp.Symbol, Any], *, built: bool = True
    ) -> None:
        self.known, self._inputs, self._stated, self._given, self._built = known, inputs, stated, dict(given), built
        self._in_floats: KeptRuns[flint.arb] = KeptRuns()

    @cached_property
    def numbers(self) -> dict[sp.Symbol, Any]:
        """Parameters, and the letters that nothing but this network gives a value; none of them outside."""
        if not self._built:
            return self._given
        theorem, parameters = self.known.theorem, {p.symbol for p in self._stated.parameters}
        own = [s for s in theorem.knows if s not in parameters and not self._has_worst_case(s)]
        more = {} if theorem.at_point.letters is None else self.known.call(theorem.at_point.letters)
        return {**self._given, **more, **{letter: self.of_network[letter] for letter in own}}

    def _has_worst_case(self, letter: sp.Symbol) -> bool:
        """Whether a quantity replaces or keeps it; what a network and a prompt know apart is looked up if kept."""
        of_both = len(self.known.theorem.knows[letter]) > 1
        stated = (quantity.worst_case or {} for quantity in self._stated.quantities)
        return any(letter in each and not (of_both and each[letter] == letter) for each in stated)

    def with_(self, letters: Mapping[sp.Symbol, Any]) -> "Letters":
        """The same, at other values of these letters."""
        other = copy.copy(self)
        other.__dict__["numbers"] = {**self.numbers, **letters}
        return other

    @cached_property
    def of_network(self) -> dict[sp.Symbol, flint.arb]:
        """Those that this network knows better, at all of its prompts."""
        theorem, found = self.known.theorem, {}
        for letter, functions in theorem.knows.items():
            own = [each for each in functions if theorem.scope_of(each) == "network"]
            if own:
                found[letter] = self.known.number(own[-1], {})
        return found

    @cached_property
    def of_prompt(self) -> dict[sp.Symbol, Function]:
        """Those that a prompt knows, each as a function of it."""
        theorem = self.known.theorem
        known = ((s, each) for s, functions in theorem.knows.items() for each in functions)
        return {s: each for s, each in known if theorem.scope_of(each) == "prompt"}

    def at(self, scope: str, one: Batch | None) -> dict[sp.Symbol, Any]:
        """What is known better in that scope: of the network, or of one prompt too; as balls."""
        if scope == "network" or one is None:
            return dict(self.of_network)
        if self._inputs.covers_rounding:
            return {**self.of_network, **self._enlarged(one)}
        at = self._inputs.members(one)
        return {**self.of_network, **{letter: self.known.number(each, at) for letter, each in self.of_prompt.items()}}

    def _enlarged(self, one: Batch) -> dict[sp.Symbol, flint.arb]:
        """Those of the prompt in float64, enlarged; kept, as their work grows with the rows of a table."""
        kept = self._in_floats.at(one)
        if not kept:
            prompt = {name: value[:1].double() for name, value in one.items()}
            with torch.no_grad():
                found = {s: float(self.known.batched(each, prompt)[0]) for s, each in self.of_prompt.items()}
            kept |= {str(letter): flint.arb(number) * (1 + ENLARGED) for letter, number in found.items()}
        return {letter: kept[str(letter)] for letter in self.of_prompt}

    def number(self, letter: sp.Symbol) -> float:
        """One that is the same at every prompt."""
        return float({**self.numbers, **self.of_network}[letter])

    def ball(self, formula: sp.Expr, more: Mapping[sp.Symbol, Any] | None = None) -> flint.arb:
        """The formula at this point; nan where it is no real number, as beyond its condition."""
        if where_real(formula) is sp.nan:
            return flint.arb("nan")
        if self.known.near:
            typed = {number: sp.Symbol(repr(number)) for number in formula.atoms(sp.Float)}
            more = {**(more or {}), **{letter: near_number(float(number)) for number, letter in typed.items()}}
            formula = formula.xreplace(typed)
        values = {**self.numbers, **(more or {})}
        return evaluate_ball(formula, {symbol: as_exact(value) for symbol, value in values.items()})

    def enclosed(self, formula: sp.Expr) -> flint.arb:
        """The formula at this point; exactly if it rounds whole numbers, as a ball of what is rounded may hold two."""
        values = {letter: self.numbers[letter] for letter in formula.free_symbols if letter in self.numbers}
        if formula.has(sp.ceiling, sp.floor) and all(isinstance(value, int) for value in values.values()):
            return evaluate_ball(formula.subs(values), {})
        return self.ball(formula)
