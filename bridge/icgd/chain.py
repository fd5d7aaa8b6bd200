"""The derivation of one step (symbolic.icgd.chain) at a prompt: the reference and the bounds are its readings.

Shapes, of one prompt: n examples, D_w weights; a batch has B of them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import flint
import torch
from torch import Tensor

from bridge.icgd.emulation import LOCAL, Emulation
from bridge.icgd.formulas import activation_formula, loss_formula
from bridge.icgd.setting import Setting
from bridge.readings import Instance, Operands, Reading, Smooth, enclose, read, read_exact
from bridge.readings.arrays import Array
from numeric.balls import BallArray, float_above
from symbolic.icgd import chain
from symbolic.icgd.symbols import eta


@dataclass(frozen=True, eq=False)
class Chain:
    """One step of gradient descent on f(w, x) = p(N), and its emulation by sums of ReLUs where there is one.

    On float64 tensors, or on arrays of balls at `bits` bits.
    """

    setting: Setting
    emulation: Emulation | None = None
    bits: int | None = None

    @cached_property
    def derivation(self) -> chain.LayerDerivation:
        return chain.derive_layers(self.setting.shape.N)

    def values(
        self,
        w: Array,
        x: Array,
        y: Array,
        wanted: Sequence[str] = (),
        *,
        functions: Mapping[str, Smooth] | None = None,
    ) -> dict[str, Array]:
        """The exact taps p[j], r'[j], g, s[j] (n, m), gradient and w (D_w), or those that lead to the `wanted` ones.

        `functions` are r, r' and u; those of the setting by default.
        """
        return read_exact(self.derivation, self._operands(w, x, y, functions or self.exact_functions), wanted)

    def emulated(self, w: Array, x: Array, y: Array) -> dict[str, Array]:
        """The same taps with the sums of ReLUs in the place of r, r' and u: what the network has to compute."""
        found = read(self.derivation, self._operands(w, x, y, self.functions))
        return {name: each.emulated for name, each in found.items()}

    def reading(self, w: Array, x: Array, y: Array, scope: str, wanted: Sequence[str] = ()) -> Reading:
        """What is known of the errors of the steps at a prompt; on balls, as a proof."""
        at = Instance(self._operands(w, x, y, self.functions), local=scope == LOCAL, by_rules=False)
        return enclose(self.derivation, at, wanted)

    def bounds(self, w: Array, x: Array, y: Array, scope: str, names: Sequence[str]) -> dict[str, Array]:
        """The bounds on the errors of these steps, each of the largest token."""
        reading, found = self.reading(w, x, y, scope, names), {}
        for name in names:
            found[name] = reading.bound(name)
            assert found[name] is not None  # every step of the chain has an enclosure
        return found

    def risk(self, w: Array, x: Array, y: Array) -> Array:
        """L_n(w) = (1/2n) sum_i sum_k loss(p_i(N)[k], y_i[k]) (wu2024, eq. (2.2))."""
        last = chain.label("p", self.setting.shape.N)
        return self._loss(self.values(w, x, y, [last])[last], y).sum() / (2 * x.shape[-2])

    @cached_property
    def _loss(self) -> Callable[..., Array]:
        return loss_formula(self.setting.loss)

    def batched(self, function: Callable[..., Any], *arrays: Tensor) -> Any:
        """The function at each prompt of a batch."""
        return torch.func.vmap(function)(*arrays)

    # Operands.

    def _operands(self, w: Array, x: Array, y: Array, functions: Mapping[str, Smooth]) -> Operands:
        V = {chain.label("V", j): matrix for j, matrix in enumerate(self.matrices(w), start=1)}
        box = self.array(self.setting.shape.box(self.setting.B_v), like=w)
        return Operands({"x": x, "y": y, "v": w, "W": box, "-W": -box, **V, **functions}, self._letters, self.bits)

    @cached_property
    def _letters(self) -> dict[Any, float]:
        return {eta: self.setting.eta}

    def matrices(self, w: Array) -> list[Array]:
        """V_1, ..., V_N of w."""
        pieces = zip(self.setting.shape.slices, self.setting.shape.sizes, strict=True)
        return [w[where].reshape(size) for where, size in pieces]

    def array(self, values: Any, like: Array = None) -> Array:
        """Float64 numbers as they are."""
        if self.bits is not None:
            return BallArray.exactly(values, self.bits)
        return torch.as_tensor(values, dtype=torch.float64, device=like.device if like is not None else None)

    def number(self, ball: flint.arb) -> Any:
        """A bound, rounded up on tensors."""
        return float_above(ball) if self.bits is None else BallArray([ball], (), self.bits)

    @cached_property
    def exact_functions(self) -> dict[str, Smooth]:
        r, r1 = (activation_formula(self.setting.activation, order) for order in (0, 1))
        return {"r": Smooth(r), "r'": Smooth(r1), "u": Smooth(loss_formula(self.setting.loss, 1))}

    @cached_property
    def functions(self) -> dict[str, Smooth]:
        """r, r' and u, and the sums of ReLUs for them, on the range that the emulation covers."""
        s, e = self.setting, self.emulation
        assert e is not None  # a chain that bounds errors has one
        r, r1, r2, r3 = (activation_formula(s.activation, order) for order in range(4))
        u, u1 = (loss_formula(s.loss, order) for order in (1, 2))
        sup = {order: self.number(s.supremum(order, e.r.radius)) for order in (2, 3, 4)}
        second = self.number(s.loss_supremum(2, e.ranges.outputs))

        def known(found: Any) -> dict[str, Any]:
            return {"error": self.number(found.error), "slope_error": self.number(found.slope_error)}

        return {
            "r": Smooth(r, e.r.relu_sum, (r1, r2, r3), {2: sup[2], 3: sup[3]}, **known(e.r)),
            "r'": Smooth(r1, e.r1.relu_sum, (r2, r3), {2: sup[3], 3: sup[4]}, **known(e.r1)),
            "u": Smooth(u, e.u.loss_sum, (u1,), {2: second}, **known(e.u)),
        }
