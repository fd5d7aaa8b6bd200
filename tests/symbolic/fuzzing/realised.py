"""A conclusion beside the vectors that it is about, and everything that it promises of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy as sp

from symbolic.calculus import Approximated, Norm
from tests.symbolic.fuzzing.evaluation import evaluate, satisfied
from tests.symbolic.fuzzing.vectors import lengths

# Bounds and vectors are float64 numbers; chains of some ten rules lose a few 1e-15 of the largest number at hand.
RELATIVE = 1e-9
ABSOLUTE = 1e-12


@dataclass(frozen=True)
class Measured:
    """One promise, `bound` against what is true of the vectors (arrays over the points, or numbers)."""

    quantity: str
    bound: Any
    truth: Any
    scale: float = 1.0

    @property
    def violated(self) -> np.ndarray:
        """Where the truth exceeds the bound; a bound that is not a number is violated everywhere."""
        return ~(np.asarray(self.truth) <= np.asarray(self.bound) * (1 + RELATIVE) + ABSOLUTE * self.scale)

    @property
    def ratio(self) -> np.ndarray:
        """truth / bound; 0 where nothing is bounded."""
        bound, truth = np.broadcast_arrays(np.asarray(self.bound, float), np.asarray(self.truth, float))
        counted = bound > 1e6 * ABSOLUTE * self.scale
        return np.where(counted, truth / np.where(counted, bound, 1.0), 0.0)


@dataclass(frozen=True)
class Realised:
    """`value` and concrete vectors for it: exact and near have the shape (tokens, dim) or (points, tokens, dim).

    `centre` is the common centre of the exact tokens, where a radius is claimed. `norm` is the norm that the rule
    should conclude in. `at` are the values of free symbols. `single`: the value has no tokens, as all are one.
    """

    value: Approximated
    exact: np.ndarray
    near: np.ndarray
    centre: np.ndarray | None = None
    norm: Norm | None = None
    at: Mapping[sp.Symbol, Any] = field(default_factory=dict)
    single: bool = False

    def tokens(self, vectors: np.ndarray) -> np.ndarray:
        """(P, T, ...), or (P, ...) where there are no tokens."""
        return vectors[:, 0] if self.single else vectors

    @property
    def moved(self) -> np.ndarray:
        return self.near - self.exact

    @property
    def error(self) -> np.ndarray:
        """The largest true error of a token."""
        return lengths(self.moved, self.value.norm).max(-1)

    @property
    def scale(self) -> float:
        return 1.0 + float(max(np.abs(self.exact).max(), np.abs(self.near).max()))

    def promises(self) -> list[Measured]:
        """What the value states, other than its local bound."""
        v, promises = self.value, []

        def promise(quantity: str, bound: Any, truth: Any) -> None:
            promises.append(Measured(quantity, bound, truth, self.scale))

        promise("error", evaluate(v.error, self.at), self.error)
        promise("size", evaluate(v.size, self.at), lengths(self.exact, v.norm).max(-1))
        promise("dim", 0.0, abs(evaluate(v.dim, self.at) - self.exact.shape[-1]))
        promise("norm", 0.0, float(self.norm is not None and self.norm is not v.norm))
        if v.radius is not None:
            promise("radius", evaluate(v.radius, self.at), self.spread())
        if v.probabilities or v.affine:
            for each in (self.exact, self.near):
                promise("probabilities", 0.0, np.abs(each.sum(-1) - 1.0).max(-1))
            for each in (self.exact, self.near) if v.probabilities else (self.near,):
                promise("probabilities", 0.0, np.maximum(-each, 0.0).max((-1, -2)))
        return promises

    def owed(self) -> list[Measured]:
        """The last step's open obligations: a program keeps to the premises, so that they hold where they are left."""
        step = self.value.derivation.step(self.value.name)
        return [
            Measured(f"obligation ({obligation.statement})", 0.0, float(not satisfied(obligation.condition, self.at)))
            for obligation in step.obligations
            if obligation.open
        ]

    def spread(self) -> np.ndarray:
        """The largest distance of an exact token from the centre; infinite where no centre is known."""
        if self.centre is None:
            return np.full(self.exact.shape[:-2], np.inf)
        return lengths(self.exact - self.centre[..., None, :], self.value.norm).max(-1)
