"""Bounds as Arb balls, evaluated at exact values with as many bits as necessary."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import flint
import numpy as np
import sympy as sp

from bridge.lowering import Terms, at_most_terms, lower
from bridge.lowering.common import shortened
from numeric.balls import rational, working_precision
from symbolic.derivations.exact_numbers import as_formula
from symbolic.words.errors import UsageError

NUMBERS = (flint.arb, int, float, Fraction, flint.fmpz, flint.fmpq, np.integer, np.floating)
SMALLEST_NORMAL = 2.0**-1022
MOST_BITS = 1 << 15  # errors down to 10^-9800; more bits cost seconds each, and end in Arb giving up the process
MOST_TERMS = 4_000_000  # of the sums and products of a formula: some ten seconds
TOO_LONG = f"a formula has sums and products of more than {MOST_TERMS:,} terms in all; lower their limits"
BASE_BITS = 96  # a float64 mantissa, and 43 bits for the dependency of a few hundred operations


def evaluate_ball(expression: sp.Expr, values: Mapping[sp.Symbol, Any], bits: int = BASE_BITS) -> flint.arb:
    """An enclosure of `expression` at numbers or balls for its letters; others may have values too.

    Numbers are exact: ints, Fractions, floats (the binary rationals that they are) and SymPy's, irrational ones too.
    The precision grows until the ball is narrower than 2^-40 of its middle, or contains 0 at 4096 bits.
    Raises UsageError for what is not a scalar expression, for a letter without a number, and for sums and products of
    more than MOST_TERMS terms in all.
    """
    expression = as_formula("evaluate_ball", "expression", expression)
    if not isinstance(bits, int) or bits < 2:
        raise UsageError(f"evaluate_ball: bits = {bits!r:.80}; give a whole number, at least 2")
    symbols = letters_of(expression, values, "evaluate_ball")
    require_numbers("evaluate_ball", symbols, values)
    numbers = [values[symbol] for symbol in symbols]
    with at_most_terms(Terms(MOST_TERMS, TOO_LONG)):
        return _narrow_ball(expression, symbols, numbers, bits)


def _narrow_ball(expression: sp.Expr, symbols: tuple[sp.Symbol, ...], numbers: Sequence[Any], bits: int) -> flint.arb:
    while True:
        ball = _lowered(expression, symbols, bits)(*(_at_bits(number, bits) for number in numbers))
        if bits >= 4096 or ball == 0 or ball.rel_accuracy_bits() >= 40 or not _exact(numbers):
            return ball
        bits *= 2


def _at_bits(value: Any, bits: int) -> Any:
    """The value as the lowering takes it: an irrational number of SymPy as a ball."""
    return evaluate_ball(value, {}, bits) if isinstance(value, sp.Expr) and not value.is_Number else value


def letters_of(expression: sp.Expr, values: Mapping[sp.Symbol, Any], call: str) -> tuple[sp.Symbol, ...]:
    """The letters of the expression, in order. Raises UsageError, in the name of the call, for one without a value."""
    if not isinstance(values, Mapping):
        raise UsageError(f"{call}: values = {values!r:.80}; give a mapping from symbols to numbers, such as {{x: 1}}")
    symbols = _letters(expression)
    if missing := [str(symbol) for symbol in symbols if symbol not in values]:
        given = sorted(map(str, values))
        known = ", ".join(given) or "none"
        alike = " (a symbol with other assumptions is another letter)" if set(missing) & set(given) else ""
        raise UsageError(
            f"{call}: {', '.join(missing)} has no value in {shortened(expression)}; got values for {known}{alike}; "
            f"add it"
        )
    return symbols


def require_numbers(call: str, symbols: Sequence[sp.Symbol], values: Mapping[sp.Symbol, Any]) -> None:
    """Raises UsageError, in the name of the call, for a value that is not a real number or ball."""
    for symbol in symbols:
        if not _is_number(values[symbol]):
            raise UsageError(
                f"{call}: {symbol} = {values[symbol]!r:.80}; give a real number (int, Fraction, float, of SymPy) or a "
                f"ball"
            )


def _is_number(value: Any) -> bool:
    if isinstance(value, sp.Number):
        return bool(value.is_finite)
    if isinstance(value, sp.Expr):
        return value.is_number and value.is_extended_real is not False and value.is_finite is not False
    return isinstance(value, NUMBERS)


@lru_cache(maxsize=1024)
def _letters(expression: sp.Expr) -> tuple[sp.Symbol, ...]:
    return tuple(sorted(expression.free_symbols, key=str))


@lru_cache(maxsize=1024)
def _lowered(expression: sp.Expr, symbols: tuple[sp.Symbol, ...], bits: int) -> Any:
    return lower(expression, "arb", args=symbols, bits=bits)


def _exact(numbers: Sequence[Any]) -> bool:
    """Whether more bits can help; they cannot if a number is itself a ball of positive width."""
    return not any(isinstance(number, flint.arb) and not number.is_exact() for number in numbers)


def as_exact(value: Any) -> Any:
    """A number in a form that Arb accepts without rounding: int, Fraction or ball."""
    if isinstance(value, float):
        return Fraction(value)
    if isinstance(value, sp.Rational):
        return Fraction(value)
    return value


def decimal_of(value: Any) -> Any:
    """A number as `decimal` takes it: the middle of a ball, any other one as it is; whole numbers stay whole."""
    if isinstance(value, flint.arb | flint.fmpq | np.floating):
        return float(value)
    return int(value) if isinstance(value, flint.fmpz | np.integer) else value


def exact_ball(number: sp.Expr, bits: int = BASE_BITS) -> flint.arb:
    """An enclosure of a number of SymPy: exact for a float64 that was made a rational."""
    if not isinstance(number, sp.Rational):
        return evaluate_ball(number, {}, bits)
    with working_precision(bits):
        return rational(number)


def bits_for(accuracy: flint.arb) -> int:
    """Bits that resolve a number of the size of `accuracy` among numbers of size 1, with BASE_BITS to spare."""
    if not accuracy > 0:
        return BASE_BITS
    return BASE_BITS + max(0, -math.floor(float(accuracy.mid().log()) / math.log(2)))
