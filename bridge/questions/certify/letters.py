"""Expressions as quotients of polynomials in letters, exactly.

The letters are the coordinates, exp(m/d), roots, and the values of other functions. Two expressions whose difference
has the numerator 0 are equal wherever both are defined, whether or not the letters depend on each other.

- exp(u) is the product of exp(m/d)^n over the terms (n/d) m of u; tanh, sinh and cosh are written by exp;
- x^(p/q) is r^p, where r^q = x; (x y)^(1/2) = x^(1/2) y^(1/2) only where both are known to be >= 0;
- cos(u)^2 = 1 - sin(u)^2.
"""

from collections.abc import Collection, Iterable, Mapping
from functools import reduce
from math import lcm
from typing import Any

import flint
import sympy as sp

MOST_POWER, MOST_PRODUCTS = 64, 200_000  # of an exponent, and of the terms that one product multiplies

Polynomial = Any  # flint.fmpq_mpoly: python-flint's classes carry no types
Quotient = tuple[Polynomial, Polynomial]


class NotAlgebraicError(ValueError):
    """The expression is not a quotient of polynomials of a moderate size in letters."""


class LetterAlgebra:
    """The letters of some expressions, and their arithmetic. Raises NotAlgebraicError."""

    def __init__(self, expressions: Iterable[sp.Expr], nonnegative: Collection[sp.Symbol] = ()) -> None:
        self.nonnegative = frozenset(nonnegative)
        self._exponents: dict[sp.Expr, int] = {}  # m -> d of exp(m/d)
        self._roots: dict[sp.Expr, int] = {}  # x -> q
        self._others: dict[sp.Expr, None] = {}
        self._known: dict[sp.Expr, Quotient] = {}
        for each in expressions:
            self._collect(each)
        self.meaning: list[sp.Expr] = [
            *(sp.exp(m / d) for m, d in self._exponents.items()),
            *(sp.Pow(x, sp.Rational(1, q)) for x, q in self._roots.items()),
            *(each for each in self._others if each not in self._roots),
        ]
        context = flint.fmpq_mpoly_ctx.get([f"l{i}" for i in range(len(self.meaning))] or ["l"], "lex")
        self.one = context.from_dict({(0,) * max(1, len(self.meaning)): 1})
        self._generators = dict(zip(self.meaning, context.gens(), strict=False))
        self._relations = self._reductions()

    # collecting

    def _collect(self, node: Any) -> None:
        if node.is_Rational or node in self._others:
            return
        if isinstance(node, sp.exp | sp.tanh | sp.sinh | sp.cosh) or node == sp.E:
            for c, m in exponent_terms(_exponent(node)):
                self._exponents[m] = lcm(self._exponents.get(m, 1), int(c.q))
        elif node.is_Add or node.is_Mul:
            for part in node.args:
                self._collect(part)
        elif node.is_Pow and node.exp.is_Rational:
            if abs(node.exp) > MOST_POWER:
                raise NotAlgebraicError(f"the exponent {node.exp}")
            for base, exponent in self._powers(node):
                if exponent.q > 1:
                    self._roots[base] = lcm(self._roots.get(base, 1), int(exponent.q))
                self._collect(base)
        else:
            self._others[node] = None
            if isinstance(node, sp.cos):
                self._others[sp.sin(node.args[0])] = None

    def _powers(self, node: Any) -> list[tuple[Any, Any]]:
        """Bases and exponents: a root of a product is taken apart where all factors are known to be >= 0."""
        if node.exp.is_Integer:
            return [(node.base, node.exp)]
        factors = [factor.as_base_exp() for factor in sp.Mul.make_args(node.base)]
        if all((b in self.nonnegative and e.is_Integer) or (b.is_Integer and b > 0) for b, e in factors):
            return [(b, e * node.exp) for b, e in factors]
        return [(node.base, node.exp)]

    def _reductions(self) -> list[tuple[int, int, Polynomial]]:
        """Letters whose power is a polynomial in others: place, power and that polynomial, which has inner letters."""
        places = {letter: i for i, letter in enumerate(self.meaning)}
        found = []
        bases = dict.fromkeys([*self._roots, *(each for each in self._others if isinstance(each, sp.cos))])
        for base in sorted(bases, key=_size, reverse=True):
            q = self._roots.get(base, 1)
            place = places[sp.Pow(base, sp.Rational(1, q))]
            if isinstance(base, sp.cos):
                found.append((place, 2 * q, self.one - self.quotient(sp.sin(base.args[0]))[0] ** 2))
                continue
            above, below = self.quotient(base)
            if below == self.one and not above.degrees()[place]:  # x, pi and sin(x) are powers of their roots
                found.append((place, q, above))
        return found

    # arithmetic

    def quotient(self, node: Any) -> Quotient:
        """Numerator and denominator."""
        if node not in self._known:
            self._known[node] = self._quotient(node)
        return self._known[node]

    def _quotient(self, node: Any) -> Quotient:
        if node.is_Rational:
            return self.one * flint.fmpq(int(node.p), int(node.q)), self.one
        if node.is_Add:
            return reduce(self._sum, map(self.quotient, node.args))
        if node.is_Mul:
            return reduce(self._product, map(self.quotient, node.args))
        if node.is_Pow and node.exp.is_Rational:
            return reduce(self._product, (self._power(b, e) for b, e in self._powers(node)))
        if isinstance(node, sp.exp) or node == sp.E:
            return self._exp(_exponent(node))
        if isinstance(node, sp.tanh | sp.sinh | sp.cosh):
            return self._hyperbolic(node)
        if node in self._roots:
            return self._raised(
                (self._generators[sp.Pow(node, sp.Rational(1, self._roots[node]))], self.one), self._roots[node]
            )
        if node not in self._generators:
            raise NotAlgebraicError(f"{node} is no letter of these expressions")
        return self._generators[node], self.one

    def _power(self, base: Any, exponent: Any) -> Quotient:
        if exponent.q == 1:
            return self._raised(self.quotient(base), int(exponent))
        q = self._roots[base]
        return self._raised((self._generators[sp.Pow(base, sp.Rational(1, q))], self.one), int(exponent * q))

    def _exp(self, exponent: sp.Expr) -> Quotient:
        found = (self.one, self.one)
        for c, m in exponent_terms(exponent):
            d = self._exponents[m]
            found = self._product(found, self._raised((self._generators[sp.exp(m / d)], self.one), int(c * d)))
        return found

    def _hyperbolic(self, node: Any) -> Quotient:
        e = self._exp(node.args[0] * (2 if isinstance(node, sp.tanh) else 1))
        square = e if isinstance(node, sp.tanh) else self._product(e, e)
        sign = 1 if isinstance(node, sp.cosh) else -1
        above, two = self._sum(square, (self.one * sign, self.one)), (self.one * 2, self.one)
        below = self._sum(square, (self.one, self.one)) if isinstance(node, sp.tanh) else self._product(two, e)
        return self._product(above, self._raised(below, -1))

    def _sum(self, a: Quotient, b: Quotient) -> Quotient:
        if a[1] == b[1]:
            return self._lowest(a[0] + b[0], a[1])
        return self._lowest(_times(a[0], b[1]) + _times(b[0], a[1]), _times(a[1], b[1]))

    def _product(self, a: Quotient, b: Quotient) -> Quotient:
        return self._lowest(_times(a[0], b[0]), _times(a[1], b[1]))

    def _raised(self, a: Quotient, power: int) -> Quotient:
        if abs(power) > MOST_POWER:
            raise NotAlgebraicError(f"the exponent {power}")
        above, below = a if power >= 0 else (a[1], a[0])
        found = (self.one, self.one)
        for _ in range(abs(power)):
            found = (_times(found[0], above), _times(found[1], below))
        return self._lowest(*found)

    def _lowest(self, above: Polynomial, below: Polynomial) -> Quotient:
        if below == 0:
            raise NotAlgebraicError("a denominator is 0")
        if below.is_constant():
            return above * (1 / below.leading_coefficient()), self.one
        shared = above.gcd(below)
        above, below = above / shared, below / shared
        leading = 1 / below.leading_coefficient()
        return above * leading, below * leading

    def reduced(self, polynomial: Polynomial) -> Polynomial:
        """The polynomial with high powers of roots and cosines replaced by what they equal."""
        for place, q, of in self._relations:
            while polynomial.degrees() and polynomial.degrees()[place] >= q:
                high = {m: c for m, c in polynomial.to_dict().items() if m[place] >= q}
                lower = {(*m[:place], m[place] - q, *m[place + 1 :]): c for m, c in high.items()}
                context = polynomial.context()
                polynomial = polynomial - context.from_dict(high) + _times(context.from_dict(lower), of)
        return polynomial

    def is_zero(self, expression: sp.Expr) -> bool:
        """Whether it is 0 wherever it is defined, by its numerator."""
        return bool(self.reduced(self.quotient(expression)[0]) == 0)

    def written(self, polynomial: Polynomial) -> sp.Expr:
        """A polynomial as an expression."""
        terms = []
        for powers, c in polynomial.to_dict().items():
            letters = (letter**p for letter, p in zip(self.meaning, powers, strict=False))
            terms.append(sp.Mul(sp.Rational(int(c.p), int(c.q)), *letters))
        return sp.Add(*terms)


