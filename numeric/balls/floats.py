"""Floats that Python itself makes inside a function, and the numbers that they may stand for.

Python rounds 1.0 / n, math.sqrt(n) and 0.1 * n before a ball sees them, so a run that takes these floats as they are
refutes no identity. Inside `floats_enclosed` each of them becomes a ball that contains the number meant, and what the
run then proves holds for that number.

A rounding of a number of absolute value s moves it by at most 2^-53 s. The radius 2^-48 max(1, |float|) thus covers 32
roundings of numbers no larger than the float, or than 1. A constant of the code is no such result; 2^-48 |float| covers
its decimals and what the compiler computes (0.1, 1 / 3, 2 ** 0.5). It is exact if it equals the decimal that it prints
as (0.5, 3.0), and so is the entry of an array that does. A result is not a constant of the code, even where it rounds
to 1.0 (1 - math.exp(-40)).
"""

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from types import FrameType
from typing import Any

import flint

from numeric.balls.arbs import Arb

REACH = 2.0**-48

_enclosing: ContextVar[bool] = ContextVar("whether floats of Python stand for their neighbours", default=False)


@contextmanager
def floats_enclosed(active: bool = True) -> Iterator[None]:
    """Inside the block; with False, every float is itself there."""
    token = _enclosing.set(active)
    try:
        yield
    finally:
        _enclosing.reset(token)


def enclosing_floats() -> bool:
    return _enclosing.get()


def ball_of_operand(number: float) -> Arb:
    """A float that stands alone: an operand, a factor, what a function returns."""
    if not _enclosing.get():
        return _exactly(number)
    if _is_written(number):
        return _exactly(number) if _equals_its_decimal(number) else flint.arb(number, REACH * abs(number))
    return _near(number)


def ball_of_entry(number: float) -> Arb:
    """A float in an array or a tensor, of which nobody knows any more where it was written."""
    return _near(number) if _enclosing.get() and not _equals_its_decimal(number) else _exactly(number)


def balls_of_entries(numbers: list[float]) -> list[Arb]:
    """All of them."""
    if _enclosing.get():
        return [ball_of_entry(number) for number in numbers]
    return [flint.arb(number) if number == number else flint.arb.nan() for number in numbers]


def _exactly(number: float) -> Arb:
    return flint.arb.nan() if math.isnan(number) else flint.arb(number)


def _near(number: float) -> Arb:
    return flint.arb(number, REACH * max(1.0, abs(number))) if math.isfinite(number) else _exactly(number)


def _equals_its_decimal(number: float) -> bool:
    return not math.isfinite(number) or Fraction(repr(float(number))) == Fraction(number)


def _is_written(number: float) -> bool:
    """Whether a function that is running has this very object among its constants."""
    return any(_holds(frame.f_code.co_consts, number) for frame in _stack())


def _stack() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def _holds(constants: tuple[Any, ...], number: float) -> bool:
    return any(each is number or (isinstance(each, tuple) and _holds(each, number)) for each in constants)
