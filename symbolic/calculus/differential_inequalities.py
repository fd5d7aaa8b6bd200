"""Comparison: what a differential inequality says of a function, and of the time in which it gets from one value to
another.

Everything rests on one linear equation u' = a u + b, a = 0 included: other inequalities are brought to it by a change
of coordinates.
"""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import sympy as sp

from symbolic.derivations.derivation import DerivationError, as_expr
from symbolic.derivations.provenance import Provenance, weakest


@runtime_checkable
class Moving(Protocol):
    """A flow, as far as it is asked: its letters, and the rate of each of them."""

    @property
    def state(self) -> tuple[sp.Symbol, ...]: ...
    def rate(self, coordinate: sp.Symbol) -> sp.Expr: ...


@dataclass(frozen=True)
class Passage:
    """The time from one value to another, where `condition` holds."""

    time: sp.Expr
    condition: Any = sp.true


# Groenwall. For u' <= a u + b(t), (u e^(-at))' = (u' - a u) e^(-at) <= b(t) e^(-at); integrated from 0,
#   u(t) <= u(0) e^(at) + integral over s in (0, t) of e^(a(t-s)) b(s).
# All signs of a and b are allowed; with >= the same holds with >=. Equality: u' = a u + b.
@dataclass(frozen=True)
class LinearComparison:
    """The solution of u' = rate u + source from `start`: at most it is what has u' <= ..., at least what has u' >= ...

    `rate` is constant; `source` may depend on `clock`, the time. `premise`: how the inequality was obtained.
    """

    start: sp.Expr
    rate: sp.Expr
    source: sp.Expr
    clock: sp.Symbol | None = None
    premise: Provenance = Provenance.HAND

    def __post_init__(self) -> None:
        if self.clock is not None and self.clock in self.start.free_symbols | self.rate.free_symbols:
            raise DerivationError(f"LinearComparison: the start and the rate may not depend on the time {self.clock}")

    @classmethod
    def along(cls, flow: Moving, coordinate: sp.Symbol, start: Any) -> "LinearComparison":
        """A coordinate whose rate is affine in itself, and free of the others. Raises DerivationError otherwise."""
        speed = flow.rate(coordinate)
        rate = sp.simplify(sp.diff(speed, coordinate))
        others = {str(x) for x in flow.state if x != coordinate and x in speed.free_symbols}
        if coordinate in rate.free_symbols or others:
            left = f"it depends on {', '.join(sorted(others))}" if others else f"it is not affine in {coordinate}"
            raise DerivationError(f"LinearComparison: the rate of {coordinate} is {sp.sstr(speed)}; {left}")
        return cls(as_expr(start), rate, speed.subs(coordinate, 0), premise=Provenance.ALGEBRA)

    @property
    def provenance(self) -> Provenance:
        return weakest((Provenance.RULES, self.premise))

    def after(self, time: Any) -> sp.Expr:
        """u(time), for a time >= 0."""
        time = as_expr(time)
        if time.is_negative:
            raise DerivationError(f"LinearComparison: the time is {sp.sstr(time)}; before the start nothing is known")
        if self.clock is not None and self.clock in self.source.free_symbols:
            return self.start * sp.exp(self.rate * time) + self._forced(time)
        still = self.start + self.source * time
        if self.rate.is_zero:
            return still
        moving = (self.start - self.rest) * sp.exp(self.rate * time) + self.rest
        return moving if self.rate.is_nonzero else sp.Piecewise((still, sp.Eq(self.rate, 0)), (moving, True))

    def _forced(self, time: sp.Expr) -> sp.Expr:
        s, t = sp.Dummy("s", real=True), sp.Dummy("t", nonnegative=True)

        def integral(source: sp.Expr) -> sp.Expr:
            constant, varying = source.as_independent(s, as_Add=False)  # constants stay out of the integral
            if varying.is_Add:
                return constant * sp.Add(*map(integral, varying.args))
            return constant * sp.integrate(sp.exp(self.rate * (t - s)) * varying, (s, 0, t))

        return integral(self.source.subs(self.clock, s)).subs(t, time)

    @property
    def rest(self) -> sp.Expr:
        """Where u rests. Raises DerivationError for a rate of 0."""
        if self.rate.is_zero:
            raise DerivationError("LinearComparison: at the rate 0 no value is at rest")
        return -self.source / self.rate

    # u - rest = (start - rest) e^(rate t).
    def lag(self) -> sp.Expr:
        """The integral of rest - u over all times, for a rate < 0. Raises DerivationError unless the rate is so."""
        if self.rate.is_negative is not True:
            raise DerivationError(f"lag: cannot show that the rate {sp.sstr(self.rate)} is negative; u has no limit")
        return (self.start - self.rest) / self.rate

    # F(u) = integral of dx / (a x + b) from the start to u has F' = u'/(a u + b) = 1: its value at the level is the
    # time. Where a x + b > 0 in between, u' >= a u + b gives F' >= 1, so that u is there by then at the latest, and
    # u' <= a u + b not earlier; the other way round where a x + b < 0. An affine function has one sign between two
    # points at which it has that sign.
    def passage(self, level: Any) -> Passage:
        """When u is at `level`; the speed has one sign from the start to there.

        For an increasing u, one with u' >= ... is there by then at the latest, one with u' <= ... at the earliest.
        Raises DerivationError for a level that u clearly never reaches.
        """
        level = as_expr(level)
        if self.clock is not None and self.clock in self.source.free_symbols:
            raise DerivationError("passage: the source depends on the time; give one that bounds it")
        first, last = (self.rate * x + self.source for x in (self.start, level))
        ahead = sp.Ge((level - self.start) * first, 0)
        condition = sp.And(sp.Gt(first * last, 0), ahead)
        if condition == sp.false:
            raise DerivationError(f"passage: from {sp.sstr(self.start)} u never reaches {sp.sstr(level)}")
        if self.rate.is_zero:
            return Passage((level - self.start) / self.source, condition)
        falling = bool(self.rate.is_negative)
        moving = sp.log(first / last) / -self.rate if falling else sp.log(last / first) / self.rate
        if self.rate.is_nonzero or self.source.is_zero:
            return Passage(moving, condition)
        still = (level - self.start) / self.source
        return Passage(sp.Piecewise((still, sp.Eq(self.rate, 0)), (moving, True)), condition)


