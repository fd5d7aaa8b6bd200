"""Which quantities of a theorem have an erratum, and what is wrong with a printed bound, known without a run."""

from bridge.theorems.theorem import Theorem
from symbolic.statements.result import Quantity


def refutable(theorem: Theorem) -> tuple[Quantity, ...]:
    """The quantities that have an erratum, those of checks and of refuted constants too."""
    stated, shown = theorem.statement.quantities, theorem.refuting.shown
    names = {each.name for each in stated}
    own = [each.quantity for each in theorem.checks if each.quantity.name not in names]
    known = {each.name: each for each in (*stated, *own) if each.erratum is not None}
    order = known if shown is None else dict.fromkeys(name for name in shown if name in known)
    return (*(known[name] for name in order), *(e.stated(theorem.statement) for e in theorem.refuting.refutations))


def sentences_on(theorem: Theorem, quantity: Quantity) -> tuple[str, ...]:
    """What is wrong with the printed bound of that quantity, a sentence each."""
    own = theorem.refuting.sentences
    if own is not None:
        return tuple(own(quantity))
    erratum = (quantity.erratum.words,) if quantity.erratum is not None else ()
    return (*erratum, *((quantity.remark,) if quantity.remark and quantity.printed else ()))
