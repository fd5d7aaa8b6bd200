"""What a format holds of two heads beside a sink: the best c and C, and refusals in words."""

import math
from typing import Any

import sympy as sp

from bridge.export.numbers import plain
from bridge.format_limits import FORMATS, INFO, SUMMED
from symbolic.calculus.head_knobs import HeadPair
from symbolic.statements import UsageError


def pair_for(second: str, dtype: str, *, keys: int, size: float, width: int) -> HeadPair:
    """Two heads in place of z_j, |z_j| <= `size`, of `keys` keys, each z_j a sum of `width` products."""
    unit, inner = (sp.Rational(1, 2 ** bits[dtype]) for bits in (FORMATS, SUMMED))
    return HeadPair.of(second, keys=keys, size=sp.Rational(size), width=width, unit=unit, inner=inner)


# C is rounded up: what leaks falls faster than what is rounded grows. Scaling by a power of 2 is exact.
def recommended(pair: HeadPair, dtype: str) -> dict[str, float]:
    """The best c and C of the format, as far as 2 n e^C stays in its range: a power of 2 and a whole number."""
    C = min(math.ceil(number(pair.best.C)), largest_sink(pair.keys, dtype))
    return {"c": 2.0 ** round(math.log2(number(pair.best_c(C)))), "C": float(C)}


def largest_sink(keys: Any, dtype: str) -> int:
    """The largest whole C with 2 n e^C in the range of the format."""
    return math.floor(math.log(INFO[dtype].max / (2 * int(keys))))


def require_held(id: str, pair: HeadPair, dtype: str, *, c: float, C: float) -> None:
    """Raises UsageError where the format does not hold e^C or 2 n e^C, or where no score is resolved beside C."""
    reason = _overflow(int(pair.keys), C, dtype) or _unresolved(pair, c, C, dtype)
    if reason:
        raise UsageError(f"{id}: {reason}")


def _overflow(keys: int, C: float, dtype: str) -> str:
    most = math.log(INFO[dtype].max)
    for name, logarithm in (("e^C", C), (f"2 n e^C with n = {keys}", C + math.log(2 * keys))):
        if logarithm > most:
            end, within = INFO[dtype].max, largest_sink(keys, dtype)
            return f"{name} is beyond {dtype}, which ends at {end:.7g}, for C = {plain(C)}; take C = {within} or less"
    return ""


def _unresolved(pair: HeadPair, c: float, C: float, dtype: str) -> str:
    least = number(pair.least_c(sp.Rational(C)))
    return (
        f"c = {plain(c)} is below what {dtype} resolves: the rounding of two heads beside C = {plain(C)}, over c, "
        f"exceeds the weights that they compute, at most {plain(number(pair.size))}; take c = {least:.3g} or more"
        if c < least
        else ""
    )


def number(formula: sp.Expr) -> float:
    return float(formula.evalf())
