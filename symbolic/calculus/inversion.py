"""Closed solutions of f(x) = v, the monotonicity of f and its limits, for small formulas and in bounded time.

SymPy's `solve` writes exp(-1237 x/1000) as a power of a polynomial of degree 1237 and does not return. Here
every number that is not small is replaced by a symbol (`Tamed`). Operations are inverted from the outside in. The rest
must be a polynomial of degree at most two in one power or exponential; otherwise there is no answer.
"""

import math
from dataclasses import dataclass

import sympy as sp

from symbolic.derivations.signs import is_nonnegative

SMALL = 12  # numerators and denominators that SymPy's algebra takes in its stride
MOST_OPERATIONS, SHORT = 400, 120
SMOOTH = (sp.exp, sp.log, sp.tanh, sp.sinh, sp.cosh, sp.asinh, sp.atan, sp.erf, sp.erfc)


@dataclass(frozen=True)
class Tamed:
    """A formula in which each number that is not small is replaced by its own positive symbol, times its sign."""

    expression: sp.Expr
    numbers: dict[sp.Expr, sp.Expr]  # the letters

    @classmethod
    def of(cls, expression: sp.Expr) -> "Tamed":
        large = sorted((n for n in expression.atoms(sp.Number) if _is_large(n)), key=sp.default_sort_key)
        letters = {abs(number): sp.Dummy(f"c{place}", positive=True) for place, number in enumerate(large)}
        signed = {number: letters[abs(number)] * sp.sign(number) for number in large}
        return cls(expression.xreplace(signed), {letter: number for number, letter in letters.items()})

    def back(self, expression: sp.Expr) -> sp.Expr:
        return expression.xreplace(self.numbers)


def _is_large(number: sp.Number) -> bool:
    if isinstance(number, sp.Float):
        return bool(number.is_finite and number != 0)
    return isinstance(number, sp.Rational) and number.is_finite and max(abs(number.p), number.q) > SMALL


# --- directions ------------------------------------------------------------------------------------------------------


# The sign of the derivative decides where the formula has no pole: a quotient that falls on both sides of a pole jumps
# up at it.
def monotonicity(expression: sp.Expr, x: sp.Symbol) -> int | None:
    """-1 if the formula decreases (weakly) on the domain of x, 1 if it increases; None if neither is shown."""
    if expression.count_ops() > MOST_OPERATIONS or poles(expression, x) != ():
        return None
    slope = sp.diff(expression, x)
    forms = [lambda: slope, lambda: sp.factor_terms(sp.powsimp(slope))]
    if _is_short(slope, x):
        forms.append(lambda: sp.factor(sp.simplify(slope)))
    for form in forms:
        shown = form()
        if is_nonnegative(shown):
            return 1
        if shown.is_nonpositive or is_nonnegative(-shown):
            return -1
    return None


def _is_short(expression: sp.Expr, x: sp.Symbol) -> bool:
    """Whether SymPy handles it quickly: a quotient in one power or exponential, or one function."""
    kinds = {type(f) for f in expression.atoms(sp.Function) if x in f.free_symbols}
    powers = {p.base for p in expression.atoms(sp.Pow) if not p.exp.is_integer and x in p.base.free_symbols}
    return len(kinds) + len(powers) <= 1 and expression.count_ops() <= SHORT


def poles(expression: sp.Expr, x: sp.Symbol) -> tuple[sp.Expr, ...] | None:
    """The points of the domain of x at which the formula is undefined; () if there are none, None if unknown."""
    found: list[sp.Expr] = []
    for part in sp.preorder_traversal(expression):
        if x not in part.free_symbols or isinstance(part, sp.Symbol | sp.Add | sp.Mul | sp.Max | sp.Min | sp.Abs):
            continue
        if isinstance(part, sp.Pow):
            at = _poles_of_power(part, x)
            if at is None:
                return None
            found.extend(at)
        elif isinstance(part, sp.log):
            if not part.args[0].is_positive:
                return None
        elif not isinstance(part, SMOOTH):
            return None
    return tuple(found)


def _poles_of_power(power: sp.Pow, x: sp.Symbol) -> tuple[sp.Expr, ...] | None:
    base, exponent = power.as_base_exp() if not isinstance(power, sp.exp) else (sp.E, power.args[0])
    if base.is_positive or (exponent.is_integer and exponent.is_nonnegative):
        return ()
    if is_nonnegative(base) and exponent.is_nonnegative:
        return ()
    if x in exponent.free_symbols or not exponent.is_integer:
        return None
    roots = solutions(base, x, sp.Integer(0))
    return None if roots is None else tuple(root for root in roots if not _outside(root, x))


def _outside(root: sp.Expr, x: sp.Symbol) -> bool:
    beyond = root.is_nonpositive if x.is_positive else x.is_nonnegative and root.is_negative
    return bool(root.is_real is False or beyond)


def limit_at_infinity(expression: sp.Expr, x: sp.Symbol) -> sp.Expr | None:
    """The limit of the formula as x grows; None if SymPy does not find it, or would take long."""
    return _limit(expression, x, sp.oo, "-")


def limit_at_zero(expression: sp.Expr, x: sp.Symbol) -> sp.Expr | None:
    """The limit of the formula as x decreases to 0."""
    return _limit(expression, x, sp.Integer(0), "+")


