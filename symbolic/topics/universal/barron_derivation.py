"""Barron classes (li2025, (17)-(22), Appendix B): C_F = sup |f(0)| + int |omega| F^sup(omega) d omega, by parts.

|omega| F^sup is a measure with a part that has a radial density, parts on lines (ridge functions), and limits at
omega = 0 (linear functions). The last two have no density in the ordinary sense, and say so.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import sympy as sp

from symbolic.topics.universal.largest import integral_of_largest
from symbolic.words.errors import UsageError
from symbolic.words.shown import brief

r = sp.Symbol("r", positive=True)  # |omega|
Direction = tuple[Any, ...]  # a unit vector
Parts = tuple[tuple[Direction, sp.Expr], ...]


def sphere_area(d: Any) -> sp.Expr:
    """The area of the unit sphere of R^d."""
    return 2 * sp.pi ** (sp.sympify(d) / 2) / sp.gamma(sp.sympify(d) / 2)


@dataclass(frozen=True)
class BarronClass:
    """A class of functions on the unit ball of R^d by the largest magnitude of their spectra.

    `at_zero` is sup |f(0)|. `radial` is F^sup as a function of r = |omega|; `lines` gives, for each direction u, the
    largest |F_h'|(r) of the functions h(u^T x), the same for -r; `limits` gives for each direction the largest |a| of
    the functions a u^T x. What is given for the same line twice (u and -u have the same) is one part, the larger of
    both; so is on R, where every function is one of a line, a radial density beside a line. The parts are then singular
    to each other, so that their masses add up. `mass` raises UsageError for a part whose mass is infinite (which tail)
    or negative.
    """

    d: Any
    at_zero: Any = sp.S.Zero
    radial: Any = sp.S.Zero
    lines: Parts = ()
    limits: Parts = ()

    __repr__ = brief

    def __post_init__(self) -> None:
        for name in ("d", "at_zero", "radial"):
            object.__setattr__(self, name, sp.sympify(getattr(self, name)))
        if self.d.is_number and not (self.d.is_integer and self.d.is_positive):
            raise UsageError(f"BarronClass: d = {self.d} is not a whole number above 0")
        for direction, _ in (*self.lines, *self.limits):
            if self.d.is_number and len(direction) != self.d:
                raise UsageError(f"BarronClass: a direction has {len(direction)} coordinates, but d = {self.d}")
            squared = sp.Add(*(sp.sympify(each) ** 2 for each in direction))
            if sp.simplify(squared - 1) != 0:
                raise UsageError(
                    f"BarronClass: the direction {direction} has the norm {sp.sqrt(squared)}; give a unit vector"
                )
        lines = self.lines
        if self.d == 1 and lines and self.radial != 0:  # r F^sup is |F_h'| on the only line
            lines = (*lines, *(((sp.S.One,), each) for each in _compared(r * self.radial)))
            object.__setattr__(self, "radial", sp.S.Zero)
        object.__setattr__(self, "lines", _merged(lines))
        object.__setattr__(self, "limits", _merged(self.limits))

    @property
    def density(self) -> sp.Expr:
        """F^sup(omega), in r. Raises UsageError for a class without one in the ordinary sense."""
        if self.lines or self.limits:
            which = "ridge functions: their spectra lie on lines" if self.lines else "linear functions: theirs lie at 0"
            raise UsageError(f"the class has no Fourier density in the ordinary sense; it holds {which}")
        return self.radial

    @cached_property
    def masses(self) -> tuple[sp.Expr, ...]:
        """int |omega| F^sup of each part: radial, lines, limits."""
        radial = _integral("the radial density", sphere_area(self.d) * self.radial * r**self.d)
        lines = (2 * _integral(f"the line of {direction}", part) for direction, part in self.lines)
        return (radial, *lines, *(sp.sympify(size) for _, size in self.limits))

    @property
    def mass(self) -> sp.Expr:
        """int |omega| F^sup d omega = C_F - sup |f(0)|."""
        return sp.Add(*self.masses)

    @property
    def constant(self) -> sp.Expr:
        """C_F."""
        return self.at_zero + self.mass

    def scaled(self, factor: Any) -> "BarronClass":
        """All a f with |a| <= factor."""
        at = sp.sympify(factor)
        lines, limits = (tuple((u, _times(at, part)) for u, part in parts) for parts in (self.lines, self.limits))
        return BarronClass(self.d, at * self.at_zero, _times(at, self.radial), lines, limits)

    def __or__(self, other: "BarronClass") -> "BarronClass":
        """The union: the larger of two densities, on each part."""
        if self.d != other.d:
            raise UsageError(f"a union of classes on R^{self.d} and R^{other.d}: both need the same d")
        largest = sp.Max(self.at_zero, other.at_zero), sp.Max(self.radial, other.radial)
        return BarronClass(self.d, *largest, (*self.lines, *other.lines), (*self.limits, *other.limits))


def _times(factor: sp.Expr, density: sp.Expr) -> sp.Expr:
    """A maximum stays outermost, so that its functions can be told apart; the factor is not negative."""
    return sp.Max(*(factor * each for each in density.args)) if isinstance(density, sp.Max) else factor * density


def _merged(parts: Parts) -> Parts:
    """One part for each line, the largest of those that are given for it."""
    found: dict[Direction, sp.Expr] = {}
    for direction, part in parts:
        same = next((known for known in found if _parallel(known, direction)), direction)
        found[same] = sp.Max(found[same], part) if same in found else sp.sympify(part)
    return tuple(found.items())


# Unit vectors: <u, v>^2 = 1 if and only if v is u or -u.
def _parallel(one: Direction, other: Direction) -> bool:
    if one == other or len(one) != len(other):
        return one == other
    product = sp.Add(*(sp.sympify(a) * b for a, b in zip(one, other, strict=True)))
    return bool(sp.simplify(product**2 - 1) == 0)


def union(classes: Sequence[BarronClass]) -> BarronClass:
    return reduce(BarronClass.__or__, classes)


def combination(classes: Sequence[BarronClass], C_a: Any, C_b: Any) -> BarronClass:
    """(22): <a, f> + b with |a|_1 <= C_a, |b| <= C_b, f_i in the i-th class."""
    scaled = union(classes).scaled(C_a)
    return BarronClass(scaled.d, scaled.at_zero + C_b, scaled.radial, scaled.lines, scaled.limits)


# Known classes.


def linear(directions: Sequence[Direction], sizes: Sequence[Any], C_b: Any = 0) -> BarronClass:
    """sum_i a_i u_i^T x + b with |a_i| <= sizes[i], |b| <= C_b: as omega -> 0, sin(omega u^T x)/omega is u^T x."""
    parts = tuple((tuple(u), sp.sympify(size)) for u, size in zip(directions, sizes, strict=True))
    return BarronClass(len(directions[0]), sp.sympify(C_b), limits=parts)


# F(omega) = (width/sqrt(2 pi))^d exp(-width^2 |omega|^2/2), times exp(-i omega^T centre).
def bump(d: Any, width: Any, nearest: Any = 0) -> BarronClass:
    """exp(-|x - c|^2/(2 width^2)) for any set of centres c, of which the nearest to 0 has that norm."""
    d, width = sp.sympify(d), sp.sympify(width)
    if width.is_nonpositive:
        raise UsageError(f"bump: width = {width}; give a width above 0")
    density = (width / sp.sqrt(2 * sp.pi)) ** d * sp.exp(-(width**2) * r**2 / 2)
    return BarronClass(d, sp.exp(-(sp.sympify(nearest) ** 2) / (2 * width**2)), density)


# (134): the logistic function's derivative has the transform s/(2 sinh(pi s)), s = r/slope.
def logistic(direction: Direction, slope: Any) -> BarronClass:
    """1/(1 + exp(-slope u^T x))."""
    return BarronClass(len(direction), sp.Rational(1, 2), lines=((tuple(direction), _logistic_line(slope)),))


def _logistic_line(slope: Any) -> sp.Expr:
    return r / slope / (2 * sp.sinh(sp.pi * r / slope))


# tanh(v) = 2 sigma(2 v) - 1
def tanh(direction: Direction, slope: Any) -> BarronClass:
    """tanh(slope u^T x)."""
    return BarronClass(len(direction), lines=((tuple(direction), 2 * _logistic_line(2 * slope)),))


# Integrals over r.


def _integral(what: str, density: sp.Expr) -> sp.Expr:
    """int_0^oo of the density. Raises UsageError where it is not finite."""
    if density == 0:
        return sp.S.Zero
    parts = _compared(density)
    if len(parts) > 1 and any(part.has(sp.sinh) for part in parts):  # where two of these meet has no closed form
        return integral_of_largest(parts, [_integrated(what, part, sp.S.Zero, sp.oo) for part in parts], r)
    found = sp.Add(*(_integrated(what, part, low, high) for part, low, high in _largest_parts(density)))
    return found if found.has(sp.erf) else sp.simplify(found)


def _compared(density: sp.Expr) -> list[sp.Expr]:
    """The functions of r of which the density is the largest one: a maximum, times what is not negative."""
    largest = next((each for each in density.atoms(sp.Max) if r in each.free_symbols), None)
    return [density] if largest is None else [density.xreplace({largest: each}) for each in largest.args if each != 0]


def _integrated(what: str, density: sp.Expr, low: sp.Expr, high: sp.Expr) -> sp.Expr:
    sinh = next((each for each in density.atoms(sp.sinh) if (each.args[0] / r).is_constant(r)), None)
    if sinh is not None and low == 0 and high == sp.oo and (density * sinh / r).is_constant(r):
        # int_0^oo v/sinh(pi v) dv = 2 sum_k int v exp(-(2k + 1) pi v) dv, as below (132)
        k, scale = sp.Symbol("k", integer=True, nonnegative=True), sinh.args[0] / (sp.pi * r)
        series = sp.summation(2 / ((2 * k + 1) * sp.pi) ** 2, (k, 0, sp.oo))
        return density * sinh / r * series / scale**2
    if low != 0 and high == sp.oo:  # SymPy is quick from 0
        return _integrated(what, density, sp.S.Zero, high) - _integrated(what, density, sp.S.Zero, low)
    found = sp.integrate(density, (r, low, high))
    if found in (sp.oo, sp.zoo, sp.nan) or found.has(sp.oo):
        tail = "r -> oo" if sp.integrate(density, (r, 1, sp.oo)).has(sp.oo) else "r -> 0"
        raise UsageError(
            f"C_F is infinite: {what}, with |omega| F^sup, is {sp.sstr(density)}, not integrable as {tail}"
        )
    if found.is_negative:
        raise UsageError(f"{what} has a negative mass, {sp.sstr(found)}; give a magnitude")
    return found


def _largest_parts(density: sp.Expr) -> list[tuple[sp.Expr, sp.Expr, sp.Expr]]:
    """The density without its maxima: pieces between the radii at which two of the functions meet."""
    parts = _compared(density)
    if len(parts) == 1:
        return [(density, sp.S.Zero, sp.oo)]
    meet = {root for i, one in enumerate(parts) for other in parts[i + 1 :] for root in _crossings(one, other)}
    edges = [sp.S.Zero, *sorted(meet), sp.oo]
    pieces = []
    for low, high in itertools.pairwise(edges):
        inside = low + 1 if high == sp.oo else (low + high) / 2
        winner = max(parts, key=lambda part: sp.N(sp.log(part).subs(r, inside)))
        pieces.append((winner, low, high))
    return pieces


def _crossings(one: sp.Expr, other: sp.Expr) -> list[sp.Expr]:
    logs = sp.expand_log(sp.expand(sp.log(one) - sp.log(other)), force=True)
    return [root for root in sp.solve(sp.simplify(logs), r) if root.is_positive]