# y = x^-k has y' = -k x^(-k-1) x' = -k rate y - k bend. Where x grows y falls, so that a larger x' is again there
# sooner. Equality: the equation.
def past_saddle(start: Any, end: Any, *, rate: Any, bend: Any = 0, power: Any = 1) -> Passage:
    """The time from `start` to `end` > start along an unstable direction, x' = x (rate + bend x^power).

    By at most it x' >= ... takes from one to the other, by at least it x' <= ...: a bend of either sign bounds the time
    from both sides. `rate` and `power` are positive.
    """
    start, end, rate, bend, power = map(as_expr, (start, end, rate, bend, power))
    for name, number in {"start": start, "end": end, "rate": rate, "power": power}.items():
        if number.is_nonpositive:
            raise DerivationError(f"past_saddle: the {name} is {sp.sstr(number)}; give it > 0")
    if bend == 0:
        return Passage(sp.log(end / start) / rate, sp.Ge(end, start))
    inverse = LinearComparison(start**-power, -power * rate, -power * bend)
    return inverse.passage(end**-power)


# log(x/x_0)' = rate (1 - l(t)). Where 0 <= l, the time is at least that without the lag, and at most that with any
# upper bound on the integral of l over all times.
def held_back(passage: Passage, lag: Any) -> Passage:
    """The passage of x' = rate (1 - l(t)) x in place of x' = rate x: `lag` is the integral of l up to its end."""
    return Passage(passage.time + as_expr(lag), passage.condition)


# u' <= -rate u^k: for k = 1 linear; for k > 1 y = u^(1-k) has y' = (1-k) u^(-k) u' >= (k-1) rate, linear with rate 0.
# Equality: the equation.
def decayed(start: Any, rate: Any, power: Any, time: Any) -> sp.Expr:
    """The bound on u(time) for u' <= -rate u^power, power >= 1; from a start of oo that for every start, power > 1."""
    start, rate, power = map(as_expr, (start, rate, power))
    if (power - 1).is_negative or (start == sp.oo and power == 1):
        raise DerivationError(f"decayed: from {sp.sstr(start)} the power {power} gives no bound; give a larger power")
    if power == 1:
        return LinearComparison(start, -rate, sp.Integer(0)).after(time)
    return LinearComparison(start ** (1 - power), sp.Integer(0), (power - 1) * rate).after(time) ** (1 / (1 - power))
