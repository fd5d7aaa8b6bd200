"""Theorem D.6: lower bounds of the margin of a circuit (printed, derived, instance) and an attack."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import sympy as sp
import torch
from torch import Tensor

from bridge.lowering.ball_values import evaluate_ball
from bridge.theorems.check import Check, Sides, within
from bridge.theorems.parts import Knobs
from bridge.theorems.theorem import Function, Theorem
from bridge.topics.machines.netlists import bits_of, read_circuit
from bridge.topics.machines.nine_constants import NAMES, NineConstants, best_constants
from bridge.topics.tools.inversion import Condition, LargestPerturbation, largest_perturbation
from numeric.balls import float_above, float_below
from numeric.tools.flips import norm
from numeric.topics.machines.circuit import CircuitNetwork
from numeric.topics.machines.circuit_attack import attack_circuit, flips, victim
from numeric.topics.machines.layer_moves import (
    LayerAt,
    Moves,
    corrections_of,
    deviations,
    largest_deviation,
    largest_input_move,
    largest_parameter_move,
    layer_norms,
    layers_of,
    smallest_error_left,
)
from numeric.topics.machines.layering import layered
from symbolic.topics.machines import margin as theory
from symbolic.topics.machines import perturbed_layers as moved
from symbolic.words.errors import UsageError

STATED = theory.MARGIN
READOUT_NORM = 2  # z -> 2 z - 1
WIDEST = 64  # gates of a layer; beyond it an attack takes minutes
CLOSE = 1e-12  # absolute: of what an attack finds
OURS = ("derived", "instance")

Values = Mapping[str, Tensor]  # by name


def resolve(given: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """An input of the circuit: the given bits, or drawn ones. Raises UsageError for a circuit that has no margin."""
    netlist = str(given.get("netlist", STATED.parameter("netlist").default))
    circuit = layered(read_circuit(netlist))
    if circuit.r > WIDEST:
        raise UsageError(
            f"{STATED.id}: the circuit is {circuit.r} gates wide; the attack takes at most {WIDEST}. "
            f"`boundsmith compare machines.circuit` runs it."
        )
    if circuit.q < 2:
        raise UsageError(f"{STATED.id}: '{netlist}' has no gates, so it has no margin")
    text = str(given.get("input", ""))
    drawn = np.random.default_rng(seed).integers(0, 2, circuit.m).astype(bool)
    bits = bits_of(STATED.id, text, circuit.m) if text else drawn
    return {**given, "input": "".join("01"[int(bit)] for bit in bits)}


# The network.


def network_of(netlist: str) -> CircuitNetwork:
    return CircuitNetwork(layered(read_circuit(str(netlist))))


def weights_of(network: CircuitNetwork) -> dict[str, Tensor]:
    return {
        name: torch.tensor(value, dtype=torch.float64, device="cpu") for name, value in network.parameters().items()
    }


# The instance: the induction with the norms of each layer and the exact activations of this input.


def instance_margin(layers: list[LayerAt], norms: list[tuple[float, float]]) -> LargestPerturbation:
    def condition(i: int) -> Condition:
        last = i == len(layers)
        readout, limit = (sp.Integer(READOUT_NORM), sp.S.One) if last else (None, moved.ROUNDING_RADIUS)
        form = moved.two_relu_layers(corrected=i > 1, readout=readout)
        known = dict(zip((moved.norm_1, moved.norm_2), norms[i - 1], strict=True))
        known |= {**activation_norms(*layers[i - 1]), moved.sigma_zeta: moved.ROUNDING_RADIUS}
        return Condition(f"layer {i}", form.error, known, limit, strict=last)

    return largest_perturbation([condition(i) for i in range(1, len(layers) + 1)], moved.rho)


def activation_norms(weights: Values, before: Tensor) -> dict[sp.Symbol, sp.Expr]:
    """2-norms of the input of a layer, of its hidden units and of its output, all of whole numbers."""
    inner = torch.relu(weights["W1"] @ before + weights["b1"])
    after = torch.relu(weights["W2"] @ inner + weights["b2"])
    vectors = {moved.size: before, moved.hidden: inner, moved.output: after}
    return {symbol: sp.sqrt(round(float(vector @ vector))) for symbol, vector in vectors.items()}


def best_for(terms: Callable[[], Any]) -> Function:
    """The nine constants with the radius that makes the least of the terms largest."""

    def best(network: CircuitNetwork, norms: list[tuple[float, float]]) -> NineConstants:
        return best_constants([len(layer) for layer in network.layered.layers], norms, terms())

    return best


BUILT: Mapping[str, Function] = {
    "network": network_of,
    "bits": lambda network, input: bits_of(STATED.id, input, network.layered.m),
    "weights": weights_of,
    "layers": layers_of,
    "corrections": corrections_of,
    "norms": layer_norms,
    "for_printed": best_for(lambda: theory.PRINTED_TERMS),
    "for_derived": best_for(lambda: theory.derived_margin().args),
    "instance": instance_margin,
}


# The margins.


def margin(name: str, *, shared: bool) -> Check:
    """Three lower bounds beside a perturbation of all parameters that flips the prediction: the input of the check."""

    def nearest_flip(
        network: CircuitNetwork, bits: np.ndarray, attack: int, restarts: int, seed: int
    ) -> dict[str, Tensor]:
        found = attack_circuit(network, bits, seed=seed, shared=shared, steps=attack, restarts=restarts)
        own = victim(network, bits, shared=shared).parameters
        return {name: found.delta.get(name, torch.zeros_like(part)) for name, part in own.items()}

    def sides(
        network: CircuitNetwork, bits: np.ndarray, for_printed: NineConstants, for_derived: NineConstants,
        instance: LargestPerturbation, inputs: Values, attack: int, restarts: int,
    ) -> Sides:  # fmt: skip
        flipped = flips(network, bits, inputs, shared=shared)
        distance = norm(inputs) if flipped else None
        effort = f"attack: {restarts} restarts of {attack} steps" if flipped else "no perturbation that flips was found"
        return Sides(
            distance,
            attacked=distance,
            printed=for_printed.least(theory.PRINTED_TERMS),
            derived=for_derived.least(theory.derived_margin().args),
            instance=instance.size,
            proved=OURS,
            remark=f"instance: decided by {instance.binding}; {effort}",
        )

    return Check(STATED.quantity(name), sides, nearest_flip)


# Lemmas D.7 and D.8, with the constants of the printed bound.


def moves_of(for_printed: NineConstants) -> Moves:
    """(D.6) to (D.8); those that nothing asks for are 0."""
    found = {name: for_printed.least_known(terms) for name, terms in theory.MOVES.items()}
    return Moves(**{name: 0.0 if math.isinf(move) else move for name, move in found.items()})


def layer_check(name: str, sides: Callable[..., Sides]) -> Check:
    def moved(
        network: CircuitNetwork, bits: np.ndarray, weights: Values, for_printed: NineConstants, attack: int,
        restarts: int, seed: int,
    ) -> dict[str, Tensor]:  # fmt: skip
        at = moves_of(for_printed)
        return largest_deviation(network, weights, bits, at, steps=attack, restarts=restarts, seed=seed)

    return Check(STATED.quantity(name), sides, moved)


def deviation(
    network: CircuitNetwork, bits: np.ndarray, weights: Values, for_printed: NineConstants, inputs: Values
) -> Sides:
    at, known = moves_of(for_printed), for_printed.values
    later = theory.layer_deviation().error
    of_later = {**known, theory.move_theta: at.theta, theory.move_xi: at.xi}
    bounds = [theory.mu_0 * at.first, *([later] if network.corrections else [])]
    raw, _ = deviations(network, weights, {name: move[None] for name, move in inputs.items()}, bits)
    return Sides(
        within(float(raw.max()), CLOSE),
        attacked=float(raw.max()),
        printed=float_below(evaluate_ball(theory.PRINTED_DEVIATION, known)),
        derived=max(float_above(evaluate_ball(each, of_later)) for each in bounds),
        proved=("derived",),
    )


def corrected(network: CircuitNetwork, bits: np.ndarray, weights: Values, inputs: Values) -> Sides:
    _, left = deviations(network, weights, {name: move[None] for name, move in inputs.items()}, bits)
    return Sides(within(float(left.max()), CLOSE), measured=float(left.max()), proved=("printed",))


# The nine constants, and what an attack finds of each.


def constant(name: str) -> Check:
    """As it enters the printed bound, and as it enters the derived one: each has its own best radius."""

    def sides(
        layers: list[LayerAt], corrections: list[LayerAt], for_printed: NineConstants, for_derived: NineConstants,
        attack: int, restarts: int, seed: int,
    ) -> Sides:  # fmt: skip
        numbers = {"printed": for_printed.of(name), "derived": for_derived.of(name)}
        finite = {tier: number for tier, number in numbers.items() if math.isfinite(number)}
        effort = {"steps": attack, "restarts": restarts, "seed": seed}
        found = found_of(name, layers, corrections, for_printed.of("sigma_theta"), effort)
        return Sides(
            None if found is None else within(found, CLOSE),
            attacked=found,
            printed=finite.get("printed"),
            derived=finite.get("derived"),
            proved=tuple(finite),
            remark=about(name, finite=bool(finite), corrected=bool(corrections)),
        )

    return Check(STATED.quantity(name), sides)


def about(name: str, *, finite: bool, corrected: bool) -> str:
    if name == "sigma_zeta" and not corrected:
        return "one layer of gates has no correction: every radius below 1 is valid"
    if finite:
        return ""
    if name == "sigma_h":
        return "infinite: ReLU layers are Lipschitz everywhere"
    return "infinite: one layer of gates, `f_0`, has no `f_i` with `i >= 1` and no correction"


def found_of(
    name: str, layers: list[LayerAt], corrections: list[LayerAt], radius: float, effort: Mapping[str, Any]
) -> float | None:
    """The largest value (of sigma_zeta the smallest) an attack finds at this input; None where it is chosen.

    kappa_theta and mu are of f_i with i >= 1, mu_0 of f_0, the first layer of gates.
    """
    first, later = layers[0], layers[1:]
    if name == "lambda":
        return max((1.0, *(float(before.norm()) for _, before in later)))
    if name == "sigma_zeta":
        return smallest_error_left(torch.float64)
    if name == "mu_0":
        scale = max(1.0, float(first[1].norm()))
        return largest_parameter_move(*first, radius, scale=scale, **effort)
    if name == "mu":
        return max((largest_input_move(*layer, radius, **effort) for layer in later), default=None)
    moving = {"kappa_theta": later, "kappa_xi": corrections}.get(name, [])
    return max((largest_parameter_move(*layer, radius, scale=1.0, **effort) for layer in moving), default=None)


# The paper leaves the degree of its polynomial open: every power that stays bounded agrees with it.
def width_exponent() -> Sides:
    nine, joint = theory.width_exponent(), theory.joint_width_exponent()
    return Sides(
        derived=nine,
        instance=joint,
        proved=("derived",) if nine == joint and nine.is_finite else (),
        limit=abs(nine) if nine.is_finite else sp.nan,
        remark="derived: from the nine constants; instance: from the joint form, with the same norms",
    )


MARGIN = Theorem(
    STATED,
    main="margin",
    knobs=Knobs(resolve=resolve),
    built=BUILT,
    checks=(
        margin("margin", shared=False),
        margin("shared", shared=True),
        layer_check("deviation", deviation),
        layer_check("corrected", corrected),
        *(constant(name) for name in NAMES),
        Check(STATED.quantity("width_exponent"), width_exponent),
    ),
    settings={"attack": 32, "restarts": 4},
)
