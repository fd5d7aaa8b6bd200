"""Rule 7 for layers: a recursion read off one derived layer, and the 2-norm of a family of blocks, one a layer."""

from typing import Any

import sympy as sp

from symbolic.calculus.recursions import LinearRecursion, geometric_sum
from symbolic.derivation import Approximated, DerivationError, Norm, Step, as_expr, not_negative, require_norm


# One layer, derived by the rules from a premise with a symbolic error e, has a bound that is affine in e with
# coefficients >= 0: it is the step of a recursion, and nothing has to be typed again.
def recursion_from(premise: Approximated, layer: Approximated) -> LinearRecursion:
    """The recursion from 0 whose step is `layer`, derived from `premise`, whose given error is a symbol.

    Raises DerivationError if the bound is not affine in that symbol.
    """
    error = premise.error
    if not error.is_Symbol:
        raise DerivationError(f"recursion_from: the error of '{premise.name}' has to be a symbol, it is {error}")
    factor = sp.diff(layer.error, error)
    if factor.has(error):
        raise DerivationError(f"recursion_from: the error of '{layer.name}' is not affine in that of '{premise.name}'")
    return LinearRecursion(sp.Integer(0), sp.factor_terms(factor), layer.error.subs(error, 0))


def iterate(x: Approximated, name: str, recursion: LinearRecursion, depth: Any, *, dim: Any, size: Any) -> Approximated:
    """The value `depth` layers after x, whose error starts the recursion; coefficients may depend on the layer."""
    offset = recursion.offset
    if offset.has(recursion.index):
        offset = written_out(offset)
    started = LinearRecursion(x.error_symbol, recursion.factor, offset, recursion.index)
    step = Step(
        name,
        x.norm,
        "recursion",
        _with_powers(started.closed(as_expr(depth))),
        premises=(x.name,),
        reason=started.latex(),
        obligations=not_negative("iterate", name, factor=recursion.factor),
    )
    return x.follows(step, dim=as_expr(dim), size=as_expr(size))


def _with_powers(closed: sp.Expr) -> sp.Expr:
    """Products of a factor that does not depend on the layer, written as powers."""
    return closed.xreplace({product: _power(product) for product in closed.atoms(sp.Product)})


def _power(product: sp.Product) -> sp.Expr:
    factor, (index, first, last) = product.args
    return product if factor.has(index) else factor ** (last - first + 1)


# Inside a sum over the layers a case distinction would multiply the summand (SymPy moves it to the front), and close to
# ratio 1 its branches are quotients of small numbers; the sum of powers has neither fault.
def written_out(expression: sp.Expr) -> sp.Expr:
    """The same with each closed geometric sum, a case distinction at ratio 1, written as the sum of powers it is."""
    power = sp.Symbol("m", integer=True, nonnegative=True)
    sums = {}
    for cases in expression.atoms(sp.Piecewise):
        count, at_one = cases.args[0]
        if isinstance(at_one, sp.Eq) and at_one.rhs == 1 and geometric_sum(at_one.lhs, count) == cases:
            sums[cases] = sp.Sum(at_one.lhs**power, (power, 0, count - 1))
    return expression.xreplace(sums)


# ||(x_1, ..., x_n)||_2^2 = ||x_1||^2 + ... + ||x_n||^2. Equality: any.
def stack(
    first: Approximated,
    family: Approximated,
    index: sp.Symbol,
    last: Approximated,
    *,
    count: Any,
    name: str,
    dim: Any,
    reason: str = "",
) -> Approximated:
    """The vector (x_1, ..., x_count) in the 2-norm, `count` possibly symbolic; for count = 1 it is `last` alone.

    `family` is x_index for 2 <= index < count, with a bound that depends on `index`; its step sums the closed bounds.
    """
    for value in (first, family, last):
        require_norm("stack", value, Norm.TWO)
    count, layer = as_expr(count), sp.Symbol("i", integer=True, positive=True)

    def total(of_first: sp.Expr, of_family: sp.Expr, of_last: sp.Expr) -> sp.Expr:
        summand = written_out(of_family.subs(index, layer)) ** 2
        several = sp.sqrt(of_first**2 + sp.Sum(summand, (layer, 2, count - 1)) + of_last**2)
        return sp.Piecewise((of_last, sp.Eq(count, 1)), (several, True))

    step = Step(
        name,
        Norm.TWO,
        "concatenation",
        total(first.error_symbol, family.error, last.error_symbol),
        premises=(first.name, family.name, last.name),
        reason=reason or "the norm of a concatenation, from the norms of its parts",
    )
    return family.follows(step, first, last, dim=as_expr(dim), size=total(first.size, family.size, last.size))
