"""The study of Theorem D.6: a circuit's margin from below (printed, derived, instance) and from above (the attack)."""

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp
import torch
from torch import Tensor

from bridge.balls import evaluate_ball
from bridge.budget import Budget
from bridge.machines.largest_move import Condition, LargestMove, largest_move
from bridge.machines.netlists import read_circuit
from bridge.machines.nine_constants import NAMES, Constants, best_constants
from bridge.record import Row, Verdict
from bridge.rows import direct_row
from bridge.study import DirectCase, Study
from numeric.flips import Flip
from numeric.machines.circuit import CircuitNetwork, representable_thirds, rounded
from numeric.machines.circuit_attack import attack_circuit, raw_values
from numeric.machines.layer_moves import largest_input_move, largest_parameter_move
from numeric.norms import spectral_norm_upper
from symbolic.machines import margin as theory
from symbolic.machines import perturbed_layers as layers
from symbolic.statements import Kind, Result, UsageError

READOUT_NORM = 2  # z -> 2 z - 1
MOST_LAYERS_WIDE = 64  # beyond it an attack takes minutes
CLOSE = 1e-12  # of the bisection for the radius that a rounding undoes


class MarginCase(DirectCase):
    """One circuit at one input."""

    uses = frozenset({"seed", "attack", "restarts"})

    def __init__(self, result: Result, params: Mapping[str, Any], *, seed: int, dtype: str, device: str):
        super().__init__(result, params, dtype=dtype, device=device)
        self.layered = read_circuit(str(params["netlist"])).layered()
        self.network = CircuitNetwork(self.layered)
        if self.layered.r > MOST_LAYERS_WIDE:
            raise UsageError(
                f"{result.id}: the circuit is {self.layered.r} gates wide; the attack is meant for at most "
                f"{MOST_LAYERS_WIDE}. `boundsmith compare machines.circuit` runs it."
            )
        if self.layered.q < 2:
            raise UsageError(f"{result.id}: '{params['netlist']}' has no gates, so that there is no margin")
        self.bits = _bits(str(params["input"]), self.layered.m, seed)
        self.full_params = {**self.params, "input": "".join("01"[int(bit)] for bit in self.bits)}

    def rows(self, budget: Budget) -> list[Row]:
        return [
            self._margin("margin", self.attacked(budget, shared=False)),
            self._margin("shared", self.attacked(budget, shared=True)),
            *self._constants(budget),
            self._exponent(),
        ]

    def attacked(self, budget: Budget, *, shared: bool) -> Flip:
        return attack_circuit(
            self.network, self.bits, seed=budget.seed, shared=shared, steps=budget.attack, restarts=budget.restarts
        )

    def _margin(self, name: str, flip: Flip) -> Row:
        instance = self.instance_margin
        lower = {"printed": self.printed_margin, "derived": self.derived_margin, "instance": instance.move}
        said = (
            f"input {self.full_params['input']}; the instance's bound stops at {instance.binding}; "
            f"the attack found its flip by {flip.direction}"
        )
        return direct_row(
            self,
            self.result.quantity(name),
            {tier: Verdict.KEPT if bound <= flip.distance else Verdict.VIOLATED for tier, bound in lower.items()},
            printed=self.printed_margin,
            derived=self.derived_margin,
            instance=instance.move,
            measured=flip.distance,
            remark=said,
        )

    # The instance: the induction with each layer's own norms and this input's exact activations.

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
    def derived_margin(self) -> float:
        terms = theory.derived_margin().args
        return best_constants(*self._widths_and_norms, terms).least(terms)

    def _constants(self, budget: Budget) -> list[Row]:
        return [self._constant(name, self._found(name, budget)) for name in NAMES]

    def _constant(self, name: str, found: float | None) -> Row:
        quantity, number = self.result.quantity(name), self.chosen.of(name)
        kept = found is None or (found >= number if quantity.kind is Kind.LOWER else found <= number)
        finite = number if math.isfinite(number) else None
        return direct_row(
            self,
            quantity,
            {"derived": Verdict.PROVED if kept else Verdict.UNDECIDED},
            derived=finite,
            measured=found,
            remark="infinite: ReLU layers are Lipschitz everywhere" if finite is None else "",
        )

    def _found(self, name: str, budget: Budget) -> float | None:
        """The largest value (of sigma_zeta the smallest) an attack finds at this input; None where it is chosen."""
        if name == "lambda":
            return max(1.0, *(float(value.norm()) for place, value in self._exact.items() if place != "F"))
        if name == "sigma_zeta":
            return smallest_error_left(self.dtype)
        if name.startswith("sigma"):
            return None
        return self._largest_move(name, budget)

    def _largest_move(self, name: str, budget: Budget) -> float | None:
        """Of kappa_theta, kappa_xi, mu and mu_0."""
        radius = self.chosen.of("sigma_theta")
        seed, steps, restarts = budget.seed, budget.attack, budget.restarts
        layers_of = [(self._tensors(f"f[{i}]"), self._input_of(i)) for i in range(1, self.layered.q)]
        if name == "mu":
            return max(
                largest_input_move(*layer, radius, steps=steps, restarts=restarts, seed=seed) for layer in layers_of
            )
        if name == "kappa_xi":
            layers_of = [(self._tensors("zeta[1]"), self._input_of(2))] if self.network.corrections else []
        if name == "mu_0":
            layers_of = layers_of[:1]
        scale = max(1.0, float(self._input_of(1).norm())) if name == "mu_0" else 1.0
        return max(
            (
                largest_parameter_move(*layer, radius, scale=scale, steps=steps, restarts=restarts, seed=seed)
                for layer in layers_of
            ),
            default=None,
        )

    def _tensors(self, block: str) -> dict[str, Tensor]:
        return {part: torch.tensor(self._parameters[f"{block}.{part}"]) for part in ("W1", "b1", "W2", "b2")}

    def _input_of(self, i: int) -> Tensor:
        """The exact input of layer i at this input."""
        return torch.tensor(self.bits, dtype=torch.float64) if i == 1 else self._exact[f"g[{i - 1}]"]

    def _exponent(self) -> Row:
        power = theory.width_exponent()
        return direct_row(
            self,
            self.result.quantity("width_exponent"),
            {"printed": Verdict.CONSISTENT if power.is_finite else Verdict.UNDECIDED, "derived": Verdict.PROVED},
            derived=float(power),
        )


