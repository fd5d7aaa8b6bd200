"""Numbers, tensors and numpy arrays as object arrays of balls; every float and integer enters exactly."""

from fractions import Fraction
from typing import Any

import flint
import numpy as np
import torch

from numeric.balls.arbs import Arb, rational
from numeric.balls.errors import BallsError
from numeric.balls.floats import ball_of_entry, ball_of_operand, balls_of_entries


def ball_of(number: Any) -> Arb:
    """The number itself: an int, a float (see `floats`), a numpy scalar, a ball; a ball around a Fraction."""
    if isinstance(number, flint.arb):
        return number
    if isinstance(number, np.generic):
        number = number.item()
    if isinstance(number, float):
        return ball_of_operand(number)
    if isinstance(number, int):
        return flint.arb(number)
    if isinstance(number, Fraction):
        return rational(number)
    remedy = "Give floats, integers, fractions, tensors or arrays."
    raise BallsError("BallArray", f"{type(number).__name__} is not a real number", remedy)


def _entry_of(number: Any) -> Arb:
    return ball_of_entry(number) if isinstance(number, float) else ball_of(number)


def boxed(entries: Any, shape: tuple[int, ...] | None = None) -> np.ndarray:
    """An object array, also where numpy returned a bare entry or `shape` has no axis."""
    if isinstance(entries, np.ndarray) and shape is None:
        return entries
    # An assignment would ask each entry whether it is a sequence.
    return np.fromiter([entries] if shape is None else entries, dtype=object).reshape(() if shape is None else shape)


def entries_of_values(values: Any) -> np.ndarray:
    """Object array of balls for a real number, a tensor or a numpy array."""
    if not is_array(values):
        return boxed(ball_of(values))
    # Python's floats and integers hold every dtype of torch exactly.
    plain = np.array(values.tolist(), dtype=object).ravel().tolist()
    floats = all(type(value) is float for value in plain)
    entries = balls_of_entries(plain) if floats else _entries_of(plain)
    return boxed(entries, tuple(values.shape))


def _entries_of(numbers: list[Any]) -> list[Arb]:
    """Each different integer is converted once: masks and distances have few."""
    if not all(isinstance(number, int) for number in numbers):
        return [_entry_of(number) for number in numbers]
    known = {number: ball_of(number) for number in set(numbers)}
    return [known[number] for number in numbers]


def is_array(value: Any) -> bool:
    return isinstance(value, torch.Tensor | np.ndarray)


def integers_of(values: Any) -> np.ndarray:
    """The entries of an integer or bool tensor or array, as a numpy array of the same kind."""
    if isinstance(values, torch.Tensor) and not (values.dtype.is_floating_point or values.dtype.is_complex):
        kind = np.bool_ if values.dtype == torch.bool else np.int64
        return np.array(values.tolist(), dtype=kind).reshape(tuple(values.shape))
    if isinstance(values, np.ndarray) and values.dtype.kind in "biu":
        return values
    raise BallsError("BallArray", f"an index of type {type(values).__name__}", "Index by integers or bool tensors.")
