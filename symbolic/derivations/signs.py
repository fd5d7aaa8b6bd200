"""Sign, monotonicity and continuity of an expression, for all symbols that meet their assumptions.

Each answer is one-sided: an unclear case gives None or False, never a guess. A sign is that of the number, where it is
one: q^r >= 0 has a pole at q = 0 for r < 0. `symbolic.derivations.definedness` tells where an expression is a number.
"""

from functools import lru_cache
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from symbolic.derivations.definedness import Relation, branches


# SymPy takes a sum to have the sign of its terms, wherever its index runs. What its assumptions do not see: a sum over
# terms, a case distinction and a maximum have the sign of their parts; and (1 - q^n)/(1 - q) is 1 + q + ... + q^(n-1),
# which is not negative for q >= 0, n >= 0 (at q = 1 it is n).
@lru_cache(maxsize=4096)
def is_nonnegative(expression: sp.Expr) -> bool | None:
    """Whether an expression is >= 0 wherever its symbols meet their assumptions; None where that is not clear."""
    if not expression.has(sp.Sum, sp.Product) and (expression.is_nonnegative or expression.is_negative):
        return bool(expression.is_nonnegative)
    return True if _nonnegative_by_parts(expression) else None


def assumed(part: sp.Expr, relation: Relation, facts: tuple[Any, ...] = ()) -> bool:
    """Whether a real number clearly meets the relation, wherever its letters meet their assumptions."""
    if relation is Relation.NONNEGATIVE:
        return bool(part.is_nonnegative) or _nonnegative_by_parts(part)
    nonzero = relation is Relation.NONZERO and (part.is_nonzero or part.is_negative)
    return relation is Relation.ANY or bool(part.is_positive or nonzero)


@lru_cache(maxsize=4096)
def _nonnegative_by_parts(expression: sp.Expr) -> bool:
    if not expression.has(sp.Sum, sp.Product) and expression.is_nonnegative:
        return True
    if isinstance(expression, sp.Add):
        return all(map(_nonnegative_by_parts, expression.args)) or _nonnegative_from_one(expression)
    if isinstance(expression, sp.Min):
        return all(map(_nonnegative_by_parts, expression.args))
    if isinstance(expression, sp.Max):
        return any(map(_nonnegative_by_parts, expression.args))
    if isinstance(expression, sp.Pow):
        return _nonnegative_power(expression)
    if isinstance(expression, sp.Sum | sp.Product):
        return _nonnegative_by_terms(expression)
    if isinstance(expression, sp.Piecewise):
        return all(map(_nonnegative_by_parts, branches(expression)))
    return isinstance(expression, sp.Mul) and _nonnegative_product(expression)


def _nonnegative_power(power: sp.Expr) -> bool:
    """0 has no negative powers; those of other numbers >= 0 are positive."""
    if power.exp.is_negative and not power.base.is_nonzero:
        return False
    return power.exp.is_real is True and _nonnegative_by_parts(power.base)


# A sum from a to b < a - 1 has a sign of its own (Karr's convention), and its index runs between its limits, whatever
# its assumptions are.
def _nonnegative_by_terms(total: sp.Expr) -> bool:
    term = total.function
    for index, low, high in total.limits:
        if not _nonnegative_by_parts(high - low + 1):
            return False
        beyond = sp.Dummy(index.name, integer=True, nonnegative=True)
        term = term.xreplace({index: low + beyond})
    return _nonnegative_by_parts(term)


def _nonnegative_from_one(total: sp.Expr) -> bool:
    """A sum in which each whole number n >= 1 is written 1 + m, m >= 0."""
    shifted = from_one(total)
    return shifted != total and isinstance(shifted, sp.Expr) and _nonnegative_by_parts(shifted)


def from_one(expression: sp.Expr) -> sp.Expr:
    """The expression with each whole number n >= 1 written 1 + m, m >= 0."""
    shifts = {s: _one_more(s) for s in expression.free_symbols if s.is_integer and s.is_positive}
    return expression.subs(shifts) if shifts else expression


@lru_cache(maxsize=256)
def _one_more(number: sp.Symbol) -> sp.Expr:
    """1 + m; for one number the same m in each question, so that the answers of SymPy are found again."""
    return 1 + sp.Dummy(number.name, integer=True, nonnegative=True)


