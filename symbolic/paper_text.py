r"""A statement as a paper prints it: the sentence of a theorem ("Let ..., then ...").

For environments of the reader's own: \begin{theorem}\input{...}\end{theorem}.
"""

from collections.abc import Sequence

from symbolic.conditions import conditions_of
from symbolic.displays import display, equations, stated
from symbolic.printing import RELATIONS, printed_latex
from symbolic.prose import prose_latex
from symbolic.sentences import listed
from symbolic.shared_parts import Shared
from symbolic.shown_bounds import derived_equations
from symbolic.statements import Quantifier, Quantity, Result


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
