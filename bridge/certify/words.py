"""Exact numbers and boxes as text for messages."""

from collections.abc import Sequence
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

from symbolic.inequalities import Inequality

WIDE = Context(prec=20, Emax=10**17, Emin=-(10**17))


def short(number: Any) -> str:
    """Six digits of a rational number, also of one outside the range of floats."""
    exact = Fraction(number)
    wide = WIDE.divide(Decimal(exact.numerator), Decimal(exact.denominator))
    return f"{float(exact):.6g}" if -300 < wide.adjusted() < 300 or not exact else f"{wide:.6g}"


def box_text(inequality: Inequality, box: Sequence[tuple[Any, Any]]) -> str:
    sides = zip(inequality.box, box, strict=True)
    return ", ".join(f"{symbol} in [{short(low)}, {short(high)}]" for symbol, (low, high) in sides)
