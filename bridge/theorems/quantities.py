"""The quantities of a theorem: read off conclusions, beside what a draft prints, and where a bound says nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import sympy as sp

from bridge.theorems.theorem import NORMS
from symbolic.derivations.derivation import Approximated, DerivationError, as_expr
from symbolic.derivations.events import randomness
from symbolic.derivations.worst_cases import closed
from symbolic.statements.result import Kind, Printed, Quantifier, Quantity
from symbolic.words.citations import Citation
from symbolic.words.errors import UsageError

EXACT, COMPUTED = "the exact value, by the reference", "what the network computes"


def described_letters(
    id: str, meanings: Mapping[Any, Any], bounds: Sequence[Any]
) -> tuple[dict[str, str], Mapping[sp.Symbol, str]]:
    """What the letters of the left sides are, in LaTeX, and the meanings of symbols.

    Raises UsageError for the meaning of what is not a quantity, and for what is not one or two texts.
    """
    names = [each.name for each in bounds if isinstance(each, Approximated)]
    given = {name: words for name, words in meanings.items() if isinstance(name, str)}
    if unknown := [name for name in given if name not in names]:
        known = ", ".join(names) or "none"
        raise UsageError(
            f"{id}: `meanings` names {', '.join(unknown)}, which is not a quantity of a bound; these: {known}"
        )
    found: dict[str, str] = {}
    for name in names:
        words = given.get(name, EXACT)
        exact, computed = words if isinstance(words, tuple) and len(words) == 2 else (words, COMPUTED)
        if not (isinstance(exact, str) and isinstance(computed, str)):
            raise UsageError(f"{id}: `meanings` of {name} is {words!r:.80}; give a text, or a pair of them")
        found |= dict(zip(letters_of(name), (exact, computed), strict=True))
    return found, {letter: words for letter, words in meanings.items() if not isinstance(letter, str)}


def letters_of(name: str) -> tuple[str, str]:
    """Of the exact value, and of the one that the network computes, in LaTeX."""
    return _word(name), rf"\widehat{{{_word(name)}}}"


def _word(name: str) -> str:
    """The name of a value as a letter of LaTeX."""
    return rf"\mathrm{{{name}}}".replace("_", r"\_")


def quantity_of(
    conclusion: Approximated, worst: Mapping[sp.Symbol, Any], at_prompt: set[sp.Symbol], where: Mapping[str, str]
) -> Quantity:
    step = conclusion.derivation.step(conclusion.name)
    word, near = letters_of(conclusion.name)
    bound = conclusion.error.xreplace(closed({s: x for s, x in worst.items() if s not in at_prompt}))
    return Quantity(
        name=conclusion.name,
        latex_symbol=rf"\|{near} - {word}\|_{{{step.norm.latex}}}",
        meaning=f"error of `{conclusion.name}`" if len(conclusion.name) == 1 else f"error of {conclusion.name}",
        norm=NORMS[step.norm],
        domain=where["domain"],
        kind=Kind.EXACT if conclusion.error == 0 else Kind.UPPER,
        quantifier=_quantifier(conclusion),
        randomness=randomness(conclusion.events) or "; ".join(conclusion.mean_over),
        derivation=conclusion.derivation,
        worst_case=dict(worst),
        scopes=("network", "prompt") if bound.free_symbols & at_prompt else ("network",),
        trivial=None if conclusion.error == 0 else conclusion.size,
        domain_latex=where["domain_latex"],
    )


def _quantifier(conclusion: Approximated) -> Quantifier:
    if conclusion.events:
        return Quantifier.PROBABILITY
    return Quantifier.EXPECTATION if conclusion.mean_over else Quantifier.FOR_ALL


def as_formula(id: str, name: str, value: Any) -> sp.Expr:
    """Raises UsageError for what is not a formula, such as a text, and for one that is not a number."""
    try:
        found = as_expr(value)
    except DerivationError as error:
        if isinstance(value, sp.Basic):
            raise UsageError(f"{id}: {name}: {error}") from None
        found = sp.nan
    if found.has(sp.nan, sp.zoo):
        raise UsageError(f"{id}: {name} is {value!r:.80}; give a SymPy expression or a number")
    return found


def as_printed(id: str, name: str, formula: Any, citation: Citation) -> Printed:
    if isinstance(formula, Printed):
        return replace(formula, bound=as_formula(id, f"`printed` of {name}", formula.bound))
    return Printed(as_formula(id, f"`printed` of {name}", formula), citation)


def with_printed(quantity: Quantity, printed: Printed | None, worst: Mapping[sp.Symbol, sp.Expr]) -> Quantity:
    if printed is None:
        return quantity
    bound = printed.bound.xreplace(dict(worst))
    general = None if bound == printed.bound else printed.bound
    return replace(quantity, printed=replace(printed, bound=bound, general=general))


# The size bounds the exact value and so the error of the network that gives 0: a bound from there on says nothing.
# The error 0 of an identity is never vacuous, and a size with a letter that only a prompt binds is not a number here.
def with_trivial(
    quantity: Quantity, given: sp.Expr | None, worst: Mapping[sp.Symbol, sp.Expr], bound: set[sp.Symbol]
) -> Quantity:
    trivial = quantity.trivial if given is None else given
    trivial = None if trivial is None else trivial.xreplace(dict(worst))
    unknown = given is None and trivial is not None and bool(trivial.free_symbols - bound)
    return replace(quantity, trivial=None if unknown else trivial)
