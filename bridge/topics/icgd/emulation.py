"""From a number of ReLUs, or from accuracies, to the sums of ReLUs of the network and the ranges that they must cover.

Ranges (rule 10, symbolic.topics.icgd.chain.ARGUMENTS): the arguments of layer 1 obey |z| <= B_v B_x, those of layer j+1
|z| <= B_v sqrt(K) (beta(R_j) + eps_r) with beta(R) = sup of |r| over [-R, R]. One sum of ReLUs serves all layers: it
covers the largest of these ranges, and the one for u the outputs |t| <= beta(R) + eps_r. A range that is asked for is
taken as it is; if it is too small, the emulation is `short` and bounds what lies inside alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import sympy as sp
import torch

from bridge.lowering.ball_values import evaluate_ball
from bridge.lowering.relu_sums import Interpolant, LossInterpolant, interpolate, interpolate_covering, loss_interpolants
from bridge.readings.arrays import Array
from bridge.topics.icgd.setting import StepSetting
from numeric.balls import BallArray, float_above
from numeric.topics.icgd.construction import IcgdSetting, icgd_setting
from numeric.topics.icgd.network import IcgdNetwork, run_exact_icgd
from symbolic.topics.icgd import chain
from symbolic.topics.icgd import symbols as letters
from symbolic.words.errors import UsageError

FEWEST_RELUS = 3  # a constant and one hinge on each side
EXACT_CELLS = 2  # of a u that is linear
LARGEST_RANGE = 1e9


@dataclass(frozen=True)
class Accuracies:
    """Target sup errors of the sums of ReLUs for r, r' and u."""

    eps_r: float
    eps_r1: float
    eps_l: float


@dataclass(frozen=True)
class Ranges:
    """`arguments[j-1]` bounds |z(j)|, `outputs` the coordinates of pbar(N); all rounded up."""

    arguments: tuple[float, ...]
    outputs: float

    @property
    def largest(self) -> float:
        return max(self.arguments)


_VALUES = sp.Symbol("values", nonnegative=True)  # sup of |r| over the range of the layer before
_NEXT, _OUTPUTS = (
    each.subs(letters.beta(letters.R), _VALUES) for each in (chain.ARGUMENTS.step, chain.OUTPUTS.largest)
)


def ranges(setting: StepSetting, eps_r: float) -> Ranges:
    """What the induction over the layers needs when rbar is within eps_r of r."""
    at = {letters.nu: setting.B_v, letters.P_0: setting.B_x, letters.K: setting.shape.K, letters.eps_r: eps_r}

    def following(reach: float) -> float:
        _require_moderate(reach)
        return float_above(evaluate_ball(_NEXT, {**at, _VALUES: setting.supremum(0, reach)}))

    first = float_above(evaluate_ball(chain.ARGUMENTS.start, at))
    arguments = chain.ARGUMENTS.run([following] * (setting.shape.N - 1), first)
    _require_moderate(max(arguments))
    outputs = evaluate_ball(_OUTPUTS, {**at, _VALUES: setting.supremum(0, max(arguments))})
    return Ranges(tuple(arguments), float_above(outputs))


def _require_moderate(reach: float) -> None:
    if not reach <= LARGEST_RANGE:
        raise UsageError(
            f"the range that the sums of ReLUs have to cover grows beyond {LARGEST_RANGE:g} over the layers (with what "
            f"their own error adds); give a smaller B_v, B_x, K or N, or more ReLUs"
        )


