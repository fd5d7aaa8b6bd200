"""A formula at single points, to as many bits as are asked for: balls at rising precision, and jumps decided.

At the last precision, 15360 bits and more, a ball that still holds a whole number is taken for it, and two sides that
still overlap are taken as equal: numbers that agree to thousands of bits are, as far as anybody can tell, the same.
"""

import sys
from collections.abc import Callable, Sequence
from functools import cached_property
from math import copysign, inf
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx

from numeric.balls import Arb
from numeric.balls.decisions import Decision

from .arb_backend import NAMES, ArbBackend, converted
from .common import Argument, LoweringError

Array = np.ndarray | np.generic

MOST_BITS = 200_000  # of terms that cancel
FLOAT_BITS = 60  # of a ball whose middle is then rounded to a double
NO_DOUBLE = -1080  # the exponent of two below which a double is 0


class PointBackend(ArbBackend):
    """Balls around exact points; `deciding`: whether what is undecided counts as equal."""

    def __init__(self) -> None:
        super().__init__(None)
        self.deciding = False
        self.names = {
            **NAMES,
            **{name: self._whole(NAMES[name]) for name in ("floor", "ceiling")},
            **{name: self._at_zero(NAMES[name]) for name in ("sign", "heaviside")},
            **{name: self._decided(NAMES[name], name != "less") for name in ("less", "no_more", "equal")},
        }

    def _whole(self, function: Callable[[Arb], Arb]) -> Callable[[Arb], Arb]:
        def on_point(x: Arb) -> Arb:
            whole = x.unique_fmpz() if self.deciding else None
            return function(x) if whole is None else arb(whole)

        return on_point

    def _at_zero(self, function: Callable[..., Arb]) -> Callable[..., Arb]:
        return lambda x, *others: function(arb(0) if self.deciding and x.is_finite() and x.contains(0) else x, *others)

    def _decided(self, relation: Callable[[Arb, Arb], Decision], equal: bool) -> Callable[[Arb, Arb], Decision]:
        def on_points(a: Arb, b: Arb) -> Decision:
            truth = relation(a, b)
            return equal if truth is None and self.deciding and a.is_finite() and b.is_finite() else truth

        return on_points


class Points:
    """The formula at points. `made` gives its function on balls when the first point comes."""

    def __init__(self, made: Callable[[PointBackend], Callable[..., Any]], arguments: Sequence[Argument]) -> None:
        self._made = made
        self._arguments = arguments
        self._backend = PointBackend()

    @cached_property
    def _function(self) -> Callable[..., Any] | None:
        try:
            return self._made(self._backend)
        except LoweringError:  # Arb does not have it: what was computed is all there is
            return None

    def double(self, values: Sequence[Any]) -> Any:
        """The nearest double (or nested lists of them, or a truth) at exact values; None where there is none."""
        found = self.ball(values, FLOAT_BITS, smallest=NO_DOUBLE)
        if isinstance(found, arb_mat):
            return [[to_double(entry) for entry in row] for row in found.tolist()]
        return to_double(found) if isinstance(found, arb) else found

    def mended(self, result: Array, mask: Array, arrays: Sequence[Array], core: tuple[int, ...]) -> np.ndarray:
        """The result, of shape (..., *core), with the points that the mask flags computed again, one by one."""
        shapes = [argument.shape for argument in self._arguments]
        batches = [np.shape(array)[: np.ndim(array) - len(shape)] for array, shape in zip(arrays, shapes, strict=True)]
        batch = np.broadcast_shapes(np.shape(mask), *batches)
        found = np.array(np.broadcast_to(result, batch + core))
        wide = [np.broadcast_to(array, batch + shape) for array, shape in zip(arrays, shapes, strict=True)]
        for place in zip(*np.nonzero(np.broadcast_to(mask, batch)), strict=True) if batch else [()]:
            exact = self.double([each[place].tolist() for each in wide])
            if exact is not None:
                found[place] = exact
        return found

    def ball(self, values: Sequence[Any], bits: int, *, smallest: int | None = None) -> Any:
        """A ball, or a matrix of them, of that many good bits, or a truth; None if none is found.

        `smallest`: numbers below this power of two count as 0.
        """
        if self._function is None:
            return None
        without = 0
        precisions = [2 * bits + 8, 8 * bits + 32, 32 * bits + 128, 256 * bits]
        for precision in precisions:
            self._backend.deciding = last = precision >= 256 * bits
            found = self._at(values, precision)
            entries = [entry for row in found.tolist() for entry in row] if isinstance(found, arb_mat) else [found]
            if all(is_good(entry, bits, smallest, precision if last else None) for entry in entries):
                return found
            without += found is None or any(isinstance(entry, arb) and entry.is_nan() for entry in entries)
            if without == 2:
                return None
            if precision == 256 * bits:
                precisions += further(entries, precision, bits)
        return None

    def _at(self, values: Sequence[Any], precision: int) -> Any:
        with ctx.workprec(precision):
            try:
                numbers = [converted(*pair) for pair in zip(self._arguments, values, strict=True)]
                return None if self._function is None else self._function(None, None, *numbers)
            except (ValueError, ZeroDivisionError, OverflowError):  # limits that are not whole at this precision
                return None


def further(entries: Sequence[Any], precision: int, bits: int) -> list[int]:
    """A last precision, that of terms far beyond the range of float64 which cancel; none if they are yet larger."""
    finite = [entry for entry in entries if isinstance(entry, arb) and entry.is_finite() and not entry.is_exact()]
    largest = max((int(entry.rad().mid().man_exp()[1]) + 32 for entry in finite), default=0)
    return [2 * (precision + largest) + bits] if 0 < precision + largest <= MOST_BITS else []


def is_good(found: Any, bits: int, smallest: int | None, last: int | None) -> bool:
    """`last`: the precision, if no higher one is tried; half of its bits below 1 is 0."""
    if not isinstance(found, arb):
        return found is not None
    if not found.is_finite():
        return False
    if found.is_zero() or found.rel_accuracy_bits() >= bits:
        return True
    if smallest is not None and abs(found).upper() < arb(2) ** smallest:
        return True
    return last is not None and bool(abs(found).upper() < arb(2) ** (-last // 2))


def to_double(ball: Arb) -> float:
    """The double nearest to the middle; inf beyond the largest."""
    if ball.contains(0):
        return 0.0
    mantissa, exponent = map(int, ball.mid().man_exp())
    magnitude = abs(mantissa).bit_length() + exponent
    if magnitude < NO_DOUBLE:
        return 0.0
    if magnitude > sys.float_info.max_exp:
        return copysign(inf, mantissa)
    try:
        return float(mantissa << exponent) if exponent >= 0 else mantissa / (1 << -exponent)
    except OverflowError:
        return copysign(inf, mantissa)
