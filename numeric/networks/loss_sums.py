"""Sums of ReLUs of two arguments, in place of the derivative of a loss, or of a product."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import flint
import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor

from numeric.balls import Arb
from numeric.networks.hinges import ReluSumError
from numeric.networks.relu_sums import ReluSum, literal_sum


@dataclass(frozen=True, eq=False)
class LossSum:
    """ubar(t, y) = sum over the pieces (alpha, beta, f) of f(alpha t + beta y), with alpha and beta in {-1, 0, 1}.

    As a sum of ReLUs in (t, y, 1) its directions have 1-norm at most 1.
    """

    pieces: tuple[tuple[int, int, ReluSum], ...]
    _tensors: dict[tuple[torch.dtype, torch.device], tuple[Tensor, Tensor]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        for alpha, beta, piece in self.pieces:
            if {alpha, beta} - {-1, 0, 1} or piece.spread < abs(alpha) + abs(beta):
                raise ReluSumError(
                    f"LossSum: a piece in {alpha} t + {beta} y with spread {piece.spread}. "
                    "Give factors -1, 0 or 1 and a spread of at least the sum of their absolute values."
                )

    @cached_property
    def weights(self) -> Float64[np.ndarray, " H"]:
        return np.concatenate([np.zeros(0), *(piece.weights for _, _, piece in self.pieces)])

    @cached_property
    def directions(self) -> Float64[np.ndarray, "H 3"]:
        """ReLU h is c_h max(0, a_h . (t, y, 1))."""
        parts = [
            np.stack([alpha * a[:, 0], beta * a[:, 0], a[:, 1]], axis=1)
            for alpha, beta, a in ((alpha, beta, piece.directions) for alpha, beta, piece in self.pieces)
        ]
        return np.concatenate([np.zeros((0, 3)), *parts])

    def tensors(self, dtype: torch.dtype, device: torch.device | str) -> tuple[Tensor, Tensor]:
        """Weights (H) and directions (H, 3) in the given dtype, on the given device; kept for the next call."""
        key = (dtype, torch.device(device))
        if key not in self._tensors:
            both = (torch.tensor(each, dtype=dtype, device=device) for each in (self.weights, self.directions))
            self._tensors[key] = next(both), next(both)
        return self._tensors[key]

    @property
    def relus(self) -> int:
        return len(self.weights)

    @cached_property
    def one_norm(self) -> float:
        return math.fsum(np.abs(self.weights).tolist())

    def heads(self, t: Tensor, y: Tensor) -> Tensor:
        """The literal sum over all ReLUs at each pair."""
        return literal_sum(self.weights, self.directions, torch.stack(torch.broadcast_tensors(t, y), dim=-1))

    def __call__(self, t: Any, y: Any) -> Any:
        """The same function by look-up, differentiable in both; arrays of balls are enclosed pair by pair."""
        return self._total(t, y, lambda piece, z: piece(z))

    def slope(self, t: Tensor, y: Tensor) -> Tensor:
        """d ubar / dt."""
        return self._total(t, y, lambda piece, z: piece.slope(z), by_factor=True)

    def _total(self, t: Any, y: Any, part: Callable[[ReluSum, Any], Any], *, by_factor: bool = False) -> Any:
        total = None
        for alpha, beta, piece in self.pieces:
            if by_factor and alpha == 0:
                continue
            found = part(piece, _combined(alpha, t, beta, y))
            found = -found if by_factor and alpha < 0 else found
            total = found if total is None else total + found
        if total is not None and t.shape == y.shape:
            return total
        shape = np.broadcast_shapes(t.shape, y.shape)  # that of torch imports its compiler
        return torch.zeros_like(t).expand(shape) if total is None else total.expand(shape)

    def exact(self, t: Arb, y: Arb) -> Arb:
        """Encloses the literal sum at every pair of the two balls."""
        return sum((piece.exact(alpha * t + beta * y) for alpha, beta, piece in self.pieces), start=flint.arb(0))


def _combined(alpha: int, t: Any, beta: int, y: Any) -> Any:
    """alpha t + beta y for factors in {-1, 0, 1}."""
    if alpha == 0 or beta == 0:
        factor, only = (alpha, t) if beta == 0 else (beta, y)
        return only if factor == 1 else factor * only
    return alpha * t + beta * y