def _times(a: Polynomial, b: Polynomial) -> Polynomial:
    if len(a) * len(b) > MOST_PRODUCTS:
        raise NotAlgebraicError("a product has too many terms")
    return a * b


def _size(node: Any) -> int:
    return sum(1 for _ in sp.preorder_traversal(node))


def _exponent(node: Any) -> sp.Expr:
    if node == sp.E:
        return sp.Integer(1)
    return node.args[0] * (2 if isinstance(node, sp.tanh) else 1)


def exponent_terms(exponent: sp.Expr) -> list[tuple[Any, Any]]:
    return [term.as_coeff_Mul(rational=True) for term in sp.Add.make_args(sp.expand_mul(exponent))]


def are_equal(a: sp.Expr, b: sp.Expr, nonnegative: Collection[sp.Symbol] = ()) -> bool:
    """Whether two expressions are shown to agree wherever both are defined."""
    difference = sp.Add(a, -b, evaluate=False)
    if a == b:
        return True
    try:
        return LetterAlgebra([difference], nonnegative).is_zero(difference)
    except NotAlgebraicError:
        return False


def polynomial_of(expression: sp.Expr, symbols: Iterable[sp.Symbol]) -> Mapping[tuple[int, ...], Any] | None:
    """Exponents and rational coefficients of a polynomial in these letters; None for what is none."""
    symbols = tuple(symbols)
    try:
        letters = LetterAlgebra([*symbols, expression])
        above, below = letters.quotient(expression)
    except NotAlgebraicError:
        return None
    above = letters.reduced(above)
    places = [letters.meaning.index(s) if s in letters.meaning else -1 for s in symbols]
    if below != letters.one or -1 in places:
        return None
    found = {}
    for powers, c in above.to_dict().items():
        if sum(powers) != sum(powers[i] for i in places):
            return None
        found[tuple(int(powers[i]) for i in places)] = sp.Rational(int(c.p), int(c.q))
    return found
