"""The study of Corollary 1.1 and Lemma 14: L steps of the network against projected gradient descent, from one start.

Letters: wbar^l the network's iterates, w_GD^l those of gradient descent, G the gradient mapping, g_l the error of the
network's gradient at wbar^l. Shapes: B prompts, n examples, D_w weights.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any

import flint
import numpy as np
import sympy as sp
import torch
from torch import Tensor

from bridge.budget import Budget
from bridge.cost import Cost
from bridge.enclosures import supremum
from bridge.icgd.arithmetic import Array, Balls, Tensors, balls
from bridge.icgd.case import BALL_BITS, ROUNDED_UP
from bridge.icgd.emulation import LOCAL, Emulation, ranges
from bridge.icgd.exact_runs import CHECKS, refuted_row, repaired_row, run_of
from bridge.icgd.knobs import NotRepresentable
from bridge.icgd.outside import OutsideCase
from bridge.icgd.path import Problem, distances, gradient_errors, mean_of_descents, smoothness_along
from bridge.icgd.setting import Setting
from bridge.icgd.smoothness import gap_above, smoothness_of_layers, smoothness_on_W
from bridge.icgd.study import EmulatedCase, StepStudy, gradient_bound, plan_for, roughness, setting_of, step_cost
from bridge.lowering import lower
from bridge.measure import Found, evidence_at
from bridge.record import Row
from bridge.rows import ONE_INPUT, judged_row
from bridge.study import Inputs, torch_device, torch_dtype
from bridge.verdicts import Bound, Evidence
from numeric.balls import ball_maximum, float_above, working_precision
from numeric.exact_cost import TooLargeForExact
from numeric.icgd.exact import exact_reference, run_exact_icgd
from numeric.icgd.reference import empirical_loss, exact_step
from numeric.icgd.sampling import starts
from symbolic.activations import Loss
from symbolic.icgd import chain
from symbolic.icgd import symbols as letters
from symbolic.icgd import trajectory as theory
from symbolic.statements import Quantity, Result, UsageError

MAPPING, ZERO, ZERO_PATH = "gradient_mapping", "start.zero", "start.zero.path"


class TrajectoryCase(EmulatedCase):
    """L steps on one network: inputs w (B, D_w), the start, x (B, n, d_x), y (B, n, d_y).

    Random starts are those of a step: uniform in W, and corners of it. The attack moves prompts of all n examples: the
    printed bound depends on n, and after the first step the mean over tokens is no bound by the worst token.
    """

    def __init__(
        self,
        result: Result,
        params: Mapping[str, Any],
        setting: Setting,
        plan: Emulation | NotRepresentable,
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        super().__init__(result, params, setting, plan, dtype, device)
        self.steps = int(params["L"])
        known = ranges(setting, plan.accuracies.eps_r) if isinstance(plan, NotRepresentable) else plan.ranges
        chosen, t = setting.activation, setting.activation.t
        asked = self.values.get(letters.eps)
        guaranteed = self.ball(gradient_bound(setting.shape.N))
        at_zero = chosen.expr.subs(t, 0)
        self.asked = guaranteed if asked is None else flint.arb(asked)
        self.smoothness_of_layers = smoothness_of_layers(setting, known)
        self.values |= {
            letters.L: self.steps,
            letters.eps: guaranteed,
            theory.L_f: smoothness_on_W(setting, known),
            theory.gap: gap_above(setting, known),
            theory.r_0: supremum(chosen.expr, t, 0, 0),
            theory.r1_0: supremum(chosen.derivative(1), t, 0, 0),
            theory.u_0: supremum(
                setting.loss.gradient.subs(setting.loss.t, at_zero), setting.loss.y, -setting.B_y, setting.B_y
            ),
        }
        self._iterates: dict[bytes, list[np.ndarray]] = {}
        self._problems: dict[str, Problem] = {}

    # Inputs.

    def starts(self, count: int, seed: int) -> Inputs:
        s = self.setting
        return starts(s.shape, self.n, s.B_v, s.B_x, s.B_y, count, seed, torch.float64, self.device)

    def check_inputs(self, inputs: Inputs) -> None:
        super().check_inputs(inputs)
        if inputs["x"].shape[1] != self.n:
            raise UsageError(
                f"{self.result.id}: expected a prompt of n = {self.n} examples, got {inputs['x'].shape[1]}"
            )

    # Errors.

    def errors(self, inputs: Inputs, names: Sequence[str], *, attack: bool = False) -> dict[str, Tensor]:
        dtype = torch.float64 if attack else self.dtype
        w, x, y = (inputs[name].to(dtype) for name in ("w", "x", "y"))
        network = self.network(x.shape[1], dtype)
        near = self.follow(lambda w: network.run(w, x, y, taps=("w",))["w"], w, names)
        return self.measured(near, w, x, y, names)

    def envelope(self, inputs: Inputs, names: Sequence[str]) -> dict[str, Tensor]:
        s = self.setting
        w, x, y = (inputs[name] for name in ("w", "x", "y"))
        functions = *self._smooth, self._exact_functions[2]
        near = self.follow(lambda w: exact_step(s.shape, w, x, y, *functions, s.eta, s.B_v)["w"], w, names)
        return self.measured(near, w, x, y, names)

    @cached_property
    def _smooth(self) -> tuple[Callable[..., Tensor], Callable[..., Tensor]]:
        return self.emulation.envelopes()

    @cached_property
    def _exact_functions(self) -> tuple[Callable[..., Tensor], Callable[..., Tensor], Callable[..., Tensor]]:
        s = self.setting
        return s.on_tensors(0), s.on_tensors(1), s.loss_on_tensors(0)

    def reference(self, w: Tensor, x: Tensor, y: Tensor) -> dict[str, Tensor]:
        s = self.setting
        return exact_step(s.shape, w, x, y, *self._exact_functions, s.eta, s.B_v)

    def follow(self, step: Callable[[Tensor], Tensor], w: Tensor, names: Sequence[str]) -> list[Tensor]:
        """w^0, w^1, ...: as far as the named quantities reach."""
        points = [w]
        for _ in range(self.last(names)):
            points.append(step(points[-1]))
        return points

    def last(self, names: Sequence[str]) -> int:
        """The steps that these quantities take: l of path[l]; the mapping is over l < L."""
        return max(self.steps - 1 if name == MAPPING else step_of(name) for name in names)

    def measured(
        self, near: Sequence[Tensor], w: Tensor, x: Tensor, y: Tensor, names: Sequence[str]
    ) -> dict[str, Tensor]:
        """The quantities of the iterates `near`, in float64."""
        x, y, eta, found = x.double(), y.double(), self.setting.eta, {}
        paths = [name for name in names if name != MAPPING]
        if paths:
            exact = self.follow(lambda v: self.reference(v, x, y)["w"], w.double(), paths)
            found = {name: _norm(near[step_of(name)].double() - exact[step_of(name)]) for name in paths}
        if MAPPING in names:
            points = [each.double() for each in near[: self.steps]]
            squares = [((v - self.reference(v, x, y)["w"]) / eta).square().sum(-1) for v in points]  # each (B,)
            found[MAPPING] = torch.stack(squares, -1).mean(-1)
        return found

    def rounding_estimate(self) -> float:
        # A step rounds as one of `StepCase`, and later steps stretch that by 1 + eta L_f each; G divides it by eta, and
        # its square doubles it and multiplies by ||G|| <= ||gradient|| (the projection does not expand).
        s = self.setting
        growth = (1 + s.eta * float_above(self.values[theory.L_f])) ** self.steps
        size = self.ball(
            (chain.derive_blocks(sp.Integer(s.shape.N)).size / 2).subs(chain.worst_case(), simultaneous=True)
        )
        mapping = 1 + 2 * float_above(size) * s.shape.parameters**0.5 / s.eta
        return super().rounding_estimate() * self.steps * growth * mapping

    def memory(self, budget: Budget) -> int:
        shape = self.setting.shape
        neurons = sum(shape.widths) * 8
        attacked = budget.restarts * 8 * self.steps * self.n * (60 * neurons + 30 * shape.parameters)
        return super().memory(budget) + attacked

    # Exactly.

    def exact_iterates(self, inputs: Inputs, bits: int) -> list[np.ndarray]:
        """wbar^0 .. wbar^L as balls, each (D_w). Raises TooLargeForExact."""
        key = _key(inputs, str(bits))
        if key not in self._iterates:
            w, x, y = self.as_measured(inputs)
            construction = replace(self.construction(len(x)), steps=self.steps)
            found = run_exact_icgd(construction, w, x, y, bits=bits)
            points = np.array(found["trajectory" if self.steps > 1 else "w"].balls, dtype=object)
            self._iterates = {key: [balls(w), *points.reshape(self.steps, -1)]}
        return self._iterates[key]

    def as_measured(self, inputs: Inputs) -> tuple[np.ndarray, ...]:
        """w, x and y of one prompt in the case's dtype, as float64."""
        return tuple(inputs[name][0].detach().to(self.dtype).double().cpu().numpy() for name in ("w", "x", "y"))

    def _all_exact(self, inputs: Inputs, bits: int) -> dict[str, tuple[flint.arb, float]]:
        s, (w, x, y) = self.setting, self.as_measured(inputs)
        near = self.exact_iterates(inputs, bits)
        functions = s.on_balls(0, bits), s.on_balls(1, bits), s.loss_on_balls(0, bits)
        run = exact_reference(s.shape, w, x, y, *functions, eta=s.eta, B_v=s.B_v, steps=self.steps, bits=bits)
        target = np.array(run["trajectory" if self.steps > 1 else "w"].balls, dtype=object).reshape(self.steps, -1)
        with working_precision(bits):
            found = {f"path[{k + 1}]": _ball_norm(near[k + 1] - target[k]) for k in range(self.steps)}
            found[MAPPING] = self._exact_mapping(near, x, y, bits)
            return self._with_rounding(inputs, found, near, target)

    def _exact_mapping(self, near: Sequence[np.ndarray], x: np.ndarray, y: np.ndarray, bits: int) -> flint.arb:
        s = self.setting
        box, total = balls(s.shape.box(s.B_v)), flint.arb(0)
        for w in near[: self.steps]:
            moved = w - self.exact_gradient(w, x, y, bits) * flint.arb(s.eta)
            mapping = (w - _clipped(moved, box)) / flint.arb(s.eta)
            total += (mapping * mapping).sum()
        return total / self.steps

    def exact_gradient(self, w: np.ndarray, x: np.ndarray, y: np.ndarray, bits: int) -> np.ndarray:
        """The gradient of L_n at a w of balls (D_w), by (3.7) and (3.8)."""
        s = self.setting
        r, r1, u = (_entrywise(each) for each in (s.on_balls(0, bits), s.on_balls(1, bits), s.loss_on_balls(0, bits)))
        V, p, slopes = self.ball_matrices(w), [balls(x)], []
        for matrix in V:
            z = p[-1] @ matrix.T  # (n, m)
            p.append(r(z))
            slopes.append(r1(z))
        signal = slopes[-1] * u(p[-1], balls(y))
        blocks: list[np.ndarray] = []
        for j in reversed(range(s.shape.N)):
            blocks.insert(0, (signal.T @ p[j]).ravel() / (2 * len(x)))
            signal = slopes[j - 1] * (signal @ V[j]) if j else signal
        return np.concatenate(blocks)

    def ball_matrices(self, w: np.ndarray) -> list[np.ndarray]:
        shape = self.setting.shape
        return [w[where].reshape(size) for where, size in zip(shape.slices, shape.sizes, strict=True)]

    def _with_rounding(
        self, inputs: Inputs, found: Mapping[str, flint.arb], near: Sequence[np.ndarray], target: np.ndarray
    ) -> dict[str, tuple[flint.arb, float]]:
        """Beside each exact number, how far the float run strays: from both paths, or of the mean of squares itself."""
        tensors = [inputs[name].to(self.dtype) for name in ("w", "x", "y")]
        names = list(found)
        with torch.no_grad():
            w, x, y = tensors
            network = self.network(x.shape[1], self.dtype)
            floats = self.follow(lambda v: network.run(v, x, y, taps=("w",))["w"], w, names)
            references = self.follow(lambda v: self.reference(v, x.double(), y.double())["w"], w.double(), names)
            mean = float(self.measured(floats, w, x, y, [MAPPING])[MAPPING][0])
        rounded = {MAPPING: float_above(abs(found[MAPPING] - flint.arb(mean)))}
        for k in range(1, self.steps + 1):
            strays = [
                _ball_norm(exact - balls(point[0].double().cpu().numpy()))
                for exact, point in ((near[k], floats[k]), (target[k - 1], references[k]))
            ]
            rounded[f"path[{k}]"] = float_above(sum(strays, start=flint.arb(0)))
        return {name: (exact, rounded[name]) for name, exact in found.items()}

    # Bounds.

    def printed(self, quantity: Quantity) -> Bound | None:
        """With the eps that was asked for, where one was; Lemma 14 is read for eta <= 1/L_f, printed as eta <= L_f."""
        if quantity.printed is None:
            return None
        long = quantity.name == MAPPING and not self.values[theory.L_f] * self.setting.eta <= 1
        outside = "hypothesis violated: eta <= 1/L_f (Lemma 14, printed as eta <= L_f)" if long else ""
        return Bound(self.ball(quantity.printed.bound, {letters.eps: self.asked}), outside=outside)

    def instance(self, quantity: Quantity, scope: str, inputs: Inputs | None = None) -> Bound | None:
        if scope not in quantity.scopes:
            return None
        if scope == "network":
            known = {theory.L_f: self.smoothness_of_layers, letters.eps: flint.arb(self._network_bounds["gradient"])}
            return self._with_obligations(quantity, Bound(self.ball(quantity.general_bound(), known)), known)
        assert inputs is not None  # the engine gives the prompt whose bound it asks for
        return self.ball_bound(quantity.name, scope, inputs)

    def prompt_bounds(self, quantity: Quantity, inputs: Inputs, scope: str) -> Tensor:
        """Infinite where the steps are not known to be short (gradient_mapping). Constant to the attack, whose ratio
        so climbs by the error alone: a gradient through L propagations would take most of the time."""
        w, x, y = (inputs[name].detach() for name in ("w", "x", "y"))
        with torch.no_grad():
            near = [v.double() for v in self.network_path(w.to(self.dtype), x.to(self.dtype), y.to(self.dtype))]
            known = near, x.double(), y.double(), self.problem_on_tensors(scope)
            if quantity.name == MAPPING:
                return self.mapping_bound(*known)
            last = step_of(quantity.name)
            return distances(Tensors(), near[: last + 1], *known[1:])[-1]

    def mapping_bound(self, near: Sequence[Tensor], x: Tensor, y: Tensor, problem: Problem) -> Tensor:
        """2 (f(w^0) - f(w^L)) / (eta L) + the mean of g_l^2: the sum of the descents, knowing both its ends. (B,)"""
        ops = Tensors()
        falls = self.risk(near[0], x, y) - self.risk(near[-1], x, y)
        mean = mean_of_descents(gradient_errors(ops, near, x, y, problem), falls, problem.eta)
        steepest = torch.stack(smoothness_along(ops, near, x, y, problem), -1).amax(-1)
        return torch.where(problem.eta * steepest <= 1, mean, torch.inf)

    def network_path(self, w: Tensor, x: Tensor, y: Tensor) -> list[Tensor]:
        """wbar^0 .. wbar^L, each (B, D_w)."""
        network = self.network(x.shape[1], w.dtype)
        return self.follow(lambda v: network.run(v, x, y, taps=("w",))["w"], w, [f"path[{self.steps}]"])

    def risk(self, w: Tensor, x: Tensor, y: Tensor) -> Tensor:
        """L_n(w), (B,)."""
        s = self.setting
        return empirical_loss(s.shape, w, x, y, self._exact_functions[0], _loss_on_tensors(s.loss))

    def ball_bound(self, name: str, scope: str, inputs: Inputs) -> Bound | None:
        """The same at one prompt, as balls: a proof. None where the path is too large for exact arithmetic."""
        try:
            near = self.exact_iterates(inputs, BALL_BITS)
        except TooLargeForExact:
            return None
        e, ops = self.emulation, Balls()
        x, y = (balls(each) for each in self.as_measured(inputs)[1:])
        with working_precision(BALL_BITS):
            problem = self.problem_on_balls(scope)
            above = (e.r.error + e.r1.error + e.u.error) * ROUNDED_UP
            if name == MAPPING:
                bound = self._mapping_on_balls(near, x, y, problem)
                return replace(bound, ball=bound.ball * (1 + ROUNDED_UP) + above)
            distance = flint.arb(distances(ops, near[: step_of(name) + 1], x, y, problem)[-1])
            return Bound(distance * (1 + ROUNDED_UP) + above)

    def _mapping_on_balls(self, near: Sequence[np.ndarray], x: Array, y: Array, problem: Problem) -> Bound:
        ops, eta = Balls(), problem.eta
        gradients = [flint.arb(g) for g in gradient_errors(ops, near, x, y, problem)]
        falls = self.exact_risk(near[0], x, y) - self.exact_risk(near[-1], x, y)
        steepest = ball_maximum([flint.arb(each) for each in smoothness_along(ops, near, x, y, problem)])
        if not eta * steepest <= 1:
            why = "hypothesis not verified: eta L_f <= 1 along the path"
            return Bound(flint.arb("inf"), conditional=True, outside=why)
        return Bound(mean_of_descents(gradients, falls, eta))

    def exact_risk(self, w: Array, x: Array, y: Array) -> flint.arb:
        s = self.setting
        r, loss = (_entrywise(each) for each in (s.on_balls(0, BALL_BITS), _loss_on_balls(s.loss, BALL_BITS)))
        p = x
        for V in self.ball_matrices(w):
            p = r(p @ V.T)
        return loss(p, y).sum() / (2 * len(x))

    def problem_on_tensors(self, scope: str) -> Problem:
        if scope not in self._problems:
            slope, pull, smoothest, diameter = (float_above(cap) for cap in self._caps)
            s, knowledge = self.setting, self.emulation.knowledge(scope)
            self._problems[scope] = Problem(
                s.shape, *self._functions, knowledge, (slope, pull), smoothest, diameter, s.eta
            )
        return self._problems[scope]

    def problem_on_balls(self, scope: str) -> Problem:
        s, e, bits = self.setting, self.emulation, BALL_BITS
        functions = s.smooth_on_balls(e.r.radius, bits), s.loss_gradient_on_balls(e.ranges.outputs, bits)
        slope, pull, smoothest, diameter = self._caps
        knowledge = e.knowledge_on_balls(scope, bits)
        return Problem(s.shape, *functions, knowledge, (slope, pull), smoothest, diameter, flint.arb(s.eta))

    @cached_property
    def _caps(self) -> tuple[flint.arb, flint.arb, flint.arb, flint.arb]:
        """Of W: sup |r'|, sup |du/dt|, L_f, and the diameter of the box."""
        s, e = self.setting, self.emulation
        smoothest = self.smoothness_of_layers.min(self.values[theory.L_f])
        diameter = 2 * _ball_norm(balls(s.shape.box(s.B_v)))
        return s.supremum(1, e.r.radius), s.loss_supremum(1, e.ranges.outputs), smoothest, diameter

    def slack(self, quantity: Quantity, inputs: Inputs) -> dict[str, float]:
        return {}  # the steps of the recursion are the quantities path[1], path[2], ...

    def constants(self) -> dict[str, Evidence]:
        return {}  # they are those of one step

    # Checks.

    def checks(self, budget: Budget) -> list[Row]:
        rows = [self._zero(self._start_at_zero(budget), budget.without_attack())]
        if isinstance(self.plan, Emulation):
            rows.append(self._zero_path(self._start_at_zero(budget), budget.without_attack()))
        return rows

    def replay_check(self, name: str, inputs: Inputs) -> Row:
        if name in CHECKS:
            return refuted_row(self, CHECKS[name], CHECKS[name](run_of(inputs)))
        if name not in (ZERO, ZERO_PATH):
            return super().replay_check(name, inputs)
        self.check_inputs(inputs)
        if bool(inputs["w"].any()):
            raise UsageError(f"{self.result.id}: '{name}' is about the start w = 0; got another w")
        if name == ZERO:
            return self._zero(inputs, ONE_INPUT)
        if isinstance(self.plan, NotRepresentable):
            raise UsageError(f"witness: '{name}' cannot be run here: {self.plan.reason}")
        return self._zero_path(inputs, ONE_INPUT)

    def _start_at_zero(self, budget: Budget) -> Inputs:
        drawn = self.sample(budget.samples, budget.seed)
        return {**drawn, "w": torch.zeros_like(drawn["w"])}

    def _zero(self, inputs: Inputs, budget: Budget) -> Row:
        """The gradient of the risk at 0, of the prompt where it is largest."""
        quantity = theory.zero_quantity()
        w, x, y = (inputs[name].double() for name in ("w", "x", "y"))
        sizes = _norm(self.reference(w, x, y)["gradient"])
        worst = {name: value[sizes.argmax()].unsqueeze(0) for name, value in inputs.items()}
        measured = float(sizes.max())
        with working_precision(BALL_BITS):
            w_at, x_at, y_at = self.as_measured(worst)
            exact = _ball_norm(self.exact_gradient(balls(w_at), x_at, y_at, BALL_BITS))
            rounding = float_above(abs(exact - flint.arb(measured)))
        still = (
            "0 is a stationary point: projected gradient descent from it never moves, and the statement holds vacuously"
        )
        moves = "0 is not a stationary point: gradient descent moves from there"
        named = replace(quantity, remark=still if self.derived_zero(quantity) else moves)
        found = Found(worst, Evidence(measured, exact, rounding))
        return judged_row(self, named, None, {"derived": self.derived(named)}, [found], budget)

    def derived_zero(self, quantity: Quantity) -> bool:
        bound = self.derived(quantity)
        return bound is not None and bool(bound.ball == 0)

    def _zero_path(self, inputs: Inputs, budget: Budget) -> Row:
        """L steps from 0, of the prompt where the network strays most."""
        last = self.result.quantity(f"path[{self.steps}]")
        named = replace(last, name=ZERO_PATH, meaning=f"{last.meaning}, after {self.steps} steps from w = 0")
        with torch.no_grad():
            worst = int(self.errors(inputs, [last.name])[last.name].argmax())
        found = evidence_at(self, last, {name: value[worst : worst + 1] for name, value in inputs.items()})
        tiers = {
            "printed": self.printed(last),
            "derived": self.derived(last),
            "instance": self.instance(last, "network"),
        }
        return judged_row(self, named, None, tiers, [found], budget)


