"""A formula as a decimal number: whole numbers stay whole, and finite sums and products are run term by term.

SymPy's own `evalf` takes a sum or a product whose limits are floats, and a long one in any case, for a series, and
estimates it by an integral of its terms: it differs from the sum, or does not end.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import mpmath
import sympy as sp
from sympy.concrete.expr_with_limits import ExprWithLimits
from sympy.printing.pycode import MpmathPrinter, PythonCodePrinter

DIGITS = 30
WHOLE_BITS = 64  # beside those of the digits: an index is a number of the same kind


def decimal(expression: sp.Expr, values: Mapping[sp.Symbol, Any], digits: int = DIGITS) -> mpmath.mpf:
    """The expression to about so many digits, nan at a pole.

    `values` are numbers (int, float, Fraction, of SymPy, of mpmath).
    """
    letters, function = _compiled(expression)
    with mpmath.workprec(int(digits * 3.33) + WHOLE_BITS):
        try:
            return mpmath.mpf(function(*(as_decimal(values[letter]) for letter in letters)))
        except ZeroDivisionError:
            return mpmath.nan


def as_decimal(value: Any) -> mpmath.mpf:
    """A number at the precision of mpmath's context; a float as the binary rational that it is."""
    if isinstance(value, sp.Expr):
        return mpmath.mpf(sp.N(value, mpmath.mp.dps)) if not value.is_Rational else mpmath.mpf(value.p) / value.q
    if isinstance(value, int | float | mpmath.mpf):
        return mpmath.mpf(value)
    return mpmath.mpf(value.numerator) / value.denominator


class TermByTerm(PythonCodePrinter):
    """Sums and products as calls of `summed` and `multiplied`, index after index, the last limits outermost."""

    def _print_Sum(self, expr: sp.Sum) -> str:
        return self._run("summed", expr)

    def _print_Product(self, expr: sp.Product) -> str:
        return self._run("multiplied", expr)

    def _run(self, name: str, expr: ExprWithLimits) -> str:
        shown = self._print(expr.function)
        for index, first, last in expr.limits:
            shown = f"{name}(lambda {self._print(index)}: {shown}, {self._print(first)}, {self._print(last)})"
        return str(shown)


class _Decimal(TermByTerm, MpmathPrinter):
    """The same in numbers of mpmath, which are equal up to rounding."""

    def _print_Equality(self, expr: sp.Equality) -> str:
        return f"alike({self._print(expr.lhs)}, {self._print(expr.rhs)})"

    def _print_Unequality(self, expr: sp.Unequality) -> str:
        return f"(not alike({self._print(expr.lhs)}, {self._print(expr.rhs)}))"


def alike(left: Any, right: Any) -> bool:
    """Whether two numbers are the same up to rounding: 1 - 1/3 and 2/3 are."""
    rounding = mpmath.mpf(2) ** (8 - mpmath.mp.prec)
    return bool(mpmath.almosteq(left, right, rounding, rounding))


def whole(limit: Any) -> int:
    """A limit as an integer. Raises ValueError if it is not one."""
    found = int(limit)
    if found != limit:
        raise ValueError(f"the limits of a sum or product must be whole numbers, got {limit}")
    return found


# Of reversed limits what lies strictly between counts negatively (Karr), as in SymPy.
def summed(term: Callable[[Any], Any], first: Any, last: Any) -> Any:
    low, high = whole(first), whole(last)
    if high < low - 1:
        return -summed(term, high + 1, low - 1)
    return mpmath.fsum(term(mpmath.mpf(place)) for place in range(low, high + 1))


def multiplied(term: Callable[[Any], Any], first: Any, last: Any) -> Any:
    low, high = whole(first), whole(last)
    if high < low - 1:
        return 1 / multiplied(term, high + 1, low - 1)
    return mpmath.fprod(term(mpmath.mpf(place)) for place in range(low, high + 1))


@lru_cache(maxsize=1 << 10)
def _compiled(expression: sp.Expr) -> tuple[tuple[sp.Symbol, ...], Callable[..., Any]]:
    plain = {each: sp.Symbol(f"{each.name}_{each.dummy_index}") for each in expression.atoms(sp.Dummy)}
    letters = tuple(sorted(expression.free_symbols, key=str))
    names = [sp.Symbol(f"letter_{place}") for place in range(len(letters))]
    shown = expression.xreplace(plain).xreplace(
        {plain.get(letter, letter): name for letter, name in zip(letters, names, strict=True)}
    )
    run = {"summed": summed, "multiplied": multiplied, "alike": alike}
    settings = {"fully_qualified_modules": False, "inline": True, "allow_unknown_functions": True}
    return letters, sp.lambdify(names, shown, modules=[run, "mpmath"], printer=_Decimal(settings))
