"""The arrays: `BallArray` of balls, and `Truth` of truth values that may be undecided.

torch's functions, methods and operators act on both (numeric/balls/dispatch.py says which); no operation changes
an array in place.
"""

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import flint
import numpy as np
from jaxtyping import Float64

from numeric.balls.arbs import Arb, ball_maximum, float_above, working_precision
from numeric.balls.conversion import boxed, entries_of_values, integers_of, is_array
from numeric.balls.entries import Entries, call
from numeric.balls.errors import BallsError, ShapesDiffer, undecided
from numeric.balls.floats import floats_enclosed
from numeric.balls.functions import absolute
from numeric.balls.integers import ARRAYS


def _arithmetic(name: str, *, swapped: bool = False) -> "Callable[..., BallArray]":
    """An operator: torch's function of this name, with the operand on the left where swapped."""
    return lambda self, *others: call(name, *others, self) if swapped else call(name, self, *others)


def _deciding(name: str) -> "Callable[..., Truth]":
    return lambda self, *others: call(name, self, *others)


class Truth(Entries):
    """Truth values of an entrywise comparison: True, False, or None where the balls do not decide it."""

    __and__ = __rand__ = _deciding("logical_and")
    __or__ = __ror__ = _deciding("logical_or")
    __invert__ = _deciding("logical_not")
    __add__ = __radd__ = _arithmetic("add")
    __sub__, __rsub__ = _arithmetic("sub"), _arithmetic("sub", swapped=True)
    __mul__ = __rmul__ = _arithmetic("mul")

    def __bool__(self) -> bool:
        return bool(self.decided("bool(comparison)").item()) if self.numel() == 1 else _one_entry_needed("bool()", self)

    def decided(self, operation: str) -> np.ndarray:
        """The truth values as a bool array; refuses where one is undecided."""
        if any(value is None for value in self.entries.flat):
            raise undecided(operation, self.bits)
        return self.entries.astype(bool)

    def as_index(self) -> np.ndarray:
        return self.decided("indexing by a comparison")


class BallArray(Entries):
    """An array of balls at `bits` bits, with the shapes, operators and functions of a torch tensor.

    `radius()` bounds the distance of each exact number from the middle of its ball; `midpoint()` rounds that middle
    to float64. An operation runs at the highest precision among its arguments. Its ball contains the exact value
    wherever that exists; where none exists (the square root of a negative number), the ball is nan.
    """

    def __init__(self, balls: Sequence[Arb], shape: tuple[int, ...], bits: int) -> None:
        if len(balls) != math.prod(shape):
            raise BallsError("BallArray", f"{len(balls)} balls for the shape {shape}", "Give one ball for each place.")
        self.entries = boxed(balls, tuple(shape))
        self.bits = bits

    @classmethod
    def exactly(cls, values: Any, bits: int = 128) -> "BallArray":
        """The numbers of a float or integer tensor, an array or a Python number themselves, with radius 0."""
        with floats_enclosed(False):
            return cls.of_entries(entries_of_values(values if is_array(values) else np.asarray(values)), bits)

    @classmethod
    def of_matrix(cls, matrix: Any, bits: int) -> "BallArray":
        """The entries of a flint.arb_mat."""
        return cls(matrix.entries(), (matrix.nrows(), matrix.ncols()), bits)

    @cached_property
    def balls(self) -> tuple[Arb, ...]:
        """All balls, row by row."""
        return tuple(self.entries.ravel().tolist())

    def midpoint(self) -> Float64[np.ndarray, "..."]:
        """The middles of the balls, rounded to nearest float64."""
        return np.array([float(ball.mid()) for ball in self.balls]).reshape(self.entries.shape)

    def radius(self) -> Float64[np.ndarray, "..."]:
        """The radii of the balls, rounded up."""
        return np.array([float_above(ball.rad()) for ball in self.balls]).reshape(self.entries.shape)

    def contains(self, values: np.ndarray) -> np.ndarray:
        """For each place, whether the ball contains the given float64."""
        inside = [ball.contains(value) for ball, value in self._pair(BallArray.exactly(values, self.bits))]
        return np.array(inside, dtype=bool).reshape(self.entries.shape)

    def overlaps(self, other: "BallArray") -> np.ndarray:
        """For each place, whether the two balls meet; if not, the two numbers are different."""
        meets = [left.overlaps(right) for left, right in self._pair(other)]
        return np.array(meets, dtype=bool).reshape(self.entries.shape)

    def sup_norm(self) -> Arb:
        """Encloses the largest absolute value of an entry."""
        with working_precision(self.bits):
            return ball_maximum([absolute(ball) for ball in self.balls])

    def one_norm(self) -> Arb:
        """Encloses the sum of the absolute values of all entries."""
        with working_precision(self.bits):
            return sum((absolute(ball) for ball in self.balls), start=flint.arb(0))

    def _pair(self, other: "BallArray") -> list[tuple[Arb, Arb]]:
        if self.shape != other.shape:
            raise ShapesDiffer(tuple(self.shape), tuple(other.shape))
        return list(zip(self.balls, other.balls, strict=True))

    __neg__, __abs__ = _arithmetic("neg"), _arithmetic("abs")
    __add__ = __radd__ = _arithmetic("add")
    __sub__, __rsub__ = _arithmetic("sub"), _arithmetic("sub", swapped=True)
    __mul__ = __rmul__ = _arithmetic("mul")
    __truediv__, __rtruediv__ = _arithmetic("div"), _arithmetic("div", swapped=True)
    __pow__, __rpow__ = _arithmetic("pow"), _arithmetic("pow", swapped=True)
    __matmul__, __rmatmul__ = _arithmetic("matmul"), _arithmetic("matmul", swapped=True)
    __floordiv__, __mod__ = _arithmetic("__floordiv__"), _arithmetic("remainder")
    __lt__, __le__ = _deciding("lt"), _deciding("le")
    __gt__, __ge__ = _deciding("gt"), _deciding("ge")

    def __pos__(self) -> "BallArray":
        return self

    def __bool__(self) -> bool:
        return bool(self != 0) if self.numel() == 1 else _one_entry_needed("bool()", self)

    def __float__(self) -> float:
        return call("__float__", self)

    def __int__(self) -> int:
        return call("__int__", self)

    def __index__(self) -> int:
        return call("__index__", self)


def entries_of(value: Any) -> np.ndarray:
    """Object array of balls for any operand; an undecided comparison is the hull of 0 and 1."""
    if isinstance(value, BallArray):
        return value.entries
    if isinstance(value, Truth):
        hull = flint.arb(0).union(flint.arb(1))
        return boxed([hull if truth is None else flint.arb(int(truth)) for truth in value.entries.flat], value.shape)
    return entries_of_values(value)


def array_of(value: Any) -> BallArray:
    return value if isinstance(value, BallArray) else BallArray.of_entries(entries_of(value))


def truths_of(value: Any) -> np.ndarray:
    """Object array of True, False and None for a condition."""
    if isinstance(value, Truth):
        return value.entries
    if isinstance(value, bool):
        return boxed(value)
    if isinstance(value, BallArray):
        return (value != 0).entries
    return integers_of(value).astype(bool).astype(object)


def _one_entry_needed(operation: str, array: Entries) -> bool:
    raise BallsError(operation, f"an array of shape {tuple(array.shape)}", "Reduce it by .all() or .any() first.")


ARRAYS.of = array_of
