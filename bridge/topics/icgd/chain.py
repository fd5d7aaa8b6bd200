"""The derivation of one step (symbolic.topics.icgd.chain) at a prompt: the reference and the bounds are its readings.

Shapes, of one prompt: n examples, D_w weights; a batch has B of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from bridge.instances.bindings import LOCAL
from bridge.lowering.activations import activation_formula, loss_formula
from bridge.lowering.formula import ArrayFunction
from bridge.readings import AtHand, Operands, Smooth, enclose, read_exact
from bridge.readings.arrays import Array
from bridge.topics.icgd.emulation import Emulation
from bridge.topics.icgd.setting import StepSetting
from numeric.balls import BallArray, float_above
from numeric.tools.layered import empirical_loss
from symbolic.topics.icgd import chain
from symbolic.topics.icgd.symbols import eta


@dataclass(frozen=True, eq=False)
class Chain:
    """One step of gradient descent on f(w, x) = p(N), and its emulation by sums of ReLUs where there is one.

    On float64 tensors, and on arrays of balls.
    """

    setting: StepSetting
    emulation: Emulation | None = None

    @cached_property
    def derivation(self) -> chain.LayerDerivation:
        return chain.derive_layers(self.setting.shape.N)

    def values(
        self, w: Array, x: Array, y: Array, wanted: Sequence[str] = (), functions: Mapping[str, Smooth] | None = None
    ) -> dict[str, Array]:
        """The exact taps p[j], r'[j], g, s[j] (n, m), gradient and w (D_w), or those that lead to the `wanted` ones.

        `functions` are r, r' and u; those of the setting by default.
        """
        return read_exact(self.derivation, self._at(w, x, y, functions or self.exact_functions), wanted)

    def bounds(self, w: Array, x: Array, y: Array, scope: str, names: Sequence[str]) -> dict[str, Array]:
        """The bounds on the errors of these steps, each of the largest token; on balls, as a proof."""
        at = AtHand(self._at(w, x, y, self.functions), local=scope == LOCAL, by_rules=False)
        reading = enclose(self.derivation, at, names)
        return {name: reading.bound(name) for name in names}

    def risk(self, w: Array, x: Array, y: Array) -> Array:
        """L_n(w)."""
        return empirical_loss(self.setting.shape, w, x, y, self._r[0], self._loss[0])

    # Operands.

    def _at(self, w: Array, x: Array, y: Array, functions: Mapping[str, Smooth]) -> Operands:
        bits = w.bits if isinstance(w, BallArray) else None
        return Operands(self.operands(w, x, y, functions), {eta: self.setting.eta}, bits)

    def operands(self, w: Array, x: Array, y: Array, functions: Mapping[str, Smooth]) -> dict[str, Any]:
        """By the handles of the derivation."""
        box = self.array(self.setting.shape.box(self.setting.B_v), like=w)
        matrices = {chain.label("V", j): V for j, V in enumerate(self.setting.shape.matrices(w), start=1)}
        return {"x": x, "y": y, "v": w, "W": box, "-W": -box, **matrices, **functions}

    def array(self, values: Any, like: Array) -> Array:
        """Float64 numbers as they are."""
        if isinstance(like, BallArray):
            return BallArray.exactly(values, like.bits)
        return torch.as_tensor(values, dtype=torch.float64, device=like.device)

    @cached_property
    def _r(self) -> list[ArrayFunction]:
        """r and its first three derivatives."""
        return [activation_formula(self.setting.activation, order) for order in range(4)]

    @cached_property
    def _loss(self) -> list[ArrayFunction]:
        """The loss of one coordinate, u and du/dt."""
        return [loss_formula(self.setting.loss, order) for order in range(3)]

    @cached_property
    def exact_functions(self) -> dict[str, Smooth]:
        return {"r": Smooth(self._r[0]), "r'": Smooth(self._r[1]), "u": Smooth(self._loss[1])}

    # A secant errs by at most h^2/8 |f''|, in the middle of a cell. Where the attack still looks for the right prompt,
    # that envelope stands in for the sawtooth of the true error, whose gradients lead nowhere.
    @cached_property
    def envelopes(self) -> dict[str, Smooth]:
        """r + h^2/8 r'' and r' + h^2/8 r''' in the place of the sums of ReLUs, h the width of the cells of each."""
        assert self.emulation is not None  # an envelope is that of an emulation
        r, r1, r2, r3 = self._r
        a, b = (found.width**2 / 8 for found in (self.emulation.r, self.emulation.r1))
        bent = {"r": Smooth(lambda z: r(z) + a * r2(z)), "r'": Smooth(lambda z: r1(z) + b * r3(z))}
        return {**self.exact_functions, **bent}

    @cached_property
    def functions(self) -> dict[str, Smooth]:
        """r, r' and u, and the sums of ReLUs for them, on the range that the emulation covers."""
        s, e, (r, *of_r), (_, u, u1) = self.setting, self.emulation, self._r, self._loss
        assert e is not None  # a chain that bounds errors has one
        sup = {order: float_above(s.supremum(order, e.r.radius)) for order in (2, 3, 4)}
        second = float_above(s.loss_supremum(2, e.ranges.outputs))

        def known(found: Any) -> dict[str, Any]:
            return {"error": float_above(found.error), "slope_error": float_above(found.slope_error)}

        return {
            "r": Smooth(r, e.r.relu_sum, tuple(of_r), {2: sup[2], 3: sup[3]}, **known(e.r)),
            "r'": Smooth(of_r[0], e.r1.relu_sum, tuple(of_r[1:]), {2: sup[3], 3: sup[4]}, **known(e.r1)),
            "u": Smooth(u, e.u.loss_sum, (u1,), {2: second}, **known(e.u)),
        }

    @cached_property
    def caps(self) -> tuple[float, float, float]:
        """sup |r'|, sup |r''| and sup |du/dt| on W."""
        s, e = self.setting, self.emulation
        assert e is not None  # as for `functions`
        suprema = (s.supremum(1, e.r.radius), s.supremum(2, e.r.radius), s.loss_supremum(1, e.ranges.outputs))
        slope, bend, pull = map(float_above, suprema)
        return slope, bend, pull
