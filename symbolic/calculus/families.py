"""The 2-norm of a family of blocks, one a layer: a vector of any number of parts."""

from typing import Any

import sympy as sp

from symbolic.calculus.geometric import written_out
from symbolic.derivations.derivation import (
    Approximated,
    DerivationError,
    Norm,
    as_expr,
    require_norm,
    rule_step,
)
from symbolic.derivations.obligations import Obligation, for_all, is_plain, reopened, unless, whole
from symbolic.derivations.operations import Unread, has_letter
from symbolic.derivations.signs import equals
from symbolic.words.indices import new_index
from symbolic.words.names import member_error


# ||(x_1, ..., x_n)||_2^2 = ||x_1||^2 + ... + ||x_n||^2. Equality: any.
def stack(
    first: Approximated,
    family: Approximated,
    index: sp.Symbol,
    last: Approximated,
    *,
    count: Any,
    name: str,
    reason: str = "",
) -> Approximated:
    """The vector (x_1, ..., x_count) in the 2-norm, `count` possibly symbolic; for count = 1 it is `last` alone.

    `family` is x_index for 2 <= index < count, with a bound that depends on `index`; its step sums the closed bounds.

    The obligations of `first` and of the family are required for count >= 2 only.
    """
    for value in (first, family, last):
        require_norm("stack", value, Norm.TWO)
    count = as_expr(count)
    _require_member(index, first, last)
    if family.events or family.mean_over:
        raise DerivationError(
            f"stack: '{family.name}' rests on random draws, one for each member; bound all of them at once "
            f"(union_bound) before they are stacked"
        )
    alone, several = equals(count, 1), _dimension_of_several(first, family, index, last, count)
    dim = sp.Piecewise((last.dim.xreplace({alone: sp.true}), alone), (several.xreplace({alone: sp.false}), True))
    bounds = (value for each in (first, family, last) for value in (each.error, each.size))
    layer = new_index("i", (count, *bounds), positive=True)

    def total(of_first: sp.Expr, of_family: sp.Expr, of_last: sp.Expr) -> sp.Expr:
        summand = written_out(of_family.subs(index, layer)) ** 2
        between = sp.S.Zero if count == 2 else sp.Sum(summand, (layer, 2, count - 1))  # SymPy compares no empty sum
        several = sp.sqrt(of_first**2 + between + of_last**2)
        return sp.Piecewise((of_last, sp.Eq(count, 1)), (several, True))

    step = rule_step(
        name,
        Norm.TWO,
        "concatenation",
        total(first.error_symbol, family.error, last.error_symbol),
        named=total(first.error_symbol, member_error(family.name, index), last.error_symbol),
        premises=(first.name, family.name, last.name),
        reason=reason or "since its norm is that of the vector of the norms of its parts",
        obligations=whole("stack", name, least=1, count=count),
        operation=Unread("its parts are a family of any length; concatenate(...) takes parts that are all derived"),
    )
    needed_anyway = {step.name for step in last.derivation.steps}
    where = f"for every {index} from 2 to {sp.sstr(count - 1)}"

    def of_several(owed: Obligation) -> Obligation:
        """For all members 2 .. count - 1, and for count >= 2."""
        return unless(sp.Lt(count, 2), for_all(reopened(owed, index), index, sp.Integer(2), count - 1, where))

    first, family = (each.with_obligations(of_several, needed_anyway) for each in (first, family))
    return family.follows(step, first, last, dim=dim, size=total(first.size_symbol, family.size, last.size_symbol))


def _require_member(index: sp.Symbol, first: Approximated, last: Approximated) -> None:
    """Raises DerivationError unless `index` counts the members of the family and occurs nowhere else."""
    if not (is_plain(index, integer=True, positive=True) or is_plain(index, integer=True, nonnegative=True)):
        raise DerivationError(
            f"stack: declare the index {index} as any whole number from 1 on, "
            f"sp.Symbol('j', integer=True, positive=True)"
        )
    for value in (first, last):
        owed = (o.condition for o in value.derivation.obligations)
        if has_letter((value.error, value.size, value.dim, *owed), index):
            raise DerivationError(f"stack: '{value.name}' depends on {index}, which counts the family; rename one")


def _dimension_of_several(
    first: Approximated, family: Approximated, index: sp.Symbol, last: Approximated, count: sp.Expr
) -> sp.Expr:
    member = family.dim.subs(index, sp.Dummy("m", integer=True, nonnegative=True) + 2)
    if not member.free_symbols - family.dim.free_symbols:  # all of one dimension
        return first.dim + (count - 2) * member + last.dim
    return first.dim + sp.Sum(family.dim, (index, 2, count - 1)).doit() + last.dim
