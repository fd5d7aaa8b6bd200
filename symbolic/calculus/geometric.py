"""Sums of powers in closed form, valid where ratios are 1 or equal, and the powers that an expression consists of."""

from typing import Any

import sympy as sp

from symbolic.derivations.derivation import DerivationError, as_expr
from symbolic.words.indices import new_index


# (1 - q) (1 + q + ... + q^(n-1)) = 1 - q^n; at q = 1 the sum is n.
def geometric_sum(ratio: Any, count: Any) -> sp.Expr:
    """sum of ratio^k for k = 0 .. count - 1, valid at ratio 1 as well."""
    ratio, count = as_expr(ratio), as_expr(count)
    closed = (1 - power_of(ratio, count)) / (1 - ratio)
    at_one = _is_one(ratio)
    if at_one is None:
        return sp.Piecewise((count, sp.Eq(ratio, 1)), (closed, True))
    return count if at_one else closed


# Inside a sum over the layers a case distinction would multiply the summand (SymPy moves it to the front), and close to
# ratio 1 its branches are quotients of small numbers; the sum of powers has neither fault.
def written_out(expression: Any, index: sp.Symbol | None = None) -> Any:
    """The same, with each closed geometric sum (a case distinction at ratio 1) written as a sum of powers.

    Exactly `geometric_sum(ratio, count)` is one: for any other case distinction nothing changes.
    """
    power = index or new_index("m", (expression,), nonnegative=True)
    sums = {}
    for cases in expression.atoms(sp.Piecewise):
        if (found := _ratio_and_count(cases)) is not None:
            ratio, count = found
            sums[cases] = sp.Sum(ratio**power, (power, 0, count - 1))
    return expression.xreplace(sums)


def _ratio_and_count(cases: sp.Basic) -> tuple[sp.Expr, sp.Expr] | None:
    """The ratio and the number of summands, if these cases are a geometric sum."""
    (count, where), (closed, _) = cases.args[0], cases.args[-1]
    if not isinstance(where, sp.Eq):
        return None
    below = (factor.base for factor in sp.Mul.make_args(closed) if factor.is_Pow and factor.exp == -1)
    ratios = [1 - base for base in below]  # from the closed form: at 2 q = 1, the case is stated as q = 1/2
    ratios += [power.base for power in closed.atoms(sp.Pow) if power.exp == count]  # 1 - q may be no sum
    return next(((ratio, count) for ratio in ratios if geometric_sum(ratio, count) == cases), None)


# c_n(p, q) = sum over i + j = n - 1 of p^i q^j: (p - q) c_n = p^n - q^n; at p = q it is n p^(n-1).
def mixed_geometric_sum(p: Any, q: Any, count: Any) -> sp.Expr:
    """sum of p^i q^j over i + j = count - 1, valid at equal ratios as well."""
    p, q, count = as_expr(p), as_expr(q), as_expr(count)
    if p == q:
        return equal_ratios(p, count)
    closed = (power_of(p, count) - power_of(q, count)) / (p - q)
    if (p - q).is_zero is False:
        return closed
    return sp.Piecewise((equal_ratios(p, count), sp.Eq(p, q)), (closed, True))


def equal_ratios(p: sp.Expr, count: sp.Expr) -> sp.Expr:
    """count p^(count - 1), and 0 for no summand (where p = 0 would give 0 times 1/0)."""
    several = count * power_of(p, count - 1)
    if count.is_zero:
        return sp.Integer(0)
    return several if count.is_positive or p.is_nonzero else sp.Piecewise((0, sp.Eq(count, 0)), (several, True))


def powers_with(expression: sp.Expr, index: sp.Symbol) -> set[sp.Expr]:
    """The powers in an expression whose exponent depends on the index."""
    return {each for each in expression.atoms(sp.Pow, sp.exp) if each.exp.has(index)}


def times_power(power: sp.Expr, index: sp.Symbol, ratio: sp.Expr, letter: sp.Symbol) -> sp.Expr:
    """A power that is c ratio^index, as c times `letter`; any other one as it is."""
    slope = sp.diff(power.exp, index)
    if power.base.has(index) or slope.has(index) or sp.expand(power.base**slope - ratio) != 0:
        return power
    return power.subs(index, 0) * letter


def ratio_of(term: sp.Expr, index: sp.Symbol) -> sp.Expr | None:
    """r, if the term is a multiple of r^index; None for another one."""
    if not term.has(index):
        return sp.S.One
    if not isinstance(term, sp.Pow | sp.exp) or term.base.has(index):
        return None
    slope = sp.diff(term.exp, index)
    return None if slope.has(index) else term.base**slope


MOST_BITS = 10**6


def power_of(base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    """base^exponent, with exp(u)^n written exp(n u). Raises DerivationError if it has too many digits."""
    if base.is_Rational and exponent.is_Integer:
        bits = max(abs(base.p), base.q).bit_length() * abs(exponent)
        if base not in (0, 1) and bits > MOST_BITS:
            raise DerivationError(f"({base})^{exponent} has too many digits to be written out; keep the depth symbolic")
    return sp.exp(base.args[0] * exponent) if isinstance(base, sp.exp) else base**exponent


def at_layer(expression: sp.Expr, index: sp.Symbol, layer: sp.Expr) -> sp.Expr:
    """The expression at one layer. Raises DerivationError if a power of a number has too many digits there."""
    for each in powers_with(expression, index):
        power_of(each.base, each.exp.subs(index, layer))
    return expression.subs(index, layer)


def _is_one(ratio: sp.Expr) -> bool | None:
    if isinstance(ratio, sp.exp):
        return ratio.args[0].is_zero
    return (ratio - 1).is_zero
