"""The study of Theorem D.6: lower bounds of the margin of a circuit (printed, derived, instance) and an attack."""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp
import torch
from torch import Tensor

from bridge.balls import evaluate_ball
from bridge.budget import Budget
from bridge.machines.largest_move import Condition, LargestMove, largest_move
from bridge.machines.netlists import bits_of, read_circuit
from bridge.machines.nine_constants import NAMES, Constants, best_constants
from bridge.record import Row, Verdict, Witness
from bridge.rows import direct_row
from bridge.study import DirectCase, Inputs, Study
from numeric.flips import Flip, norm
from numeric.machines.circuit import CircuitNetwork, representable_thirds, rounded
from numeric.machines.circuit_attack import ChangeError, attack_circuit, flips, raw_values
from numeric.machines.layer_moves import largest_input_move, largest_parameter_move
from numeric.norms import spectral_norm_upper
from symbolic.machines import margin as theory
from symbolic.machines import perturbed_layers as layers
from symbolic.statements import Kind, Result, UsageError

READOUT_NORM = 2  # z -> 2 z - 1
MOST_LAYERS_WIDE = 64  # beyond it an attack takes minutes
ATTACK_WORK = 250_000  # parameters times restarts times steps: seconds
FEWEST_STEPS, FEWEST_RESTARTS = 15, 4
LARGEST_WITNESS = 20_000  # numbers of a perturbation that is stored
CLOSE = 1e-12  # of the bisection for the radius of the errors that a correction removes


