r"""A statement as a paper prints it: the sentence of a theorem ("Let ..., then ..."), and its proof.

For environments of the reader's own: \begin{theorem}\input{...}\end{theorem}.
"""

from collections.abc import Mapping, Sequence

import sympy as sp

from symbolic.conditions import conditions_of
from symbolic.displays import PAGE, display, equations, stated
from symbolic.printing import RELATIONS, printed_latex
from symbolic.proofs import proofs
from symbolic.prose import prose_latex
from symbolic.sentences import listed
from symbolic.shared_parts import Shared
from symbolic.shown_bounds import derived_equations
from symbolic.statements import Quantifier, Quantity, Result
from symbolic.typesetting import Notation, latex
from symbolic.widths import width


def theorem_latex(result: Result, expanded: bool = False) -> str:
    """The hypotheses, the domains, and each bound: the derived one, or the printed one where nothing is derived."""
    shown = [each for each in result.quantities if each.printed or each.derived() is not None]
    conditions = ", ".join(stated(each.condition, result.notation) for each in result.hypotheses)
    domains = dict.fromkeys(each.domain_latex or prose_latex(each.domain) for each in shown)
    given = [f"Let {each}." for each in (conditions, *domains) if each]
    shared = Shared()
    owed = conditions_of(result, shown, shared)
    bounds = (_bound(result, each, expanded, owed.needed.get(each.name, []), shared) for each in shown)
    return "\n".join([*given, *owed.lines, *bounds])


def proof_latex(result: Result, slack: Mapping[str, float] | None = None) -> str:
    """The steps of the derivations, numbered, each step once; a single derivation has no heading."""
    shared = Shared()
    lines = proofs(result, slack, shared)
    headings = [line for line in lines if line.startswith(r"\paragraph")]
    kept = [line for line in lines if len(headings) > 1 or line not in headings]
    at = {letter: value for each in result.quantities for letter, value in each.bound_at.items()}
    meanings = {x: prose_latex(result.symbols[x]) for x in at if x in result.symbols}
    named = [f"${latex(x, result.notation)}$ ({meaning})" for x, meaning in meanings.items()]
    letters = [f"The proof uses the letters {', '.join(named)}."] if named and kept else []
    return "\n".join([*letters, *kept, *_values(at, result.notation, shared)])


def _values(at: Mapping[sp.Symbol, sp.Expr], notation: Notation, shared: Shared) -> list[str]:
    """What the letters of the proof are in the statement: short values in a sentence, others in displays."""
    short = [
        f"${latex(x, notation)} = {latex(value, notation)}$" for x, value in at.items() if _is_short(value, notation)
    ]
    long = {x: value for x, value in at.items() if not _is_short(value, notation)}
    displays = [
        display(equations(latex(x, notation), "=", value, notation, shared=shared), ".") for x, value in long.items()
    ]
    words = f"The bounds of the statement are these with {listed(short)}." if short else ""
    also = f"{'Moreover, there' if short else 'In the statement,'}" if displays else ""
    return [each for each in (words, also, *displays) if each]


def _is_short(value: sp.Expr, notation: Notation) -> bool:
    return width(latex(value, notation)) <= PAGE / 4


def _bound(result: Result, quantity: Quantity, expanded: bool, owed: Sequence[str], shared: Shared) -> str:
    derived, notation = quantity.derived(), result.notation
    chance = "" if quantity.quantifier is Quantifier.FOR_ALL else f", {prose_latex(quantity.chance)},"
    if derived is None:
        printed = printed_latex(quantity, quantity.printed, notation) if quantity.printed else ""
        return f"Then{chance}\n" + display([printed], ".")
    relation = RELATIONS[quantity.kind]
    closed = equations(quantity.latex_symbol, relation, derived, notation, shared=shared) if expanded else []
    shown = closed or derived_equations(quantity, relation, notation, shared)
    provided = f", under {listed(owed)}," if owed else ""
    return f"Then{chance}{provided}\n" + display(shown, ".")
