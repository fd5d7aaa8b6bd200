"""Exact numbers in floating point: entries of a domain, rounding in a direction, exact sums of float64 numbers."""

import math
from collections.abc import Iterable
from functools import lru_cache

import flint
import sympy as sp
import torch
from torch import Tensor

from bridge.lowering.ball_values import BASE_BITS, evaluate_ball
from numeric.balls import float_below, rational, working_precision
from symbolic.words.errors import UsageError

UNIT = 2.0**-53  # the relative error of one rounding to float64
RATIONAL_BITS = 1100  # rational entries that are float64 numbers are exact in so many bits
SIGNIFICANT = 6  # digits of a number in a message
MOST_BITS = 4096  # for a comparison with an irrational number
BITS = {2: torch.int16, 4: torch.int32, 8: torch.int64}  # itemsize to an integer type


@lru_cache(maxsize=4096)
def largest_below(number: sp.Expr, dtype: torch.dtype = torch.float64) -> float:
    """The largest finite number of `dtype` that is at most `number`; minus infinity if there is none."""
    exactly = torch.tensor(_float64_below(number), dtype=torch.float64, device="cpu")
    rounded = exactly.to(dtype)
    if rounded.double() > exactly:
        rounded = torch.nextafter(rounded, torch.tensor(-math.inf, dtype=dtype, device="cpu"))
    return float(rounded) + 0.0  # not -0.0


def smallest_above(number: sp.Expr, dtype: torch.dtype = torch.float64) -> float:
    """The smallest finite number of `dtype` that is at least `number`; infinity if there is none."""
    return -largest_below(-number, dtype)


def ball_of(number: sp.Expr, bits: int = BASE_BITS) -> flint.arb:
    """An enclosure. Raises UsageError if the number is an expression in letters."""
    if number.free_symbols:
        raise UsageError(f"the size {number} has letters; give them numbers by at(...)")
    return evaluate_ball(number, {}, bits)


def _float64_below(number: sp.Expr) -> float:
    with working_precision(RATIONAL_BITS):  # also for the negation inside of float_below
        if isinstance(number, sp.Rational):
            return float_below(rational(number))
        return float_below(ball_of(number))


def toward_zero(values: Tensor, dtype: torch.dtype) -> Tensor:
    """Float64 values in `dtype`, the absolute value of none larger; overflow ends at the largest finite number."""
    rounded = values.to(dtype)
    return torch.where(rounded.double().abs() > values.abs(), _one_smaller(rounded), rounded)


def nearer_zero(values: Tensor) -> Tensor:
    """Each value that is not 0 replaced by its neighbour on the side of 0."""
    return torch.where(values == 0, values, _one_smaller(values))


def _one_smaller(values: Tensor) -> Tensor:
    """Sign and magnitude are separate in IEEE formats: the integer below has the next smaller absolute value."""
    return (values.view(BITS[values.itemsize]) - 1).view(values.dtype)


def exact_entries(x: Tensor) -> list[flint.fmpq]:
    """The finite entries of a tensor as rationals, in row-major order."""
    return [flint.fmpq(*number.as_integer_ratio()) for number in x.double().flatten().tolist()]


def exact_sum(numbers: Iterable[flint.fmpq]) -> flint.fmpq:
    return sum(numbers, start=flint.fmpq(0))


def exceeds(found: flint.fmpq, limit: sp.Expr) -> bool:
    """Whether found > limit, exactly for a rational limit; otherwise True where 4096 bits cannot tell."""
    if isinstance(limit, sp.Rational):
        return bool(found > flint.fmpq(int(limit.p), int(limit.q)))
    return not any(_surely_at_most(found, limit, bits) for bits in (BASE_BITS, 1024, MOST_BITS))


def _surely_at_most(found: flint.fmpq, limit: sp.Expr, bits: int) -> bool:
    with working_precision(bits):
        return bool(flint.arb(found) <= ball_of(limit, bits))


def shown(number: float | Tensor) -> str:
    """To six significant digits."""
    return f"{float(number):.{SIGNIFICANT}g}"


def written(entry: sp.Expr) -> str:
    """An entry as the user wrote it: a rational that is a float64 number in decimals, everything else as SymPy does."""
    if not isinstance(entry, sp.Rational) or entry.is_Integer:
        return str(entry)
    near = largest_below(entry)
    return repr(near) if sp.Rational(near) == entry else str(entry)


def require_held(size: sp.Expr, dtype: torch.dtype) -> None:
    """Raises UsageError for a size that overflows in `dtype`, or that is not 0 and rounds to 0."""
    if smallest_above(size, dtype) == math.inf or (largest_below(size, dtype) == 0 and size != 0):
        raise UsageError(f"{dtype_name(dtype)} has no number near the size {written(size)}; take a wider dtype")


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
