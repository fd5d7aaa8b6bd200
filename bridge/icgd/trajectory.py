"""The study of Corollary 1.1 and Lemma 14: L steps of the network against projected gradient descent, from one start.

Letters: wbar^l the network's iterates, w_GD^l those of gradient descent, G the gradient mapping, g_l the error of the
network's gradient at wbar^l. Shapes: B prompts, n examples, D_w weights.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
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
from bridge.icgd.case import BALL_BITS, ROUNDED_UP
from bridge.icgd.chain import Chain
from bridge.icgd.emulation import LOCAL, Emulation, ranges
from bridge.icgd.exact_runs import CHECKS, refuted_row, repaired_row, run_of
from bridge.icgd.knobs import NotRepresentable
from bridge.icgd.outside import OutsideCase
from bridge.icgd.path import Path, mean_of_descents
from bridge.icgd.setting import Setting
from bridge.icgd.smoothness import Caps, gap_above, smoothness_of_layers, smoothness_on_W
from bridge.icgd.study import EmulatedCase, StepStudy, gradient_bound, plan_for, roughness, setting_of, step_cost
from bridge.measure import Found, evidence_at
from bridge.readings.arrays import Array
from bridge.record import Row
from bridge.rows import ONE_INPUT, judged_row
from bridge.study import Inputs, torch_device, torch_dtype
from bridge.verdicts import Bound, Evidence
from numeric.balls import BallArray, ball_maximum, float_above, working_precision
from numeric.exact_cost import TooLargeForExact
from numeric.icgd.exact import run_exact_icgd
from numeric.icgd.sampling import starts
from symbolic.icgd import chain, exact_runs
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
        self._iterates: dict[bytes, list[BallArray]] = {}

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
        w, x, y = (inputs[name] for name in ("w", "x", "y"))
        near = self.follow(lambda w: self.chain.batched(self.smooth_values, w, x, y)["w"], w, names)
        return self.measured(near, w, x, y, names)

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

    def exact_iterates(self, inputs: Inputs, bits: int) -> list[BallArray]:
        """wbar^0 .. wbar^L, each (D_w). Raises TooLargeForExact."""
        key = _key(inputs, str(bits))
        if key not in self._iterates:
            w, x, y = self.as_measured(inputs)
            construction = replace(self.construction(len(x)), steps=self.steps)
            found = run_exact_icgd(construction, w, x, y, bits=bits)
            points = found["trajectory" if self.steps > 1 else "w"].reshape(self.steps, -1)
            self._iterates = {key: [BallArray.exactly(w, bits), *points.unbind(0)]}
        return self._iterates[key]

    def as_measured(self, inputs: Inputs) -> tuple[np.ndarray, ...]:
        """w, x and y of one prompt in the case's dtype, as float64."""
        return tuple(inputs[name][0].detach().to(self.dtype).double().cpu().numpy() for name in ("w", "x", "y"))

    def _all_exact(self, inputs: Inputs, bits: int) -> dict[str, tuple[flint.arb, float]]:
        w, x, y = (BallArray.exactly(each, bits) for each in self.as_measured(inputs))
        near, chain, target = self.exact_iterates(inputs, bits), self.chain_on_balls(bits), [w]
        with working_precision(bits):
            for _ in range(self.steps):
                target.append(chain.values(target[-1], x, y, ["w"])["w"])
            found = {f"path[{k}]": _norm(near[k] - target[k]).balls[0] for k in range(1, self.steps + 1)}
            found[MAPPING] = self._exact_mapping(chain, near, x, y).balls[0]
            return self._with_rounding(inputs, found, near, target)

    def _exact_mapping(self, chain: Chain, near: Sequence[BallArray], x: BallArray, y: BallArray) -> Array:
        eta = chain.array(self.setting.eta)
        mappings = [(w - chain.values(w, x, y, ["w"])["w"]) / eta for w in near[: self.steps]]
        return torch.stack([(each * each).sum() for each in mappings]).mean()

    def _with_rounding(
        self, inputs: Inputs, found: Mapping[str, flint.arb], near: Sequence[BallArray], target: Sequence[BallArray]
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
                _norm(exact - BallArray.exactly(point[0].double().cpu(), exact.bits)).balls[0]
                for exact, point in ((near[k], floats[k]), (target[k], references[k]))
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

    def bounds_at(self, names: Sequence[str], inputs: Inputs, scope: str) -> dict[str, Tensor]:
        return {name: self.prompt_bounds(self.result.quantity(name), inputs, scope) for name in names}

    def prompt_bounds(self, quantity: Quantity, inputs: Inputs, scope: str) -> Tensor:
        """Infinite where the steps are not known to be short (gradient_mapping). Constant to the attack, whose ratio
        so climbs by the error alone: a gradient through L readings would take most of the time."""
        w, x, y = (inputs[name].detach() for name in ("w", "x", "y"))
        with torch.no_grad():
            near = torch.stack([v.double() for v in self.network_path(*(each.to(self.dtype) for each in (w, x, y)))], 1)
            if quantity.name == MAPPING:
                return self.mapping_bound(near, x.double(), y.double(), scope)
            last = step_of(quantity.name)

            def at_one(points: Tensor, x: Tensor, y: Tensor) -> Tensor:
                return self.path(self.chain, points[: last + 1].unbind(), x, y).distances(scope)[-1]

            return self.chain.batched(at_one, near, x.double(), y.double())

    def path(self, chain: Chain, points: Sequence[Array], x: Array, y: Array) -> Path:
        """The iterates, with what is known of W."""
        s, e = self.setting, self.emulation
        caps = Caps(s.supremum(1, e.r.radius), s.loss_supremum(1, e.ranges.outputs))
        smoothest = self.smoothness_of_layers.min(self.values[theory.L_f])
        return Path(chain, points, x, y, caps, smoothest, self._diameter)

    @cached_property
    def _diameter(self) -> flint.arb:
        """The largest distance of two points of the box W."""
        return 2 * _norm(BallArray.exactly(self.setting.shape.box(self.setting.B_v), BALL_BITS)).balls[0]

    def mapping_bound(self, near: Tensor, x: Tensor, y: Tensor, scope: str) -> Tensor:
        """2 (f(w^0) - f(w^L)) / (eta L) + the mean of g_l^2: the sum of the descents, knowing both its ends. (B,)"""
        eta = self.setting.eta

        def at_one(points: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
            path = self.path(self.chain, points.unbind(), x, y)
            return torch.stack(path.gradient_errors(scope)), torch.stack(path.smoothness_along())

        errors, smoothness = self.chain.batched(at_one, near, x, y)  # (B, L) each
        falls = self.risk(near[:, 0], x, y) - self.risk(near[:, -1], x, y)
        bound = mean_of_descents(errors.unbind(-1), falls, eta)
        return torch.where(eta * smoothness.amax(-1) <= 1, bound, torch.inf)

    def network_path(self, w: Tensor, x: Tensor, y: Tensor) -> list[Tensor]:
        """wbar^0 .. wbar^L, each (B, D_w)."""
        network = self.network(x.shape[1], w.dtype)
        return self.follow(lambda v: network.run(v, x, y, taps=("w",))["w"], w, [f"path[{self.steps}]"])

    def risk(self, w: Tensor, x: Tensor, y: Tensor) -> Tensor:
        """L_n(w), (B,)."""
        return self.chain.batched(self.chain.risk, w, x, y)

    def ball_bound(self, name: str, scope: str, inputs: Inputs) -> Bound | None:
        """The same at one prompt, as balls: a proof. None where the path is too large for exact arithmetic."""
        try:
            near = self.exact_iterates(inputs, BALL_BITS)
        except TooLargeForExact:
            return None
        e, chain = self.emulation, self.chain_on_balls(BALL_BITS)
        x, y = (BallArray.exactly(each, BALL_BITS) for each in self.as_measured(inputs)[1:])
        with working_precision(BALL_BITS):
            above = (e.r.error + e.r1.error + e.u.error) * ROUNDED_UP
            if name == MAPPING:
                bound = self._mapping_on_balls(self.path(chain, near, x, y), scope)
                return replace(bound, ball=bound.ball * (1 + ROUNDED_UP) + above)
            distance = self.path(chain, near[: step_of(name) + 1], x, y).distances(scope)[-1]
            return Bound(distance.balls[0] * (1 + ROUNDED_UP) + above)

    def _mapping_on_balls(self, path: Path, scope: str) -> Bound:
        steepest = ball_maximum([each.balls[0] for each in path.smoothness_along()])
        if not flint.arb(self.setting.eta) * steepest <= 1:
            why = "hypothesis not verified: eta L_f <= 1 along the path"
            return Bound(flint.arb("inf"), conditional=True, outside=why)
        first, last = (path.chain.risk(w, path.x, path.y) for w in (path.points[0], path.points[-1]))
        return Bound(mean_of_descents(path.gradient_errors(scope), first - last, path.eta).balls[0])

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
            w_at, x_at, y_at = (BallArray.exactly(each, BALL_BITS) for each in self.as_measured(worst))
            gradient = self.chain_on_balls(BALL_BITS).values(w_at, x_at, y_at, ["gradient"])["gradient"]
            exact = _norm(gradient).balls[0]
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


def _norm(vectors: Array) -> Array:
    return torch.linalg.vector_norm(vectors, dim=-1)


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
        shown = [check for check in exact_runs.WITNESSES if (check in exact_runs.OF_THE_MAPPING) is about_mapping]
        words = [f"erratum.{check.__name__}: {check().erratum.words}".rstrip(".") for check in shown]
        return (*words, *filter(None, [quantity.remark]))

    def refutable(self) -> tuple[Quantity, ...]:
        return tuple(exact_runs.refuted_quantity(check) for check in exact_runs.WITNESSES)

    def checks(self) -> list[Row]:
        case = self.case({}, seed=0, dtype="float64", device="cpu")
        pairs = ((check, check()) for check in exact_runs.WITNESSES)
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
