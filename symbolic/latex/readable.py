"""Products and sums as a person writes them: one root, one fraction, whole numbers in front, a positive term first.

Every form has the value of the expression, which `Written.value` gives back; a test compares the two.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import sympy as sp

HALF = sp.Rational(1, 2)
LEAST, MOST_DIGITS = 1000, 12  # numerator and denominator of a fraction that is shown as a decimal; its digits
MOST_ZEROS = 4  # behind the point, before a power of ten stands for them


class LogTo(sp.Function):
    """log(x) / log(base), for a whole base: `LogTo(x, base)`."""

    nargs = 2


@dataclass(frozen=True)
class Written:
    """`number` times the factors above, divided by those below; what is below has no fraction of numbers."""

    number: sp.Rational
    above: tuple[sp.Expr, ...]
    below: tuple[sp.Expr, ...] = ()

    @property
    def value(self) -> sp.Expr:
        quotient = self.number * sp.Mul(*self.above) / sp.Mul(*self.below)
        return quotient.replace(LogTo, lambda x, base: sp.log(x) / sp.log(base))


def product(expression: sp.Expr) -> Written:
    """The factors, in the order in which they are written."""
    number, *parts = _split(expression)
    above, below = _logarithms(*map(list, parts))
    top, above, under = _whole(above)
    bottom, below, over = _whole(below)
    above, below = [*above, *over], [*below, *under]
    if top != 1 or bottom != 1:
        number = number * top / bottom
    if under:
        left, gathered, _ = _split(sp.Mul(*below))
        number, below = number / left, list(gathered)
    number, above = _positive(number, above)
    number, above, below = _roots(number, above, below)
    return Written(number, tuple(_ordered(above)), tuple(_ordered(below)))


def one_fraction(expression: sp.Add) -> Written | None:
    """A sum whose terms have one denominator, as a sum over it; None if they differ, or have none."""
    first, _, below = _split(expression.args[0])
    if first.q == 1 and not below:
        return None
    parts = [_split(term) for term in expression.args]
    alike = all(number.q == first.q and set(under) == set(below) for number, _, under in parts)
    if not alike or any(decimal(number)[0] for number, _, _ in parts):
        return None
    whole = sp.Add(*(sp.Mul(number.p, *above) for number, above, _ in parts))
    if not whole.is_Add:
        return None
    return Written(sp.Rational(1, first.q), (whole,), tuple(_ordered(below)))


def has_fraction(expression: sp.Expr) -> bool:
    """Whether a term of the sum is written as a fraction."""
    return any(decimal(number)[1] != 1 or below for number, _, below in map(_split, sp.Add.make_args(expression)))


def decimal(number: sp.Rational) -> tuple[str, int]:
    """A long fraction as an exact decimal, and the denominator that is left: 10999/30000 is 1.0999 over 3.

    "" and the whole denominator for a short fraction, and for one with too many digits.
    """
    rest, places = int(number.q), 0
    while rest % 2 == 0 or rest % 5 == 0:
        rest, places = rest // math.gcd(rest, 10), places + 1
    digits = abs(int(number * rest * 10**places))
    if min(abs(number.p), number.q // rest) < LEAST or digits >= 10**MOST_DIGITS:
        return "", int(number.q)
    sign, zeros = "-" if number < 0 else "", places - len(str(digits))  # behind the point
    if zeros >= MOST_ZEROS:
        first, others = str(digits)[0], str(digits)[1:].rstrip("0")
        return rf"{sign}{first}{'.' if others else ''}{others} \cdot 10^{{-{zeros + 1}}}", rest
    whole, part = divmod(digits, 10**places)
    return f"{sign}{whole}.{part:0{places}d}", rest


@lru_cache(maxsize=1 << 12)
def _split(expression: sp.Expr) -> tuple[sp.Rational, tuple[sp.Expr, ...], tuple[sp.Expr, ...]]:
    """The number, the other factors, and those that a fraction has below its line."""
    number, above, below = sp.S.One, list[sp.Expr](), list[sp.Expr]()
    for factor in _flat(expression):
        if factor.is_Rational:
            number = factor if number is sp.S.One else number * factor
        elif factor.is_Pow and factor.exp.is_Rational and factor.exp < 0:
            below.append(factor.base**-factor.exp)
        else:
            above.append(factor)
    return number, tuple(above), tuple(below)


def _flat(expression: sp.Expr) -> Iterator[sp.Expr]:
    """The factors of a product, and of products among them."""
    if not expression.is_Mul:
        yield expression
        return
    for factor in expression.as_ordered_factors():
        yield from _flat(factor)


# log(x) / log(2), both to the base e, is log_2(x).
def _logarithms(above: list[sp.Expr], below: list[sp.Expr]) -> tuple[list[sp.Expr], list[sp.Expr]]:
    bases = [each for each in below if isinstance(each, sp.log) and each.args[0].is_Integer]
    logs = [each for each in above if isinstance(each, sp.log)]
    if not bases or not logs:
        return above, below
    base, log = bases[0], logs[0]
    written = [LogTo(log.args[0], base.args[0]) if each is log else each for each in above]
    return written, [each for each in below if each is not base]


# L/2 - 1/2 is (L - 1)/2, 2 n + 2 is 2 (n + 1), and a/n + b/n is (a + b)/n.
def _whole(factors: list[sp.Expr]) -> tuple[sp.Rational, list[sp.Expr], list[sp.Expr]]:
    """The number and the denominators before the sums among the factors, and what is left of the factors."""
    number, whole, below = sp.S.One, list[sp.Expr](), list[sp.Expr]()
    for factor in factors:
        if factor.is_Add and (quotient := one_fraction(factor)) is not None:
            number, (factor,) = number * quotient.number, quotient.above
            below += quotient.below
        if factor.is_Add and not any(term.is_Symbol or abs(term) == 1 for term in factor.args if term.is_Atom):
            content, rest = factor.primitive()
            if content.is_Integer and content != 1 and rest.is_Add:
                number, factor = number * content, rest
        whole.append(factor)
    return number, _gathered(whole), below


def _gathered(factors: list[sp.Expr]) -> list[sp.Expr]:
    """Equal factors as a power, if there are any."""
    return factors if len(set(factors)) == len(factors) else list(_flat(sp.Mul(*factors)))


# -(1 - (1 + x)^n) is (1 + x)^n - 1, for x >= 0.
def _positive(number: sp.Rational, factors: list[sp.Expr]) -> tuple[sp.Rational, list[sp.Expr]]:
    if number > 0:
        return number, factors
    for place, factor in enumerate(factors):
        if factor.is_Add and len(factor.args) == 2 and factor.args[0] == 1 and _is_large(-factor.args[1]):
            return -number, [*factors[:place], -factor, *factors[place + 1 :]]
    return number, factors


def _is_large(power: sp.Expr) -> bool:
    return bool(power.is_Pow and power.base.is_Add and (power.base - 1).is_nonnegative)


# sqrt(a) sqrt(b) = sqrt(a b) unless both are negative; sqrt(m) / (k m) = 1 / (k sqrt(m)).
def _roots(
    number: sp.Rational, above: list[sp.Expr], below: list[sp.Expr]
) -> tuple[sp.Rational, list[sp.Expr], list[sp.Expr]]:
    roots = [each for each in (*above, *below) if each.is_Pow and each.exp == HALF]
    if not roots:
        return number, above, below
    numeric = next((each for each in above if each in roots and each.base.is_Integer), None)
    if numeric is not None and number.q % int(numeric.base) == 0:
        number, above = number * numeric.base, [each for each in above if each is not numeric]
        below = [*below, numeric]
    return number, _one_root(above), _one_root(below)


def _one_root(factors: list[sp.Expr]) -> list[sp.Expr]:
    """The product of the roots in the place of the last one."""
    roots = [each for each in factors if each.is_Pow and each.exp == HALF]
    if len(roots) < 2 or sum(not each.base.is_nonnegative for each in roots) > 1:
        return factors
    inside = sp.Mul(*(each.base for each in roots), evaluate=False)
    whole = sp.Pow(inside, HALF, evaluate=False)
    return [whole if each is roots[-1] else each for each in factors if each not in roots[:-1]]


def _ordered(factors: Sequence[sp.Expr]) -> Sequence[sp.Expr]:
    """What has no brackets around its argument comes last."""
    return sorted(factors, key=lambda factor: isinstance(factor, sp.log | LogTo | sp.Sum))
