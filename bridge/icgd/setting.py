"""The problem at hand in numbers: the network's shape, activation, loss and radii, and what is certified of them.

Everything here comes from the SymPy expressions of the activation and the loss: callables for tensors and balls, and
suprema over ranges, certified by Arb and rounded up.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import flint
import sympy as sp
import torch

from bridge.enclosures import supremum
from bridge.formula import ArrayFunction
from numeric.balls import BallArray, float_above
from numeric.icgd import sampling
from numeric.layered import Shape
from symbolic import activations
from symbolic.activations import Activation, Loss, Piece


@dataclass(frozen=True)
class StepSetting:
    """Gradient descent on f(w, x) = p(N), ||x||_2 <= B_x, ||y||_2 <= B_y, rows ||v_jk||_2 <= B_v inside the box W."""

    shape: Shape
    activation: Activation
    loss: Loss
    B_v: float
    B_x: float
    B_y: float
    eta: float

    # Suprema over [-R, R], as balls that lie above them.

    def supremum(self, order: int, radius: float) -> flint.arb:
        """sup |r^(order)| over [-radius, radius]."""
        return supremum(self.activation.derivative(order), self.activation.t, -radius, radius)

    def loss_supremum(self, order: int, output_radius: float) -> flint.arb:
        """sup |d^order u / dt^order| over |t| <= output_radius, |y| <= B_y."""
        return sum((self.piece_supremum(piece, order, output_radius) for piece in self.pieces), start=flint.arb(0))

    def piece_supremum(self, piece: Piece, order: int, output_radius: float) -> flint.arb:
        if order > 0 and not piece.argument.has(self.loss.t):
            return flint.arb(0)
        function = sp.diff(piece.function, piece.variable, order)
        radius = self.argument_radius(piece, output_radius)
        return supremum(function, piece.variable, -radius, radius)

    def argument_radius(self, piece: Piece, output_radius: float) -> float:
        """The largest absolute value of t, y or t - y."""
        t, y = self.loss.t, self.loss.y
        of_difference = float_above(flint.arb(output_radius) + flint.arb(self.B_y))
        return {t: output_radius, y: self.B_y, t - y: of_difference}[piece.argument]

    # Prompts.

    def prompts(self, n: int, count: int, seed: int) -> sampling.Inputs:
        """`count` random ones of n examples."""
        return sampling.prompts(self.shape, n, self.B_v, self.B_x, self.B_y, count, seed)

    def starts(self, n: int, count: int, seed: int) -> sampling.Inputs:
        """Those from which an attack starts."""
        return sampling.starts(self.shape, n, self.B_v, self.B_x, self.B_y, count, seed)

    @cached_property
    def diameter(self) -> float:
        """At least the largest distance of two points of the box W."""
        box = BallArray.exactly(self.shape.box(self.B_v), 128)
        return float_above(2 * torch.linalg.vector_norm(box).balls[0])

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        return self.loss.pieces()


def activation_formula(activation: Any, order: int = 0) -> ArrayFunction:
    """r^(order), a function of t. Raises UsageError for an unknown name."""
    chosen = activation if isinstance(activation, Activation) else activations.activation(activation)
    return ArrayFunction(chosen.derivative(order), chosen.t)


def loss_formula(loss: Any, order: int = 0) -> ArrayFunction:
    """d^order ell / dt^order of one coordinate, a function of t and y. Raises UsageError for an unknown name."""
    chosen = loss if isinstance(loss, Loss) else activations.loss(loss)
    return ArrayFunction(chosen.derivative(order), chosen.t, chosen.y)
