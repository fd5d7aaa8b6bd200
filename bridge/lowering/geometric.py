"""Closed forms of geometric sums, recognised: (1 - x**m)/(1 - x) and (x**m - y**m)/(x - y).

Near ratio 1 the closed form is 0/0 although the sum is harmless: at x = 1 + 1e-12 float64 keeps four digits of it.
"""

import itertools
from functools import lru_cache

import sympy as sp

from .nodes import Geometric, is_constant, size

LARGEST_EXAMINED = 200  # nodes; closed forms of sums are small, and cancelling large fractions is slow


def proportion(first: sp.Expr, second: sp.Expr) -> sp.Expr | None:
    """The rational r with first = r second, term by term; None if there is none.

    `sympy.cancel` would also take (1 - x**9007199254740993) apart, and ends the process doing so.
    """
    terms, others = (sp.expand_mul(side).as_coefficients_dict() for side in (first, second))
    ratios = {terms[term] / others[term] for term in others} if set(terms) == set(others) else set()
    return ratios.pop() if len(ratios) == 1 and sp.S.Zero not in ratios else None


def as_powers(ratio: sp.Expr) -> list[tuple[sp.Expr, sp.Expr]]:
    """The pairs (base, m) with ratio = base**m that share one exponent m; empty if the factors do not share one."""
    pairs = [factor.as_base_exp() for factor in sp.Mul.make_args(ratio)]
    symbolic = [power for _, power in pairs if not power.is_number]
    m = (symbolic or [pairs[0][1]])[0]
    quotients = [proportion(power, m) for _, power in pairs]
    if m in (1, -1) or any(quotient not in (1, -1) for quotient in quotients):
        return []
    base = sp.Mul(*(b**q for (b, _), q in zip(pairs, quotients, strict=True)))
    factor, _ = m.as_coeff_Mul()
    finer = [(base**factor, m / factor)] if factor.is_Integer and factor > 1 and m != factor else []
    return [(base, m), *finer]


def splittings(numerator: sp.Add) -> list[tuple[sp.Expr, sp.Expr, sp.Expr]]:
    """The triples (t, base, m) with numerator = t (1 - base**m); growing powers first, since base may be 0."""
    first, second = numerator.args
    found = [
        (t, base, m)
        for power, t in ((first, second), (second, first))
        for base, m in as_powers(sp.powsimp(-power / t, combine="exp"))
    ]
    return sorted(found, key=lambda triple: (bool(triple[2].could_extract_minus_sign()), not triple[0].is_number))


def quotient_as_geometric(numerator: sp.Add, denominator: sp.Expr, *, exact: bool) -> sp.Expr | None:
    """numerator/denominator through G((above - below)/below, m), where base = above/below.

    `exact`: whether numbers neither overflow nor underflow. Floats do: y**n (x/y)**n is 0 * inf for small y, so they
    take the literal quotient wherever nothing cancels in it.
    """
    for t, base, m in splittings(numerator):
        above, below = sp.fraction(base)
        ratio = proportion(denominator, above - below)
        if ratio is not None:
            stable = -t * Geometric((above - below) / below, m) / (below * ratio)
            if is_constant(below):
                return stable
            apart = sp.Add(*(term / denominator for term in numerator.args))  # at y = 0 nothing cancels
            near = sp.Ne(below, 0) if exact else 2 * sp.Abs(above - below) < sp.Abs(below)
            return sp.Piecewise((stable, near), (apart, True))
    return None


@lru_cache(maxsize=1024)  # to solve it takes long, and the formulas of a theorem share their sums
def covers_limit(condition: sp.Basic, value: sp.Expr, stable: sp.Expr) -> bool:
    """Whether the stable form already has this value where the condition, ratio = 1, holds.

    The case distinction is then dropped: it would make the derivative at ratio 1 that of the special value.
    """
    sums = stable.atoms(Geometric)
    if not isinstance(condition, sp.Eq) or not sums or sum(map(size, (condition, value, stable))) > LARGEST_EXAMINED:
        return False
    at_once = {node: node.args[1] for node in sums if node.args[0] == condition.lhs - condition.rhs}
    if at_once and stable.xreplace(at_once) == value:
        return True
    symbol = min(condition.free_symbols, key=str)
    try:
        solutions = sp.solve(condition, symbol, dict=True)
    except NotImplementedError:  # SymPy cannot tell where the condition holds
        return False
    if len(solutions) != 1:
        return False
    limits = {node: node.args[1] for node in sums if sp.simplify(node.args[0].subs(solutions[0])) == 0}
    return bool(limits) and sp.simplify((stable.xreplace(limits) - value).subs(solutions[0])) == 0


def product_with_geometric(expr: sp.Mul, *, exact: bool) -> sp.Expr | None:
    """The product with one quotient replaced by a geometric sum; None if there is no such quotient."""
    numerators = [factor for factor in expr.args if factor.is_Add and len(factor.args) == 2]
    denominators = [factor for factor in expr.args if factor.is_Pow and factor.exp == -1]
    for numerator, denominator in itertools.product(numerators, denominators):
        if size(numerator) + size(denominator) > LARGEST_EXAMINED:
            continue
        geometric = quotient_as_geometric(numerator, denominator.base, exact=exact)
        if geometric is not None:
            return geometric * sp.Mul(*(factor for factor in expr.args if factor not in (numerator, denominator)))
    return None
