"""Exact numbers, boxes and inequalities as text for messages."""

from collections.abc import Sequence
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import sympy as sp

from symbolic.derivations.inequalities import Inequality

LONGEST = 300  # characters of an expression in a message
WIDE = Context(prec=20, Emax=10**17, Emin=-(10**17))


def short(number: Any) -> str:
    """Six digits of a rational number, also of one outside the range of floats."""
    exact = Fraction(number)
    wide = WIDE.divide(Decimal(exact.numerator), Decimal(exact.denominator))
    return f"{float(exact):.6g}" if -300 < wide.adjusted() < 300 or not exact else f"{wide:.6g}"


def box_text(inequality: Inequality, box: Sequence[tuple[Any, Any]]) -> str:
    sides = zip(inequality.box, box, strict=True)
    return ", ".join(f"{symbol} in [{short(low)}, {short(high)}]" for symbol, (low, high) in sides)


def statement(inequality: Inequality) -> str:
    """The inequality itself, in one line."""
    return f"{shortly(sp.sstr(inequality.expression))} {'>' if inequality.strict else '>='} 0"


def region(inequality: Inequality) -> str:
    """The exact ranges of the coordinates, and the conditions."""
    sides = (f"{symbol} in [{shortly(str(a))}, {shortly(str(b))}]" for symbol, (a, b) in inequality.box.items())
    conditions = (f"{shortly(sp.sstr(condition))} >= 0" for condition in inequality.where)
    return "; where ".join(filter(None, (", ".join(sides), ", ".join(conditions))))


def shortly(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
