"""Paths of the parameters along which an asymptotic statement is tested: points on them, and limits of formulas."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import sympy as sp

from symbolic.derivations.exact_numbers import as_float, as_formula, require_symbols
from symbolic.words.errors import UsageError
from symbolic.words.shown import brief

small = sp.Symbol("small", positive=True)
Point = Mapping[str, Any]  # parameters by name, and further letters of a path (a time)
Letters = Callable[[Point], Mapping[sp.Symbol, sp.Expr]]


def no_letters(_: Point) -> Mapping[sp.Symbol, sp.Expr]:
    return {}


@dataclass(frozen=True)
class ParameterPath:
    """Letters by `small` -> 0 from above, and the values of `small` at which a statement is run, the last one farthest.

    `words` name it in a table. `path` gives letters, parameters as a rule, by formulas in `small`; one that is whole is
    rounded down at each point. `fixed` replaces parameters all along, by name. `letters` gives, at a point, further
    letters by formulas in the others: the time of a quantity that depends on it. `outside` says why the statement does
    not cover the path, if it does not.

    Raises UsageError for a path of other letters than `small`, for values of it that do not fall or are not positive,
    and for what is not a formula, a number or a name.
    """

    words: str
    path: Mapping[sp.Symbol, sp.Expr]
    smalls: tuple[float, ...]
    fixed: Mapping[str, int | float] = field(default_factory=dict)
    letters: Letters = no_letters
    outside: str = ""

    __repr__ = brief

    def __post_init__(self) -> None:
        call = f"ParameterPath '{self.words}'"
        require_symbols(call, "path", self.path)
        ways = {letter: as_formula(call, f"path[{letter}]", way) for letter, way in self.path.items()}
        object.__setattr__(self, "path", ways)
        if not isinstance(self.fixed, Mapping) or not all(isinstance(name, str) for name in self.fixed):
            raise UsageError(f"{call}: fixed = {self.fixed!r:.80}; give numbers by the names of parameters")
        if not callable(self.letters):
            raise UsageError(f"{call}: letters = {self.letters!r:.80}; give a function of a point")
        others = set().union(*(way.free_symbols for way in ways.values())) - {small}
        if others:
            named = ", ".join(sorted(map(str, others)))
            raise UsageError(f"{call}: formulas in `small` alone are taken; these have {named}")
        if not isinstance(self.smalls, tuple | list):
            raise UsageError(f"{call}: smalls = {self.smalls!r:.80}; give a tuple of positive numbers that fall")
        object.__setattr__(self, "smalls", tuple(_as_float(call, each) for each in self.smalls))
        falling = all(far < near for near, far in zip(self.smalls, self.smalls[1:], strict=False))
        if not self.smalls or not self.smalls[-1] > 0 or not falling:
            raise UsageError(f"{call}: smalls = {self.smalls}; give positive numbers that fall")

    def points(self, point: Point) -> list[dict[str, Any]]:
        """Those of the path, which starts from this point of the parameters."""
        here = {**point, **self.fixed}
        return [{**here, **{x.name: _number(x, way, s) for x, way in self.path.items()}} for s in self.smalls]

    def limit(self, formula: sp.Expr, point: Point, values: Mapping[sp.Symbol, Any]) -> sp.Expr:
        """That of the formula along the path, other letters at these values, parameters at those of the point.

        A number, oo, or nan for a formula that is not real there or has no limit that SymPy finds.
        """
        here = {**point, **self.fixed}
        known = {x: sp.nsimplify(here[x.name], rational=True) for x in formula.free_symbols if x.name in here}
        return limit_along(formula, {**known, **self.path, **values})

    def over(self, words: str, **changes: Any) -> "ParameterPath":
        """The same path with more words, and other fields."""
        return replace(self, words=f"{self.words}{words}", **changes)


def _as_float(call: str, value: Any) -> float:
    return value if isinstance(value, float) else as_float(call, "one of smalls", value)


def _number(letter: sp.Symbol, way: sp.Expr, at: float) -> float | int:
    found = float(way.subs(small, at))
    return int(found) if letter.is_integer else found


def limit_along(formula: sp.Expr, path: Mapping[sp.Symbol, Any]) -> sp.Expr:
    """The limit of a formula as `small` -> 0 from above, its letters by these formulas in `small`.

    A number, oo, or nan for a formula that is not real there or has no limit that SymPy finds.
    """
    try:
        found = _limit(_with_exact_powers(formula), frozenset(path.items()))
        if found == sp.oo or not found.is_real:
            return found if found == sp.oo else sp.nan
        number = float(found)
    except (NotImplementedError, TypeError, ValueError):  # for want of a limit, or of a method
        return sp.nan
    beyond_floats = not math.isfinite(number) or (number == 0 and found.is_zero is not True)
    return found if beyond_floats else sp.Float(number)


# 0.1 + 0.2 is not 0.3 in floats, and an exponent near 0 decides a limit: floats there are the fractions next to them.
def _with_exact_powers(formula: sp.Expr) -> sp.Expr:
    def exact(power: sp.Pow) -> sp.Expr:
        floats = power.exp.atoms(sp.Float)
        return power.base ** power.exp.xreplace({each: sp.Rational(each).limit_denominator(10**12) for each in floats})

    return formula.replace(lambda each: each.is_Pow and each.exp.has(sp.Float), exact)


# What has one letter alone, (L-2)/L say, is taken by itself where its limit is a number other than 0: the limit of a
# product is that of its factors. SymPy often fails on the whole.
@lru_cache(maxsize=1024)
def _limit(formula: sp.Expr, steps: frozenset[tuple[sp.Symbol, Any]]) -> sp.Expr:
    path, rest, factors = dict(steps), formula, []
    for letter in sorted(formula.free_symbols, key=str):
        alone, others = rest.as_independent(*(rest.free_symbols - {letter}), as_Add=False)
        limit = sp.limit(alone.subs(path), small, 0, "+")
        if limit.is_finite and limit.is_zero is False:
            factors.append(limit)
            rest = others
    return sp.Mul(*factors, sp.limit(rest.subs(path, simultaneous=True), small, 0, "+"))
