"""Whole numbers whose quotients are balls: Python would round 1 / 3 to a float."""

from collections.abc import Callable
from typing import Any


def _whole(name: str) -> Callable[..., Any]:
    """The method of int, its whole results exact again."""
    method = getattr(int, name)

    def on_integers(self: "ExactInteger", *others: Any) -> Any:
        return _kept(method(self, *others))

    return on_integers


class ExactInteger(int):
    """An int for counts, indices and shapes; divided, or raised to a power that is not a whole number, it is a ball.

    Python gives a float its own way with an int on its right: 1.0 / n and 0.1 * n are rounded floats, as are len(x)
    divided by a number and math.sqrt(n). Write 1 / n, n / 10, 1 / x.shape[0] and torch.sqrt(torch.tensor(n)).
    """

    __add__, __radd__ = _whole("__add__"), _whole("__radd__")
    __sub__, __rsub__ = _whole("__sub__"), _whole("__rsub__")
    __mul__, __rmul__ = _whole("__mul__"), _whole("__rmul__")
    __floordiv__, __rfloordiv__ = _whole("__floordiv__"), _whole("__rfloordiv__")
    __mod__, __rmod__ = _whole("__mod__"), _whole("__rmod__")
    __divmod__, __rdivmod__ = _whole("__divmod__"), _whole("__rdivmod__")
    __lshift__, __rlshift__ = _whole("__lshift__"), _whole("__rlshift__")
    __rshift__, __rrshift__ = _whole("__rshift__"), _whole("__rrshift__")
    __neg__, __pos__, __abs__ = _whole("__neg__"), _whole("__pos__"), _whole("__abs__")
    __floor__, __ceil__, __round__ = _whole("__floor__"), _whole("__ceil__"), _whole("__round__")

    def __truediv__(self, other: Any) -> Any:
        return _ball(self) / other if isinstance(other, int | float) else NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        return _ball(other) / int(self) if isinstance(other, int) else NotImplemented

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        return _power(self, other, modulus)

    def __rpow__(self, other: Any, modulus: Any = None) -> Any:
        return _power(other, self, modulus) if isinstance(other, int) else NotImplemented


def _power(base: int, exponent: Any, modulus: int | None) -> Any:
    if isinstance(exponent, int) and (exponent >= 0 or modulus is not None):
        return _kept(pow(int(base), int(exponent), modulus))
    return _ball(base) ** exponent if isinstance(exponent, int | float) else NotImplemented


def _kept(number: Any) -> Any:
    if isinstance(number, tuple):  # of divmod
        return tuple(map(_kept, number))
    return ExactInteger(number) if isinstance(number, int) else number


class Arrays:
    """What makes an array of an integer; the shapes of arrays are such integers, so that numeric/balls/array.py sets
    it."""

    of: Callable[[int], Any]


ARRAYS = Arrays()


def _ball(number: int) -> Any:
    return ARRAYS.of(int(number))
