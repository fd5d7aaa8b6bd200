"""The values of a knob that the hypotheses allow, and the grid on which they are searched."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any

import sympy as sp

from bridge.lowering.ball_values import as_exact
from bridge.lowering.conditions import claims_of
from symbolic.statements.result import Hypothesis, Parameter, Result
from symbolic.words.errors import UsageError

Number = float | int

NEAR = (1, 2, 3, 4, 6, 8)  # powers of 2 from the anchor: of the first look, with FAR
FAR = (64, 128, 256)
BETWEEN = (5, 7, 10, 12, 16, 20, 24, 32, 40, 48, 96, 192, 512, 1000)  # where the first look has found nothing
SMALL, ALL_SMALL = 8, 64  # whole numbers above the least that are tried: at first, and at most
FIRST_POWERS = (4, 5, 6, 8, 10, 12, 20, 32, 48, 62)
MANTISSA = 40  # bits of a knob that another parameter follows: a small multiple of it is a float64 too


@dataclass(frozen=True)
class Interval:
    """From `low` to `high`; an end that is `open` is not a value."""

    low: float | Fraction = -math.inf
    high: float | Fraction = math.inf
    low_open: bool = True
    high_open: bool = True

    def __contains__(self, value: Number) -> bool:
        above = value > self.low or (value == self.low and not self.low_open)
        return above and (value < self.high or (value == self.high and not self.high_open))

    def above(self, low: Fraction, *, is_open: bool) -> "Interval":
        if low < self.low or (low == self.low and self.low_open):
            return self
        return Interval(low, self.high, is_open, self.high_open)

    def below(self, high: Fraction, *, is_open: bool) -> "Interval":
        if high > self.high or (high == self.high and self.high_open):
            return self
        return Interval(self.low, high, self.low_open, is_open)


def interval_of(
    knob: sp.Symbol, hypotheses: Iterable[Hypothesis], values: Mapping[sp.Symbol, Any], integer: bool
) -> Interval:
    """The values of the knob that the hypotheses linear in it allow, the other parameters at `values`.

    The other hypotheses are left to each probe.
    """
    found = Interval()
    if knob.is_nonnegative:
        found = found.above(Fraction(0), is_open=bool(knob.is_positive))
    for expression, strict in chain.from_iterable(_claims(each, knob) for each in hypotheses):
        line = _line(expression, knob, values)
        if line is None:
            continue
        slope, start = line
        end = -start / slope
        found = found.above(end, is_open=strict) if slope > 0 else found.below(end, is_open=strict)
    return found if not integer else _whole(found)


def _claims(hypothesis: Hypothesis, knob: sp.Symbol) -> Sequence[tuple[sp.Expr, bool]]:
    """The inequalities on the knob; none for a hypothesis of another kind."""
    try:
        return [claim for claim in claims_of(hypothesis.condition) if claim[0].has(knob)]
    except UsageError:
        return []


def _line(expression: sp.Expr, knob: sp.Symbol, values: Mapping[sp.Symbol, Any]) -> tuple[Fraction, Fraction] | None:
    """Slope and value at 0 of what is linear in the knob with rational numbers; None for anything else."""
    others = expression.free_symbols - {knob}
    if not others <= set(values):
        return None
    bound = expression.xreplace({symbol: sp.Rational(as_exact(values[symbol])) for symbol in others})
    polynomial = bound.as_poly(knob)
    if polynomial is None or polynomial.degree() != 1 or not all(c.is_Rational for c in polynomial.all_coeffs()):
        return None
    slope, start = (Fraction(int(c.p), int(c.q)) for c in polynomial.all_coeffs())
    return slope, start


def _whole(interval: Interval) -> Interval:
    """The same for whole numbers, closed."""
    low, high = interval.low, interval.high
    if low > -math.inf:
        low = Fraction(math.floor(low) + 1 if interval.low_open else math.ceil(low))
    if high < math.inf:
        high = Fraction(math.ceil(high) - 1 if interval.high_open else math.floor(high))
    return Interval(low, high, low == -math.inf, high == math.inf)


@dataclass(frozen=True)
class Lattice:
    """The whole numbers start + step k."""

    step: int = 1
    start: int = 0

    def at(self, k: Number) -> int:
        return self.start + self.step * int(k)

    def nearest(self, value: Number) -> int:
        return self.at(round((value - self.start) / self.step))

    def within(self, interval: Interval) -> Interval:
        """The k whose numbers lie in the interval."""
        low, high = (
            (end - self.start) / self.step if math.isfinite(end) else end for end in (interval.low, interval.high)
        )
        return _whole(Interval(low, high, interval.low_open, interval.high_open))


WHOLE = Lattice()


def lattice_of(knob: sp.Symbol, hypotheses: Iterable[Hypothesis]) -> Lattice:
    """The residue class to which equalities such as (L - 1)/2 = floor((L - 1)/2) restrict a whole number."""
    found = WHOLE
    for condition in (h.condition for h in hypotheses if h.condition.free_symbols == {knob}):
        if isinstance(condition, sp.Eq) and condition.has(sp.floor, sp.Mod) and found == WHOLE:
            denominators = [each.q for each in condition.atoms(sp.Rational)]
            step = math.lcm(*map(int, denominators), *map(_modulus, condition.atoms(sp.Mod)))
            residues = [r for r in range(step) if condition.subs(knob, r) == sp.true]
            found = Lattice(step, residues[0]) if len(residues) == 1 else found
    return found


def _modulus(each: sp.Expr) -> int:
    return int(each.args[1]) if each.args[1].is_Integer else 1


@dataclass(frozen=True)
class Tie:
    """A parameter that a hypothesis, an equality, ties to the knob."""

    parameter: Parameter
    value: sp.Expr
    condition: Any

    def at(self, values: Mapping[sp.Symbol, Any]) -> Number:
        """Its value. Raises UsageError if that must be a whole number and is not."""
        exact = {symbol: sp.Rational(as_exact(values[symbol])) for symbol in self.value.free_symbols}
        number = self.value.xreplace(exact)
        if self.parameter.integer and not number.is_Integer:
            raise UsageError(
                f"{self.parameter.name} = {number} is not a whole number, as {sp.sstr(self.condition)} requires"
            )
        return int(number) if self.parameter.integer else float(number)


def ties_of(result: Result, knob: sp.Symbol, given: Iterable[str]) -> list[Tie]:
    """The parameters tied to the knob, except those that are `given`. Raises UsageError if a tie cannot be solved."""
    free = {p.symbol: p for p in result.parameters if p.symbol is not None and p.name not in given and p.symbol != knob}
    ties = []
    for condition in (h.condition for h in result.hypotheses):
        if not isinstance(condition, sp.Eq) or knob not in condition.free_symbols:
            continue
        followers = [p for symbol, p in free.items() if symbol in condition.free_symbols]
        solved = [tie for p in followers if (tie := _tie(p, condition)) is not None]
        if followers and not solved:
            raise UsageError(
                f"solve: {knob} is tied to {followers[0].name} by the hypothesis {sp.sstr(condition)}, which is not "
                f"linear in {followers[0].name}; set {followers[0].name}"
            )
        ties += solved[:1]
    return ties


def _tie(parameter: Parameter, condition: sp.Eq) -> Tie | None:
    polynomial = (condition.lhs - condition.rhs).as_poly(parameter.symbol)
    if polynomial is None or polynomial.degree() != 1:
        return None
    slope, start = polynomial.all_coeffs()
    return Tie(parameter, -start / slope, condition)


@dataclass(frozen=True)
class Grid:
    """Values in ascending order: those of the first look, and those that are tried where it finds no answer."""

    first: tuple[Number, ...]
    more: tuple[Number, ...]


def grid_of(
    interval: Interval,
    within: Interval,
    default: Any,
    *,
    integer: bool,
    tied: bool = False,
    lattice: Lattice = WHOLE,
) -> Grid:
    """Powers of 2 times a unit away from the default, towards both ends of the interval; small whole numbers at first.

    `within` is the range that a search can afford; its ends are not approached. Whole numbers are those of `lattice`.
    """
    if lattice != WHOLE:
        places = grid_of(lattice.within(interval), lattice.within(within), None, integer=True)
        return Grid(tuple(map(lattice.at, places.first)), tuple(map(lattice.at, places.more)))
    sides = _whole_numbers(interval, within) if integer else _reals(interval, within, default, tied)
    return Grid(*(tuple(sorted(v for v in side if v in interval and v in within)) for side in sides))


def _reals(interval: Interval, within: Interval, default: Any, tied: bool) -> tuple[set[float], set[float]]:
    anchor = _anchor(interval, default)
    first, more = (_spread(interval, anchor, powers) for powers in (NEAR + FAR, BETWEEN))
    ends = [float(end) for end in (within.low, within.high) if math.isfinite(end)]
    round_off = _rounded if tied else float
    return {round_off(v) for v in [*first, *ends]}, {round_off(v) for v in more}


def _whole_numbers(interval: Interval, within: Interval) -> tuple[set[int], set[int]]:
    low = max(interval.low, within.low)
    start = 1 if low == -math.inf else int(low)
    start = min(start, int(interval.high)) if interval.high < math.inf else start
    ends = {int(end) for end in (interval.high, within.high) if end < math.inf}
    first = {*range(start, start + SMALL + 1), *(start - start % 2 + 2**k for k in FIRST_POWERS)}
    more = {*range(start, start + ALL_SMALL + 1), *(start - start % 2 + 2**k for k in range(62)), *ends}
    if low == -math.inf:
        first, more = ({*side, *(2 * start - each for each in side)} for side in (first, more))
    return first, more


def _anchor(interval: Interval, default: Any) -> float:
    """The default where that is inside, else a point in the middle."""
    low, high = float(interval.low), float(interval.high)
    if isinstance(default, int | float) and low < default < high:
        return float(default)
    if math.isfinite(low) and math.isfinite(high):
        return (low + high) / 2
    if math.isfinite(low):
        return low + 1
    return high - 1 if math.isfinite(high) else 1.0


def _spread(interval: Interval, anchor: float, powers: Sequence[int]) -> list[float]:
    low, high = float(interval.low), float(interval.high)
    found = [anchor, *(end for end in (low, high) if math.isfinite(end))]
    if math.isfinite(low):
        found += [low + (anchor - low) * 2.0**-k for k in powers]
    if math.isfinite(high):
        found += [high - (high - anchor) * 2.0**-k for k in powers]
    if not math.isfinite(high):
        base = low if math.isfinite(low) else 0.0
        found += [base + abs(anchor - base or 1.0) * factor for factor in _powers(powers)]
    if not math.isfinite(low):
        base = high if math.isfinite(high) else 0.0
        found += [base - abs(base - anchor or 1.0) * factor for factor in _powers(powers)]
    return found


def _powers(powers: Sequence[int]) -> list[float]:
    return [2.0**k for k in powers] + [2.0**-k for k in powers] + [1.0]


def _rounded(value: float) -> float:
    mantissa, exponent = math.frexp(value)
    return math.ldexp(round(mantissa * 2**MANTISSA), exponent - MANTISSA)
