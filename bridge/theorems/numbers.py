"""How numbers are shown: few digits, rounded so that what is shown stays true."""

import decimal
import math
from collections.abc import Collection
from typing import Any

from bridge.theorems.record import AUTOMATIC, TIERS

LONGEST_VALUE = 32  # characters of a parameter
DIGITS = 4
MOST_DIGITS = 17  # which tell any two float64 numbers apart
ULPS = 4  # units in the last place: what a few float operations leave of a round number such as 0.01


def shown(value: float, column: str, kind: str, digits: int = DIGITS) -> float:
    """`value` with that many significant digits.

    A bound is rounded to its safe side (up for an upper bound, down for a lower one), and so are an error that exact
    arithmetic encloses and the ends of an interval. All else is rounded to nearest, which keeps its order with a bound
    rounded that way. Whatever equals its nearest to ULPS units in its last place is shown as that: 0.01 is not 0.01001.
    """
    nearest = _rounded(value, decimal.ROUND_HALF_EVEN, digits)
    if abs(nearest - value) <= ULPS * math.ulp(value):
        return nearest
    return _rounded(value, _rounding(column, kind), digits)


def _rounded(value: float, rounding: str, digits: int) -> float:
    context = decimal.Context(prec=digits, rounding=rounding)
    return float(context.plus(decimal.Decimal(value)))


def _rounding(column: str, kind: str) -> str:
    if column in ("exact", "at_most") or (column in TIERS and kind == "upper"):
        return decimal.ROUND_CEILING
    if column == "at_least" or (column in TIERS and kind == "lower"):
        return decimal.ROUND_FLOOR
    return decimal.ROUND_HALF_EVEN


def is_number(subject: str, number: str, more: str = "") -> str:
    """A clause: the subject is that number. A subject with a comma ends in one."""
    return f"{subject}{',' if ',' in subject else ''} is {number}{more}"


def stated(bound: str, tier: str, kind: str) -> str:
    """What a tier states, the bound in words already."""
    sides = {"upper": "at most ", "lower": "at least "}
    return f"{tier}: {sides.get(kind, '')}{bound}"


def stated_kind(kind: str, order: str | None, tier: str) -> str:
    """The kind of what a tier states: a printed order says by itself from which side it bounds."""
    of_orders = {"O": "upper", "Omega": "lower"}
    return of_orders.get(order or "", kind) if tier == "printed" else kind


def digits_apart(bound: float, column: str, kind: str, error: float) -> int:
    """The digits, DIGITS at least, with which the bound in that column does not look equal to the error."""
    if bound == error:
        return DIGITS
    several = range(DIGITS, MOST_DIGITS)
    return next((n for n in several if shown(bound, column, kind, n) != shown(error, "", kind, n)), MOST_DIGITS)


def plain(value: float | None, column: str = "", kind: str = "", digits: int = DIGITS) -> str:
    """The number for a terminal, a web page or a sentence; a dash where there is none."""
    if value is None:
        return "-"
    number = shown(value, column, kind, digits)
    if 0 < abs(number) < 1e-3 or abs(number) >= 1e6:
        return f"{number:.{digits - 1}e}"
    return f"{number:.{digits}g}"


def plain_apart(first: float, second: float) -> tuple[str, str]:
    """Two numbers for a sentence, with as many digits as tell them apart."""
    digits = digits_apart(first, "", "", second)
    return plain(first, digits=digits), plain(second, digits=digits)


def latex(value: float | None, column: str = "", kind: str = "", digits: int = DIGITS) -> str:
    r"""The number in math mode, as 1.23\cdot 10^{-4}; a dash where there is none."""
    if value is None:
        return "--"
    number = shown(value, column, kind, digits)
    if number in (float("inf"), float("-inf")):
        return r"$\infty$" if number > 0 else r"$-\infty$"
    if number == 0 or 1e-2 <= abs(number) < 1e3:
        return f"${number:.{digits}g}$"
    mantissa, exponent = f"{number:.{digits - 1}e}".split("e")
    return rf"${mantissa}\cdot 10^{{{int(exponent)}}}$"


# Values of parameters.


def value_words(value: Any) -> str:
    """A parameter's value in few characters: a matrix by its size, a long string by its beginning, 8.0 as 8, other
    floats with at most 4 digits."""
    if isinstance(value, list | tuple) and value and all(isinstance(line, list | tuple) for line in value):
        return f"{len(value)} x {len(value[0])} matrix"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    elif isinstance(value, float):
        value = f"{value:.{DIGITS}g}"
    words = "-" if value is None else str(value)
    return words if len(words) <= LONGEST_VALUE else words[: LONGEST_VALUE - 3] + "..."


def parameter_words(name: str, value: Any, automatic: Collection[str]) -> str:
    """The same where the parameter may be one of the automatic ones."""
    return AUTOMATIC if name in automatic and value == 0 else value_words(value)
