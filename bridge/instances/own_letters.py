"""Printed and claimed bounds at a prompt: in a letter that means a quantity of this prompt, at the prompt's own value.

A parameter is a number of the hypotheses (|x_t| <= B), and a bound in it holds for every input that meets these: it is
never read at a prompt, even where an instance knows that this x stays below B. Any other letter that `knows` gives is
what its notation says, a number of the input or of the network at hand, which the worst case bounds. A claim means
that number wherever an instance knows it. A printed bound means it only where the letter is a number of prompts alone:
where `knows` gives it for the network too, a paper may mean the larger one, and is read so. What `printed_letters` of
the theorem says of a printed letter comes before that.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import sympy as sp

from bridge.instances.letters import Letters
from bridge.theorems.theorem import Theorem
from symbolic.derivations.worst_cases import closed, where_real
from symbolic.statements.result import Printed, Quantity
from symbolic.words.prose import joined, marked

PROMPT = "prompt"
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