def step_of(name: str) -> int:
    """l of path[l]."""
    return int(name.partition("[")[2].rstrip("]"))


def _norm(vectors: Tensor) -> Tensor:
    return torch.linalg.vector_norm(vectors, dim=-1)


def _ball_norm(vector: np.ndarray) -> flint.arb:
    return flint.arb(Balls().norm(vector))


def _clipped(vector: np.ndarray, box: np.ndarray) -> np.ndarray:
    return np.array([each.min(top).max(-top) for each, top in zip(vector, box, strict=True)], dtype=object)


def _entrywise(function: Callable[..., flint.arb]) -> Callable[..., np.ndarray]:
    """On arrays of balls, at the working precision."""

    def on_arrays(*arrays: np.ndarray) -> np.ndarray:
        entries = [function(*each) for each in zip(*(array.ravel() for array in arrays), strict=True)]
        return np.array(entries, dtype=object).reshape(arrays[0].shape)

    return on_arrays


@lru_cache(maxsize=16)
def _loss_on_tensors(chosen: Loss) -> Callable[..., Tensor]:
    return lower(chosen.expr, "torch", args=(chosen.t, chosen.y))


@lru_cache(maxsize=16)
def _loss_on_balls(chosen: Loss, bits: int) -> Callable[..., flint.arb]:
    return lower(chosen.expr, "arb", args=(chosen.t, chosen.y), bits=bits)


