"""Sums and products over an integer index, for any kind of number."""

from collections.abc import Callable
from typing import Any

Body = Callable[[Any], Any]


def as_integer(limit: Any) -> int:
    """A limit or an index as a Python integer; ValueError if it is not one."""
    value = int(limit)
    if value != limit:
        raise ValueError(f"limits and indices must be integers, got {limit}")
    return value


def as_index(value: Any) -> int:
    """An index of a matrix entry; IndexError below 0, which Python would count from the end."""
    index = as_integer(value)
    if index < 0:
        raise IndexError(f"indices of matrix entries start at 0, got {index}")
    return index


def signed_range(first: int, last: int) -> tuple[range, int]:
    """The indices, and the sign of their terms: a reversed sum counts what lies strictly between, negatively (Karr)."""
    return (range(first, last + 1), 1) if last >= first - 1 else (range(last + 1, first), -1)


def sum_of(terms: Body, first: int, last: int, zero: Any) -> Any:
    indices, sign = signed_range(first, last)
    total = zero
    for index in indices:
        total = total + terms(index)
    return total if sign == 1 else -total


def product_of(terms: Body, first: int, last: int, one: Any) -> Any:
    indices, sign = signed_range(first, last)
    total = one
    for index in indices:
        total = total * terms(index)
    return total if sign == 1 else 1 / total
