"""The studies of Lemmas 2-6 and of Theorems 1 and 5: parameters to a network, its bounds and its constants."""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any

import flint
import sympy as sp
import torch

from bridge.balls import evaluate_ball
from bridge.budget import Budget
from bridge.cost import Cost
from bridge.data import Table
from bridge.enclosures import TIGHTNESS
from bridge.export.numbers import plain
from bridge.faithful import NAME as FAITHFUL
from bridge.goals import Goal
from bridge.icgd.case import SIZES, StepCase, tap_of
from bridge.icgd.emulation import FEWEST_RELUS, LOCAL, Emulation, ranges, with_accuracies, with_relus
from bridge.icgd.faithful import faithful_rows, replayed_faithful
from bridge.icgd.knobs import NotRepresentable, accuracies_for
from bridge.icgd.outside import OutsideCase
from bridge.icgd.refutations import OPEN_SIZES, REFUTATIONS
from bridge.icgd.setting import NEEDED_DERIVATIVES, Setting
from bridge.icgd.values import (
    EXACT_BITS,
    as_numbers,
    constants_on,
    emulation_values,
    network_bounds,
    one_norm,
    paper_ranges,
    problem_values,
    suprema_values,
)
from bridge.record import AUTOMATIC, Row, Verdict
from bridge.study import Case, Inputs, Refusal, Study, torch_device, torch_dtype
from bridge.verdicts import Bound, Evidence
from numeric.balls import ball_maximum, float_above, working_precision
from numeric.families import ActivationHeads, FamilyAttention, MaskedUnits, OuterProductHeads
from numeric.icgd.norms import layer_sizes, network_size
from numeric.icgd.shape import Shape
from symbolic.activations import activation, loss
from symbolic.icgd import chain, results
from symbolic.icgd import symbols as letters
from symbolic.statements import Quantity, Result, UsageError

SHOWN_BY_A_RUN = ("range_", "norm[")  # on their errata's parameters; p[j] and r'[j] with an R that is too small
R_2 = "range_r1"  # printed with the B_r' of Lemma 3 itself
ON_PROMPTS = ("gradient",)  # of the step, at both scopes of a prompt: the others are shown where it errs most
SEARCHED: Mapping[str, tuple[int | float | None, int | float | None]] = MappingProxyType(
    {
        **dict.fromkeys(("relus", "relus_r1"), (FEWEST_RELUS, 1 << 15)),  # half a second of certifying a function
        "eps": (1e-7, None),
        **dict.fromkeys(("B_v", "B_x", "B_y", "R"), (None, 1 << 5)),
        **dict.fromkeys(("K", "d", "d_x", "d_y"), (None, 1 << 20)),
    }
)
WHOLE_STEP = ("icgd.step", "icgd.dimensions")
SHORT_RANGES = ("icgd.forward", "icgd.derivative")  # Lemmas 2 and 3, which print ranges of their own
LONG_DERIVATIONS = (*WHOLE_STEP, "icgd.backward")  # each layer's signal has a chain of its own
MEBIBYTE, EXACT_SECONDS = 2**20, 120.0  # an exact run that takes longer is not tried
MAIN = {
    "icgd.forward": "p[1]",
    "icgd.derivative": "r'[1]",
    "icgd.loss_gradient": "g",
    "icgd.backward": "s[1]",
    "icgd.step": "gradient",
    "icgd.dimensions": "gradient",
}