def smallest_error_left(dtype: torch.dtype) -> float:
    """The smallest error of a bit, found by bisection, that the rounding of Proposition 3.4 does not undo."""
    starts = representable_thirds(dtype)
    below, above = 0.0, 0.5
    while above - below > CLOSE:
        error = (below + above) / 2
        left = rounded(torch.tensor([error, 1 - error], dtype=dtype), starts) - torch.tensor([0.0, 1.0], dtype=dtype)
        below, above = (error, above) if float(left.abs().max()) <= CLOSE else (below, error)
    return above


def _bits(given: str, m: int, seed: int) -> np.ndarray:
    """The input's bits. Raises UsageError unless there are m of them, or none (then they are drawn)."""
    if given == "":
        return np.random.default_rng(seed).integers(0, 2, m).astype(bool)
    if len(given) != m or set(given) - {"0", "1"}:
        raise UsageError(f"machines.margin: input = {given!r}; the circuit takes {m} bits, each 0 or 1, without spaces")
    return np.array([bit == "1" for bit in given])


class MarginStudy(Study):
    """Theorem D.6 for the circuit of a netlist."""

    result = theory.MARGIN
    main_quantity = "margin"

    def case(self, params: Mapping[str, Any], *, seed: int, dtype: str, device: str) -> MarginCase:
        return MarginCase(self.result, self.resolved(params), seed=seed, dtype=dtype, device=device)