def _key(inputs: Inputs, about: str) -> bytes:
    tensors = (inputs[name].detach().double().cpu().numpy().tobytes() for name in ("w", "x", "y"))
    return about.encode() + b"".join(tensors)


class TrajectoryStudy(StepStudy):
    """Corollary 1.1 and Lemma 14: see `TrajectoryCase`."""

    through_network = (*StepStudy.through_network, "L")
    searched = MappingProxyType({**StepStudy.searched, "K": (None, 1 << 12)})  # the sums of ReLUs grow with K

    def __init__(self) -> None:
        self.result = theory.TRAJECTORY
        self.main_quantity = "path[1]"

    # Each of L iterates is run, attacked and enclosed from the start: L^2 / 2 steps.
    def cost(self, sizes: Mapping[str, float], budget: Budget | None) -> Cost:
        steps, layers = sizes["L"], sizes["N"]
        derived = super().cost(sizes, None) + Cost(2**14 * steps**2, 0.01 * steps)
        if budget is None:
            return derived
        one = step_cost(sizes, replace(budget, restarts=budget.restarts * max(1, int(steps * sizes["n"]))))
        runs = layers * steps**2 * (0.02 + 1e-3 * budget.attack)
        return derived + Cost(one.bytes, runs + one.seconds * steps / 2)

    def errata(self, quantity: Quantity) -> tuple[str, ...]:
        """Those of the quantity that exact runs show, and its remark."""
        about_mapping = quantity.name == MAPPING
        shown = [check for check in theory.WITNESSES if (check in theory.OF_THE_MAPPING) is about_mapping]
        words = [f"erratum.{check.__name__}: {check().erratum.words}".rstrip(".") for check in shown]
        return (*words, *filter(None, [quantity.remark]))

    def refutable(self) -> tuple[Quantity, ...]:
        return tuple(theory.refuted_quantity(check) for check in theory.WITNESSES)

    def checks(self) -> list[Row]:
        case = self.case({}, seed=0, dtype="float64", device="cpu")
        pairs = ((check, check()) for check in theory.WITNESSES)
        return [row(case, *pair) for pair in pairs for row in (refuted_row, repaired_row)]

    def case(self, params: Mapping[str, Any], *, seed: int, dtype: str, device: str) -> TrajectoryCase | OutsideCase:
        resolved = self.resolved(params)
        quantities = theory.quantities_for(int(resolved["L"]))
        return self._case(resolved, quantities, torch_dtype(dtype), torch_device(device))

    def case_of(self, params: Mapping[str, Any], quantity: str) -> TrajectoryCase | OutsideCase:
        resolved = self.resolved(params)
        steps = int(resolved["L"])
        return self._case(resolved, (theory.quantity_of(quantity, steps),), torch.float64, torch.device("cpu"))

    def _case(
        self, resolved: dict[str, Any], quantities: tuple[Quantity, ...], dtype: torch.dtype, device: torch.device
    ) -> TrajectoryCase | OutsideCase:
        written = replace(self.result, quantities=_scoped(quantities, int(resolved["L"])))
        why = roughness(resolved)
        if why:
            return OutsideCase(written, resolved, why, device)
        setting = setting_of(resolved)
        return TrajectoryCase(written, resolved, setting, plan_for(setting, resolved), dtype, device)


def _scoped(quantities: tuple[Quantity, ...], steps: int) -> tuple[Quantity, ...]:
    """The last distance and the mapping have bounds of their own at each prompt."""
    scopes = {f"path[{steps}]": ("network", "prompt", LOCAL), MAPPING: ("network", "prompt")}
    return tuple(replace(each, scopes=scopes.get(each.name, each.scopes)) for each in quantities)