@dataclass(frozen=True, eq=False)
class Emulation:
    """The certified sums of ReLUs for r, r' and u, on ranges that cover all their arguments unless one is `short`."""

    setting: StepSetting
    ranges: Ranges
    r: Interpolant
    r1: Interpolant
    u: LossInterpolant

    @property
    def short(self) -> bool:
        """Whether some argument of r or r' may leave the range on which their sums of ReLUs are certified."""
        return self.r.radius < self.ranges.largest

    def reach(self, layers: int) -> float:
        """What the arguments of r and r' in the first `layers` layers do not exceed, if those before are covered."""
        return max(self.ranges.arguments[:layers])

    @cached_property
    def relus(self) -> int:
        """The most ReLUs of one function."""
        return max(self.r.relu_sum.relus, self.r1.relu_sum.relus, self.u.loss_sum.relus)

    # The network.

    @cached_property
    def mask_bound(self) -> float:
        """R_3 of (D.14): what |p(N)[k]|, |y[k]| and 1 do not exceed at the query."""
        return max(1.0, self.ranges.outputs, self.setting.B_y)

    def construction(self, n: int) -> IcgdSetting:
        """The network for prompts of n examples: one weight of (D.16) depends on n."""
        s, sums = self.setting, (self.r.relu_sum, self.r1.relu_sum, self.u.loss_sum)
        return icgd_setting(s.shape, *sums, eta=s.eta, B_v=s.B_v, n=n, bound=self.mask_bound)

    def run(self, w: Array, x: Array, y: Array, taps: Sequence[str] | None = None, steps: int = 1) -> dict[str, Array]:
        """The network's taps at one prompt: on tensors in their dtype, on balls exactly. Raises TooLargeForExact."""
        if isinstance(w, BallArray):
            return run_exact_icgd(replace(self.construction(len(x)), steps=steps), w, x, y, bits=w.bits, taps=taps)
        network = self._network(len(x), steps, w.dtype, w.device)
        return {name: tap[0] for name, tap in network.run(w[None], x[None], y[None], taps=taps).items()}

    @cached_property
    def _network(self) -> Callable[[int, int, torch.dtype, torch.device], IcgdNetwork]:
        def built(n: int, steps: int, dtype: torch.dtype, device: torch.device) -> IcgdNetwork:
            return IcgdNetwork(replace(self.construction(n), steps=steps), dtype, device)

        return lru_cache(maxsize=16)(built)


def with_relus(setting: StepSetting, relus: int, relus_r1: int = 0, reach: float = 0.0) -> Emulation:
    """`relus` ReLUs for r, for r' (or `relus_r1` for it), and for each piece of u that is not linear.

    Those of r and r' are on [-reach, reach]. Without a reach, the range is enlarged until it covers what the error of
    r on it adds to it. Raises UsageError where that never ends.
    """
    relus_r1 = relus_r1 or relus
    if min(relus, relus_r1) < FEWEST_RELUS:
        raise UsageError(
            f"relus = {relus}, relus_r1 = {relus_r1}: a sum of ReLUs takes at least {FEWEST_RELUS}; "
            f"give more, or an eps"
        )
    cells, r, t = relus - 1, setting.activation, setting.activation.t
    if reach:
        found = interpolate(r.expr, t, reach, cells=cells)
    else:
        found = interpolate_covering(r.expr, t, lambda error: ranges(setting, error).largest, cells=cells, called="r")
    enough = ranges(setting, float_above(found.error))
    r1 = interpolate(r.derivative(1), t, found.radius, cells=relus_r1 - 1)
    u = loss_interpolants(setting.loss, enough.outputs, setting.B_y, cells=cells)
    return Emulation(setting, enough, found, r1, u)


def with_accuracies(setting: StepSetting, accuracies: Accuracies, reach: float = 0.0) -> Emulation:
    """As many ReLUs as the accuracies take, on [-reach, reach] if that is asked for."""
    needed, t = ranges(setting, accuracies.eps_r), setting.activation.t
    radius = reach or needed.largest
    r = interpolate(setting.activation.expr, t, radius, eps=accuracies.eps_r)
    r1 = interpolate(setting.activation.derivative(1), t, radius, eps=accuracies.eps_r1)
    size = {"eps": accuracies.eps_l} if any(not piece.linear for piece in setting.pieces) else {"cells": EXACT_CELLS}
    u = loss_interpolants(setting.loss, needed.outputs, setting.B_y, **size)
    return Emulation(setting, needed, r, r1, u)
