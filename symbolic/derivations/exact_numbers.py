"""Numbers and formulas as a caller gives them, exactly: a float is the binary rational that it is.

Text is refused: SymPy would run it as code.
"""

import math
from collections.abc import Mapping
from decimal import Decimal
from numbers import Number
from typing import Any

import mpmath
import sympy as sp

from symbolic.derivations.obligations import as_expr
from symbolic.words.errors import UsageError


def as_entry(value: Any) -> sp.Expr:
    """A dimension or a size as a SymPy expression; a float as the binary rational that it is.

    Raises UsageError unless it is a finite real number or an expression in letters.
    """
    try:
        expression = as_expr(value)
    except (ValueError, sp.SympifyError) as error:
        raise UsageError(f"expected a number or a SymPy expression, got {value!r}") from error
    if not expression.free_symbols and not (expression.is_finite and expression.is_extended_real):
        raise UsageError(f"expected a finite real number, got {expression}")
    return exactly(expression)


def exactly(expression: sp.Expr) -> sp.Expr:
    """The expression with each float as the binary rational that it is, so that nothing is rounded in calculating."""
    return expression.xreplace({number: sp.Rational(number) for number in expression.atoms(sp.Float)})


def as_formula(call: str, name: str, value: Any) -> sp.Expr:
    """A SymPy expression as it is, a number as `as_entry` takes it. Raises UsageError, in the name of the call."""
    if isinstance(value, sp.Expr) and not value.is_Matrix:
        return value
    return as_number(call, name, value, "a scalar SymPy expression or a number")


def as_number(call: str, name: str, value: Any, words: str = "a finite real number") -> sp.Expr:
    """The number as a SymPy one. Raises UsageError, in the name of the call, for what is not finite and real."""
    if not isinstance(value, sp.Expr | Number) or isinstance(value, complex):  # SymPy takes the middle of a ball
        raise _wrong(call, name, value, words)
    try:
        number = as_entry(_with_all_digits(value))
    except UsageError:
        raise _wrong(call, name, value, words) from None
    if number.free_symbols:
        raise _wrong(call, name, value, words)
    return number


def _with_all_digits(value: Any) -> Any:
    """A decimal number and one of mpmath as the rational that it is: SymPy would round them to 15 digits."""
    if isinstance(value, Decimal) and value.is_finite():
        return sp.Rational(*value.as_integer_ratio())
    if isinstance(value, mpmath.mpf) and mpmath.isfinite(value):
        sign, mantissa, exponent, _ = value._mpf_
        return (-1) ** sign * int(mantissa) * sp.Integer(2) ** int(exponent)
    return value


def as_float(call: str, name: str, value: Any) -> float:
    """The float64 next to it. Raises UsageError also where that is 0 or infinite and the number is not."""
    number = as_number(call, name, value)
    try:
        found = float(number)
    except OverflowError:
        found = math.inf
    if math.isinf(found) or (found == 0 and not number.is_zero):
        raise _wrong(call, name, number, "a number in the range of float64")
    return found


def as_positive(call: str, name: str, value: Any) -> sp.Expr:
    """The same, of a number above 0."""
    words = "a positive finite number"
    number = as_number(call, name, value, words)
    if not number > 0:
        raise _wrong(call, name, value, words)
    return number


def as_positive_float(call: str, name: str, value: Any) -> float:
    """`as_float` of a number above 0."""
    return as_float(call, name, as_positive(call, name, value))


def as_rational(call: str, name: str, value: Any) -> sp.Rational:
    """The same, of a number that is rational."""
    if isinstance(value, sp.Rational):
        return value
    words = "a rational number (an int, a Fraction, a float, a sp.Rational)"
    number = as_number(call, name, value, words)
    if not isinstance(number, sp.Rational):
        raise _wrong(call, name, value, words)
    return number


def as_count(call: str, name: str, value: Any, least: int = 1) -> int:
    """The same, of a whole number from `least` on."""
    words = f"a whole number, at least {least}"
    number = as_number(call, name, value, words)
    if not (isinstance(number, sp.Integer) and number >= least):
        raise _wrong(call, name, value, words)
    return int(number)


def require_symbols(call: str, name: str, given: Any) -> None:
    """Raises UsageError, in the name of the call, for what does not map SymPy symbols."""
    if not isinstance(given, Mapping) or not all(isinstance(each, sp.Symbol) for each in given):
        raise _wrong(call, name, given, "a mapping from SymPy symbols, such as {x: 1}")


def _wrong(call: str, name: str, value: Any, words: str) -> UsageError:
    return UsageError(f"{call}: {name} = {value!r:.80}; give {words}")
