"""Networks of few parameters with their all-layer margins, certified, and the change that attains them.

Each is positive at theta for the label 1. Margins are those of theta as floats give it, exactly; a prediction that is
wrong has margin 0.

Glossary: n inputs, H hidden units.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import flint
import numpy as np
import sympy as sp
import torch
from torch import Tensor

from bridge.lowering.ball_values import evaluate_ball
from bridge.lowering.least_value import Enclosure, least_of
from bridge.theorems.check import as_ball
from numeric.balls import BallArray, float_above, float_below, working_precision
from numeric.topics.machines import toy
from symbolic.topics.machines import approximation as theory
from symbolic.topics.machines.approximation import a, offset, p, q, squares, value

BITS = 96
ROOT_WIDTH = sp.Rational(1, 2**100)
TIGHT = 1e-7  # of a squared margin, relative to its value without any change of the first layer
CLEARLY = 0.2  # the least output at theta

Theta = dict[str, Tensor]


class SmallNetwork(ABC):
    """A family F(x, .) at one input x, and one member `theta` of it that predicts 1."""

    name: str
    x: Tensor
    theta: Theta

    @abstractmethod
    def output(self, parameters: Theta) -> Tensor:
        """F for each copy of the parameters: leading dimension P -> (P,)."""

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Theta:
        """Random parameters."""

    @abstractmethod
    def right_margin(self, theta: Theta) -> tuple[Enclosure, Theta]:
        """The margin where the prediction is 1, and a change that attains it up to its enclosure."""

    def start(self, rng: np.random.Generator) -> None:
        """Draws parameters until they predict 1 clearly."""
        while True:
            self.theta = self.draw(rng)
            if self.at(self.theta) > CLEARLY:
                return

    def at(self, theta: Theta) -> float:
        return float(self.output({name: part[None] for name, part in theta.items()})[0])

    def margin(self, theta: Theta) -> tuple[Enclosure, Theta]:
        if self.at(theta) <= 0:
            return Enclosure(0.0, 0.0, (), 0), {name: torch.zeros_like(part) for name, part in theta.items()}
        return self.right_margin(theta)


class LinearNetwork(SmallNetwork):
    """w . x + b."""

    name = "linear"

    def __init__(self, rng: np.random.Generator) -> None:
        self.x = _normal(rng, 2)
        self.start(rng)

    def draw(self, rng: np.random.Generator) -> Theta:
        return {"w": _normal(rng, 2), "b": _normal(rng)}

    def output(self, parameters: Theta) -> Tensor:
        return toy.linear(parameters, self.x)

    def right_margin(self, theta: Theta) -> tuple[Enclosure, Theta]:
        with working_precision(BITS):
            x, w, b = (BallArray.exactly(each, BITS) for each in (self.x, theta["w"], theta["b"]))
            output, size = (w @ x + b).balls[0], (x @ x + 1).balls[0]
            distance = evaluate_ball(theory.half_space_distance(), {value: output, squares: size})
            step = -float(output / size)
            change = {"w": step * self.x, "b": torch.tensor(step, dtype=torch.float64, device="cpu")}
            return Enclosure(float_below(distance), float_above(distance), (), 1), change


class ProductNetwork(SmallNetwork):
    """w_1 w_2 x - c at x = 1; c is not a parameter."""

    name = "product"
    C = 0.5

    def __init__(self, rng: np.random.Generator) -> None:
        self.x = torch.ones(1, dtype=torch.float64, device="cpu")
        self.start(rng)

    def draw(self, rng: np.random.Generator) -> Theta:
        return {"w": _normal(rng, 2)}

    def output(self, parameters: Theta) -> Tensor:
        return toy.product(parameters, self.x, self.C)

    # The nearest point of {a b <= c} is one of {a b = c}, where the distance is stationary.
    def right_margin(self, theta: Theta) -> tuple[Enclosure, Theta]:
        at = {symbol: sp.Rational(float(x)) for symbol, x in zip((p, q), theta["w"].tolist(), strict=True)}
        at[offset] = sp.Rational(self.C)
        ends = theory.hyperbola_points(at[p], at[q], at[offset], ROOT_WIDTH)
        with working_precision(BITS):
            points = [as_ball(low).union(as_ball(high)) for low, high in ends]
            squared = [evaluate_ball(theory.hyperbola_distance(), {**at, a: point}) for point in points]
            least, point = min(zip(squared, points, strict=True), key=lambda pair: float(pair[0].mid()))
            low = min(float_below(each.sqrt()) for each in squared)
            first = float(point.mid())
        change = torch.tensor([first, self.C / first], dtype=torch.float64, device="cpu") - theta["w"]
        return Enclosure(low, float_above(least.sqrt()), (), len(ends)), {"w": change}


class TwoLayers(SmallNetwork):
    """v . phi(W x + b) + c with H hidden units."""

    def __init__(self, rng: np.random.Generator, units: int, tight: float = TIGHT) -> None:
        self.name, self.units, self.tight = f"relu_{units}", units, tight
        self.x = _normal(rng, 2)
        self.start(rng)

    def draw(self, rng: np.random.Generator) -> Theta:
        units = self.units
        return {"W": _normal(rng, units, 2), "b": _normal(rng, units), "v": _normal(rng, units), "c": _normal(rng)}

    def output(self, parameters: Theta) -> Tensor:
        return toy.two_layers(parameters, self.x)

    def right_margin(self, theta: Theta) -> tuple[Enclosure, Theta]:
        squared, moves, letters = theory.two_layer_squared(self.units)
        with working_precision(BITS):
            x, W, b, v, c = (BallArray.exactly(each, BITS) for each in (self.x, *map(theta.__getitem__, "Wbvc")))
            size = (x @ x).balls[0]
            known = dict(zip(letters, (*(W @ x + b).balls, *v.balls, *c.balls, size), strict=True))
            without = float_above(evaluate_ball(squared, {**known, **dict.fromkeys(moves, 0)}))
            # Beyond this t the first layer alone costs more than moving the last layer only.
            farthest = float_above((flint.arb(without) * (size + 1)).sqrt())
        ranges = dict.fromkeys(moves, (-farthest, farthest))
        found = least_of(squared, ranges, known, tolerance=self.tight * without)
        return found.root, self._change(theta, found.at)

    def _change(self, theta: Theta, moves: Sequence[float]) -> Theta:
        """The change that moves the hidden inputs by `moves`, then the last layer to the boundary."""
        t, x = torch.tensor(moves, dtype=torch.float64, device="cpu"), self.x
        first = t / (x @ x + 1)  # (H,)
        hidden = torch.relu(theta["W"] @ x + theta["b"] + t)  # (H,)
        left = torch.relu(theta["v"] @ hidden + theta["c"]) / (hidden @ hidden + 1)
        return {"W": first[:, None] * x, "b": first, "v": -left * hidden, "c": -left}


def _normal(rng: np.random.Generator, *shape: int) -> Tensor:
    return torch.tensor(rng.normal(size=shape), dtype=torch.float64, device="cpu")
