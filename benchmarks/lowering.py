"""The speed of lowered numpy code, compared with numpy written by hand for the same bound.

The bound is the recursion of an error through 30 layers, about 300 operations:

    e <- L_j e (1 + e) + b_j exp(-c_j p) + d_j p^2

Both sides are timed in turn, in one process, on the same arrays, and the best of several runs is kept for each.
"""

import math
import time
from collections.abc import Callable

import numpy as np
import sympy as sp

from bridge.lowering import lower

LAYERS = 30
POINTS = 1_000_000
RUNS = 5


def coefficients(layer: int) -> tuple[sp.Rational, sp.Rational, sp.Rational, sp.Rational]:
    """L, b, c, d of one layer."""
    return (
        sp.Rational(layer + 1, 60),
        sp.Rational(1, layer + 2),
        sp.Rational(layer + 1, 30),
        sp.Rational(3, layer + 100),
    )


def symbolic_bound() -> sp.Expr:
    p, e = sp.symbols("p e", real=True)
    for layer in range(LAYERS):
        L, b, c, d = coefficients(layer)
        e = L * e * (1 + e) + b * sp.exp(-c * p) + d * p**2
    return e


def handwritten_bound(e: np.ndarray, p: np.ndarray) -> np.ndarray:
    """The same with numbers, written with care: the square of p is computed once."""
    square = p**2
    for layer in range(LAYERS):
        L, b, c, d = (float(value) for value in coefficients(layer))
        e = L * e * (1 + e) + b * np.exp(-c * p) + d * square
    return e


def seconds(function: Callable[..., np.ndarray], *arrays: np.ndarray) -> float:
    start = time.perf_counter()
    function(*arrays)
    return time.perf_counter() - start


def measure(points: int = POINTS, runs: int = RUNS) -> tuple[float, float, float]:
    """Seconds lowered, seconds by hand, and the largest relative difference of the two results."""
    rng = np.random.default_rng(0)
    e, p = rng.uniform(0, 0.2, points), rng.uniform(0, 3, points)
    lowered = lower(symbolic_bound(), "numpy", args=("e", "p"))
    difference = np.max(np.abs(lowered(e, p) / handwritten_bound(e, p) - 1))
    times = [math.inf, math.inf]
    for _ in range(runs):
        for side, function in enumerate((lowered, handwritten_bound)):
            times[side] = min(times[side], seconds(function, e, p))
    return times[0], times[1], float(difference)


def main() -> None:
    lowered, handwritten, difference = measure()
    print(f"{LAYERS} layers at {POINTS} points: lowered {lowered:.3f} s, by hand {handwritten:.3f} s")
    print(f"ratio {lowered / handwritten:.2f}, largest relative difference {difference:.1e}")


if __name__ == "__main__":
    main()
