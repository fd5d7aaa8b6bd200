"""Lemma 14 along one path: how far the network's iterates are from gradient descent, knowing the prompt and the path.

    e_{l+1} <= (1 + eta L_l) e_l + eta g_l,      e_0 = 0        (symbolic.topics.icgd.trajectory.step_recursion),

g_l bounds the error of the network's gradient at wbar^l, and L_l is an L_f of the ball of radius e_l around wbar^l,
which holds w_GD^l. Both paths stay in W, whose own L_f and diameter cap L_l and e_l.

Shapes, of one prompt: D_w weights, n tokens.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import sympy as sp
import torch

from bridge.readings.arrays import Array, at_each, two_norm
from bridge.topics.icgd.chain import Chain
from bridge.topics.icgd.iterates import MAPPING
from bridge.topics.icgd.smoothness import smoothness_near
from symbolic.calculus.numbers import evaluate
from symbolic.topics.icgd.symbols import eps, eta
from symbolic.topics.icgd.trajectory import L_f, one_descent, step_recursion


@dataclass(frozen=True, eq=False)
class IteratePath:
    """The iterates `points` = wbar^0, ..., wbar^L (D_w) at the prompt x (n, d_x), y (n, d_y), in a chain's arithmetic.

    `smoothest` is an L_f of W.
    """

    chain: Chain
    points: Sequence[Array]
    x: Array
    y: Array
    smoothest: float

    @property
    def eta(self) -> Array:
        return self.chain.array(self.chain.setting.eta, like=self.x)

    def gradient_errors(self, scope: str) -> list[Array]:
        """g_0, ..., g_{L-1}."""

        def at(w: Array) -> Array:
            return self.chain.bounds(w, self.x, self.y, scope, ["gradient"])["gradient"]

        return at_each(at, self.points[:-1])

    def distances(self, gradients: Sequence[Array]) -> list[Array]:
        """e_1, ..., e_L, knowing g_0, ..., g_{L-1}."""
        step = step_recursion()

        def capped(distance: Array) -> Array:
            return torch.minimum(distance, torch.zeros_like(distance) + self.chain.setting.diameter)

        def at(w: Array, gradient: Array) -> Callable[[Array], Mapping[sp.Symbol, Array]]:
            return lambda e: {eta: self.eta, eps: gradient, L_f: self.smoothness_near(w, e)}

        first = capped(evaluate(step.offset, {eta: self.eta, eps: gradients[0]}))  # both start at the same point
        return step.run_at(list(map(at, self.points[1:-1], gradients[1:])), first, cap=capped)

    # The mapping: the sum of the descents, knowing both its ends, is 2 (f(w^0) - f(w^L)) / (eta L) + the mean of g_l^2.
    def bounds(self, scope: str) -> dict[str, Array]:
        """On the last distance, and on the mean of ||G||^2 where the steps are short."""
        gradients, lemma = self.gradient_errors(scope), one_descent()
        first, last = (self.chain.risk(w, self.x, self.y) for w in (self.points[0], self.points[-1]))
        offsets = [evaluate(lemma.offset, {eta: self.eta, eps: gradient}) for gradient in gradients]
        decreases = [evaluate(lemma.decrease, {eta: self.eta})] * len(gradients)
        mapping = lemma.run(decreases, offsets, first - last)
        return {MAPPING: mapping, f"path[{len(gradients)}]": self.distances(gradients)[-1]}

    def smoothness_along(self) -> list[Array]:
        """An L_f of each segment from wbar^l to wbar^{l+1}: what the descent lemma asks to be at most 1/eta."""

        def at(w: Array, after: Array) -> Array:
            return self.smoothness_near(w, two_norm(after - w))

        return at_each(at, self.points[:-1], self.points[1:])

    def smoothness_near(self, w: Array, radius: Array) -> Array:
        """L_f within `radius` of w, and never above that of W."""
        near = smoothness_near(self.chain, w, self.x, self.y, radius)
        return torch.minimum(near, torch.zeros_like(near) + self.smoothest)
