"""The problem at hand in numbers: the network's shape, activation, loss and radii, and what is certified of them.

Suprema come from the SymPy expressions of the activation and the loss (`bridge.lowering.activations`), certified by Arb
and rounded up.
"""

from dataclasses import dataclass
from functools import cached_property

import flint
import torch

from bridge.lowering.activations import activation_supremum, loss_supremum
from numeric.balls import BallArray, float_above
from numeric.tools.layered import Shape
from numeric.topics.icgd import sampling
from symbolic.calculus.activations import Activation, Loss, Piece


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
        return activation_supremum(self.activation, order, radius)

    def loss_supremum(self, order: int, output_radius: float) -> flint.arb:
        """sup |d^order u / dt^order| over |t| <= output_radius, |y| <= B_y."""
        return loss_supremum(self.loss, order, output_radius, self.B_y)

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
