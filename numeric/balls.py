"""Arrays of Arb balls: each ball contains the exact real number that it stands for.

Every float64 enters exactly. The precision in bits affects the width of the balls, never their correctness.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import flint
import numpy as np
from jaxtyping import Float64

Arb: TypeAlias = Any  # flint.arb: python-flint's classes carry no types


@contextmanager
def working_precision(bits: int) -> Iterator[None]:
    """Sets Arb's working precision inside the block; restores the previous one afterwards, also after an error."""
    before = flint.ctx.prec
    flint.ctx.prec = bits
    try:
        yield
    finally:
        flint.ctx.prec = before


def float_above(ball: Arb) -> float:
    """A float64 that is at least every point of the ball, and close to its upper end."""
    end = ball.upper()
    near = float(end)
    return near if flint.arb(near) >= end else math.nextafter(near, math.inf)


def float_below(ball: Arb) -> float:
    """A float64 that is at most every point of the ball, and close to its lower end."""
    return -float_above(-ball)


def ball_maximum(balls: Sequence[Arb]) -> Arb:
    """Encloses the largest of the numbers (Python's `max` on balls picks one of them and is wrong); 0 for none."""
    largest = balls[0] if balls else flint.arb(0)
    for ball in balls[1:]:
        largest = largest.max(ball)
    return largest


class BallArray:
    """An array of balls at `bits` bits, with numpy's shapes and basic indexing.

    `radius()` bounds the distance of each exact number from the middle of its ball; `midpoint()` rounds that middle
    to float64.
    """

    def __init__(self, balls: Sequence[Arb], shape: tuple[int, ...], bits: int) -> None:
        if len(balls) != math.prod(shape):
            raise ValueError(f"BallArray: {len(balls)} balls for the shape {shape}. Give one ball for each place.")
        self.balls = tuple(balls)
        self.shape = shape
        self.bits = bits

    @classmethod
    def exactly(cls, values: np.ndarray, bits: int = 128) -> "BallArray":
        """The float64 numbers themselves, with radius 0."""
        array = np.asarray(values, dtype=np.float64)
        return cls([flint.arb(value) for value in array.ravel().tolist()], array.shape, bits)

    @classmethod
    def of_matrix(cls, matrix: Any, bits: int) -> "BallArray":
        """The entries of a flint.arb_mat."""
        return cls(matrix.entries(), (matrix.nrows(), matrix.ncols()), bits)

    def midpoint(self) -> Float64[np.ndarray, "..."]:
        """The middles of the balls, rounded to nearest float64."""
        return np.array([float(ball.mid()) for ball in self.balls]).reshape(self.shape)

    def radius(self) -> Float64[np.ndarray, "..."]:
        """The radii of the balls, rounded up."""
        return np.array([float_above(ball.rad()) for ball in self.balls]).reshape(self.shape)

    def contains(self, values: np.ndarray) -> np.ndarray:
        """For each place, whether the ball contains the given float64."""
        inside = [ball.contains(flint.arb(value)) for ball, value in self._pair(BallArray.exactly(values, self.bits))]
        return np.array(inside, dtype=bool).reshape(self.shape)

    def overlaps(self, other: "BallArray") -> np.ndarray:
        """For each place, whether the two balls meet; if not, the two numbers are different."""
        return np.array([left.overlaps(right) for left, right in self._pair(other)], dtype=bool).reshape(self.shape)

    def reshape(self, *shape: int) -> "BallArray":
        return BallArray(self.balls, tuple(np.empty(self.shape, dtype=bool).reshape(shape).shape), self.bits)

    def sup_norm(self) -> Arb:
        """Encloses the largest absolute value of an entry."""
        with working_precision(self.bits):
            return ball_maximum([abs(ball) for ball in self.balls])

    def one_norm(self) -> Arb:
        """Encloses the sum of the absolute values of all entries."""
        with working_precision(self.bits):
            return sum((abs(ball) for ball in self.balls), start=flint.arb(0))

    def __getitem__(self, key: Any) -> "BallArray":
        places = np.arange(len(self.balls)).reshape(self.shape)[key]
        return BallArray([self.balls[place] for place in np.ravel(places)], np.shape(places), self.bits)

    def __neg__(self) -> "BallArray":
        return BallArray([-ball for ball in self.balls], self.shape, self.bits)

    def __add__(self, other: "BallArray | np.ndarray | float | int") -> "BallArray":
        balls, bits = self._operand(other)
        with working_precision(bits):
            return BallArray([left + right for left, right in self._pair(balls)], self.shape, bits)

    def __sub__(self, other: "BallArray | np.ndarray | float | int") -> "BallArray":
        balls, bits = self._operand(other)
        with working_precision(bits):
            return BallArray([left - right for left, right in self._pair(balls)], self.shape, bits)

    def __repr__(self) -> str:
        return f"BallArray(shape={self.shape}, bits={self.bits})"

    def _operand(self, other: "BallArray | np.ndarray | float | int") -> tuple["BallArray", int]:
        if isinstance(other, float | int):
            other = np.full(self.shape, float(other))
        balls = other if isinstance(other, BallArray) else BallArray.exactly(other, self.bits)
        return balls, max(self.bits, balls.bits)

    def _pair(self, other: "BallArray") -> list[tuple[Arb, Arb]]:
        if self.shape != other.shape:
            raise ValueError(f"BallArray: shapes {self.shape} and {other.shape} differ. Index or reshape one of them.")
        return list(zip(self.balls, other.balls, strict=True))
