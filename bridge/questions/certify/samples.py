"""Values of an expression at points of a goal's region, by floats: what looks false is not tried. Nothing is proved."""

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp

from bridge.questions.certify.goals import ProofGoal

COUNT = 1500
SLACK = 1e-10  # of a value below 0 that may be rounding, relative to the largest
CLOSE = 1e-3
Array = Any


def _special(name: str) -> Callable[[Array], Array]:
    def function(x: Array) -> Array:
        import scipy.special  # takes a while, and few expressions need it

        return getattr(scipy.special, name)(x)

    return function


FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    **{name: getattr(np, name) for name in ("exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "atan": np.arctan,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "Abs": np.abs,
    "loggamma": _special("gammaln"),
    **{name: _special(name) for name in ("erf", "erfc", "gamma")},
}


class RegionSample:
    """Points of a region: in the whole of it, near its faces, and where letters agree."""

    def __init__(self, goal: ProofGoal, count: int = COUNT) -> None:
        self.goal = goal
        rng = np.random.default_rng(1)
        low = np.array([float(a) for _, a, _ in goal.ranges])
        high = np.array([float(b) for _, _, b in goal.ranges])
        unit = rng.random((count, len(low)))
        crowded = unit[::2]
        unit[::2] = np.where(rng.random(crowded.shape) < 0.5, crowded**6, 1 - crowded**6)
        points = low + (high - low) * unit
        if len(low) > 1:
            shared = points[1::5, :1] + np.zeros((1, len(low)))
            points[1::5] = np.clip(shared, low, high)
        self._values: dict[sp.Basic, Array] = dict(zip(goal.symbols, points.T, strict=True))
        self._size = count
        with np.errstate(all="ignore"):
            for condition in goal.where:
                keep = self.values(condition) >= 0
                self._values = {s: self._values[s][keep] for s in goal.symbols}
                self._size = int(keep.sum())

    @property
    def columns(self) -> list[Array]:
        return [self._values[s] for s in self.goal.symbols]

    def values(self, expression: sp.Expr) -> Array:
        with np.errstate(all="ignore"):
            return np.broadcast_to(np.asarray(self._value(expression), dtype=float), (self._size,))

    def _value(self, node: Any) -> Array:
        if node not in self._values:
            self._values[node] = self._new(node)
        return self._values[node]

    def _new(self, node: Any) -> Array:
        if node.is_number:
            return np.float64(node.evalf())
        parts = [self._value(part) for part in node.args]
        if node.is_Add:
            return sum(parts[1:], start=parts[0])
        if node.is_Mul:
            return np.prod(np.broadcast_arrays(*parts), axis=0)
        if node.is_Pow:
            return np.float_power(parts[0], parts[1])
        if isinstance(node, sp.Max | sp.Min):
            return (np.maximum if isinstance(node, sp.Max) else np.minimum).reduce(np.broadcast_arrays(*parts))
        if type(node).__name__ in FUNCTIONS:
            return FUNCTIONS[type(node).__name__](parts[0])
        return np.full(self._size, np.nan)

    def seems(self, expression: sp.Expr) -> bool:
        """Whether it looks >= 0 on the region."""
        values = self.values(expression)
        values = values[np.isfinite(values)]
        return not len(values) or bool(values.min() >= -SLACK * (1 + np.abs(values).max()))

    def comes_close(self, expression: sp.Expr) -> bool:
        """Whether it looks far smaller somewhere than it usually is: it may well be 0 there, and boxes not suffice."""
        values = np.abs(self.values(expression))
        values = values[np.isfinite(values)]
        return bool(len(values)) and bool(values.min() < CLOSE * np.median(values))

    def lowest(self, expression: sp.Expr) -> list[float] | None:
        """The point at which it is least."""
        values = np.where(np.isfinite(self.values(expression)), self.values(expression), np.inf)
        if not len(values):
            return None
        return [float(column[int(values.argmin())]) for column in self.columns]

    def vanishes(self, expression: sp.Expr) -> bool:
        """Whether it looks 0 throughout."""
        values = self.values(expression)
        return bool(np.all(~np.isfinite(values) | (np.abs(values) < 1e-9)))
