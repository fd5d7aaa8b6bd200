"""The proof of a statement as a paper prints it, for an environment of the reader's own."""

from collections.abc import Mapping

import sympy as sp

from symbolic.latex.displays import display, equations
from symbolic.latex.introductions import page_of
from symbolic.latex.page import PAGE, Page
from symbolic.latex.proofs import proofs
from symbolic.statements.result import Quantity, Result
from symbolic.words.prose import begun, listed, prose_latex


def proof_latex(result: Result, slack: Mapping[str, float] | None = None) -> str:
    """The steps of the derivations, numbered, each step once; a single derivation has no heading."""
    page = page_of(result)
    lines = proofs(result, page, slack)
    headings = [line for line in lines if line.startswith(r"\paragraph")]
    kept = [line for line in lines if len(headings) > 1 or line not in headings]
    at = {letter: value for each in result.quantities for letter, value in _worst(result, each).items()}
    meanings = {x: prose_latex(result.symbols[x], page.names) for x in at if x in result.symbols}
    named = [f"${page.latex(x)}$ ({meaning})" for x, meaning in meanings.items()]
    letters = [f"The proof uses the letters {', '.join(named)}."] if named and kept else []
    return "\n".join([*letters, *kept, *_values(at, page), *_certificates(result, page)])


def _certificates(result: Result, page: Page) -> list[str]:
    """What proves a bound without a derivation."""
    proved = [each for each in result.quantities if each.certificate]
    named = len(proved) > 1
    return [
        begun(f"{prose_latex(each.meaning, page.names) + ': ' if named else ''}the proof is a certificate, ")
        + f"{prose_latex(each.certificate, page.names)}."
        for each in proved
    ]


def _worst(result: Result, quantity: Quantity) -> dict[sp.Symbol, sp.Expr]:
    """The letters that the worst case replaces, in the bound and in the conditions of its steps."""
    derivation = result.shown_derivation(quantity)
    owed = () if derivation is None else derivation.resting_on(quantity.concluded_by).obligations
    letters = {letter for each in owed if each.open for letter in each.condition.free_symbols}
    return {**quantity.bound_at, **{x: value for x, value in quantity.worst_values.items() if x in letters}}


def _values(at: Mapping[sp.Symbol, sp.Expr], page: Page) -> list[str]:
    """What the letters of the proof are in the statement: short values in a sentence, others in displays."""
    long = {x: value for x, value in at.items() if page.width(value) > PAGE / 4}
    short = [f"${page.latex(x)} = {page.latex(value)}$" for x, value in at.items() if x not in long]
    displays = [display(equations((page.latex(x), "=", value), page), ".") for x, value in long.items()]
    several = listed(short) if not long else ", ".join(short) + " and" * bool(short)
    words = f"The bounds of the statement are these with {several}"
    return [words.rstrip() if long else f"{words}.", *displays] if at else []
