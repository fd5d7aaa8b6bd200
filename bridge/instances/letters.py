"""The letters of a statement at one point: what the parameters, the network and a prompt give them."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import flint
import sympy as sp
import torch

from bridge.instances.bound import Checked
from bridge.instances.inputs import Batch, Inputs, KeptRuns
from bridge.instances.known import Known
from bridge.limits.arguments import Function
from bridge.lowering.ball_values import as_exact, evaluate_ball
from bridge.lowering.conditions import bound_to, truth
from bridge.theorems.check import enclosed as near_number
from bridge.theorems.theorem import Theorem
from numeric.balls import float_above
from symbolic.derivations.worst_cases import closed, where_real
from symbolic.statements.result import Printed, Quantity, Result
from symbolic.words.prose import joined, marked

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
        """What is known better in that scope: of the network, or of one prompt of this network too; as balls."""
        if scope in ("network", EVERY) or one is None:
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


# The values of the letters of a bound in an instance: at hand, or at their worst case given those at hand.

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


# Printed and claimed bounds at a prompt: in a letter that means a quantity of this prompt, at the prompt's own value.
#
# A parameter is a number of the hypotheses (|x_t| <= B), and a bound in it holds for every input that meets these: it
# is never read at a prompt, even where an instance knows that this x stays below B. Any other letter that `knows` gives
# is what its notation says, a number of the input or of the network at hand, which the worst case bounds. A claim means
# that number wherever an instance knows it. A printed bound means it only where the letter is a number of prompts
# alone: where `knows` gives it for the network too, a paper may mean the larger one, and is read so. What
# `printed_letters` of the theorem says of a printed letter comes before that.

PROMPT, EVERY, LOCAL = "prompt", "prompt, every", "prompt, local"
STATED = ("printed", "claimed")


@runtime_checkable
class Claimed(Protocol):
    """A bound of the user's: `bound` is at the worst case, None where a letter has a value at prompts alone."""

    @property
    def text(self) -> str: ...
    @property
    def formula(self) -> sp.Expr: ...
    @property
    def bound(self) -> sp.Expr | None: ...
    @property
    def strict(self) -> bool: ...


@dataclass(frozen=True)
class AtOwnLetters:
    """A stated bound in the letters that a prompt or its network gives, and what it is otherwise."""

    formula: sp.Expr
    own: frozenset[sp.Symbol]
    strict: bool

    def remark(self, tier: str) -> str:
        letters = joined([f"`{letter}`" for letter in sorted(self.own, key=str)], ", ")
        return f"{tier}: at the value of {marked(letters)} here" if self.own else ""


def general_form(printed: Printed) -> sp.Expr:
    """The formula before letters are at their worst case."""
    return printed.bound if printed.general is None else printed.general


def means_the_prompts(theorem: Theorem, letter: sp.Symbol, tier: str) -> bool:
    """Whether the letter of a bound of that tier is a number of the prompt, or of the network, at hand."""
    if letter not in theorem.knows or letter in {p.symbol for p in theorem.statement.parameters}:
        return False
    scopes = {theorem.scope_of(each) for each in theorem.knows[letter]}
    return tier == "claimed" or (scopes == {PROMPT} and theorem.at_point.printed_letters is None)


def stated_at_own_letters(
    letters: Letters, quantity: Quantity, tier: str, claim: Claimed | None
) -> AtOwnLetters | None:
    """The bound, where it is judged at each prompt; None where it is judged for all of them alone.

    So is one that the worst case of another letter leaves without a value. A claim on a quantity that is bounded at
    prompts only is judged there, whatever its letters are.
    """
    theorem, printed = letters.known.theorem, quantity.printed
    if tier == "claimed" and claim is not None:
        formula, strict = claim.formula, claim.strict
    elif tier == "printed" and printed is not None and not printed.unspecified:
        formula, strict = general_form(printed), printed.strict
    else:
        return None
    own = frozenset(s for s in formula.free_symbols if means_the_prompts(theorem, s, tier))
    at_prompts = tier == "claimed" and "network" not in quantity.scopes
    if not (own or at_prompts) or not quantity.scopes or not theorem.inputs:
        return None
    values = {**quantity.at_worst, **{s: s for s in (*own, *letters.numbers)}}
    at_prompt = formula.xreplace(closed(values))
    return None if where_real(at_prompt) is sp.nan else AtOwnLetters(at_prompt, own, strict)


def numbers_for(letters: Letters, stated: AtOwnLetters, at_hand: Mapping[sp.Symbol, Any]) -> dict[sp.Symbol, Any]:
    """The values of its letters: those of the prompt, else those of the point."""
    return {s: at_hand[s] if s in stated.own else letters.numbers[s] for s in stated.formula.free_symbols}
