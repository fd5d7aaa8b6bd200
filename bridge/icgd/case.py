"""In-context gradient descent at one point of the grid: networks, references, inputs, and the bounds of every scope."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property, lru_cache
from typing import Any

import flint
import numpy as np
import sympy as sp
import torch
from torch import Tensor

from bridge.budget import Budget
from bridge.case_batch import CaseBatch
from bridge.goals import Goal
from bridge.icgd.chain import Chain
from bridge.icgd.emulation import Emulation
from bridge.icgd.setting import Setting
from bridge.readings import Reading, Smooth
from bridge.study import Case, Inputs
from bridge.verdicts import Bound
from numeric.balls import BallArray, ball_maximum, float_above, working_precision
from numeric.exact import ball_matrix, matrix_of_rows
from numeric.icgd.construction import IcgdConstruction, icgd_construction
from numeric.icgd.exact import run_exact_icgd
from numeric.icgd.network import IcgdNetwork
from numeric.icgd.sampling import project, prompts, starts
from symbolic.statements import Quantity, Result, UsageError

BALL_BITS = 192
ROUNDED_UP = flint.arb(2) ** -40  # relative: at some prompts a bound is attained, which balls alone cannot decide
SIZES = ("range_r", "range_r1", "range_u", "size_s")  # not errors: what has to be covered
REMEMBERED = 64  # exact runs: rows of several quantities are about one input
WHOLE_VECTOR = ("gradient", "w")  # measured in the 2-norm of all entries


class StepCase(Case):
    """One projected gradient step on one network: inputs w (B, D_w), x (B, n, d_x), y (B, n, d_y).

    Random inputs: w uniform in the box W at even places and at random corners of it at odd ones (rows of norm B_v),
    x and y uniform in their balls. The attack moves w, x and y of prompts with one token: the gradient is a mean over
    tokens, so that no prompt errs more than its worst token alone.
    """

    def __init__(
        self,
        result: Result,
        params: Mapping[str, Any],
        values: Mapping[sp.Symbol, Any],
        setting: Setting,
        emulation: Emulation | None,
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        self.result, self.setting, self._emulation = result, setting, emulation
        self.params = self.full_params = dict(params)
        self.values = dict(values)
        self.n = int(params["n"])
        self.dtype, self.device = dtype, device
        self._readings: dict[tuple[bytes, str], Reading] = {}
        self._exact: dict[tuple[bytes, int], dict[str, tuple[flint.arb, float]]] = {}

    @property
    def emulation(self) -> Emulation:
        """The sums of ReLUs; a case without any is refused before it comes to them."""
        assert self._emulation is not None
        return self._emulation

    # Inputs.

    def sample(self, count: int, seed: int) -> Inputs:
        s = self.setting
        drawn = prompts(s.shape, self.n, s.B_v, s.B_x, s.B_y, count, seed, self.dtype, self.device)
        box = torch.as_tensor(s.shape.box(s.B_v), dtype=self.dtype, device=self.device)  # (D_w)
        corners = torch.where(drawn["w"] < 0, -box, box)
        odd = torch.arange(count, device=self.device)[:, None] % 2 == 1  # (count, 1)
        return self.project({**drawn, "w": torch.where(odd, corners, drawn["w"])})

    def starts(self, count: int, seed: int) -> Inputs:
        s = self.setting
        return starts(s.shape, 1, s.B_v, s.B_x, s.B_y, count, seed, torch.float64, self.device)

    def project(self, inputs: Inputs) -> Inputs:
        s = self.setting
        return project(s.shape, inputs, s.B_v, s.B_x, s.B_y)

    def check_inputs(self, inputs: Inputs) -> None:
        s, wanted = self.setting, ("w", "x", "y")
        shapes = {name: tuple(inputs[name].shape) for name in wanted if name in inputs}
        n = shapes.get("x", (1, self.n))[1:2]
        expected = {"w": (1, s.shape.parameters), "x": (1, *n, s.shape.d_x), "y": (1, *n, s.shape.d_y)}
        if shapes != expected:
            raise UsageError(f"{self.result.id}: expected a prompt of shapes {expected}, got {shapes or 'nothing'}")
        moved = self.project({name: inputs[name].double() for name in wanted})
        far = [name for name in wanted if not torch.allclose(moved[name], inputs[name].double(), rtol=1e-12, atol=0)]
        if far:
            raise UsageError(
                f"{self.result.id}: hypothesis violated: {', '.join(far)} of the prompt exceed their bounds"
            )

    # Errors.

    def network(self, n: int, dtype: torch.dtype) -> IcgdNetwork:
        return self._networks(n, dtype)

    @cached_property
    def _networks(self) -> Any:
        @lru_cache(maxsize=16)
        def built(n: int, dtype: torch.dtype) -> IcgdNetwork:
            return IcgdNetwork(self.construction(n), dtype=dtype, device=self.device)

        return built

    def construction(self, n: int) -> IcgdConstruction:
        """The network for prompts of n examples: one weight of (D.16) depends on n."""
        e, s = self.emulation, self.setting
        return icgd_construction(
            s.shape, e.r.relu_sum, e.r1.relu_sum, e.u.loss_sum, eta=s.eta, B_v=s.B_v, n=n, bound=self.mask_bound
        )

    @cached_property
    def mask_bound(self) -> float:
        """R_3 of (D.14): what |p(N)[k]|, |y[k]| and 1 do not exceed at the query."""
        return max(1.0, self.emulation.ranges.outputs, self.setting.B_y)

    def errors(self, inputs: Inputs, names: Sequence[str], *, attack: bool = False) -> dict[str, Tensor]:
        dtype = torch.float64 if attack else self.dtype
        w, x, y = (inputs[name].to(dtype) for name in ("w", "x", "y"))
        found = self.network(x.shape[1], dtype).run(w, x, y)
        sizes = {name: self.size(name, found, w, x, y) for name in names if name in SIZES}
        target = self.reference(w.double(), x.double(), y.double()) if len(sizes) < len(names) else {}
        taps = {name: tap_of(name) for name in names if name not in sizes}
        return sizes | {name: distance(name, found[tap].double() - target[tap]) for name, tap in taps.items()}

    def size(self, name: str, taps: Mapping[str, Tensor], w: Tensor, x: Tensor, y: Tensor) -> Tensor:
        """What a range or a size has to cover, of the network itself: (B)."""
        shape = self.setting.shape
        if name == "size_s":
            return torch.stack([taps[f"s[{j}]"].double().abs().flatten(1).amax(-1) for j in self.layers], -1).amax(-1)
        if name.startswith("range_u"):
            return torch.maximum(_largest(taps[f"p[{shape.N}]"]), _largest(y))
        p = [x, *(taps[f"p[{j}]"] for j in self.layers)]
        scores = [_largest(p[j] @ V.mT) for j, V in enumerate(shape.matrices(w))]
        return torch.stack(scores, -1).amax(-1)

    @property
    def layers(self) -> range:
        return range(1, self.setting.shape.N + 1)

    def reference(self, w: Tensor, x: Tensor, y: Tensor) -> dict[str, Tensor]:
        """The exact taps, in float64."""
        return self.chain.batched(self.chain.values, w, x, y)

    def envelope(self, inputs: Inputs, names: Sequence[str]) -> dict[str, Tensor]:
        """What the errors would be if every secant erred as in the middle of its cell: smooth in the inputs."""
        w, x, y = (inputs[name] for name in ("w", "x", "y"))
        found = self.chain.batched(self.smooth_values, w, x, y)
        sizes = {name: self.size(name, found, w, x, y) for name in names if name in SIZES}
        target = self.reference(w, x, y)
        taps = {name: tap_of(name) for name in names if name not in sizes}
        return sizes | {name: distance(name, found[tap] - target[tap]) for name, tap in taps.items()}

    def smooth_values(self, w: Tensor, x: Tensor, y: Tensor) -> dict[str, Tensor]:
        """The taps of one prompt, with the envelopes of the sums of ReLUs for r and r' in the place of both."""
        r, r1 = (Smooth(each) for each in self.emulation.envelopes())
        return self.chain.values(w, x, y, functions={**self.chain.exact_functions, "r": r, "r'": r1})

    def exact(self, inputs: Inputs, names: Sequence[str], bits: int) -> dict[str, tuple[flint.arb, float]]:
        bits = max(bits, BALL_BITS)
        key = (b"".join(inputs[name].double().cpu().numpy().tobytes() for name in ("w", "x", "y")), bits)
        if key not in self._exact:
            if len(self._exact) >= REMEMBERED:
                self._exact.clear()
            self._exact[key] = self._all_exact(inputs, bits)
        return {name: self._exact[key][name] for name in names}

    def _all_exact(self, inputs: Inputs, bits: int) -> dict[str, tuple[flint.arb, float]]:
        tensors = [inputs[name].to(self.dtype) for name in ("w", "x", "y")]
        w, x, y = (tensor[0].double().cpu().numpy() for tensor in tensors)
        network = run_exact_icgd(self.construction(len(x)), w, x, y, bits=bits)
        w_at, x_at, y_at = (BallArray.exactly(each, bits) for each in (w, x, y))
        target = self.chain_on_balls(bits).values(w_at, x_at, y_at)
        with torch.no_grad():
            floats = self.network(len(x), self.dtype).run(*tensors)
            float_target = self.reference(*(tensor.double() for tensor in tensors))
        found = {}
        for name in (q.name for q in self.result.quantities if q.scopes):
            if name in SIZES:
                found[name] = self._exact_size(name, network, floats, (w, x, y), tensors)
                continue
            tap = tap_of(name)
            rounding = [
                float_above(ball_distance(name, exact[tap] - values[tap][0].double().cpu().numpy()))
                for exact, values in ((network, floats), (target, float_target))
            ]
            found[name] = (ball_distance(name, network[tap] - target[tap]), sum(rounding))
        return found

    def _exact_size(
        self, name: str, taps: Mapping[str, BallArray], floats: Mapping[str, Tensor], point: Any, tensors: Any
    ) -> tuple[flint.arb, float]:
        w, x, y = point
        measured = float(self.size(name, floats, *tensors)[0])
        bits = taps["w"].bits
        with working_precision(bits):
            if name == "size_s":
                exact = ball_maximum([taps[f"s[{j}]"].sup_norm() for j in self.layers])
            elif name.startswith("range_u"):
                exact = taps[f"p[{self.setting.shape.N}]"].sup_norm().max(flint.arb(float(np.abs(y).max())))
            else:
                p = [ball_matrix(x), *(_as_matrix(taps[f"p[{j}]"]) for j in self.layers)]
                shape = self.setting.shape
                V = [ball_matrix(w[where].reshape(size)) for where, size in zip(shape.slices, shape.sizes, strict=True)]
                scores = [(p[j] * matrix.transpose()).entries() for j, matrix in enumerate(V)]
                exact = ball_maximum([abs(ball) for entries in scores for ball in entries])
            return exact, float_above(abs(exact - flint.arb(measured)))

    def rounding_estimate(self) -> float:
        # To first order: sums of the width of a layer, once a layer forwards and backwards, of numbers as large as the
        # largest that occurs; what they err by grows like the errors of the sums of ReLUs do.
        widest = max(self.setting.shape.widths)
        return torch.finfo(self.dtype).eps * 4 * self.setting.shape.N * (widest + 8) * self.amplification()

    def amplification(self) -> float:
        """At least 1: how far an error of size 1 in every function goes, times the largest number that occurs."""
        return 1.0

    def memory(self, budget: Budget) -> int:
        # About 40 tensors of a token's neurons and 6 of the weights for each prompt, kept by autograd in the attack.
        shape = self.setting.shape
        neurons = sum(shape.widths) * 8
        measured = min(budget.samples, 512) * (self.n + 1) * neurons * 40 + budget.samples * shape.parameters * 16
        return measured + budget.restarts * 8 * (60 * neurons + 30 * shape.parameters)

    # Attack.

    has_envelope = True

    @property
    def company(self) -> Hashable:
        return id(self)

    def batch(self, cells: Sequence[tuple[Case, Goal]], budget: Budget) -> CaseBatch:
        return CaseBatch(self, [goal for _, goal in cells], budget)

    def search_memory(self, budget: Budget) -> int:
        return self.memory(replace(budget, samples=0))

    # Bounds.

    @cached_property
    def chain(self) -> Chain:
        return Chain(self.setting, self._emulation)

    @cached_property
    def chain_on_balls(self) -> Callable[[int], Chain]:
        return cache(lambda bits: Chain(self.setting, self._emulation, bits))

    def prompt_bounds(self, quantity: Quantity, inputs: Inputs, scope: str) -> Tensor:
        return self.bounds_at([quantity.name], inputs, scope)[quantity.name]

    def bounds_at(self, names: Sequence[str], inputs: Inputs, scope: str) -> dict[str, Tensor]:
        steps = {name: step_of(name) for name in names}

        def at_one(w: Tensor, x: Tensor, y: Tensor) -> dict[str, Tensor]:
            return self.chain.bounds(w, x, y, scope, list(dict.fromkeys(steps.values())))

        found = self.chain.batched(at_one, *(inputs[name].double() for name in ("w", "x", "y")))
        return {name: found[step] for name, step in steps.items()}

    def prompt_bound(self, quantity: Quantity, scope: str, inputs: Inputs) -> Bound:
        """The bound at one prompt as a ball: a proof."""
        e, point = self.emulation, [inputs[name][0].to(self.dtype).double().cpu() for name in ("w", "x", "y")]
        key = b"".join(each.numpy().tobytes() for each in point), scope
        with working_precision(BALL_BITS):
            if key not in self._readings:
                w, x, y = (BallArray.exactly(each, BALL_BITS) for each in point)
                self._readings = {key: self.chain_on_balls(BALL_BITS).reading(w, x, y, scope, [step_of(quantity.name)])}
            found = self._readings[key].bound(step_of(quantity.name))
            assert found is not None  # every step of the chain has an enclosure
            bound = found.balls[0]
            return Bound(bound + (bound + e.r.error + e.r1.error + e.u.error) * ROUNDED_UP)


