"""The derivation of one step (symbolic.icgd.chain) at a prompt: the reference and the bounds are its readings.

Shapes: B prompts, n examples, D_w weights; on balls one prompt.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import flint
import torch
from torch import Tensor

from bridge.icgd.emulation import LOCAL, Emulation
from bridge.icgd.formulas import activation_formula, loss_formula
from bridge.icgd.setting import Setting
from bridge.readings import Instance, Operands, Smooth, enclose, read_exact
from bridge.readings.arrays import Array
from numeric.balls import BallArray, float_above, working_precision
from symbolic.icgd import chain

Number = Callable[[flint.arb], Any]  # of a certified supremum, for tensors or for balls


@dataclass(frozen=True)
class Chain:
    """One step of gradient descent on f(w, x) = p(N), and its emulation by sums of ReLUs where there is one."""

    setting: Setting
    emulation: Emulation | None = None

    @cached_property
    def derivation(self) -> chain.LayerDerivation:
        return chain.derive_layers(self.setting.shape.N)

    # Values: the reference.

    def reference(self, w: Tensor, x: Tensor, y: Tensor, *wanted: str) -> dict[str, Tensor]:
        """The exact taps p[j], r'[j], g, s[j] (B, n, m), gradient and w (B, D_w), or the `wanted` ones."""

        def at_one(w: Tensor, x: Tensor, y: Tensor) -> dict[str, Tensor]:
            return read_exact(self.derivation, self._operands(w, x, y, self._exact_functions), wanted)

        return torch.func.vmap(at_one)(w, x, y)

    def reference_on_balls(self, w: BallArray, x: BallArray, y: BallArray) -> dict[str, BallArray]:
        """The same at one prompt."""
        with working_precision(w.bits):
            return read_exact(self.derivation, self._operands(w, x, y, self._exact_functions, w.bits))

    # Errors: the bounds of a prompt.

    def bounds(self, w: Tensor, x: Tensor, y: Tensor, scope: str, name: str) -> Tensor:
        """The bound on the error of a step at each prompt, of its largest token: (B,)."""
        functions = self._on_tensors

        def at_one(w: Tensor, x: Tensor, y: Tensor) -> Tensor:
            return self._bound(self._operands(w, x, y, functions), scope, name)

        return torch.func.vmap(at_one)(w, x, y)

    def proved(self, w: BallArray, x: BallArray, y: BallArray, scope: str, name: str) -> flint.arb:
        """The same at one prompt: a proof."""
        with working_precision(w.bits):
            functions = self._functions(lambda ball: BallArray([ball], (), w.bits))
            return self._bound(self._operands(w, x, y, functions, w.bits), scope, name).balls[0]

    def _bound(self, operands: Operands, scope: str, name: str) -> Array:
        at = Instance(operands, local=scope == LOCAL, by_rules=False)
        bound = enclose(self.derivation, at, [name]).bound(name)
        assert bound is not None  # every step of the chain has an operation
        return bound

    # Operands.

    def _operands(
        self, w: Array, x: Array, y: Array, functions: Mapping[str, Smooth], bits: int | None = None
    ) -> Operands:
        shape = self.setting.shape
        box = torch.as_tensor(shape.box(self.setting.B_v), dtype=torch.float64, device=getattr(w, "device", None))
        corner = box if bits is None else BallArray.exactly(box, bits)
        pieces = zip(shape.slices, shape.sizes, strict=True)
        V = {chain.label("V", j): w[where].reshape(size) for j, (where, size) in enumerate(pieces, start=1)}
        letters = {chain.eta: self.setting.eta}
        return Operands({"x": x, "y": y, "v": w, "W": corner, "-W": -corner, **V, **functions}, letters, bits)

    @cached_property
    def _on_tensors(self) -> dict[str, Smooth]:
        return self._functions(float_above)

    @cached_property
    def _exact_functions(self) -> dict[str, Smooth]:
        r, r1 = (activation_formula(self.setting.activation, order) for order in (0, 1))
        return {"r": Smooth(r), "r'": Smooth(r1), "u": Smooth(loss_formula(self.setting.loss, 1))}

    def _functions(self, number: Number) -> dict[str, Smooth]:
        """r, r' and u, and the sums of ReLUs for them, on the range that the emulation covers."""
        s, e = self.setting, self.emulation
        assert e is not None  # a chain that bounds errors has one
        r, r1, r2, r3 = (activation_formula(s.activation, order) for order in range(4))
        u, u1 = (loss_formula(s.loss, order) for order in (1, 2))
        sup = {order: number(s.supremum(order, e.r.radius)) for order in (2, 3, 4)}
        second = number(s.loss_supremum(2, e.ranges.outputs))

        def known(found: Any) -> dict[str, Any]:
            return {"error": number(found.error), "slope_error": number(found.slope_error)}

        return {
            "r": Smooth(r, e.r.relu_sum, (r1, r2, r3), {2: sup[2], 3: sup[3]}, **known(e.r)),
            "r'": Smooth(r1, e.r1.relu_sum, (r2, r3), {2: sup[3], 3: sup[4]}, **known(e.r1)),
            "u": Smooth(u, e.u.loss_sum, (u1,), {2: second}, **known(e.u)),
        }
