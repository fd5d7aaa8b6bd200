"""Functions, sums of ReLUs and one table of networks for the tests of the icgd network."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from numeric.networks.hinges import uniform_knots
from numeric.networks.loss_sums import LossSum
from numeric.networks.relu_sums import ReluSum
from numeric.tools.layered import Shape
from numeric.topics.icgd import IcgdSetting, icgd_setting


@dataclass(frozen=True)
class Activation:
    name: str
    r: Callable
    r1: Callable
    exact: Callable
    exact1: Callable


@dataclass(frozen=True)
class Loss:
    name: str
    loss: Callable
    u: Callable
    exact: Callable
    pieces: tuple[tuple[int, int, Callable], ...]


TANH = Activation("tanh", torch.tanh, lambda t: 1 - torch.tanh(t) ** 2, lambda t: t.tanh(), lambda t: 1 - t.tanh() ** 2)
SIN = Activation("sin", torch.sin, torch.cos, lambda t: t.sin(), lambda t: t.cos())
SQUARE = Loss(
    "square", lambda t, y: (t - y) ** 2, lambda t, y: 2 * (t - y), lambda t, y: 2 * (t - y), ((1, -1, lambda z: 2 * z),)
)
LOGISTIC = Loss(
    "logistic",
    lambda t, y: torch.nn.functional.softplus(t) - y * t,
    lambda t, y: torch.sigmoid(t) - y,
    lambda t, y: 1 / (1 + (-t).exp()) - y,
    ((1, 0, torch.sigmoid), (0, 1, lambda z: -z)),
)
B_V, B_X, B_Y, ETA = 1.5, 1.0, 0.8, 0.7


def interpolant(function: Callable, radius: float, cells: int, spread: float = 1.0) -> ReluSum:
    values = function(torch.tensor(uniform_knots(radius, cells), dtype=torch.float64)).numpy()
    return ReluSum(radius, values, spread)


def loss_sum(loss: Loss, radius: float, cells: int) -> LossSum:
    pieces = []
    for alpha, beta, function in loss.pieces:
        spread = abs(alpha) + abs(beta)
        pieces.append((alpha, beta, interpolant(function, spread * radius, cells, float(spread))))
    return LossSum(tuple(pieces))


def build(
    shape: Shape,
    n: int,
    cells: int = 6,
    steps: int = 1,
    activation: Activation = TANH,
    loss: Loss = SQUARE,
    bound: float | None = None,
) -> IcgdSetting:
    r, r1 = (interpolant(each, 2.0, cells) for each in (activation.r, activation.r1))
    return icgd_setting(shape, r, r1, loss_sum(loss, 1.5, cells), eta=ETA, B_v=B_V, n=n, steps=steps, bound=bound)


@dataclass(frozen=True)
class Case:
    shape: Shape
    n: int
    steps: int = 1
    activation: Activation = TANH
    loss: Loss = SQUARE

    def build(self, cells: int = 6) -> IcgdSetting:
        return build(self.shape, self.n, cells, self.steps, self.activation, self.loss)


CASES = {
    "one layer": Case(Shape(N=1, K=3, d_x=2, d_y=3), n=4),
    "one of everything": Case(Shape(N=2, K=1, d_x=1, d_y=1), n=1),
    "two layers": Case(Shape(N=2, K=3, d_x=2, d_y=1), n=3),
    "sizes that differ": Case(Shape(N=3, K=2, d_x=4, d_y=3), n=2, activation=SIN),
    "two steps": Case(Shape(N=2, K=2, d_x=3, d_y=2), n=3, steps=2),
    "logistic": Case(Shape(N=2, K=3, d_x=2, d_y=2), n=3, loss=LOGISTIC),
    "three logistic steps": Case(Shape(N=1, K=1, d_x=2, d_y=2), n=1, steps=3, loss=LOGISTIC),
}
DEEP = {"deep": Case(Shape(N=6, K=4, d_x=2, d_y=3), n=7)}


def close(left: torch.Tensor | np.ndarray, right: torch.Tensor | np.ndarray, relative: float = 1e-12) -> bool:
    """Whether the two agree to this precision, relative to the larger of 1 and the largest entry."""
    left, right = (
        torch.as_tensor(left, dtype=torch.float64).double(),
        torch.as_tensor(right, dtype=torch.float64).double(),
    )
    scale = max(1.0, float(right.abs().max()))
    return left.shape == right.shape and bool((left - right).abs().max() <= relative * scale)
