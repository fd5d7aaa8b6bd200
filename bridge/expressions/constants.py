"""Constants of functions of one coordinate: known, or certified and rounded up to a few digits."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import sympy as sp

from bridge.lowering import LoweringError
from bridge.lowering.enclosures import supremum
from numeric.balls import float_above
from symbolic.words.errors import UsageError

t = sp.Dummy("argument_of_f", real=True)  # no letter of the user's is the argument
# Where a supremum over all numbers is searched: nearly to the largest float, in parts whose ends differ less in size.
# What happens beyond is not proved: that a supremum does not grow from one part to the next speaks for it.
ENDS = (0.0, 64.0, 2.0**26, 1e150, 1e300)
PARTS = tuple((s * low, s * high) for low, high in pairwise(ENDS) for s in (1, -1))
CLOSE = 20  # bits of a certified supremum
DIGITS = 5  # decimal digits of one, rounded up
MORE = 1 + 1e-9  # a supremum that is larger by more on the last part than on the others grows without end


@dataclass(frozen=True)
class Constants:
    """sup |f'| and sup |f| over all numbers; None where the latter is infinite."""

    lipschitz: sp.Expr
    largest: sp.Expr | None = None


_ONE = sp.Integer(1)
# |tanh'| = 1 - tanh^2; sigma' = sigma (1 - sigma) <= 1/4; erf' = 2 e^(-t^2) / sqrt(pi); atan' = 1 / (1 + t^2).
KNOWN: Mapping[sp.Expr, Constants] = {
    t: Constants(_ONE),
    abs(t): Constants(_ONE),
    sp.Max(t, 0): Constants(_ONE),
    sp.tanh(t): Constants(_ONE, _ONE),
    1 / (1 + sp.exp(-t)): Constants(sp.Rational(1, 4), _ONE),
    sp.sin(t): Constants(_ONE, _ONE),
    sp.cos(t): Constants(_ONE, _ONE),
    sp.erf(t): Constants(2 / sp.sqrt(sp.pi), _ONE),
    sp.atan(t): Constants(_ONE, sp.pi / 2),
    sp.log(1 + sp.exp(t)): Constants(_ONE),
}


def parts_of(radius: sp.Expr | None) -> tuple[tuple[Any, Any], ...]:
    """Where a supremum is searched: [-radius, radius], up to the next floats if it is no fraction, or the line."""
    if radius is None:
        return PARTS
    end = radius if radius.is_Rational else math.nextafter(float(radius), math.inf)
    return ((-end, end),)


def largest_within(expr: sp.Expr, radius: sp.Expr | None = None) -> sp.Expr | None:
    """At least sup |expr| on [-radius, radius], or up to 1e300, certified; None without a finite bound.

    A number of a few digits, so that formulas with it are short.
    """
    try:
        found = [float_above(supremum(expr, t, min(ends), max(ends), close=CLOSE)) for ends in parts_of(radius)]
    except (UsageError, LoweringError):
        return None
    grows = radius is None and max(found[-2:]) > MORE * max(found[:-2])
    return None if grows or not math.isfinite(max(found)) else decimal_above(sp.Rational(max(found)))


def decimal_above(number: sp.Rational) -> sp.Rational:
    """The least number of so many decimal digits that is at least this one, which is not negative."""
    if number == 0:
        return number
    unit = sp.Rational(10) ** (math.floor(math.log10(number)) + 1 - DIGITS)
    return sp.ceiling(number / unit) * unit


def shown(expr: sp.Expr) -> str:
    """For messages, with the letter t."""
    return sp.sstr(expr.xreplace({t: sp.Symbol("t")}))


def largest_of(g: sp.Expr, radius: sp.Expr | None) -> sp.Expr | None:
    """At least sup |g| there: known, or certified."""
    known = (KNOWN.get(g) or KNOWN.get(-g)) if radius is None else None
    return largest_within(g, radius) if known is None else known.largest
