"""Arrays of intervals with float64 ends: what `Ends` is to one box, for many boxes at once.

IEEE arithmetic and square roots are rounded to the nearest float, so that the next float outwards is beyond the exact
number. NumPy documents its other functions to 4 units in the last place; 32 are allowed for, and more for roots, whose
exponent 1/q is rounded: by 2^-53/q at most, which moves x^(1/q) by |log x| 2^-53/q < 2^-45 of it. An end that does not
exist, or that is not known, is nan, and so is what is computed from it. Callers silence the warnings of NumPy.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from flint import arb

from numeric.balls.arbs import float_above, float_below

Floats = Any  # an array of float64, or one that all boxes share
LAST_PLACES, OF_ROOTS = 2.0**-47, 2.0**-44
TINY = 2.0**-1022
INCREASING: dict[str, Callable[[Floats], Floats]] = {
    **{name: getattr(np, name) for name in ("exp", "log", "tanh", "sinh")},
    "atan": np.arctan,
    "asinh": np.arcsinh,
}


class FloatEnds:
    """The numbers from `low` to `high`, one interval a box; arithmetic with such, with balls and with ints."""

    __slots__ = ("high", "low")

    def __init__(self, low: Floats, high: Floats) -> None:
        self.low, self.high = low, high

    @classmethod
    def of(cls, number: Any) -> "FloatEnds":
        """A ball, or an int, for all boxes."""
        if isinstance(number, FloatEnds):
            return number
        ball = number if isinstance(number, arb) else arb(number)
        return cls(np.float64(float_below(ball)), np.float64(float_above(ball)))

    def size(self) -> Floats:
        """The largest absolute value."""
        return np.maximum(self.high, -self.low)

    def __neg__(self) -> "FloatEnds":
        return FloatEnds(-self.high, -self.low)

    def __add__(self, other: Any) -> "FloatEnds":
        other = FloatEnds.of(other)
        return FloatEnds(_down(self.low + other.low), _up(self.high + other.high))

    __radd__ = __add__

    def __sub__(self, other: Any) -> "FloatEnds":
        return self + -FloatEnds.of(other)

    def __rsub__(self, other: Any) -> "FloatEnds":
        return -self + other

    def __mul__(self, other: Any) -> "FloatEnds":
        other = FloatEnds.of(other)
        a, b, c, d = self.low * other.low, self.low * other.high, self.high * other.low, self.high * other.high
        low = np.minimum(np.minimum(a, b), np.minimum(c, d))
        return FloatEnds(_down(low), _up(np.maximum(np.maximum(a, b), np.maximum(c, d))))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "FloatEnds":
        return self * FloatEnds.of(other).inverse()

    def __rtruediv__(self, other: Any) -> "FloatEnds":
        return self.inverse() * other

    def inverse(self) -> "FloatEnds":
        has_pole = (self.low <= 0) & (self.high >= 0)
        return FloatEnds(_down(1 / self.high), _up(1 / self.low))._unless(has_pole)

    def _unless(self, unknown: Any) -> "FloatEnds":
        return FloatEnds(np.where(unknown, np.nan, self.low), np.where(unknown, np.nan, self.high))

    def __abs__(self) -> "FloatEnds":
        return FloatEnds(np.maximum(np.maximum(self.low, -self.high), 0.0), self.size())

    def max(self, other: "FloatEnds") -> "FloatEnds":
        return FloatEnds(np.maximum(self.low, other.low), np.maximum(self.high, other.high))

    def min(self, other: "FloatEnds") -> "FloatEnds":
        return -((-self).max(-other))

    def step(self, below: int, above: int) -> "FloatEnds":
        """`above` where the interval is > 0, `below` where it is < 0, and from one to the other elsewhere."""
        return FloatEnds(np.where(self.low > 0, above, below), np.where(self.high < 0, below, above))

    def power(self, p: int, q: int) -> "FloatEnds":
        """x^(p/q), in lowest terms; for q > 1 the low end has to be >= 0."""
        if p < 0:
            return self.power(-p, q).inverse()
        if q > 1:
            return self._root(q).power(p, 1)
        if p % 2 == 0:
            size = abs(self)
            return FloatEnds(_raised(size.low, p, _down), _raised(size.high, p, _up))
        low, high = _raised(abs(self.low), p, _down), _raised(abs(self.high), p, _up)
        negative_low, negative_high = -_raised(abs(self.low), p, _up), -_raised(abs(self.high), p, _down)
        return FloatEnds(np.where(self.low < 0, negative_low, low), np.where(self.high < 0, negative_high, high))

    def _root(self, q: int) -> "FloatEnds":
        if q == 2:
            return FloatEnds(np.maximum(_down(np.sqrt(self.low)), 0.0), _up(np.sqrt(self.high)))
        return self._increasing(lambda end: np.power(end, 1.0 / q), OF_ROOTS)

    def _increasing(self, function: Callable[[Floats], Floats], error: float = LAST_PLACES) -> "FloatEnds":
        low, high = function(self.low), function(self.high)
        return FloatEnds(low - error * abs(low) - TINY, high + error * abs(high) + TINY)

    def apply(self, name: str) -> "FloatEnds":
        """A function by its name; nan where it is none of the monotone ones here."""
        if name == "cosh":
            return abs(self)._increasing(np.cosh)
        return self._increasing(INCREASING[name]) if name in INCREASING else FloatEnds(*[self.low * np.nan] * 2)


def _down(number: Floats) -> Floats:
    return np.nextafter(number, -np.inf)


def _up(number: Floats) -> Floats:
    return np.nextafter(number, np.inf)


def _raised(size: Floats, p: int, outwards: Callable[[Floats], Floats]) -> Floats:
    """size^p for a size >= 0, by squaring; each product rounded."""
    found = size if p else np.ones_like(size)
    for bit in f"{p:b}"[1:]:
        found = np.maximum(outwards(found * found), 0.0)
        if bit == "1":
            found = np.maximum(outwards(found * size), 0.0)
    return found