class EmulatedCase(StepCase):
    """A `StepCase` with the bounds of all tiers and the counts and norms of its network."""

    def __init__(
        self,
        result: Result,
        params: Mapping[str, Any],
        setting: Setting,
        plan: Emulation | NotRepresentable,
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        accuracy = params.get("eps") if not params.get("relus") else None
        values = problem_values(setting, int(params["n"]), accuracy)
        if isinstance(plan, NotRepresentable):
            wanted = plan.accuracies
            known = ranges(setting, wanted.eps_r)
            values |= {letters.eps_r: wanted.eps_r, letters.eps_r1: wanted.eps_r1, letters.eps_l: wanted.eps_l}
            values[letters.B_l] = setting.loss_supremum(0, known.outputs) + flint.arb(wanted.eps_l)
        else:
            known = plan.ranges
            values |= emulation_values(plan)
        values |= suprema_values(setting, known)
        built = plan if isinstance(plan, Emulation) else None
        super().__init__(result, params, values, setting, built, dtype, device)
        if params.get("relus") and "eps" in params:
            self.params = {**self.params, "eps": None}  # nothing was computed from it
        self.plan = plan
        if built:
            self.values[letters.R_3] = self.mask_bound

    def refusal(self, quantity: Quantity) -> Refusal | None:
        plan = self.plan
        return Refusal(Verdict.NOT_REPRESENTABLE, plan.reason) if isinstance(plan, NotRepresentable) else None

    # Tiers.

    def printed(self, quantity: Quantity) -> Bound | None:
        values = {**self._printed_values, **({letters.B_r1: self.values[letters.B_r1]} if quantity.name == R_2 else {})}
        if quantity.printed is None or not quantity.printed.bound.free_symbols <= set(values):
            return None
        return Bound(evaluate_ball(quantity.printed.bound, as_numbers(values)))

    @cached_property
    def _printed_values(self) -> dict[sp.Symbol, Any]:
        """The values, with accuracies and Lipschitz constants on the ranges that the paper asks for."""
        asked = paper_ranges(self.values)
        on_them = constants_on(self.setting, asked, self.plan if isinstance(self.plan, Emulation) else None)
        return {**self.values, **on_them, letters.B_r1: self._largest_slope}

    @property
    def _largest_slope(self) -> Any:
        """B_r' of Lemma 6, an upper bound of |r'|: where the recursion of Lemma 3 surely gives less, the supremum."""
        by_recursion, supremum = (flint.arb(self.values[letter]) for letter in (letters.B_r1, letters.b_r1))
        return supremum if by_recursion * (1 + TIGHTNESS) < supremum else by_recursion

    def derived(self, quantity: Quantity) -> Bound | None:
        expression = quantity.derived()
        known = expression is not None and expression.free_symbols <= set(self.values)
        bound = super().derived(quantity) if known else None
        return None if bound is None else self._inside(quantity, bound)

    def _inside(self, quantity: Quantity, bound: Bound) -> Bound:
        """The bound; outside its hypotheses where arguments leave the range on which sums of ReLUs are certified."""
        plan = self.plan
        if not isinstance(plan, Emulation) or not plan.short or not quantity.scopes:
            return bound
        of_layer = re.fullmatch(r"(p|r')\[(\d+)\]", quantity.name)
        reach = plan.reach(int(of_layer[2]) if of_layer else self.setting.shape.N)
        if reach <= plan.r.radius:
            return bound
        why = (
            f"hypothesis violated: the sums of ReLUs are certified on [-R, R] with R = {plan.r.radius!r}, and the "
            f"arguments of r and r' can reach {plain(reach, 'derived', 'upper')}"
        )
        return replace(bound, outside=why)

    def instance(self, quantity: Quantity, scope: str, inputs: Inputs | None = None) -> Bound | None:
        if scope not in quantity.scopes or quantity.name in SIZES:
            return None
        if scope != "network":
            assert inputs is not None  # the engine gives the prompt whose bound it asks for
            return self._inside(quantity, self.prompt_bound(quantity, scope, inputs))
        name = "w" if tap_of(quantity.name) == "w" else quantity.name
        return self._inside(quantity, Bound(flint.arb(self._network_bounds[name])))

    def instance_values(self, scope: str, inputs: Inputs | None) -> dict[sp.Symbol, Any]:
        return {}  # the instance tier runs the recursions themselves: see `instance`

    @cached_property
    def _network_bounds(self) -> dict[str, flint.arb]:
        """The steps with each layer's own range; the projection onto the box does not expand."""
        with working_precision(EXACT_BITS):
            found = {name: each.error for name, each in network_bounds(self.emulation).items()}
            return {**found, "w": found["v - eta gradient"]}

    # Each lemma attacks its own quantities in the result of its own; in the table of the step all of them are shown
    # where the gradient errs most.
    def shown_at(self, goal: Goal) -> Goal:
        if self.result.id not in WHOLE_STEP or goal.quantity.name in ON_PROMPTS:
            return goal
        return Goal(self.result.quantity("gradient"))

    def amplification(self) -> float:
        s, e = self.setting, self.emulation
        loss = s.loss_supremum(0, e.ranges.outputs) + s.loss_supremum(1, e.ranges.outputs)
        one = flint.arb(1)
        sizes = ball_maximum([one, flint.arb(s.B_x), flint.arb(s.B_y), flint.arb(e.ranges.outputs), loss])
        grown = [each.error for each in network_bounds(e, unit=True).values()]
        return float_above(sizes * ball_maximum([one, *grown]))

    def checks(self, budget: Budget) -> list[Row]:
        return faithful_rows(self, budget) if isinstance(self.plan, Emulation) else []

    def replay_check(self, name: str, inputs: Inputs) -> Row:
        if name != FAITHFUL:
            return super().replay_check(name, inputs)
        self.check_inputs({key: value.unsqueeze(0) for key, value in inputs.items()})
        return replayed_faithful(self, inputs)

    # Counts and norms.

    def constants(self) -> dict[str, Evidence]:
        N, construction = self.setting.shape.N, self.construction(self.n)
        sizes, whole = layer_sizes(construction), network_size(construction)
        with working_precision(EXACT_BITS):
            forward = ball_maximum([self._attention_norm(construction.block[j]) for j in range(N)])
            found = {
                "norm[forward]": forward,
                "norm[derivative]": self._attention_norm(construction.block[N]),
                "norm[loss_gradient]": _loss_norm(construction.block[N + 1]),
                "norm[backward]": flint.arb(max(size.norm for size in sizes[N + 2 : 2 * N + 2])),
                "norm[step]": self._attention_norm(construction.block[2 * N + 2]),
                "heads": flint.arb(whole.heads),
                "relus": flint.arb(self.emulation.relus),
                "width": flint.arb(whole.width),
            }
        return {name: Evidence(float_above(exact), exact=exact) for name, exact in found.items()}

    def _attention_norm(self, layer: Any) -> flint.arb:
        """(C.1): queries and keys have norm 1; each family adds the absolute values of its coefficients, a row each."""
        assert isinstance(layer, FamilyAttention)  # the layers of the block are known
        total = flint.arb(1)
        for family in layer.families:
            if isinstance(family, ActivationHeads):
                total += layer.stream.size(family.target) * one_norm(family.relus.weights)
            elif isinstance(family, OuterProductHeads):
                scale = flint.fmpq(family.scale.numerator, family.scale.denominator)
                total += family.count(layer.stream) * flint.arb(scale)
        return total


def _loss_norm(layer: Any) -> flint.arb:
    """(C.1): W_1 has the units of one k in the columns of t[k] and y[k], those of all k at `one` and at the mask."""
    assert isinstance(layer, MaskedUnits)  # the layers of the block are known
    copies, directions = layer.stream.size(layer.target), layer.relus.directions
    shifts = [flint.arb(shift) - flint.arb(layer.bound) for shift in directions[:, 2].tolist()]
    columns = [
        *(one_norm(directions[:, column]) for column in (0, 1)),
        copies * sum((abs(shift) for shift in shifts), start=flint.arb(0)),
        copies * len(directions) * flint.arb(layer.bound),
    ]
    return ball_maximum(columns) + flint.arb(float(abs(layer.relus.weights).max(initial=0.0)))


class StepStudy(Study):
    """One of the results of one step."""

    fixed = ("N",)
    through_network: tuple[str, ...] = (
        *("N", "K", "d", "d_x", "d_y", "B_v", "B_x", "B_y"),
        *("eps", "relus", "R", "relus_r1", "activation", "loss"),
    )
    automatic = OPEN_SIZES
    searched = SEARCHED

    def __init__(self, result: Result) -> None:
        self.result = result
        self.main_quantity = MAIN[result.id]

    def case(self, params: Mapping[str, Any], *, seed: int, dtype: str, device: str) -> EmulatedCase | OutsideCase:
        resolved = self.resolved(params)
        why = roughness(resolved)
        if why:
            return OutsideCase(with_quantities(self.result, resolved), resolved, why, torch_device(device))
        setting = setting_of(resolved)
        plan = plan_for(setting, resolved, short=self.result.id in SHORT_RANGES)
        return EmulatedCase(
            with_quantities(self.result, resolved), resolved, setting, plan, torch_dtype(dtype), torch_device(device)
        )

    def data_case(self, params: Mapping[str, Any], table: Table, *, seed: int, dtype: str, device: str) -> Case:
        """Theorem 5 on a table; the others have one d for x and y, which a table has not."""
        if self.result.id != "icgd.dimensions":
            return super().data_case(params, table, seed=seed, dtype=dtype, device=device)
        from bridge.icgd.table import table_case  # which builds on this file

        return table_case(self.result, self.resolved(params), table, dtype, device)

    def data_defaults(self, params: Mapping[str, Any], table: Table) -> dict[str, Any]:
        if self.result.id != "icgd.dimensions":
            return {}
        from bridge.icgd.table import table_defaults

        return table_defaults(params, table)

    # Measured on one core: the derivation of each layer's bounds, what evaluates them, and at each layer the steps of
    # an attack (as many searches as there are scopes), the entries of the matrices and the exact run of a prompt.
    def cost(self, sizes: Mapping[str, float], budget: Budget | None) -> Cost:
        layers = sizes["N"]
        derived = layers * (0.35 if self.result.id in LONG_DERIVATIONS else 0.05) + 0.002 * layers**2
        if budget is None:
            return Cost(MEBIBYTE * layers, derived)
        run = layers * (0.6 + 0.015 * budget.attack) * (1 if self.result.id in WHOLE_STEP else layers)
        return Cost(MEBIBYTE * layers, derived + run) + step_cost(sizes, budget)

    def refutable(self) -> tuple[Quantity, ...]:
        """Ranges and norms, which a run shows, and what the checks show."""
        shown = [q for q in super().refutable() if q.name.startswith(SHOWN_BY_A_RUN)]
        return (*shown, *(each.stated(self.result) for each in REFUTATIONS.get(self.result.id, ())))

    def checks(self) -> list[Row]:
        rows = []
        for refutation in REFUTATIONS.get(self.result.id, ()):
            case = self.case(refutation.params, seed=0, dtype="float64", device="cpu")
            assert isinstance(case, EmulatedCase)  # refutations are about cases that the hypotheses admit
            rows.append(refutation.row(case))
        return rows

    def resolved(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """All parameters of the result, numbers checked."""
        known = {parameter.name: parameter for parameter in self.result.parameters}
        found = {}
        for name, parameter in known.items():
            value = params.get(name, _single(parameter.default))
            value = 0 if name in self.automatic and value == AUTOMATIC else value
            found[name] = self.result.number(name, value) if parameter.symbol is not None else str(value)
        self.result.check(found)
        if found.get("relus_r1") and not found.get("relus"):
            raise UsageError(f"{self.result.id}: relus_r1 = {found['relus_r1']} requires relus; give both or neither")
        return found


def step_cost(sizes: Mapping[str, float], budget: Budget) -> Cost:
    """What the numbers of a step take, whatever its bounds do: as in `StepCase.memory`, before there is a case."""
    layers, n, wide = sizes["N"], sizes["n"], _width(sizes)
    neurons, parameters = layers * wide, layers * wide**2
    prompts = min(budget.samples, 512) * (n + 1)
    memory = 320 * prompts * neurons + 16 * budget.samples * parameters
    memory += 8 * budget.restarts * (60 * neurons + 30 * parameters)
    entries = (budget.samples * (n + 1) + budget.attack * budget.restarts) * parameters
    exact = min(EXACT_SECONDS, 1e-3 * n * neurons)
    return Cost(memory, 1e-8 * entries + exact)


def _width(sizes: Mapping[str, float]) -> float:
    return max(sizes.get(name, 0.0) for name in ("K", "d", "d_x", "d_y"))


def roughness(params: Mapping[str, Any]) -> str:
    """Which smoothness hypothesis the activation misses; empty where it meets them."""
    found = activation(params["activation"])
    if found.smoothness >= NEEDED_DERIVATIVES:
        return ""
    return (
        f"Theorem 1 asks for {NEEDED_DERIVATIVES} continuous derivatives of r, and Lemma 3 approximates r' by sums of "
        f"ReLUs; {found.name} has {found.smoothness}, and no continuous function is uniformly near its derivative"
    )


def _single(default: Any) -> Any:
    return default[0] if isinstance(default, tuple) else default


def setting_of(params: Mapping[str, Any]) -> Setting:
    """The problem that the parameters describe; what a lemma does not mention is as in Theorem 1's defaults."""
    whole = {parameter.name: _single(parameter.default) for parameter in results.STEP_PARAMETERS} | dict(params)
    d_x, d_y = (int(whole.get(name, whole["d"])) for name in ("d_x", "d_y"))
    return Setting(
        Shape(int(whole["N"]), int(whole["K"]), d_x, d_y),
        activation(whole["activation"]),
        loss(whole["loss"]),
        float(whole["B_v"]),
        float(whole["B_x"]),
        float(whole["B_y"]),
        float(whole["eta"]),
    )


@lru_cache(maxsize=64)
def gradient_bound(layers: int) -> sp.Expr:
    """The derived bound in the paper's worst-case letters."""
    bound = chain.derive(sp.Integer(layers)).derivation.bound("gradient")
    return bound.subs(chain.worst_case(), simultaneous=True)


def plan_for(setting: Setting, params: Mapping[str, Any], *, short: bool = False) -> Emulation | NotRepresentable:
    """The sums of ReLUs: as many as are asked for (`relus`), or as the accuracy `eps` needs by the derived bound.

    Raises UsageError for an R that does not cover the arguments, unless `short` allows it.
    """
    plan = _plan_for(setting, params)
    if isinstance(plan, Emulation) and plan.short and not short:
        raise UsageError(
            f"R = {plan.r.radius!r} is too small: the arguments of r and r' reach "
            f"{plain(plan.ranges.largest, 'derived', 'upper')} (range obligation of Lemmas 2 and 3); give at least "
            f"that, or 0 for the smallest sufficient range. {' and '.join(SHORT_RANGES)} run on a smaller one"
        )
    return plan


def _plan_for(setting: Setting, params: Mapping[str, Any]) -> Emulation | NotRepresentable:
    reach = float(params.get("R") or 0.0)
    if params.get("relus"):
        return with_relus(setting, int(params["relus"]), int(params.get("relus_r1") or 0), reach)
    chosen = accuracies_for(setting, float(params["eps"]), gradient_bound(setting.shape.N))
    return chosen if isinstance(chosen, NotRepresentable) else with_accuracies(setting, chosen, reach)


def with_quantities(result: Result, params: Mapping[str, Any]) -> Result:
    """The result with the quantities of this many layers, and of an accuracy if one was asked for."""
    kept = []
    for quantity in results.quantities_for(result, int(params["N"])):
        if quantity.name.endswith(".requested") and params.get("relus"):
            continue
        if quantity.name in SIZES:
            kept.append(replace(quantity, scopes=("network",)))
        elif not quantity.scopes:
            kept.append(quantity)
        elif result.id in WHOLE_STEP and quantity.name not in ON_PROMPTS:
            kept.append(replace(quantity, scopes=("network", LOCAL)))  # both, in a result of its own
        else:
            kept.append(replace(quantity, scopes=("network", "prompt", LOCAL)))
    return replace(result, quantities=tuple(kept))