class MarginCase(DirectCase):
    """One circuit at one input."""

    uses = frozenset({"seed", "attack", "restarts"})

    def __init__(self, result: Result, params: Mapping[str, Any], *, seed: int, dtype: str, device: str):
        super().__init__(result, params, dtype=dtype, device=device)
        self.layered = read_circuit(str(params["netlist"])).layered()
        self.network = CircuitNetwork(self.layered)
        if self.layered.r > MOST_LAYERS_WIDE:
            raise UsageError(
                f"{result.id}: the circuit is {self.layered.r} gates wide; the attack takes at most "
                f"{MOST_LAYERS_WIDE}. `boundsmith compare machines.circuit` runs it."
            )
        if self.layered.q < 2:
            raise UsageError(f"{result.id}: '{params['netlist']}' has no gates, so it has no margin")
        given = str(params["input"])
        self.bits = bits_of(result.id, given, self.layered.m) if given else _drawn(self.layered.m, seed)
        self.drawn = str(params["input"]) == ""
        self.params["input"] = "".join("01"[int(bit)] for bit in self.bits)
        self.full_params = dict(self.params)

    def rows(self, budget: Budget) -> list[Row]:
        budget = self.within(budget)
        effort = f"{budget.restarts} restarts of {budget.attack} steps"
        return [
            self._margin("margin", self.attacked(budget, shared=False), effort),
            self._margin("shared", self.attacked(budget, shared=True), effort),
            *self._constants(budget),
            self._exponent(),
        ]

    def within(self, budget: Budget) -> Budget:
        """Fewer steps and restarts for a large network, so that an attack takes seconds."""
        numbers = sum(value.size for value in self._parameters.values())
        share = math.sqrt(min(1.0, ATTACK_WORK / (numbers * max(1, budget.attack * budget.restarts))))
        return replace(
            budget,
            attack=min(budget.attack, max(FEWEST_STEPS, round(share * budget.attack))),
            restarts=min(budget.restarts, max(FEWEST_RESTARTS, round(share * budget.restarts))),
        )

    def attacked(self, budget: Budget, *, shared: bool) -> Flip:
        return attack_circuit(
            self.network, self.bits, seed=budget.seed, shared=shared, steps=budget.attack, restarts=budget.restarts
        )

    def _margin(self, name: str, flip: Flip, effort: str) -> Row:
        instance = self.instance_margin
        remark = f"input {self.params['input']}{' (drawn)' if self.drawn else ''}; instance: decided by "
        remark += f"{instance.binding}; attack: {effort}, its flip along {flip.direction}"
        return self._judged(name, flip.distance, flip.delta, remark)

    def _judged(self, name: str, distance: float, delta: Mapping[str, Tensor], remark: str) -> Row:
        """The three lower bounds against a perturbation of this norm that flips the prediction."""
        verdict = self._verdicts(distance)
        witness = None
        if verdict["printed"] is Verdict.VIOLATED:
            witness, verdict["printed"] = self._witness(name, distance, delta)
        if Verdict.UNDECIDED in verdict.values():
            remark += "; undecided: a bound lies above the perturbation found, which no witness here decides"
        return direct_row(
            self,
            self.result.quantity(name),
            verdict,
            printed=self.printed_margin,
            derived=self.derived_margin,
            instance=self.instance_margin.move,
            attacked=distance if math.isfinite(distance) else None,
            remark=remark,
            witness=witness,
        )

    # Our bounds are proofs: a flip below one of them shows a mistake of ours. Where the printed bound is no larger than
    # the derived one it is proved with it.
    def _verdicts(self, distance: float) -> dict[str, Verdict]:
        ours = {"derived": self.derived_margin, "instance": self.instance_margin.move}
        verdict = {tier: Verdict.PROVED if bound <= distance else Verdict.UNDECIDED for tier, bound in ours.items()}
        if self.printed_margin > distance:
            return {"printed": Verdict.VIOLATED, **verdict}
        covered = self.printed_margin <= self.derived_margin and verdict["derived"] is Verdict.PROVED
        return {"printed": Verdict.PROVED if covered else Verdict.KEPT, **verdict}

    def _witness(self, name: str, distance: float, delta: Mapping[str, Tensor]) -> tuple[Witness | None, Verdict]:
        """The perturbation itself; undecided where it is too large to be stored."""
        if sum(part.numel() for part in delta.values()) > LARGEST_WITNESS:
            return None, Verdict.UNDECIDED
        inputs = {key: part.double().tolist() for key, part in delta.items()}
        bounds = {"printed": self.printed_margin}
        witness = Witness(
            result=self.result.id, quantity=name, params=self.full_params, inputs=inputs, error_lower=distance,
            bounds=bounds,
        )  # fmt: skip
        return witness, Verdict.VIOLATED

    def replay_check(self, name: str, inputs: Inputs) -> Row:
        """A perturbation of the parameters, by name: whether it flips the prediction, and its norm."""
        if name not in ("margin", "shared"):
            return super().replay_check(name, inputs)
        try:
            flipped = flips(self.network, self.bits, inputs, shared=name == "shared")
        except ChangeError as error:
            raise UsageError(f"{self.result.id}: '{name}' takes a perturbation of the parameters; {error}") from None
        if not flipped:
            raise UsageError(f"{self.result.id}: this perturbation of the parameters does not flip the prediction")
        if not math.isfinite(norm(inputs)):
            raise UsageError(f"{self.result.id}: this perturbation of the parameters has no finite norm in float64")
        return self._judged(name, norm(inputs), inputs, "a given perturbation, run again: the prediction flips")

    # The instance: the induction with the norms of each layer and the exact activations of this input.

    @cached_property
    def instance_margin(self) -> LargestMove:
        conditions = [self._layer_condition(i) for i in range(1, self.layered.q)]
        return largest_move(conditions, layers.rho)

    def _layer_condition(self, i: int) -> Condition:
        last = i == self.layered.q - 1
        form = layers.two_relu_layers(corrected=i > 1, readout=sp.Integer(READOUT_NORM) if last else None)
        limit = sp.Integer(1) if last else layers.ROUNDING_RADIUS
        return Condition(f"layer {i}", form.error, self._layer_values(i), limit, strict=last)

    def _layer_values(self, i: int) -> dict[sp.Symbol, Any]:
        W1, b1, W2, b2 = (self._array(f"f[{i}].{part}") for part in ("W1", "b1", "W2", "b2"))
        before = self.bits.astype(float) if i == 1 else self._exact[f"g[{i - 1}]"].numpy()
        inner = np.maximum(W1 @ before + b1, 0)  # whole numbers: exact
        after = np.maximum(W2 @ inner + b2, 0)
        sizes = {layers.size: before, layers.hidden: inner, layers.output: after}
        squares = {symbol: sp.Integer(round(float(vector @ vector))) for symbol, vector in sizes.items()}
        return {
            **{symbol: evaluate_ball(sp.sqrt(square), {}) for symbol, square in squares.items()},
            layers.norm_1: self._norm(f"f[{i}].W1"),
            layers.norm_2: self._norm(f"f[{i}].W2"),
            layers.sigma_zeta: layers.ROUNDING_RADIUS,
        }

    @cached_property
    def _parameters(self) -> dict[str, np.ndarray]:
        return self.network.parameters()

    def _array(self, name: str) -> np.ndarray:
        return self._parameters[name]

    @cached_property
    def _exact(self) -> dict[str, Tensor]:
        """The exact raw values, all whole numbers, at this input."""
        tensors = {name: torch.tensor(value) for name, value in self._parameters.items()}
        values = raw_values(self.network, tensors, torch.tensor(self.bits, dtype=torch.float64))
        return {name: value.round() for name, value in values.items()}

    def _norm(self, name: str) -> float:
        if name not in self._norms:
            self._norms[name] = spectral_norm_upper(self._array(name))
        return self._norms[name]

    @cached_property
    def _norms(self) -> dict[str, float]:
        return {}

    # The nine constants, and what an attack finds of each.

    @cached_property
    def _widths_and_norms(self) -> tuple[tuple[int, ...], tuple[tuple[float, float], ...]]:
        widths = tuple(len(layer) for layer in self.layered.layers)
        return widths, tuple((self._norm(f"f[{i}].W1"), self._norm(f"f[{i}].W2")) for i in range(1, self.layered.q))

    @cached_property
    def chosen(self) -> Constants:
        """The nine constants with the radius that makes the printed bound largest."""
        return best_constants(*self._widths_and_norms)

    @cached_property
    def printed_margin(self) -> float:
        return self.chosen.least(theory.PRINTED_TERMS)

    @cached_property
    def chosen_for_derived(self) -> Constants:
        """The same for the derived bound."""
        return best_constants(*self._widths_and_norms, theory.derived_margin().args)

    @cached_property
    def derived_margin(self) -> float:
        return self.chosen_for_derived.least(theory.derived_margin().args)

    def _constants(self, budget: Budget) -> list[Row]:
        return [self._constant(name, self._found(name, budget)) for name in NAMES]

    def _constant(self, name: str, found: float | None) -> Row:
        """As it enters the printed bound, and as it enters the derived one: each has its own best radius."""
        quantity = self.result.quantity(name)
        numbers = {"printed": self.chosen.of(name), "derived": self.chosen_for_derived.of(name)}
        finite = {tier: number for tier, number in numbers.items() if math.isfinite(number)}
        sign = -1 if quantity.kind is Kind.LOWER else 1
        kept = {tier: found is None or sign * found <= sign * number for tier, number in finite.items()}
        return direct_row(
            self,
            quantity,
            {tier: Verdict.PROVED if held else Verdict.UNDECIDED for tier, held in kept.items() if found is not None},
            printed=finite.get("printed"),
            derived=finite.get("derived"),
            attacked=found,
            remark=self._about(name, bool(finite)),
        )

    def _about(self, name: str, finite: bool) -> str:
        if name == "sigma_zeta" and not self.network.corrections:
            return "one layer of gates has no correction: every radius below 1 is valid"
        return "" if finite else _why_infinite(name)

    def _found(self, name: str, budget: Budget) -> float | None:
        """The largest value (of sigma_zeta the smallest) an attack finds at this input; None where it is chosen."""
        if name == "lambda":
            return max((1.0, *(float(self._exact[f"g[{i}]"].norm()) for i in range(1, self.layered.q - 1))))
        if name == "sigma_zeta":
            return smallest_error_left(torch.float64)
        if name.startswith("sigma"):
            return None
        return self._largest_move(name, budget)

    def _largest_move(self, name: str, budget: Budget) -> float | None:
        """Of kappa_theta, kappa_xi, mu (f_1 and later layers) and mu_0 (f_0, the first layer of gates)."""
        radius = self.chosen.of("sigma_theta")
        seed, steps, restarts = budget.seed, budget.attack, budget.restarts
        layers_of = [(self._tensors(f"f[{i}]"), self._input_of(i)) for i in range(1, self.layered.q)]
        asked, scale = layers_of[1:], 1.0
        if name == "mu":
            moves = (largest_input_move(*one, radius, steps=steps, restarts=restarts, seed=seed) for one in asked)
            return max(moves, default=None)
        if name == "kappa_xi":
            asked = [(self._tensors("zeta[1]"), self._input_of(2))] if self.network.corrections else []
        if name == "mu_0":
            asked, scale = layers_of[:1], max(1.0, float(self._input_of(1).norm()))
        return max(
            (
                largest_parameter_move(*one, radius, scale=scale, steps=steps, restarts=restarts, seed=seed)
                for one in asked
            ),
            default=None,
        )

    def _tensors(self, block: str) -> dict[str, Tensor]:
        return {part: torch.tensor(self._parameters[f"{block}.{part}"]) for part in ("W1", "b1", "W2", "b2")}

    def _input_of(self, i: int) -> Tensor:
        """The exact input of layer i at this input."""
        return torch.tensor(self.bits, dtype=torch.float64) if i == 1 else self._exact[f"g[{i - 1}]"]

    def _exponent(self) -> Row:
        nine, joint = theory.width_exponent(), theory.joint_width_exponent()
        agree = bool(nine == joint and nine.is_finite)
        return direct_row(
            self,
            self.result.quantity("width_exponent"),
            {
                "printed": Verdict.CONSISTENT if nine.is_finite else Verdict.UNDECIDED,
                "derived": Verdict.PROVED if agree else Verdict.UNDECIDED,
            },
            derived=float(nine),
            instance=float(joint),
            remark="derived: from the nine constants; instance: from the joint form, with the same norms",
        )


def _why_infinite(name: str) -> str:
    if name == "sigma_h":
        return "infinite: ReLU layers are Lipschitz everywhere"
    return "infinite: one layer of gates, f_0, has no f_i with i >= 1 and no correction"


def smallest_error_left(dtype: torch.dtype) -> float:
    """The smallest error of a bit, found by bisection, that the correction of Proposition 3.4 leaves."""
    starts = representable_thirds(dtype)
    below, above = 0.0, 0.5
    while above - below > CLOSE:
        error = (below + above) / 2
        left = rounded(torch.tensor([error, 1 - error], dtype=dtype), starts) - torch.tensor([0.0, 1.0], dtype=dtype)
        below, above = (error, above) if float(left.abs().max()) <= CLOSE else (below, error)
    return above


def _drawn(m: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2, m).astype(bool)


class MarginStudy(Study):
    """Theorem D.6 for the circuit of a netlist."""

    result = theory.MARGIN
    main_quantity = "margin"

    def case(self, params: Mapping[str, Any], *, seed: int, dtype: str, device: str) -> MarginCase:
        return MarginCase(self.result, self.resolved(params), seed=seed, dtype=dtype, device=device)
