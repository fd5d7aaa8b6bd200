r"""A statement as a paper prints it: the sentence of a theorem ("Let ..., then ..."), and its proof.

For environments of the reader's own: \begin{theorem}\input{...}\end{theorem}.
"""

from collections.abc import Mapping, Sequence

from symbolic.displays import equation, stated
from symbolic.printing import RELATIONS, printed_latex
from symbolic.proofs import proofs
from symbolic.prose import prose_latex
from symbolic.shown_bounds import derived_equation
from symbolic.statements import Quantifier, Quantity, Result
from symbolic.typesetting import latex


def theorem_latex(result: Result, expanded: bool = False) -> str:
    """The hypotheses, the domains, and each bound: the derived one, or the printed one where nothing is derived."""
    shown = [each for each in result.quantities if each.printed or each.derived() is not None]
    conditions = ", ".join(stated(each.condition, result.notation) for each in result.hypotheses)
    domains = dict.fromkeys(each.domain_latex or prose_latex(each.domain) for each in shown)
    given = [f"Let {each}." for each in (conditions, *domains) if each]
    return "\n".join([*given, *(_bound(result, each, expanded) for each in shown)])


def proof_latex(result: Result, slack: Mapping[str, float] | None = None) -> str:
    """The steps of the derivations, numbered, each step once; a single derivation has no heading."""
    lines = proofs(result, slack)
    headings = [line for line in lines if line.startswith(r"\paragraph")]
    kept = [line for line in lines if len(headings) > 1 or line not in headings]
    at = {letter: value for each in result.quantities for letter, value in each.bound_at.items()}
    values = [rf"\[ {equation(latex(letter, result.notation), '=', x, result.notation)} \]" for letter, x in at.items()]
    return "\n".join([*kept, *(["The worst case is", *values] if values else [])])


def _bound(result: Result, quantity: Quantity, expanded: bool) -> str:
    derived, notation = quantity.derived(), result.notation
    chance = "" if quantity.quantifier is Quantifier.FOR_ALL else f", {prose_latex(quantity.chance)},"
    if derived is None:
        printed = printed_latex(quantity, quantity.printed, notation) if quantity.printed else ""
        return f"Then{chance}\n" + rf"\[ {printed} \]"
    relation = RELATIONS[quantity.kind]
    closed = equation(quantity.latex_symbol, relation, derived, notation) if expanded else ""
    display = closed or derived_equation(quantity, relation, notation)
    proof = result.shown_derivation(quantity)
    owed = [stated(each.condition, notation) for each in proof.obligations if each.open] if proof else []
    provided = f", provided that {_all_of(owed)}," if owed else ""
    return f"Then{chance}{provided}\n" + rf"\[ {display} \]"


def _all_of(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
