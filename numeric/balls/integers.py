"""Whole numbers whose quotients are balls: Python would round 1 / 3 to a float."""

from typing import Any

from numeric.balls.array import BallArray, array_of


class ExactInteger(int):
    """An int for counts, indices and shapes; divided, or raised to a power that is no whole number, it is a ball."""

    def __add__(self, other: Any) -> Any:
        return _kept(int.__add__(self, other))

    def __sub__(self, other: Any) -> Any:
        return _kept(int.__sub__(self, other))

    def __rsub__(self, other: Any) -> Any:
        return _kept(int.__rsub__(self, other))

    def __mul__(self, other: Any) -> Any:
        return _kept(int.__mul__(self, other))

    def __floordiv__(self, other: Any) -> Any:
        return _kept(int.__floordiv__(self, other))

    def __neg__(self) -> "ExactInteger":
        return ExactInteger(int.__neg__(self))

    def __abs__(self) -> "ExactInteger":
        return ExactInteger(int.__abs__(self))

    def __truediv__(self, other: Any) -> Any:
        return _ball(self) / other if isinstance(other, int | float) else NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        return _ball(other) / int(self) if isinstance(other, int | float) else NotImplemented

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        if isinstance(other, int) and other >= 0:
            return _kept(int.__pow__(self, other))
        return _ball(self) ** other if isinstance(other, int | float) else NotImplemented

    __radd__, __rmul__ = __add__, __mul__


def _kept(number: Any) -> Any:
    return ExactInteger(number) if isinstance(number, int) else number


def _ball(number: Any) -> BallArray:
    return array_of(int(number) if isinstance(number, int) else number)
