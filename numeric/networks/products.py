"""Products of two numbers as sums of ReLUs, t y = (t + y)^2 / 4 - (t - y)^2 / 4, with a certified error."""

import math
from dataclasses import dataclass
from functools import lru_cache

import flint
import numpy as np

from numeric.balls import Arb, working_precision
from numeric.networks.hinges import ReluSumError, uniform_knots
from numeric.networks.loss_sums import LossSum
from numeric.networks.relu_sums import ReluSum

BITS = 96
MOST_CELLS = 1 << 16


@dataclass(frozen=True, eq=False)
class ProductSum:
    """`relus`(t, y) in place of t y for |t| <= left and |y| <= right, |relus(t, y) - t y| <= error.

    It is 0 where t or y is 0.
    """

    left: float
    right: float
    relus: LossSum
    error: Arb

    @property
    def cells(self) -> int:
        """Of each of the two squares."""
        return self.relus.pieces[0][2].cells


# The secants s of z^2 / 4 are above it by up to h^2 / 16, and the sum of ReLUs S with its rounded coefficients is
# within r of s: S(t + y) - S(t - y) misses t y by at most h^2 / 16 + 2 r. S is even: it is 0 for t = 0 and for y = 0.
@lru_cache(maxsize=64)
def product_sum(left: float, right: float, cells: int) -> ProductSum:
    """The product on |t| <= left, |y| <= right, by two squares of `cells` cells each. Raises ReluSumError."""
    if not (0 < left < math.inf and 0 < right < math.inf) or cells < 2 or cells % 2:
        got = f"product_sum: bounds {left} and {right}, {cells} cells"
        raise ReluSumError(f"{got}. Give finite bounds above 0 and an even number of cells.")
    radius = math.nextafter(left + right, math.inf)
    knots = uniform_knots(radius, cells)
    values = (knots / 2) ** 2
    square, minus = (ReluSum(radius, sign * values, 2.0) for sign in (1, -1))
    with working_precision(BITS):
        squares = ((flint.arb(knot) / 2) ** 2 for knot in knots.tolist())
        rounding = square.deviation(squares) + 3 * square.kink_size()
        width = flint.arb(float(np.nextafter(np.diff(knots).max(), math.inf)))
        error = (width**2 / 16 + 2 * rounding).upper()
    return ProductSum(left, right, LossSum(((1, 1, square), (1, -1, minus))), error)


# h = 2 (left + right) / cells, and a thousandth of eps is left for rounding, some (left + right)^2 ulp: it is less with
# MOST_CELLS cells and fewer.
def accurate_product(left: float, right: float, eps: float) -> ProductSum:
    """The product with an error of at most `eps`. Raises ReluSumError if that takes more than MOST_CELLS cells."""
    half = (left + right) / math.sqrt(16 * eps * (1 - 2**-10)) if eps > 0 else math.inf
    if not 2 * half <= MOST_CELLS:
        least = (2 * (left + right) / MOST_CELLS) ** 2 / 16
        raise ReluSumError(
            f"accurate_product: eps = {eps:g} takes more than {MOST_CELLS} cells. Give {least:.2g} or more."
        )
    return product_sum(left, right, 2 * math.ceil(half))
