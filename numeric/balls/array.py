"""The arrays: `BallArray` of balls, and `Comparison` of truth values that may be undecided.

torch's functions, methods and operators act on both (numeric/balls/dispatch.py says which); no operation changes
an array in place.
"""

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, TypeVar

import flint
import numpy as np
import torch
from jaxtyping import Float64

from numeric.balls.arbs import Arb, absolute, ball_maximum, float_above, working_precision
from numeric.balls.conversion import boxed, entries_of_values, integers_of, is_array
from numeric.balls.errors import BallsError, undecided

AnyEntries = TypeVar("AnyEntries", bound="Entries")

_DUNDERS_OF_UFUNCS = {
    "add": ("__add__", "__radd__"),
    "subtract": ("__sub__", "__rsub__"),
    "multiply": ("__mul__", "__rmul__"),
    "divide": ("__truediv__", "__rtruediv__"),
    "power": ("__pow__", "__rpow__"),
    "matmul": ("__matmul__", "__rmatmul__"),
    "less": ("__lt__", "__gt__"),
    "less_equal": ("__le__", "__ge__"),
    "greater": ("__gt__", "__lt__"),
    "greater_equal": ("__ge__", "__le__"),
    "equal": ("__eq__", "__eq__"),
    "not_equal": ("__ne__", "__ne__"),
}


def call(name: str, *args: Any, **kwargs: Any) -> Any:
    """torch's function or method of this name on balls."""
    from numeric.balls.dispatch import call_named  # here: the functions of the table make arrays

    return call_named(name, args, kwargs)


class Entries:
    """What both arrays share: an object array `entries`, shapes, indexing, and torch's dispatch."""

    entries: np.ndarray
    bits: int

    @classmethod
    def of_entries(cls: type[AnyEntries], entries: np.ndarray, bits: int | None = None) -> AnyEntries:
        """The object array itself, not copied; at Arb's working precision by default."""
        made = cls.__new__(cls)
        made.entries = entries
        made.bits = flint.ctx.prec if bits is None else bits
        return made

    @property
    def shape(self) -> torch.Size:
        return torch.Size(self.entries.shape)

    @property
    def ndim(self) -> int:
        return self.entries.ndim

    @property
    def dtype(self) -> torch.dtype:
        """float64: what the same function sees when it runs on tensors."""
        return torch.float64

    @property
    def device(self) -> torch.device:
        return torch.device("cpu")

    def size(self, dim: int | None = None) -> torch.Size | int:
        return self.shape if dim is None else self.shape[dim]

    def dim(self) -> int:
        return self.ndim

    def numel(self) -> int:
        return self.entries.size

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError(f"{type(self).__name__}: an array without axes has no length.")
        return self.entries.shape[0]

    def __iter__(self: AnyEntries) -> Iterator[AnyEntries]:
        return (self[place] for place in range(len(self)))

    def __getitem__(self: AnyEntries, key: Any) -> AnyEntries:
        parts = tuple(map(_index, key)) if isinstance(key, tuple) else _index(key)
        return self.of_entries(boxed(self.entries[parts]), self.bits)

    def __setitem__(self, key: Any, value: Any) -> None:
        call("__setitem__", self, key, value)

    def reshape(self: AnyEntries, *shape: Any) -> AnyEntries:
        return call("reshape", self, *shape)

    def __getattr__(self, name: str) -> Any:
        from numeric.balls.dispatch import attribute  # here: the functions of the table make arrays

        return attribute(self, name)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(shape={tuple(self.shape)}, bits={self.bits})"

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        from numeric.balls.dispatch import call_named, name_of  # here: the functions of the table make arrays

        return call_named(name_of(func), args, kwargs or {})

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        names = _DUNDERS_OF_UFUNCS.get(ufunc.__name__)
        if names is None or method != "__call__" or kwargs or len(inputs) != 2:
            raise _numpy_refused(ufunc.__name__)
        left, right = inputs
        return getattr(left, names[0])(right) if isinstance(left, Entries) else getattr(right, names[1])(left)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        raise _numpy_refused(func.__name__)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise _numpy_refused("asarray")

    __hash__ = object.__hash__

    def __eq__(self, other: Any) -> Any:
        return call("eq", self, other)

    def __ne__(self, other: Any) -> Any:
        return call("ne", self, other)


