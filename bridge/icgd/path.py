"""Lemma 14 along one path: how far the network's iterates are from gradient descent, knowing the prompt and the path.

    e_{l+1} <= (1 + eta L_l) e_l + eta g_l,      e_0 = 0,

g_l bounds the error of the network's gradient at wbar^l, and L_l is an L_f of the ball of radius e_l around wbar^l,
which holds w_GD^l. Both paths stay in W, whose own L_f and diameter cap L_l and e_l.

Shapes, of one prompt: D_w weights, n tokens.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import flint
import torch

from bridge.icgd.chain import Chain
from bridge.icgd.smoothness import Caps, smoothness_near
from bridge.readings.arrays import Array, two_norm


@dataclass(frozen=True, eq=False)
class Path:
    """The iterates `points` = wbar^0, ..., wbar^L (D_w) at the prompt x (n, d_x), y (n, d_y), in a chain's arithmetic.

    Of W: `caps` are sup |r'| and sup |du/dt|, `smoothest` an L_f, `diameter` the largest distance of two points.
    """

    chain: Chain
    points: Sequence[Array]
    x: Array
    y: Array
    caps: Caps
    smoothest: flint.arb
    diameter: flint.arb

    @property
    def eta(self) -> Array:
        return self.chain.array(self.chain.setting.eta, like=self.x)

    def gradient_errors(self, scope: str) -> list[Array]:
        """g_0, ..., g_{L-1}."""
        return [self.chain.bounds(w, self.x, self.y, scope, ["gradient"])["gradient"] for w in self.points[:-1]]

    def distances(self, scope: str) -> list[Array]:
        """e_1, ..., e_L."""
        found: list[Array] = []
        for w, gradient in zip(self.points[:-1], self.gradient_errors(scope), strict=True):
            distance = self.eta * gradient
            if found:  # both paths start at the same point: e_0 = 0
                distance = (1 + self.eta * self.smoothness_near(w, found[-1])) * found[-1] + distance
            found.append(torch.minimum(distance, torch.zeros_like(distance) + self.chain.number(self.diameter)))
        return found

    def smoothness_along(self) -> list[Array]:
        """An L_f of each segment from wbar^l to wbar^{l+1}: what the descent lemma asks to be at most 1/eta."""
        return [self.smoothness_near(w, two_norm(after - w)) for w, after in itertools.pairwise(self.points)]

    def smoothness_near(self, w: Array, radius: Array) -> Array:
        """L_f within `radius` of w, and never above that of W."""
        near = smoothness_near(self.chain, w, self.x, self.y, self.caps, radius)
        return torch.minimum(near, torch.zeros_like(near) + self.chain.number(self.smoothest))
