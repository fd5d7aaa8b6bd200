"""Derivatives enclosed without differentiating: difference quotients of a function on balls."""

from collections.abc import Callable
from typing import Any

import flint

from numeric.balls import BallArray


# Taylor: (f(z + h) - f(z - h)) / 2h = f'(z) + h^2/6 f'''(xi) with |xi - z| <= h. Remainder and rounding are alike in
# size where h is the cube root of the precision.
def enclosed_derivative(f: Callable[..., Any], third: Callable[..., Any], z: BallArray) -> BallArray:
    """f'(z), entry by entry, from values of f and a range of its third derivative: some third of the bits are left."""
    h = BallArray([flint.arb(2) ** -(z.bits // 3)], (), z.bits)
    around = BallArray([flint.arb(0, 1)], (), z.bits)  # [-1, 1]
    remainder = abs(third(z + h * around)) * h * h / 6
    found: BallArray = (f(z + h) - f(z - h)) / (2 * h) + remainder * around
    return found
