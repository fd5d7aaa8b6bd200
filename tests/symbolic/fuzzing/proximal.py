"""Proximal gradient steps with errors on F(w) = curvature/2 ||w - centre||_2^2 + weight ||w - kink||.

Arrays (..., D); the norm of the kink is the 1-norm, or the one that errors are measured in, whose steps from the kink
itself stay there.
"""

from dataclasses import dataclass

import numpy as np

from symbolic.calculus import Norm
from tests.symbolic.fuzzing.vectors import lengths, shrink

DUAL = {Norm.ONE: Norm.INF, Norm.TWO: Norm.TWO}


@dataclass(frozen=True)
class Problem:
    """`curvature` is a number, or one for each coordinate."""

    curvature: np.ndarray
    centre: np.ndarray
    weight: float

    def value(self, w: np.ndarray) -> np.ndarray:
        return (self.curvature * (w - self.centre) ** 2 / 2).sum(-1) + self.weight * lengths(w, Norm.ONE)

    def gradient(self, w: np.ndarray) -> np.ndarray:
        """A subgradient."""
        return self.curvature * (w - self.centre) + self.weight * np.sign(w)

    def prox(self, w: np.ndarray, step: float) -> np.ndarray:
        return shrink(w - step * self.curvature * (w - self.centre), np.asarray(step * self.weight))

    def run(self, w: np.ndarray, errors: np.ndarray, step: float) -> np.ndarray:
        """The iterates after 1, 2, ... steps; errors (T, ..., D)."""
        iterates = []
        for error in errors:
            w = self.prox(w, step) + error
            iterates.append(w)
        return np.stack(iterates)

    def steepest(self, iterates: np.ndarray, norm: Norm) -> float:
        """The largest dual norm of a subgradient at these points."""
        return float(lengths(self.gradient(iterates), DUAL[norm]).max())