class Comparison(Entries):
    """Truth values of an entrywise comparison: True, False, or None where the balls do not decide it."""

    def __and__(self, other: Any) -> "Comparison":
        return call("logical_and", self, other)

    def __or__(self, other: Any) -> "Comparison":
        return call("logical_or", self, other)

    def __invert__(self) -> "Comparison":
        return call("logical_not", self)

    __rand__, __ror__ = __and__, __or__

    def __bool__(self) -> bool:
        return bool(self.decided("bool(comparison)").item()) if self.numel() == 1 else _one_entry_needed("bool()", self)

    def decided(self, operation: str) -> np.ndarray:
        """The truth values as a bool array; refuses where one is undecided."""
        if any(value is None for value in self.entries.flat):
            raise undecided(operation, self.bits)
        return self.entries.astype(bool)

    def __add__(self, other: Any) -> "BallArray":
        return call("add", self, other)

    def __sub__(self, other: Any) -> "BallArray":
        return call("sub", self, other)

    def __rsub__(self, other: Any) -> "BallArray":
        return call("sub", other, self)

    def __mul__(self, other: Any) -> "BallArray":
        return call("mul", self, other)

    __radd__, __rmul__ = __add__, __mul__


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
            raise shapes_differ(tuple(self.shape), tuple(other.shape))
        return list(zip(self.balls, other.balls, strict=True))

    def __neg__(self) -> "BallArray":
        return call("neg", self)

    def __pos__(self) -> "BallArray":
        return self

    def __abs__(self) -> "BallArray":
        return call("abs", self)

    def __add__(self, other: Any) -> "BallArray":
        return call("add", self, other)

    def __sub__(self, other: Any) -> "BallArray":
        return call("sub", self, other)

    def __rsub__(self, other: Any) -> "BallArray":
        return call("sub", other, self)

    def __mul__(self, other: Any) -> "BallArray":
        return call("mul", self, other)

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: Any) -> "BallArray":
        return call("div", self, other)

    def __rtruediv__(self, other: Any) -> "BallArray":
        return call("div", other, self)

    def __pow__(self, other: Any) -> "BallArray":
        return call("pow", self, other)

    def __rpow__(self, other: Any) -> "BallArray":
        return call("pow", other, self)

    def __matmul__(self, other: Any) -> "BallArray":
        return call("matmul", self, other)

    def __rmatmul__(self, other: Any) -> "BallArray":
        return call("matmul", other, self)

    def __floordiv__(self, other: Any) -> "BallArray":
        return call("__floordiv__", self, other)

    def __mod__(self, other: Any) -> "BallArray":
        return call("remainder", self, other)

    def __lt__(self, other: Any) -> Comparison:
        return call("lt", self, other)

    def __le__(self, other: Any) -> Comparison:
        return call("le", self, other)

    def __gt__(self, other: Any) -> Comparison:
        return call("gt", self, other)

    def __ge__(self, other: Any) -> Comparison:
        return call("ge", self, other)

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
    if isinstance(value, Comparison):
        hull = flint.arb(0).union(flint.arb(1))
        return boxed([hull if truth is None else flint.arb(int(truth)) for truth in value.entries.flat], value.shape)
    return entries_of_values(value)


def array_of(value: Any) -> BallArray:
    return value if isinstance(value, BallArray) else BallArray.of_entries(entries_of(value))


def truths_of(value: Any) -> np.ndarray:
    """Object array of True, False and None for a condition."""
    if isinstance(value, Comparison):
        return value.entries
    if isinstance(value, bool):
        return boxed(value)
    if isinstance(value, BallArray):
        return (value != 0).entries
    return integers_of(value).astype(bool).astype(object)


def shapes_differ(*shapes: tuple[int, ...]) -> BallsError:
    return BallsError("BallArray", f"shapes {' and '.join(map(str, shapes))} differ", "Index or reshape one of them.")


def _index(part: Any) -> Any:
    if isinstance(part, Comparison):
        return part.decided("indexing by a comparison")
    if isinstance(part, BallArray):
        raise BallsError("indexing", "the index is an array of balls", "Index by integers or integer tensors.")
    return integers_of(part) if is_array(part) else part


def _one_entry_needed(operation: str, array: Entries) -> bool:
    raise BallsError(operation, f"an array of shape {tuple(array.shape)}", "Reduce it by .all() or .any() first.")


def _numpy_refused(name: str) -> BallsError:
    same = name if hasattr(torch, name) else {"concatenate": "cat"}.get(name)
    remedy = f"Use torch.{same}." if same else "Use the function of torch, or midpoint() and radius()."
    return BallsError(f"numpy.{name}", "functions of numpy would round, or are unknown, on balls", remedy)