def _nonnegative_product(product: sp.Mul) -> bool:
    """Every factor is >= 0, but for pairs that together are the sum of a geometric progression."""
    unclear = [factor for factor in product.args if not _nonnegative_by_parts(factor)]
    numerators = [factor for factor in unclear if not _is_reciprocal(factor)]
    for reciprocal in (factor for factor in unclear if _is_reciprocal(factor)):
        paired = [n for n in numerators if _is_geometric(n, 1 / reciprocal)]
        if not paired:
            return False
        numerators.remove(paired[0])
    signs = [factor for factor in numerators if factor.is_Number]
    grown = [factor for factor in numerators if not factor.is_Number]
    return len(grown) == len(signs) and all(map(_is_beyond_one, grown))


def _is_beyond_one(numerator: sp.Expr) -> bool:
    """Whether it is 1 - q^n with q >= 1 and n >= 0, which is not positive."""
    power = 1 - numerator
    return isinstance(power, sp.Pow) and bool(power.exp.is_nonnegative) and _nonnegative_by_parts(power.base - 1)


def _is_reciprocal(factor: sp.Expr) -> bool:
    return isinstance(factor, sp.Pow) and factor.exp == -1


def _is_geometric(numerator: sp.Expr, denominator: sp.Expr) -> bool:
    """Whether the two are 1 - q^n and 1 - q with q >= 0 and n >= 0 (q may be an exponential)."""
    power, ratio = 1 - numerator, 1 - denominator
    if not _nonnegative_by_parts(ratio):
        return False
    if isinstance(ratio, sp.exp) and isinstance(power, sp.exp):
        return bool(sp.cancel(power.args[0] / ratio.args[0]).is_nonnegative)
    base, exponent = power.as_base_exp()
    return power == ratio or (base == ratio and bool(exponent.is_nonnegative))


# --- continuity ------------------------------------------------------------------------------------------------------

CONTINUOUS = (sp.exp, sp.tanh, sp.sinh, sp.cosh, sp.asinh, sp.atan, sp.erf, sp.erfc, sp.sin, sp.cos)


def monotone(expression: sp.Expr, x: sp.Symbol) -> int | None:
    """1 if the expression clearly does not decrease in x, -1 if it does not increase; None if neither is clear."""
    if not is_continuous(expression, x):
        return None
    slope = slope_in(expression, x)
    return 1 if is_nonnegative(slope) else -1 if is_nonnegative(-slope) else None


def slope_in(expression: sp.Expr, x: sp.Symbol) -> sp.Expr:
    """d expression / d x, with the slopes of undefined functions (which do not decrease) as non-negative symbols."""
    slope = sp.diff(expression, x)
    unknown = slope.atoms(sp.Derivative, sp.Subs)
    return slope.xreplace({u: sp.Dummy(f"slope{k}", nonnegative=True) for k, u in enumerate(unknown)})


# A derivative does not detect jumps: those of a case distinction in x, of floor and sign, and at a pole. An undefined
# function is one that does not decrease; its jumps are upwards.
def is_continuous(expression: sp.Expr, x: sp.Symbol) -> bool:
    """Whether no jump and no pole in x is possible, but for upward jumps of undefined functions."""
    if not isinstance(expression, sp.Basic) or x not in expression.free_symbols or expression == x:
        return True
    if not _no_jump_at(expression, x):
        return False
    if isinstance(expression, sp.Piecewise):
        return all(is_continuous(branch, x) for branch, _ in expression.args)
    if isinstance(expression, sp.Sum | sp.Product):
        return is_continuous(expression.function, x)
    return all(is_continuous(part, x) for part in expression.args)


def _no_jump_at(node: sp.Basic, x: sp.Symbol) -> bool:
    if isinstance(node, sp.Piecewise):
        return not any(x in condition.free_symbols for _, condition in node.args)
    if isinstance(node, sp.Sum | sp.Product):
        return not any(x in part.free_symbols for limits in node.limits for part in limits)
    if isinstance(node, sp.Pow):
        base, exponent = node.base, node.exp
        whole_power = bool(exponent.is_integer and exponent.is_nonnegative) and x not in exponent.free_symbols
        return whole_power or bool(base.is_positive) or bool(is_nonnegative(base) and exponent.is_positive)
    if isinstance(node, sp.log):
        return bool(node.args[0].is_positive)
    kinds = (sp.Add, sp.Mul, sp.Max, sp.Min, sp.Abs, AppliedUndef, *CONTINUOUS)
    return isinstance(node, kinds)


def equals(count: sp.Expr, number: int) -> Any:
    """The relation count = number, its constants on the right."""
    constant, rest = (count - number).as_coeff_Add()
    return sp.Eq(rest, -constant)
