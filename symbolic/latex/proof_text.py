"""The proof of a statement as a paper prints it, for an environment of the reader's own."""

from collections.abc import Mapping

import sympy as sp

from symbolic.latex.displays import PAGE, display, equations
from symbolic.latex.introductions import latex_names, letters_of_objects
from symbolic.latex.proofs import proofs
from symbolic.latex.shared_parts import Shared
from symbolic.latex.typesetting import Notation, latex
from symbolic.latex.widths import width
from symbolic.statements.result import Quantity, Result
from symbolic.words.prose import listed, prose_latex


def proof_latex(result: Result, slack: Mapping[str, float] | None = None) -> str:
    """The steps of the derivations, numbered, each step once; a single derivation has no heading."""
    shared = Shared(letters_of_objects(result))
    lines = proofs(result, slack, shared)
    headings = [line for line in lines if line.startswith(r"\paragraph")]
    kept = [line for line in lines if len(headings) > 1 or line not in headings]
    at = {letter: value for each in result.quantities for letter, value in _worst(result, each).items()}
    names = latex_names(result)
    meanings = {x: prose_latex(result.symbols[x], names) for x in at if x in result.symbols}
    named = [f"${latex(x, result.notation)}$ ({meaning})" for x, meaning in meanings.items()]
    letters = [f"The proof uses the letters {', '.join(named)}."] if named and kept else []
    return "\n".join([*letters, *kept, *_values(at, result.notation, shared)])


def _worst(result: Result, quantity: Quantity) -> dict[sp.Symbol, sp.Expr]:
    """The letters that the worst case replaces, in the bound and in the conditions of its steps."""
    derivation = result.shown_derivation(quantity)
    owed = () if derivation is None else derivation.resting_on(quantity.step or quantity.name).obligations
    letters = {letter for each in owed if each.open for letter in each.condition.free_symbols}
    worst = {x: value for x, value in quantity.at_worst.items() if x in letters and x != value}
    return {**quantity.bound_at, **worst}


def _values(at: Mapping[sp.Symbol, sp.Expr], notation: Notation, shared: Shared) -> list[str]:
    """What the letters of the proof are in the statement: short values in a sentence, others in displays."""
    long = {x: value for x, value in at.items() if width(latex(value, notation)) > PAGE / 4}
    short = [f"${latex(x, notation)} = {latex(value, notation)}$" for x, value in at.items() if x not in long]
    shown = (equations(latex(x, notation), "=", value, notation, shared=shared) for x, value in long.items())
    displays = [display(each, ".") for each in shown]
    several = listed(short) if not long else ", ".join(short) + " and" * bool(short)
    words = f"The bounds of the statement are these with {several}"
    return [words.rstrip() if long else f"{words}.", *displays] if at else []
