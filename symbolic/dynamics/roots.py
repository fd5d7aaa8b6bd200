"""Signs of expressions with square roots, proved over a chart."""

import math
from collections.abc import Mapping

import sympy as sp

from symbolic.derivations.derivation import DerivationError
from symbolic.dynamics.fixed_points import Chart, proved_sign

Squares = Mapping[sp.Symbol, sp.Expr]  # a letter for each root, and what it is the root of


# The sign of a quotient of products is the product of the signs of its factors, each a polynomial in the roots. A sum
# of terms with one sign has it; of a > 0 and b > 0, a - b has the sign of a^2 - b^2, where products of roots are none.
def sign_with_roots(expression: sp.Expr, chart: Chart) -> int:
    """1, 0 or -1, whatever the chart's positive symbols are. Raises DerivationError where that is not shown."""
    powers = [each for each in expression.atoms(sp.Pow) if each.exp.is_Rational and each.exp.q == 2]
    roots = {base: sp.Dummy(positive=True) for base in {sp.expand(each.base) for each in powers}}
    if any(proved_sign(base, chart) != 1 for base in roots):
        raise DerivationError(f"sign: a root in {sp.sstr(expression)} is not shown to be that of a positive number")
    plain = expression.xreplace({each: roots[sp.expand(each.base)] ** (2 * each.exp) for each in powers})
    plain = plain.subs({base: letter**2 for base, letter in roots.items() if base.is_Symbol})
    squares = {letter: base for base, letter in roots.items()}
    sides = [sp.factor_list(side) for side in sp.fraction(sp.together(plain))]
    signs = [_sign_of_factor(each, squares, chart) ** int(power) for _, factors in sides for each, power in factors]
    return math.prod([*(proved_sign(content, chart) for content, _ in sides), *signs])


def _sign_of_factor(factor: sp.Expr, squares: Squares, chart: Chart) -> int:
    factor = factor.subs({letter**2: base for letter, base in squares.items() if base.is_Symbol})
    letters = [letter for letter in squares if letter in factor.free_symbols]
    if not letters:
        return proved_sign(factor, chart)
    form = sp.Poly(factor, *letters)
    terms = [(proved_sign(c, chart), c * sp.prod(map(pow, form.gens, powers))) for powers, c in form.terms()]
    terms = [(sign, term) for sign, term in terms if sign]
    signs = {sign for sign, _ in terms}
    if len(signs) < 2:
        return signs.pop() if signs else 0
    if len(terms) != 2:
        raise DerivationError(f"sign: that of a sum of {len(terms)} terms with different roots is not shown")
    (sign, first), (_, second) = terms
    known = {letter**2: base for letter, base in squares.items()}
    return sign * proved_sign((sp.expand(first**2) - sp.expand(second**2)).subs(known), chart)
