"""Bounds that the user claims for a run: `output <= 2*W_norm*exp(-p)`, in the letters of the result.

A claim is read by the reader of `certify`, never evaluated as code. It is judged as a printed bound is; on a value it
is an upper bound. In a letter that a prompt knows it is judged at each prompt too (bridge/instances/letters.py).
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import sympy as sp

from bridge.instances.instance import Instance
from bridge.questions.certify.reading import read_claim
from symbolic.statements.result import Kind, Quantity
from symbolic.words.errors import UsageError

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


def with_claims(instances: Sequence[Instance], texts: Iterable[str]) -> list[Instance]:
    """The same points, each with the claims on its quantities.

    Raises UsageError for a text that is not a claim, a quantity or a letter that the result does not have, a relation
    that does not fit the quantity, and two claims on one quantity.
    """
    letters = {letter.name for letter in _letters(instances[0])} if instances else set()
    claims = [_typed(text, letters) for text in texts]
    for claim in claims:
        if [other.quantity for other in claims].count(claim.quantity) > 1:
            raise UsageError(f"claim: '{claim.quantity}' has several claims; a run takes one for each quantity")
        if instances and not any(_states(each, claim) for each in instances):
            instances[0].point.stated.quantity(claim.quantity)  # raises
    return [
        each.with_claims({claim.quantity: _bound(claim, each) for claim in claims if _states(each, claim)})
        for each in instances
    ]


def _states(instance: Instance, claim: ClaimedBound) -> bool:
    return claim.quantity in {each.name for each in instance.point.stated.quantities}


def _typed(text: str, letters: Collection[str]) -> ClaimedBound:
    """The claim with letters that are not a result's yet. One of these names is a letter even if a function has it."""
    found = FORM.fullmatch(text)
    if found is None or found["relation"] not in ("<=", "<", ">=", ">"):
        raise UsageError(f"claim: {text!r} is not of the form QUANTITY <= FORMULA (or <; a lower bound: >= or >)")
    return ClaimedBound(
        text.strip(), found["quantity"], found["relation"], read_claim(found["formula"], letters=letters)[0]
    )


def _bound(claim: ClaimedBound, instance: Instance) -> ClaimedBound:
    """The claim in the letters of the point, each of which has a value there."""
    quantity = instance.point.stated.quantity(claim.quantity)
    _check_relation(claim, quantity)
    letters = {letter.name: letter for letter in _letters(instance)}
    unknown = sorted(letter.name for letter in claim.formula.free_symbols if letter.name not in letters)
    if unknown:
        raise UsageError(
            f"claim: {instance.theorem.id} has no letter {', '.join(unknown)}; it has: {', '.join(sorted(letters))}"
        )
    formula = claim.formula.xreplace({letter: letters[letter.name] for letter in claim.formula.free_symbols})
    worst = {letter: value for letter, value in quantity.at_worst.items() if letter not in instance.letters.numbers}
    bound = formula.xreplace(worst)
    free = bound.free_symbols - set(instance.letters.numbers)
    at_prompts = instance.bounds.letters_of_prompts if quantity.scopes else frozenset()
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


def _letters(instance: Instance) -> list[sp.Symbol]:
    """Those of the quantities' bounds, then those that have a value, which go first where two have one name."""
    bounds = [bound for quantity in instance.point.stated.quantities for bound in _formulas(quantity)]
    of_bounds = (letter for bound in bounds for letter in bound.free_symbols)
    return [*of_bounds, *instance.bounds.letters_of_prompts, *instance.letters.numbers]


def _formulas(quantity: Quantity) -> list[sp.Expr]:
    general = quantity.general_bound() if quantity.derivation else None
    stated = (general, quantity.derived(), quantity.printed.bound if quantity.printed else None)
    return [bound for bound in stated if bound is not None]
