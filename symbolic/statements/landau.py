"""The constants that a Landau symbol leaves open: how far a count exceeds the expression inside, over a whole range."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import sympy as sp

from symbolic.statements.result import Order


@dataclass(frozen=True)
class Constant:
    """A c with count <= c * order for all letters from `least` on; `sharp`: the least c.

    Infinite: there is none if it is sharp, and else none was found.
    """

    value: sp.Expr
    sharp: bool
    least: Mapping[sp.Symbol, int]

    @property
    def words(self) -> str:
        if not self.value.is_finite:
            return "no constant suffices" if self.sharp else "no constant was found"
        which = "the least constant" if self.sharp else "a sufficient constant"
        return f"{which}{f' for all {self.range}' if self.least else ''} is {self.value}"

    @property
    def range(self) -> str:
        return ", ".join(f"{letter} >= {value}" for letter, value in self.least.items())


# With each letter written as its least value plus a new one that is not negative, the coefficients of count and order
# are those of monomials that are not negative: count <= c * order with c the largest ratio of coefficients. A monomial
# of the count that the order lacks makes c infinite, although others of the order may bound it: x y <= (x^2 + y^2) / 2.
# That c is the least one, or that there is none, is shown at the corner, or along a ray where each new letter is 0, t,
# t^2 or t^3, t -> infinity.
def largest_ratio(count: sp.Expr, order: sp.Expr, least: Mapping[sp.Symbol, int]) -> Constant:
    """How far the count may exceed the order, both polynomials in these letters, the order's coefficients >= 0."""
    letters = tuple(least) or (sp.Dummy(),)  # two numbers are polynomials in any letter
    ours, printed = (sp.Poly(_from(least, each), *letters) for each in (count, order))
    ratios = [c / printed.coeff_monomial(m) if printed.coeff_monomial(m) else sp.oo for m, c in ours.terms() if c > 0]
    largest = sp.Max(0, *ratios)
    rays = product(range(-1, 4), repeat=len(letters))
    return Constant(largest, any(_along(ours, printed, ray) == largest for ray in rays), least)


def order_constant(symbol: Order, count: sp.Expr, order: sp.Expr, least: Mapping[sp.Symbol, int]) -> Constant:
    """The c of O(order); of Theta(order) one for both sides, order <= c * count too."""
    above = largest_ratio(count, order, least)
    below = largest_ratio(order, count, least) if symbol is Order.THETA else above
    return max(above, below, key=lambda each: (each.value, each.sharp))


def _from(least: Mapping[sp.Symbol, int], formula: sp.Expr) -> sp.Expr:
    return sp.expand(formula.subs({letter: letter + value for letter, value in least.items()}, simultaneous=True))


def _along(ours: sp.Poly, printed: sp.Poly, ray: tuple[int, ...]) -> sp.Expr:
    """The limit of ours / printed where letter k is t^ray[k], or 0 for ray[k] = -1."""
    t = sp.Symbol("t", positive=True)
    at = {letter: t**power if power >= 0 else sp.Integer(0) for letter, power in zip(ours.gens, ray, strict=True)}
    above, below = (sp.Poly(each.as_expr().subs(at), t) for each in (ours, printed))
    if above.degree() > below.degree():
        return sp.oo
    return sp.Integer(0) if above.degree() < below.degree() else above.LC() / below.LC()