def _largest(tokens: Tensor) -> Tensor:
    return tokens.double().abs().flatten(1).amax(-1)  # (B)


def _as_matrix(array: BallArray) -> Any:
    rows, columns = array.shape
    return matrix_of_rows([list(array.balls[row * columns : (row + 1) * columns]) for row in range(rows)], columns)


def tap_of(name: str) -> str:
    """The tap that a quantity measures: s[2] for s[2].max, w for w.requested."""
    return name.partition(".")[0]


def step_of(name: str) -> str:
    """The step of the derivation: w for w.requested."""
    return name if name.endswith(".max") else tap_of(name)


def distance(name: str, difference: Tensor) -> Tensor:
    """The quantity's norm, of the worst token: (B)."""
    tap = tap_of(name)
    if tap in WHOLE_VECTOR:
        return torch.linalg.vector_norm(difference, dim=-1)
    if name.endswith(".max") or tap.startswith("r'"):
        return difference.abs().flatten(1).amax(-1)
    return torch.linalg.vector_norm(difference, dim=-1).amax(-1)


def ball_distance(name: str, difference: BallArray) -> flint.arb:
    """The same for one prompt."""
    tap = tap_of(name)
    with working_precision(difference.bits):
        if tap in WHOLE_VECTOR:
            return _two_norm(difference.balls)
        if name.endswith(".max") or tap.startswith("r'"):
            return difference.sup_norm()
        width = difference.shape[-1]
        tokens = [difference.balls[start : start + width] for start in range(0, len(difference.balls), width)]
        return ball_maximum([_two_norm(token) for token in tokens])


def _two_norm(entries: Sequence[flint.arb]) -> flint.arb:
    square = sum((ball * ball for ball in entries), start=flint.arb(0))
    return square.sqrt() if square > 0 else flint.arb(0).union(square.upper().max(flint.arb(0)).sqrt())
