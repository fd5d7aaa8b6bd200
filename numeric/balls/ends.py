"""Intervals with two exact ends.

A ball is a middle and a radius: the product of [1/100, 1] with itself, as a ball, reaches down to -0.49. Of two ends
each is rounded outwards by itself: a product is the hull of four products, and a monotone function is evaluated at the
ends. An end that does not exist is nan, and so is what is computed from it.
"""

from collections.abc import Callable
from typing import Any

from flint import arb

from numeric.balls.arbs import Arb, rational
from numeric.balls.functions import ONE_ARGUMENT

INCREASING = ("exp", "log", "tanh", "sinh", "atan", "erf", "asinh")


class Ends:
    """The numbers from `low` to `high`, both exact; arithmetic with intervals, balls that are points, and ints."""

    __slots__ = ("high", "low")

    def __init__(self, low: Arb, high: Arb) -> None:
        self.low, self.high = low, high

    @classmethod
    def around(cls, low: Any, high: Any) -> "Ends":
        """The interval between two rational numbers, rounded outwards."""
        return cls(rational(low).lower(), rational(high).upper())

    @classmethod
    def of(cls, number: Any) -> "Ends":
        """A ball, or an int, as an interval."""
        if isinstance(number, Ends):
            return number
        ball = number if isinstance(number, arb) else arb(number)
        return cls(ball.lower(), ball.upper())

    @property
    def ball(self) -> Arb:
        return self.low if self.low == self.high else self.low.union(self.high)

    def is_finite(self) -> bool:
        return bool(self.low.is_finite() and self.high.is_finite())

    def size(self) -> Arb:
        """The largest absolute value."""
        return self.high.max(-self.low)

    def __neg__(self) -> "Ends":
        return Ends(-self.high, -self.low)

    def __add__(self, other: Any) -> "Ends":
        other = Ends.of(other)
        return Ends((self.low + other.low).lower(), (self.high + other.high).upper())

    __radd__ = __add__

    def __sub__(self, other: Any) -> "Ends":
        return self + -Ends.of(other)

    def __rsub__(self, other: Any) -> "Ends":
        return Ends.of(other) + -self

    def __mul__(self, other: Any) -> "Ends":
        other = Ends.of(other)
        a, b, c, d = self.low, self.high, other.low, other.high
        if c >= 0:
            return Ends((a * (c if a >= 0 else d)).lower(), (b * (d if b >= 0 else c)).upper())
        if a >= 0:
            return other * self
        if d <= 0 or b <= 0:
            return -self * -other if d <= 0 and b <= 0 else -(-self * other if b <= 0 else self * -other)
        return _hull(a * d, b * c, a * c, b * d)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "Ends":
        return self * Ends.of(other).inverse()

    def __rtruediv__(self, other: Any) -> "Ends":
        return Ends.of(other) * self.inverse()

    def inverse(self) -> "Ends":
        if not (self.low > 0 or self.high < 0):
            return NOWHERE
        return Ends((1 / self.high).lower(), (1 / self.low).upper())

    def __abs__(self) -> "Ends":
        if self.low >= 0:
            return self
        return -self if self.high <= 0 else Ends(arb(0), self.size())

    def __ge__(self, number: Any) -> bool:
        return bool(self.low >= number)

    def __gt__(self, number: Any) -> bool:
        return bool(self.low > number)

    def __le__(self, number: Any) -> bool:
        return bool(self.high <= number)

    def __lt__(self, number: Any) -> bool:
        return bool(self.high < number)

    def max(self, other: "Ends") -> "Ends":
        return Ends(self.low.max(other.low).lower(), self.high.max(other.high).upper())

    def min(self, other: "Ends") -> "Ends":
        return -((-self).max(-other))

    def union(self, other: "Ends") -> "Ends":
        return Ends(self.low.min(other.low).lower(), self.high.max(other.high).upper())

    def step(self, below: int, above: int) -> "Ends":
        """`above` where the interval is > 0, `below` where it is < 0, and from one to the other elsewhere."""
        return Ends.of(above if self > 0 else below if self < 0 else arb(below).union(arb(above)))

    def increasing(self, function: Callable[[Arb], Arb]) -> "Ends":
        if self.low == self.high:
            return Ends.of(function(self.low))
        return Ends(function(self.low).lower(), function(self.high).upper())

    def power(self, p: int, q: int) -> "Ends":
        """x^(p/q), in lowest terms; for q > 1 the low end has to be >= 0."""
        if p < 0:
            return self.power(-p, q).inverse()
        if q > 1:
            return self.increasing(lambda end: _root(end, q)).power(p, 1) if self.low >= 0 else NOWHERE
        return (abs(self) if p % 2 == 0 else self).increasing(lambda end: end**p)

    def apply(self, name: str) -> "Ends":
        """A function of `ONE_ARGUMENT` by its name."""
        function = ONE_ARGUMENT[name]
        if name in INCREASING:
            return self.increasing(function)
        if name == "cosh":
            return abs(self).increasing(function)
        return Ends.of(function(self.ball))


def _hull(*products: Arb) -> Ends:
    if not all(each.is_finite() for each in products):
        return NOWHERE
    return Ends(min(each.lower() for each in products), max(each.upper() for each in products))


def _root(end: Arb, q: int) -> Arb:
    return end if end == 0 else end.root(q)


NOWHERE = Ends(arb.nan(), arb.nan())
