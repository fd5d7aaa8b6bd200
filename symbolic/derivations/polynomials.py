"""SymPy's polynomials in powers with large exponents.

SymPy reads exp(p/q) as the p-th power of the generator exp(1/q). The rational 0.3 of a float has p = 5404319552844595,
and a polynomial of that degree ends the process or never comes. Imported first in `symbolic`, this module lets such a
power be a generator itself: every identity of polynomials holds of it too.
"""

import sympy as sp
from sympy.core import exprtools
from sympy.polys import polyutils

MOST_DEGREE = 1000  # of a root that SymPy splits off: exp(p/q) = exp(1/q)**p
MOST_WRITTEN = 100_000  # of a power as it is written: x**p

_split, _split_rational = exprtools.decompose_power, exprtools.decompose_power_rat


def decompose_power(power: sp.Expr) -> tuple[sp.Expr, int]:
    """Of SymPy's name: base and integer exponent, -1, 0 or 1 where SymPy's is beyond the limit."""
    base, exponent = _split(power)
    if _is_large(power, base, exponent):
        base, exponent = _whole(power)
    return base, int(exponent)


def decompose_power_rat(power: sp.Expr) -> tuple[sp.Expr, sp.Rational]:
    """Of SymPy's name: base and rational exponent, -1, 0 or 1 where SymPy's is beyond the limit."""
    base, exponent = _split_rational(power)
    return _whole(power) if _is_large(power, base, exponent.p) else (base, exponent)


def _is_large(power: sp.Expr, base: sp.Expr, exponent: int) -> bool:
    return abs(exponent) > (MOST_WRITTEN if base == power.as_base_exp()[0] else MOST_DEGREE)


def _whole(power: sp.Expr) -> tuple[sp.Expr, sp.Integer]:
    return (1 / power, sp.S.NegativeOne) if power.as_base_exp()[1].could_extract_minus_sign() else (power, sp.S.One)


for _module in (exprtools, polyutils):
    _module.decompose_power, _module.decompose_power_rat = decompose_power, decompose_power_rat
