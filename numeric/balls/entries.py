"""What arrays of balls and of truth values share: shapes, indexing, and the dispatch of torch and numpy to them."""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import flint
import numpy as np
import torch

from numeric.balls.conversion import boxed, integers_of, is_array
from numeric.balls.errors import BallsError
from numeric.balls.integers import ExactInteger

AnyEntries = TypeVar("AnyEntries", bound="Entries")

# torch has the operators of numpy under the same names, these two apart.
_UFUNCS = {
    **{name: name for name in ("add", "subtract", "multiply", "divide", "matmul")},
    **{name: name for name in ("less", "less_equal", "greater", "greater_equal", "not_equal")},
    "power": "pow",
    "equal": "eq",
}


class TorchFunctions:
    """What is done with the functions of torch on balls; they make arrays: numeric/balls/dispatch.py sets it."""

    call_named: Callable[[str, tuple[Any, ...], dict[str, Any]], Any]
    attribute: Callable[["Entries", str], Any]
    name_of: Callable[[Any], str]


TORCH = TorchFunctions()


def call(name: str, *args: Any, **kwargs: Any) -> Any:
    """torch's function or method of this name on balls."""
    return TORCH.call_named(name, args, kwargs)


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
        return torch.Size(map(ExactInteger, self.entries.shape))

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
        return ExactInteger(self.entries.size)

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError(f"{type(self).__name__}: an array without axes has no length.")
        return self.entries.shape[0]

    def __iter__(self: AnyEntries) -> Iterator[AnyEntries]:
        return (self[place] for place in range(len(self)))

    def __getitem__(self: AnyEntries, key: Any) -> AnyEntries:
        parts = tuple(map(_index, key)) if isinstance(key, tuple) else _index(key)
        return self.of_entries(boxed(self.entries[parts]), self.bits)

    def as_index(self) -> np.ndarray:
        """The places that it selects, as an index."""
        raise BallsError("indexing", "the index is an array of balls", "Index by integers or integer tensors.")

    def __setitem__(self, key: Any, value: Any) -> None:
        call("__setitem__", self, key, value)

    def _changed(self: AnyEntries, other: Any) -> AnyEntries:
        raise BallsError("an operator such as +=", "changes its argument in place", "Write x = x + y: a new array.")

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ipow__ = __imatmul__ = _changed

    def reshape(self: AnyEntries, *shape: Any) -> AnyEntries:
        return call("reshape", self, *shape)

    def __getattr__(self, name: str) -> Any:
        return TORCH.attribute(self, name)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(shape={tuple(self.shape)}, bits={self.bits})"

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return TORCH.call_named(TORCH.name_of(func), args, kwargs or {})

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if ufunc.__name__ not in _UFUNCS or method != "__call__" or kwargs:
            raise _numpy_refused(ufunc.__name__)
        return call(_UFUNCS[ufunc.__name__], *inputs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        raise _numpy_refused(func.__name__)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise _numpy_refused("asarray")

    __hash__ = object.__hash__

    def __eq__(self, other: Any) -> Any:
        return call("eq", self, other)

    def __ne__(self, other: Any) -> Any:
        return call("ne", self, other)


def _index(part: Any) -> Any:
    if isinstance(part, Entries):
        return part.as_index()
    return integers_of(part) if is_array(part) else part


def _numpy_refused(name: str) -> BallsError:
    same = name if hasattr(torch, name) else {"concatenate": "cat"}.get(name)
    remedy = f"Use torch.{same}." if same else "Use the function of torch, or midpoint() and radius()."
    return BallsError(f"numpy.{name}", "functions of numpy would round, or are unknown, on balls", remedy)
