"""Recursions in numbers: plain loops."""

from collections.abc import Callable
from typing import Any

import sympy as sp

from symbolic.calculus import (
    LinearRecursion,
)

Half, Pair = sp.Rational(1, 2), tuple[float, float]
q, p, r = sp.symbols("q p r", nonnegative=True)
n = sp.Symbol("n", integer=True, nonnegative=True)
l = LinearRecursion.index  # noqa: E741 - the layer
Z = sp.Integer


def number(found: Any) -> float:
    return float(sp.N(sp.sympify(found).doit(), 30))


def loop(start: float, factor: Callable[[int], float], offset: Callable[[int], float], depth: int) -> list[float]:
    errors = [start]
    for layer in range(depth):
        errors.append(factor(layer) * errors[-1] + offset(layer))
    return errors
