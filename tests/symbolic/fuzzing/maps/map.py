"""What a map has to fit, and what it is: the call of a rule and what it does to vectors."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from symbolic.calculus import Norm

Pair = tuple[np.ndarray, np.ndarray]  # exact, near


@dataclass(frozen=True)
class About:
    """What a map has to fit: the norm, dimension, size and (closed) error of its argument.

    `layer`: it is part of a layer that is run again and again, so that norm and dimension stay; a layer that `fits`
    keeps the size, and knows its functions everywhere. `single`: the argument has no tokens.
    """

    norm: Norm
    dim: int
    size: float
    error: float
    layer: bool = False
    fits: bool = True
    spare: float = 0.0
    single: bool = False

    @property
    def most(self) -> float:
        """The largest norm or slope of a map."""
        return 2.5 if not self.layer else 1.0 - 4 * self.spare if self.fits else 1.2

    def tokens(self, vectors: np.ndarray) -> np.ndarray:
        """(P, T, ...), or (P, ...) where there are no tokens."""
        return vectors[:, 0] if self.single else vectors


@dataclass(frozen=True)
class Map:
    """The call of a rule and what it does to the vectors; `norm` is the norm it should conclude in."""

    rule: str
    arguments: Mapping[str, Any]
    run: Callable[[np.ndarray, np.ndarray], Pair]
    norm: Norm
    centre: Callable[[np.ndarray], np.ndarray] | None = None
    limit: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
    single: bool | None = None  # whether the conclusion has no tokens; None: as the premise
