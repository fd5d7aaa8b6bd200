"""Bounds that the user claims for a run: `output <= 2*W_norm*exp(-p)`, in the letters of the result.

A claim is read by the reader of `certify`, never evaluated as code. It is judged as a printed bound is; on a value it
is an upper bound. In a letter that a prompt knows it is judged at each prompt too (bridge/own_letters.py).
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import sympy as sp

from bridge.certify.reading import read_claim
from bridge.study import Case
from symbolic.statements import Kind, Quantity, UsageError

# A quantity, a relation, a formula: the quantity may have brackets and dots (p[1], output.mask_3).
FORM = re.compile(r"\s*(?P<quantity>[^<>=\s]+)\s*(?P<relation>[<>=]+)\s*(?P<formula>[^<>=]+)")
RELATIONS = {Kind.UPPER: ("<=", "<"), Kind.EXACT: ("<=", "<"), Kind.LOWER: (">=", ">")}


@dataclass(frozen=True)
class ClaimedBound:
    """A bound on a quantity, and the text that was typed.

    `bound` is the formula at the worst case; None where a letter has a value at prompts alone.
    """

    text: str
    quantity: str
    relation: str
    formula: sp.Expr
    bound: sp.Expr | None = None

    @property
    def strict(self) -> bool:
        return self.relation in ("<", ">")


def set_claims(cases: Sequence[Case], texts: Iterable[str]) -> None:
    """Gives every case the claims on its quantities.

    Raises UsageError for a text that is not a claim, a quantity or a letter that the result does not have, a relation
    that does not fit the quantity, and two claims on one quantity.
    """
    letters = {letter.name for letter in _letters(cases[0])} if cases else set()
    claims = [_typed(text, letters) for text in texts]
    for claim in claims:
        if [other.quantity for other in claims].count(claim.quantity) > 1:
            raise UsageError(f"claim: '{claim.quantity}' has several claims; a run takes one for each quantity")
        having = [case for case in cases if claim.quantity in {each.name for each in case.result.quantities}]
        for case in having or cases[:1]:
            case.claims = {**case.claims, claim.quantity: _bound(claim, case)}


def _typed(text: str, letters: Collection[str]) -> ClaimedBound:
    """The claim with letters that are not a result's yet. One of these names is a letter even if a function has it."""
    found = FORM.fullmatch(text)
    if found is None or found["relation"] not in ("<=", "<", ">=", ">"):
        raise UsageError(f"claim: {text!r} is not of the form QUANTITY <= FORMULA (or <; a lower bound: >= or >)")
    return ClaimedBound(
        text.strip(), found["quantity"], found["relation"], read_claim(found["formula"], letters=letters)[0]
    )


def _bound(claim: ClaimedBound, case: Case) -> ClaimedBound:
    """The claim in the letters of the case, each of which has a value there."""
    quantity = case.result.quantity(claim.quantity)
    _check_relation(claim, quantity)
    letters = {letter.name: letter for letter in _letters(case)}
    unknown = sorted(letter.name for letter in claim.formula.free_symbols if letter.name not in letters)
    if unknown:
        raise UsageError(
            f"claim: {case.result.id} has no letter {', '.join(unknown)}; it has: {', '.join(sorted(letters))}"
        )
    formula = claim.formula.xreplace({letter: letters[letter.name] for letter in claim.formula.free_symbols})
    worst = {letter: value for letter, value in quantity.at_worst.items() if letter not in case.values}
    bound = formula.xreplace(worst)
    free = bound.free_symbols - set(case.values)
    at_prompts = case.letters_of_prompts if quantity.scopes else frozenset()
    if valueless := sorted(letter.name for letter in free - at_prompts):
        raise UsageError(f"claim: {', '.join(valueless)} has no value in a bound on '{quantity.name}'")
    return replace(claim, formula=formula, bound=None if free else bound)


def _check_relation(claim: ClaimedBound, quantity: Quantity) -> None:
    allowed = RELATIONS.get(quantity.kind)
    if allowed is None:
        raise UsageError(f"claim: '{quantity.name}' is a rate, which no bound at one point can describe")
    if claim.relation not in allowed:
        side = "below" if quantity.kind is Kind.LOWER else "above"
        raise UsageError(
            f"claim: '{quantity.name}' is bounded from {side}; write {quantity.name} {allowed[0]} FORMULA, not "
            f"{claim.relation}"
        )


def _letters(case: Case) -> list[sp.Symbol]:
    """Those of the quantities' bounds, then those that have a value, which go first where two have one name."""
    bounds = [bound for quantity in case.result.quantities for bound in _formulas(quantity)]
    of_bounds = (letter for bound in bounds for letter in bound.free_symbols)
    return [*of_bounds, *case.letters_of_prompts, *case.values]


def _formulas(quantity: Quantity) -> list[sp.Expr]:
    general = quantity.general_bound() if quantity.derivation else None
    stated = (general, quantity.derived(), quantity.printed.bound if quantity.printed else None)
    return [bound for bound in stated if bound is not None]
