"""The letters of a theorem's bounds: each is used, has a value, and is introduced."""

import sympy as sp

from bridge.theorems.theorem_data import TheoremData
from symbolic.latex.introductions import letters_of
from symbolic.latex.typesetting import latex
from symbolic.statements.result import Result
from symbolic.words.errors import UsageError


def require_letters(theorem: TheoremData) -> None:
    """Raises UsageError for a letter that no bound has, and for one of a bound that nothing gives or introduces."""
    _require_used(theorem)
    _require_bound(theorem)
    _require_introduced(theorem)


def _require_used(theorem: TheoremData) -> None:
    """Every letter that an instance knows is in a bound, or in a condition under which one holds.

    What a quantity derives on first use is not checked.
    """
    quantities = theorem.stated
    if theorem.at_point.quantities is not None or any(each.derive is not None for each in quantities):
        return
    used = {letter for each in quantities for letter in each.letters}
    used |= {s for each in quantities for value in (each.worst_case or {}).values() for s in value.free_symbols}
    owed = (o for each in quantities if each.derivation is not None for o in each.derivation.obligations)
    used |= {letter for o in owed for letter in getattr(o.condition, "free_symbols", ())}
    unused = sorted(str(letter) for letter in set(theorem.knows) - used)
    if unused:
        raise UsageError(
            f"{theorem.id}: `knows` gives {', '.join(unused)}, which no bound has; omit it, or take the symbol of the "
            f"bound (symbols with other assumptions are other letters)"
        )


def _require_bound(theorem: TheoremData) -> None:
    """Every letter of a bound has a value from a parameter or an instance; those of a point are not checked."""
    of_network = {s for s, each in theorem.knows.items() if any(theorem.scope_of(f) == "network" for f in each)}
    bound = {p.symbol for p in theorem.statement.parameters} | of_network
    checked = [check.quantity.name for check in theorem.checks]  # their sides may give letters
    for quantity in (each for each in theorem.stated if each.name not in checked):
        bound |= set(quantity.printed.unspecified) if quantity.printed else set()
        printed = quantity.printed.bound.xreplace(quantity.at_worst) if quantity.printed else None
        formulas = (quantity.derived(), printed, quantity.trivial, quantity.may_fail)
        letters = {letter for each in formulas if each is not None for letter in each.free_symbols}
        free = sorted(str(letter) for letter in letters - bound)
        if free:
            raise UsageError(
                f"{theorem.id}: nothing gives {', '.join(free)} in the bound of '{quantity.name}' a value; make it a "
                f"parameter, or give its worst case in `worst`, or a function in `knows`"
            )


def _require_introduced(theorem: TheoremData) -> None:
    """Every letter of a stated bound is a parameter or has a meaning, so that the statement can be read by itself."""
    statement = theorem.statement
    introduced = {each.symbol for each in statement.parameters} | set(statement.symbols)
    introduced |= {each.defines for each in statement.formulas}
    for quantity in theorem.stated:
        derived, printed = quantity.derived(), quantity.printed
        known = introduced | set(printed.unspecified if printed else ())
        shown = printed.shown if derived is None and printed else derived
        letters = {x for each in (shown, quantity.may_fail) if each is not None for x in each.free_symbols}
        unknown = sorted(str(each) for each in letters - known if not _is_object(each, statement))
        if unknown:
            raise UsageError(
                f"{theorem.id}: the bound of '{quantity.name}' has {', '.join(unknown)}, and nothing says what it is; "
                f"say so in `meanings`, or make it a parameter, or give its worst case in `worst`"
            )


def _is_object(letter: sp.Symbol, statement: Result) -> bool:
    """Whether the statement introduces it among the letters that are no symbols."""
    return set(letters_of(latex(letter, statement.notation))) <= {
        o for name in statement.objects for o in letters_of(name)
    }
