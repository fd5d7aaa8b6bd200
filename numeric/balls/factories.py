"""torch's factory functions with balls for entries."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch

from numeric.balls.array import BallArray, array_of, entries_of
from numeric.balls.budget import charge_scalars
from numeric.balls.conversion import ball_of, boxed, is_array
from numeric.balls.entries import Entries, call
from numeric.balls.errors import BallsError
from numeric.balls.shapes import rearranged


def placed(name: str, factory: Callable[..., torch.Tensor], value: Any = 1) -> BallArray:
    """The value where torch's factory has a 1, and 0 elsewhere."""
    return rearranged(name, lambda place: factory(dtype=place.dtype, device=place.device), [value])


def full(size: Any, fill_value: Any) -> BallArray:
    return placed("full", partial(torch.ones, size), fill_value)


def zeros(*size: Any) -> BallArray:
    return placed("zeros", partial(torch.zeros, *size))


def ones(*size: Any) -> BallArray:
    return placed("ones", partial(torch.ones, *size))


def eye(n: int, m: int | None = None) -> BallArray:
    return placed("eye", partial(torch.eye, n, n if m is None else m))


def arange(start: float | int, end: float | int | None = None, step: float | int = 1) -> BallArray:
    """start + i step for i = 0, 1, ... while below `end`."""
    first, last = (0, start) if end is None else (start, end)
    if isinstance(first, Entries) or isinstance(last, Entries) or isinstance(step, Entries):
        raise BallsError("torch.arange", "an end that is a ball", "Give Python numbers.")
    count = math.ceil((last - first) / step)
    charge_scalars(count)
    origin, width = ball_of(first), ball_of(step)
    return BallArray.of_entries(boxed([origin + place * width for place in range(count)], (count,)))


def linspace(start: Any, end: Any, steps: int) -> BallArray:
    charge_scalars(steps)
    first, last = entries_of(start).item(), entries_of(end).item()
    parts = max(1, steps - 1)
    return BallArray.of_entries(boxed([first + (last - first) * i / parts for i in range(steps)], (steps,)))


def tensor(data: Any) -> BallArray:
    """Nested lists of numbers, balls and tensors."""
    if isinstance(data, list | tuple):
        return call("stack", [tensor(each) for each in data]) if data else zeros(0)
    return array_of(data)


def full_like(x: Any, fill_value: Any) -> BallArray:
    return full(tuple(x.shape), fill_value)


FACTORIES: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("tensor", "as_tensor", "asarray", "scalar_tensor"), tensor),
    "full": full,
    "zeros": zeros,
    "ones": ones,
    "eye": eye,
    "arange": arange,
    "linspace": linspace,
}

FUNCTIONS: dict[str, Callable[..., Any]] = {
    **FACTORIES,
    "full_like": full_like,
    "zeros_like": lambda x: full_like(x, 0),
    "ones_like": lambda x: full_like(x, 1),
    "new_full": lambda x, size, fill_value: full(size, fill_value),
    "new_zeros": lambda x, *size: zeros(*size),
    "new_ones": lambda x, *size: ones(*size),
    "new_tensor": lambda x, data: tensor(data),
}


def gives_integers(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether torch's factory would make an integer or bool tensor, which is exact as it is."""
    dtype = kwargs.get("dtype")
    if dtype is not None:
        return not dtype.is_floating_point
    if name not in ("full", "arange", "tensor", "as_tensor", "asarray", "scalar_tensor"):
        return False
    values = [*args, *(value for key, value in kwargs.items() if key not in ("device", "size"))]
    leaves = list(_leaves(values[1:] if name == "full" and args else values))
    return bool(leaves) and all(map(_is_integer, leaves))


def _leaves(value: Any) -> Any:
    if isinstance(value, list | tuple):
        for each in value:
            yield from _leaves(each)
    elif value is not None:
        yield value


def _is_integer(value: Any) -> bool:
    if is_array(value):
        kind = value.dtype
        return not kind.is_floating_point if isinstance(kind, torch.dtype) else kind.kind in "biu"
    return isinstance(value, int | np.integer)
