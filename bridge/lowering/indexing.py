"""Indices as exact whole numbers, and the entries of arrays at them, for numbers of any kind."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from symbolic.words.errors import UsageError

from .loops import as_integer


def place_of(name: str, sizes: Sequence[int], indices: Sequence[int | Fraction]) -> tuple[int, int]:
    """Row and column of an entry in the matrix, or in the column, that holds the array. Raises UsageError outside."""
    if any(index.denominator != 1 for index in indices):
        raise UsageError(
            f"lower: {name}[{', '.join(map(str, indices))}] has an index that is no whole number; change it"
        )
    if not all(0 <= index < size for index, size in zip(indices, sizes, strict=True)):
        shown = ", ".join(map(str, indices))
        raise UsageError(
            f"lower: {name}[{shown}] is outside of {name}, whose shape is {tuple(sizes)}; indices count from 0; change "
            f"the limits of the sum, or give a longer array"
        )
    if len(sizes) == 2:
        return int(indices[0]), int(indices[1])
    flat = 0
    for index, size in zip(indices, sizes, strict=True):
        flat = flat * size + int(index)
    return flat, 0


def elements_by(
    entry: Callable[[Any, int, int], Any],
    as_integer: Callable[[Any], int] = as_integer,
    largest: Callable[[Any], float] = lambda value: math.inf,
) -> dict[str, Any]:
    """What generated code calls for entries: `entry` of a matrix, the `largest` whole number of a value's kind."""

    def whole(value: Any) -> int:
        if getattr(value, "ndim", 0):
            raise UsageError(
                f"lower: an index is one whole number, got numbers of the shape {tuple(value.shape)}; call it once for "
                f"each"
            )
        found = as_integer(value)
        if abs(found) >= largest(value):
            raise UsageError(
                f"lower: the index {found} is not exact in {value.dtype}; compute in float32 or float64 and round "
                f"the result"
            )
        return found

    def element(A: Any, name: str, sizes: Sequence[int], *indices: Any) -> Any:
        return entry(A, *place_of(name, sizes, indices))

    return {
        "element": element, "whole": whole, "fraction": Fraction, "exact_floor": math.floor,
        "exact_ceiling": math.ceil, "largest_of": max, "smallest_of": min,
    }  # fmt: skip


def branch_that_holds(where: Callable[[Any, Any, Any, Any], Any]) -> Callable[..., Any]:
    """`where` for a condition on indices alone: the branch that is not taken is not computed."""

    def chosen(like: Any, condition: Any, value: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
        found = value() if bool(condition) else otherwise()
        return where(like, True, found, found)

    return chosen