def _limit(expression: sp.Expr, x: sp.Symbol, end: sp.Expr, direction: str) -> sp.Expr | None:
    if not _is_short(expression, x):
        return None
    try:
        limit = sp.limit(expression, x, end, direction)
    except (NotImplementedError, ValueError):
        return None
    return None if limit.has(sp.Limit, sp.AccumBounds, sp.nan) else limit


# --- solutions -------------------------------------------------------------------------------------------------------

INVERSES = {sp.exp: sp.log, sp.log: sp.exp, sp.tanh: sp.atanh, sp.sinh: sp.asinh, sp.asinh: sp.sinh, sp.atan: sp.tan}


# Each step undoes one operation that is one-to-one where it is undone (an even power has two branches, both kept), so
# that no solution is lost; some may be outside the domain, and the caller looks at their signs.
def solutions(expression: sp.Expr, x: sp.Symbol, value: sp.Expr) -> tuple[sp.Expr, ...] | None:
    """All real x with expression = value, in closed form; None where this is not found."""
    if expression == x:
        return (value,)
    if isinstance(expression, sp.Add | sp.Mul):
        free, bound = expression.as_independent(x)
        if isinstance(expression, sp.Add) and free != 0:
            return solutions(bound, x, value - free)
        if isinstance(expression, sp.Mul) and free != 1:
            return solutions(bound, x, value / free)
        return _by_generator(expression, x, value)
    if type(expression) in INVERSES:
        return solutions(expression.args[0], x, INVERSES[type(expression)](value))
    if isinstance(expression, sp.Pow):
        return _undo_power(expression, x, value)
    return None


def _undo_power(power: sp.Pow, x: sp.Symbol, value: sp.Expr) -> tuple[sp.Expr, ...] | None:
    base, exponent = power.args
    if x not in base.free_symbols:
        return solutions(exponent, x, sp.log(value) / sp.log(base))
    if x in exponent.free_symbols:
        return None
    odd = bool(exponent.is_integer and exponent.is_odd)
    root = sp.real_root(value, exponent) if odd and not value.is_nonnegative else value ** (1 / exponent)
    if base.is_nonnegative or not (exponent.is_integer and exponent.is_even):
        return solutions(base, x, root)
    branches = [solutions(base, x, branch) for branch in (root, -root)]
    return None if None in branches else tuple(dict.fromkeys(s for branch in branches for s in branch or ()))


def _by_generator(expression: sp.Expr, x: sp.Symbol, value: sp.Expr) -> tuple[sp.Expr, ...] | None:
    """For a quotient of polynomials in one power x^(1/m), or in one exponential, of degree at most two."""
    generator = _generator(expression, x)
    if generator is None or generator == expression:
        return None
    t = sp.Dummy("t", positive=True)
    flat = _in_terms_of(expression, generator, x, t)
    if flat is None:
        return None
    numerator, denominator = sp.fraction(sp.together(flat - value))
    if not numerator.is_polynomial(t) or not denominator.is_polynomial(t) or sp.degree(numerator, t) not in (1, 2):
        return None
    unknown = x if generator == x else t
    found_roots = _roots(sp.Poly(numerator, t), positive=bool(unknown.is_nonnegative))
    roots = [root for root in found_roots if not _outside(root, unknown)]
    found = [(root,) if generator == x else solutions(generator, x, root) for root in roots]
    return None if None in found else tuple(dict.fromkeys(s for each in found for s in each or ()))


def _roots(polynomial: sp.Poly, *, positive: bool) -> list[sp.Expr]:
    """The roots of degree one or two; `positive`: without those that are clearly negative."""
    if polynomial.degree() == 1:
        a, b = polynomial.all_coeffs()
        return [sp.cancel(-b / a)]
    a, b, c = polynomial.all_coeffs()
    root = sp.sqrt(sp.factor(b**2 - 4 * a * c))
    signs: tuple[int, ...] = (1, -1)
    if positive and sp.cancel(c / a).is_negative:  # one root of each sign
        signs = (1,) if a.is_positive else (-1,) if a.is_negative else signs
    return [sp.simplify((-b + sign * root) / (2 * a)) for sign in signs]


def _generator(expression: sp.Expr, x: sp.Symbol) -> sp.Expr | None:
    exponents = [part.args[0] for part in expression.atoms(sp.exp) if x in part.free_symbols]
    if not exponents:
        roots = [p.exp.q for p in expression.atoms(sp.Pow) if p.base == x and p.exp.is_Rational]
        return x ** sp.Rational(1, math.lcm(*roots, 1))
    ratios = [sp.cancel(each / exponents[0]) for each in exponents]
    if not all(ratio.is_Rational and max(abs(ratio.p), ratio.q) <= SMALL for ratio in ratios):
        return None
    common = math.gcd(*(int(r * math.lcm(*(int(s.q) for s in ratios))) for r in ratios))
    return sp.exp(exponents[0] * sp.Rational(common, math.lcm(*(int(s.q) for s in ratios))))


def _in_terms_of(expression: sp.Expr, generator: sp.Expr, x: sp.Symbol, t: sp.Symbol) -> sp.Expr | None:
    if isinstance(generator, sp.exp):
        powers = {
            part: t ** sp.cancel(part.args[0] / generator.args[0])
            for part in expression.atoms(sp.exp)
            if x in part.free_symbols
        }
        flat = expression.xreplace(powers)
    else:
        flat = expression.subs(x, t ** (1 / generator.as_base_exp()[1]) if generator != x else t)
    return None if x in flat.free_symbols else flat
