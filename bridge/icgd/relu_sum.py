"""The study of Definition 4 and Lemma 7 of wu2024: an activation or its derivative as a certified sum of ReLUs."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any

import flint
import sympy as sp
import torch
from torch import Tensor

from bridge.budget import Budget
from bridge.enclosures import supremum
from bridge.export.numbers import plain
from bridge.lowering import lower
from bridge.record import Row, Verdict
from bridge.relu_sums import Interpolant, curvature, grid_of_kinks, interpolate
from bridge.study import Case, Inputs, Study, torch_device, torch_dtype
from bridge.verdicts import Bound, Evidence
from numeric.balls import float_above
from symbolic.activations import activation
from symbolic.approximation import M, R, eps, sup_f, sup_f1, sup_f2
from symbolic.icgd import relu_sum as theory
from symbolic.statements import Quantity, Result, UsageError

RATE_STEPS = (1.0, 8.0, 64.0)  # the exponent is fitted to the accuracies eps, eps/8, eps/64


class ReluSumCase(Case):
    """One activation, order, R and eps: inputs are points t of shape (B, 1) in [-R, R]."""

    result: Result = theory.RELU_SUM

    def __init__(self, params: dict[str, Any], dtype: str, device: str) -> None:
        self.params, self.full_params = params, params
        self.dtype, self.device = torch_dtype(dtype), torch_device(device)
        self.R, self.eps = float(params["R"]), float(params["eps"])
        chosen = activation(params["activation"])
        self.t, self.order = chosen.t, int(params["order"])
        self.function = chosen.derivative(self.order)
        self.interpolant: Interpolant = interpolate(self.function, self.t, self.R, eps=self.eps)
        self.slope = chosen.derivative(self.order + 1)
        self.sum = self.interpolant.relu_sum
        self.values: dict[sp.Symbol, Any] = {
            R: self.R,
            eps: self.eps,
            theory.grid: grid_of_kinks(self.function, self.t, self.R),
            theory.delta: self.interpolant.rounding,
            theory.delta_1: self.interpolant.slope_rounding,
            sup_f: supremum(self.function, self.t, -self.R, self.R),
            sup_f1: supremum(self.slope, self.t, -self.R, self.R),
            sup_f2: float_above(curvature(self.function, self.t, self.R)),
        }

    def rounding_estimate(self) -> float:
        size = float(self.values[sup_f]) + float(self.values[sup_f1]) * (self.R + 1)
        return 8 * torch.finfo(self.dtype).eps * size

    def sample(self, count: int, seed: int) -> Inputs:
        """One uniform point in each of `count` equal parts of the range."""
        generator = torch.Generator().manual_seed(seed)
        places = torch.arange(count, dtype=torch.float64) + torch.rand(count, generator=generator, dtype=torch.float64)
        points = (2 * places / count - 1) * self.R  # (B)
        return self.admit({"t": points.unsqueeze(-1)})

    def starts(self, count: int, seed: int) -> Inputs:
        """The middle, or a point next to the left knot, of the cells beside the sharpest kinks and of random ones."""
        generator = torch.Generator().manual_seed(seed)
        knots, slopes = torch.tensor(self.sum.knots), torch.tensor(self.sum.slopes)  # (M + 1), (M)
        kinks = torch.diff(slopes, prepend=slopes[:1]).abs()  # (M)
        sharpest = kinks.argsort(descending=True)
        which = torch.arange(count)
        random = torch.randint(self.sum.cells, (count,), generator=generator)
        cells = torch.where(which % 4 < 2, sharpest[which % self.sum.cells], random)
        share = torch.where(which % 2 == 0, 0.5, 0.001)  # of the cell, from its left end
        points = torch.lerp(knots[cells], knots[cells + 1], share.to(knots))
        return {"t": points.unsqueeze(-1).to(self.device)}

    def project(self, inputs: Inputs) -> Inputs:
        return {"t": inputs["t"].clamp(-self.R, self.R)}

    def admit(self, inputs: Inputs) -> Inputs:
        """In the case's dtype and inside the range, whose end the dtype may not hold."""
        t = inputs["t"].to(self.device, self.dtype)
        inside = t.double().abs() <= self.R
        return {"t": torch.where(inside, t, t * (1 - 2 * torch.finfo(self.dtype).eps))}

    def check_inputs(self, inputs: Inputs) -> None:
        t = inputs.get("t")
        if t is None or tuple(t.shape) != (1, 1):
            got = "nothing" if t is None else f"shape {tuple(t.shape)}"
            raise UsageError(f"icgd.relu_sum: expected a point t of shape (1, 1), got {got}")
        if not bool((t.abs() <= self.R).all()):
            raise UsageError(f"icgd.relu_sum: the point is outside [-{self.R:g}, {self.R:g}] (or is not a number)")

    @cached_property
    def _on_floats(self) -> tuple[Any, Any]:
        return lower(self.function, "torch", args=(self.t,)), lower(self.slope, "torch", args=(self.t,))

    @cached_property
    def _on_balls(self) -> tuple[Any, Any]:
        return lower(self.function, "arb", args=(self.t,)), lower(self.slope, "arb", args=(self.t,))

    def errors(self, inputs: Inputs, names: Sequence[str], *, attack: bool = False) -> dict[str, Tensor]:
        t = inputs["t"].to(torch.float64 if attack else self.dtype).squeeze(-1)  # (B)
        exactly = t.double()
        found = {}
        if "error" in names:
            found["error"] = (self.sum(t).double() - self._on_floats[0](exactly)).abs()
        if "slope" in names:
            found["slope"] = (self.sum.slope(t).double() - self._on_floats[1](exactly)).abs().expand(t.shape)
        return found

    def exact(self, inputs: Inputs, names: Sequence[str], bits: int) -> dict[str, tuple[flint.arb, float]]:
        t = inputs["t"].to(self.dtype).reshape(())
        point = flint.arb(float(t))
        found = {}
        with flint.ctx.workprec(bits):
            ours = {"error": self.sum.exact, "slope": self.sum.exact_slope}
            floats = {"error": self.sum(t), "slope": self.sum.slope(t)}
            for place, name in enumerate(("error", "slope")):
                if name not in names:
                    continue
                emulated, target = ours[name](point), self._on_balls[place](point)
                rounding = abs(flint.arb(float(floats[name])) - emulated) + abs(
                    flint.arb(float(self._on_floats[place](t.double()))) - target
                )
                found[name] = (abs(emulated - target), float_above(rounding))
        return found

    def instance_values(self, scope: str, inputs: Inputs | None) -> dict[sp.Symbol, Any]:
        return {M: self.sum.cells}

    def prompt_bounds(self, quantity: Quantity, inputs: Inputs, scope: str = "prompt") -> Tensor:
        raise UsageError(f"icgd.relu_sum: '{quantity.name}' has no bound of its own at each point")

    def printed(self, quantity: Quantity) -> Bound | None:
        """None where the paper's formula has its unspecified constant C(k)."""
        unspecified = quantity.printed is not None and quantity.printed.bound.has(theory.C_k)
        return None if unspecified else super().printed(quantity)

    def constants(self) -> dict[str, Evidence]:
        counts = {"relus": float(self.sum.relus), "one_norm": self.sum.one_norm}
        exact = {"relus": flint.arb(self.sum.relus), "one_norm": _exact_one_norm(self.sum.weights.tolist())}
        return {name: Evidence(count, exact=exact[name], rounding=0.0) for name, count in counts.items()}

    def extra_rows(self, budget: Budget) -> list[Row]:
        slope = self._exponent()
        if slope is None:
            return []
        rate = self.result.quantity("relus.rate")
        assert rate.printed is not None  # typed in symbolic
        printed = float(rate.printed.bound)
        verdict = Verdict.CONSISTENT if slope <= printed else Verdict.UNDECIDED
        accuracies = ", ".join(plain(self.eps / step) for step in RATE_STEPS)
        return [
            Row(
                quantity=rate.name,
                kind=rate.kind,
                quantifier=rate.quantifier,
                params=dict(self.params),
                printed=printed,
                measured=slope,
                ratio=slope / printed,
                verdict={"printed": verdict},
                norm=rate.norm,
                domain=f"eps in {{{accuracies}}}",
                construction=rate.construction,
                meaning=rate.meaning,
                remark=rate.remark,
                seed=budget.seed,
                samples=budget.samples,
                attack_steps=budget.attack,
                restarts=budget.restarts,
            )
        ]

    def _exponent(self) -> float | None:
        """Minus the slope of log H over log eps, least squares; None where finer sums are beyond the limits."""
        try:
            finer = [interpolate(self.function, self.t, self.R, eps=self.eps / step) for step in RATE_STEPS]
        except UsageError:
            return None
        steps = torch.log(torch.tensor(RATE_STEPS, dtype=torch.float64))
        counts = torch.log(torch.tensor([float(each.relu_sum.relus) for each in finer], dtype=torch.float64))
        steps = steps - steps.mean()
        return float((steps * counts).sum() / (steps * steps).sum())


def _exact_one_norm(weights: list[float]) -> flint.arb:
    return sum((flint.arb(abs(weight)) for weight in weights), start=flint.arb(0))


class ReluSumStudy(Study):
    """Definition 4 and Lemma 7: see `ReluSumCase`."""

    result = theory.RELU_SUM
    main_quantity = "error"
    through_network = ("activation", "order", "R", "eps")
    searched = MappingProxyType({"R": (None, 1 << 7), "eps": (1e-8, None)})

    def case(self, params: Mapping[str, Any], *, seed: int, dtype: str, device: str) -> ReluSumCase:
        complete = {
            parameter.name: params.get(parameter.name, parameter.default) for parameter in self.result.parameters
        }
        numbers = {name: self.result.number(name, complete[name]) for name in ("order", "R", "eps")}
        self.result.check(numbers)
        name = complete["activation"]
        if not isinstance(name, str):
            raise UsageError(f"{self.result.id}: activation = {name!r} is not a name; give one such as tanh")
        return ReluSumCase({"activation": name, **numbers}, dtype, device)
