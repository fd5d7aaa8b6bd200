"""What a format holds of two heads beside a sink: the best c and C, and refusals in words."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp
import torch

from bridge.limits.run import FORMATS, INFO, SUMMED
from bridge.theorems.numbers import plain
from symbolic.calculus.head_knobs import HeadPair
from symbolic.words.errors import UsageError


def pair_for(second: str, dtype: str, *, keys: int, size: float, width: int) -> HeadPair:
    """Two heads in place of z_j, |z_j| <= `size`, of `keys` keys, each z_j a sum of `width` products."""
    unit, inner = (sp.Rational(1, 2 ** bits[dtype]) for bits in (FORMATS, SUMMED))
    return HeadPair.of(second, keys=keys, size=sp.Rational(size), width=width, unit=unit, inner=inner)


# C is rounded up: what leaks falls faster than what is rounded grows. Scaling by a power of 2 is exact.
def recommended(pair: HeadPair, dtype: str, values: float = 1.0) -> dict[str, float]:
    """The best c and C of the format, as far as 2 n e^C stays in its range: a power of 2 and a whole number.

    `values` bounds what the heads average, if it is above 1.
    """
    C = min(math.ceil(number(pair.best.C)), largest_sink(pair.keys, dtype, values))
    return {"c": 2.0 ** round(math.log2(number(pair.best_c(C)))), "C": float(C)}


def largest_sink(keys: Any, dtype: str, values: float = 1.0) -> int:
    """The largest whole C with 2 n e^C, times what is averaged, in the range of the format."""
    return math.floor(math.log(INFO[dtype].max / (2 * int(keys) * max(1.0, values))))


def held(
    id: str,
    pair: HeadPair,
    dtype: str,
    given: Mapping[str, Any],
    *,
    names: Sequence[str] = ("c", "C"),
    values: float = 1.0,
) -> dict[str, float]:
    """c and C by their `names`: as given, or the best ones. Raises UsageError where the format does not hold them."""
    best = recommended(pair, dtype, values)
    c, C = (float(given.get(name, each)) for name, each in zip(names, best.values(), strict=True))
    require_held(id, pair, dtype, c=c, C=C, values=values)
    return dict(zip(names, (c, C), strict=True))


def require_held(id: str, pair: HeadPair, dtype: str, *, c: float, C: float, values: float = 1.0) -> None:
    """Raises UsageError where the format does not hold C, e^C or 2 n e^C, or where no score is resolved beside C."""
    reason = _stored(C, dtype) or _overflow(int(pair.keys), C, dtype, values) or _unresolved(pair, c, C, dtype)
    if reason:
        raise UsageError(f"{id}: {reason}")


# Scores get the stored C, and values e^C of the real one.
def _stored(C: float, dtype: str) -> str:
    near = float(torch.tensor(C, dtype=getattr(torch, dtype), device="cpu"))
    return "" if near == C else f"C = {plain(C)} is stored as {plain(near)} in {dtype}; take that, or a whole number"


def _overflow(keys: int, C: float, dtype: str, values: float) -> str:
    most, wide = math.log(INFO[dtype].max), math.log(max(1.0, values))
    several = f"2 n e^C with n = {keys}" + (f" and values up to {plain(values)}" if wide else "")
    for name, logarithm in (("e^C", C), (several, C + math.log(2 * keys) + wide)):
        if logarithm > most:
            end, within = INFO[dtype].max, largest_sink(keys, dtype, values)
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
