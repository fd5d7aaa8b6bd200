"""A score learnt in context: the network's steps on examples of it, and the score that it then predicts.

The network reads (x, t, 1) over sqrt(B^2 + T^2 + 1), B the largest |x_i|, and predicts the score over `scale`. Beyond
the ball of radius B it reads the nearest point of the ball: the learnt score is bounded and Lipschitz everywhere.

Shapes: n examples, m points, d coordinates, D_w weights.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import flint
import torch
from jaxtyping import Float64
from torch import Tensor

from bridge.lowering import lower
from bridge.theorems.numbers import plain
from bridge.topics.icgd.emulation import Emulation, with_relus
from bridge.topics.icgd.plan import NEEDED_DERIVATIVES
from bridge.topics.icgd.setting import StepSetting
from bridge.topics.tools.sampled_scores import LearntScore
from numeric.balls import float_above
from numeric.networks.norms import spectral_norm_upper
from numeric.tools.layered import Shape, descend, predict
from numeric.topics.icgd.sampling import INSIDE
from symbolic.calculus.activations import Activation
from symbolic.calculus.activations import activation as activation_named
from symbolic.calculus.activations import loss as loss_named
from symbolic.words.errors import UsageError

SHARE = 0.9  # of the range of the output activation that the targets fill
LONGEST = 1000  # steps of one run, of which all iterates are held
FLOAT = flint.arb(2) ** -48


def score_setting(N: int, K: int, d: int, B_v: float, eta: float, activation: str) -> StepSetting:
    """The network that is trained, from (x, t, 1) to the score. Raises UsageError for a rough activation."""
    chosen = activation_named(activation)
    if chosen.smoothness < NEEDED_DERIVATIVES:
        raise UsageError(
            f"icgd.diffusion: activation '{activation}' has {chosen.smoothness} continuous derivatives; Theorem 1 asks "
            f"for {NEEDED_DERIVATIVES}. Lemma 19 has ReLU networks, to which Theorem 1 does not apply; take tanh or sin"
        )
    return StepSetting(Shape(N, K, d + 2, d), chosen, loss_named("square"), B_v, 1.0, 1.0, eta)


def scale_of(y: Float64[Tensor, "n d"], r: Activation, asked: float) -> float:
    """By what targets are divided: `asked`, or (0) what brings the largest coordinate to SHARE of the range of r.

    Raises UsageError for targets that r does not reach.
    """
    low, high = float(y.min()), float(y.max())
    least, most = r.values or (-math.inf, math.inf)
    if low < 0 <= least or high > 0 >= most:
        raise UsageError(
            f"icgd.diffusion: the scores reach from {plain(low)} to {plain(high)}, and the values of '{r.name}' lie in "
            f"({plain(least)}, {plain(most)}): no scale brings them there; take tanh or sin"
        )
    needed = max(high / most if high > 0 else 0.0, low / least if low < 0 else 0.0)
    if asked and needed >= asked:
        raise UsageError(
            f"icgd.diffusion: scale = {plain(asked)}: the scores reach from {plain(low)} to {plain(high)}, beyond the "
            f"scale times the range ({plain(least)}, {plain(most)}) of '{r.name}'; give more than {plain(needed)}, or 0"
        )
    return asked or needed / SHARE or max(-low, high)


@dataclass(frozen=True, eq=False)
class ScoreLearner:
    """What the network learns from x (n, d) at the times t (n) with targets y (n, d), in L steps from `start` (D_w)."""

    x: Float64[Tensor, "n d"]
    t: Float64[Tensor, " n"]
    y: Float64[Tensor, "n d"]
    setting: StepSetting
    relus: int
    scale: float
    T: float
    L: int
    start: Float64[Tensor, " D_w"]

    @cached_property
    def emulation(self) -> Emulation:
        return with_relus(self.setting, self.relus)

    @cached_property
    def radius(self) -> float:
        return float(torch.linalg.vector_norm(self.x, dim=-1).max())

    @cached_property
    def unit(self) -> float:
        """What the network's inputs are divided by: their norms are at most 1."""
        return math.sqrt(self.radius**2 + self.T**2 + 1) / INSIDE

    def features(self, x: Float64[Tensor, "m d"], t: Float64[Tensor, " m"] | float) -> Float64[Tensor, "m k"]:
        norms = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
        inside = x * torch.where(norms > self.radius, self.radius / norms, 1.0)
        times = torch.as_tensor(t, dtype=torch.float64, device="cpu").expand(len(x))[:, None]
        return torch.cat([inside, times, torch.ones_like(times)], -1) / self.unit

    @cached_property
    def prompt(self) -> tuple[Tensor, Tensor]:
        return self.features(self.x, self.t), self.y / self.scale

    @cached_property
    def path(self) -> Float64[Tensor, "L D_w"]:
        """The weights after each of L blocks of 2N + 4 layers."""
        (x, y), w, found = self.prompt, self.start, list[Tensor]()
        for done in range(0, self.L, LONGEST):
            steps = min(LONGEST, self.L - done)
            tap = "trajectory" if steps > 1 else "w"
            found.append(self.emulation.run(w, x, y, (tap,), steps)[tap].reshape(steps, -1))
            w = found[-1][-1]
        return torch.cat(found)

    @cached_property
    def descent(self) -> Float64[Tensor, "steps D_w"]:
        """The weights after each of 2 L steps of projected gradient descent itself, in float64."""
        s, loss = self.setting, self.setting.loss
        squared = lower(loss.expr, "torch", args=[loss.t, loss.y], watch=False)
        x, y = self.prompt
        return descend(s.shape, self.start, x, y, self.r, squared, s.eta, s.B_v, steps=2 * self.L)

    @cached_property
    def r(self) -> Callable[..., Any]:
        return lower(self.setting.activation.expr, "torch", args=[self.setting.activation.t], watch=False)

    def predicted(self, w: Tensor, r: Callable[..., Any], x: Tensor, t: Tensor | float) -> Float64[Tensor, "m d"]:
        found: Tensor = self.scale * predict(self.setting.shape, w, self.features(x, t), r)
        return found

    # Sums of ReLUs add e_j = sqrt(m_j) eps_r + sup|r'| ||V_j|| e_{j-1} over the layers. For d = 1, in x: with z = V p,
    # |r(z)'| <= sup|r'| ||V|| |p'|, |r(z)''| <= sup|r''| (||V|| |p'|)^2 + sup|r'| ||V|| |p''|.
    # In floats: the features, of norm at most 1, are off by 2^-50; a product of k columns by k 2^-53 ||V||_F |p|
    # (1 + 2^-40); and the line of a cell, between secants of |r'| <= sup|r'| with values below sup|r| + 1, by
    # 2^-48 (sup|r| + 1 + sup|r'| R), also where rounding takes the neighbour's line next to a knot.
    @cached_property
    def learnt(self) -> LearntScore:
        """What the first N layers of one more block predict at the query (x, t, 1)."""
        w, emulation, reach = self.path[-1], self.emulation, self.emulation.ranges.largest
        size, first, second = (self.setting.supremum(k, reach) for k in range(3))
        eps = emulation.r.error + FLOAT * (size + 1 + first * emulation.r.radius)
        off, slope, bend, norm_before = FLOAT, 1 / flint.arb(self.unit), flint.arb(0), flint.arb(1)
        for V in self.setting.shape.matrices(w):
            rows, columns = V.shape
            norm = flint.arb(spectral_norm_upper(V.numpy()))
            rounding = FLOAT * columns * flint.arb(columns).sqrt() * norm * norm_before
            off = flint.arb(rows).sqrt() * eps + first * (norm * off + rounding)
            slope, bend = first * norm * slope, second * (norm * slope) ** 2 + first * norm * bend
            norm_before = flint.arb(rows).sqrt() * emulation.ranges.outputs
        largest = self.scale * flint.arb(self.setting.shape.d_y).sqrt() * emulation.ranges.outputs
        found = (float_above(each * (1 + FLOAT)) for each in (largest, self.scale * off, self.scale * bend))
        return LearntScore(lambda x, t: self.predicted(w, emulation.r.relu_sum, x, t), self.radius, *found)
