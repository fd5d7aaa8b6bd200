"""How far a layer phi(W2 phi(W1 h + b1) + b2) really moves: the constants of Condition D.3 from below, by an attack.

Shapes: R restarts, n entries of h, r outputs.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from numeric.networks.norms import spectral_norm_upper
from numeric.search.attack import attack
from numeric.search.bisection import last_that_holds
from numeric.topics.machines.circuit import CircuitNetwork, net, representable_thirds, rounded, two_layers

Layer = Mapping[str, Tensor]  # W1, b1, W2, b2
LayerAt = tuple[Layer, Tensor]  # and its exact input: whole numbers
TINY = 1e-300
CLOSE = 1e-12  # what counts as no error; and how closely the smallest one that is left is found


def layers_of(network: CircuitNetwork, weights: Mapping[str, Tensor], bits: np.ndarray) -> list[LayerAt]:
    """f_1, f_2, ..."""
    one = torch.tensor(bits, dtype=torch.float64, device="cpu")
    values = [one, *(value.round() for value in (each for _, each in network.trace(weights, one)))]
    return [(net(weights, f"f[{i}]"), values[i - 1]) for i in range(1, network.layered.q)]


def corrections_of(network: CircuitNetwork, weights: Mapping[str, Tensor], layers: list[LayerAt]) -> list[LayerAt]:
    """The first correction, if there is one: all are alike."""
    return [(net(weights, "zeta[1]"), layers[1][1])] if network.corrections else []


def layer_norms(layers: list[LayerAt]) -> list[tuple[float, float]]:
    """||W_1||, ||W_2|| of each."""
    return [
        (spectral_norm_upper(weights["W1"].numpy()), spectral_norm_upper(weights["W2"].numpy()))
        for weights, _ in layers
    ]


def applied(layer: Layer, h: Tensor) -> Tensor:
    """The layer at h (R, n) with parameters of leading dimension R or none: (R, r)."""
    return two_layers(h.unsqueeze(-2), layer).squeeze(-2)


def largest_parameter_move(
    layer: Layer, h: Tensor, radius: float, *, scale: float, steps: int, restarts: int, seed: int
) -> float:
    """The largest ||f(h, theta') - f(h, theta)|| / (max(||h||, 1) ||theta' - theta||) found, times `scale`.

    h (n,) is one exact input, theta' lies within `radius` of theta.
    """
    start = {name: radius * draw for name, draw in _draws(layer, restarts, seed).items()}
    exact, size = applied(layer, h), max(1.0, float(h.norm()))

    def ratio(move: dict[str, Tensor]) -> Tensor:
        moved = {name: value + move[name] for name, value in layer.items()}
        return (applied(moved, h) - exact).norm(dim=-1) / (size * joint_norm(move).clamp(min=TINY))

    return scale * attack(ratio, start, _within(radius), steps=steps, seed=seed).value


def largest_input_move(layer: Layer, h: Tensor, radius: float, *, steps: int, restarts: int, seed: int) -> float:
    """The largest ||f(h', theta') - f(h, theta')|| / ||h' - h|| found, theta' within `radius` of theta; h (n,)."""
    start = {name: radius * draw for name, draw in _draws(layer, restarts, seed).items()}
    start["h"] = torch.randn(
        restarts, len(h), generator=torch.Generator().manual_seed(seed + 1), dtype=h.dtype, device="cpu"
    )
    inside = _within(radius)

    def project(move: dict[str, Tensor]) -> dict[str, Tensor]:
        return {**inside({name: value for name, value in move.items() if name != "h"}), "h": move["h"]}

    def ratio(move: dict[str, Tensor]) -> Tensor:
        moved = {name: value + move[name] for name, value in layer.items()}
        change = applied(moved, h + move["h"]) - applied(moved, h.expand_as(move["h"]))
        return change.norm(dim=-1) / move["h"].norm(dim=-1).clamp(min=TINY)

    return attack(ratio, start, project, steps=steps, seed=seed).value


@dataclass(frozen=True)
class Moves:
    """How far parameters are moved, by 2-norms: of the first layer of gates, of each other one, of each correction.

    The readout is part of the last layer.
    """

    first: float
    theta: float
    xi: float

    def of(self, network: CircuitNetwork) -> dict[str, float]:
        """By the name of the net."""
        last = network.layered.q - 1
        gates = {f"f[{i}]": self.first if i == 1 else self.theta for i in range(1, last + 1)}
        return {**gates, **{f"zeta[{i}]": self.xi for i in range(1, network.corrections + 1)}}


def deviations(
    network: CircuitNetwork, weights: Layer, moves: Layer, bits: np.ndarray
) -> tuple[Float[Tensor, "R layers"], Float[Tensor, "R corrections"]]:
    """||g_i - h_i|| of all layers, F the last, with parameters moved; the same behind the exact corrections."""
    one = torch.tensor(bits, dtype=torch.float64, device="cpu")
    exact = {name: value.round() for name, value in network.trace(weights, one)}
    moved = {name: value + moves[name] for name, value in weights.items()}
    raw, corrected = [], []
    for i, (name, value) in enumerate(network.trace(moved, one), start=1):
        if i != network.layered.q - 1:  # the readout follows it: they are one layer
            raw.append((value - exact[name]).norm(dim=-1))
        if i <= network.corrections:
            corrected.append((applied(net(weights, f"zeta[{i}]"), value) - exact[name]).norm(dim=-1))
    return torch.stack(raw, -1), torch.stack(corrected or [0 * raw[0]], -1)


def largest_deviation(
    network: CircuitNetwork, weights: Layer, bits: np.ndarray, moves: Moves, *, steps: int, restarts: int, seed: int
) -> dict[str, Tensor]:
    """The moves of all parameters with the largest ||g_i - h_i|| of a layer that an attack finds."""
    radii, last = moves.of(network), f"f[{network.layered.q - 1}]"
    groups = {name: [key for key in weights if key.startswith(f"{name}.")] for name in radii}
    groups[last] += [key for key in weights if key.startswith("readout.")]

    def project(move: dict[str, Tensor]) -> dict[str, Tensor]:
        inside = (_within(radii[name])({key: move[key] for key in keys}) for name, keys in groups.items())
        return {key: value for group in inside for key, value in group.items()}

    def largest(move: dict[str, Tensor]) -> Tensor:
        return deviations(network, weights, move, bits)[0].amax(-1)

    start = {key: draw for name, keys in groups.items()
             for key, draw in _draws({key: weights[key] for key in keys}, restarts, seed).items()}  # fmt: skip
    found = attack(largest, project(start), project, steps=steps, seed=seed).witness
    assert isinstance(found, dict)  # as the start is
    return found


def smallest_error_left(dtype: torch.dtype) -> float:
    """The smallest error of a bit, found by bisection, that the correction of Proposition 3.4 leaves."""
    starts, bits = representable_thirds(dtype), torch.tensor([0.0, 1.0], dtype=dtype, device="cpu")

    def is_left(error: float) -> bool:
        moved = torch.tensor([error, 1 - error], dtype=dtype, device="cpu")
        return float((rounded(moved, starts) - bits).abs().max()) > CLOSE

    return last_that_holds(is_left, 0.5, 0.0, steps=math.ceil(math.log2(0.5 / CLOSE)))


def joint_norm(move: Mapping[str, Tensor]) -> Tensor:
    """The 2-norm over all tensors of a move, for each restart: (R,)."""
    return torch.stack([value.flatten(1).norm(dim=1) for value in move.values()]).norm(dim=0)


def _within(radius: float) -> Callable[[dict[str, Tensor]], dict[str, Tensor]]:
    def project(move: dict[str, Tensor]) -> dict[str, Tensor]:
        shrink = (radius / joint_norm(move).clamp(min=TINY)).clamp(max=1.0)
        return {name: value * shrink.view(-1, *[1] * (value.ndim - 1)) for name, value in move.items()}

    return project


def _draws(layer: Layer, restarts: int, seed: int) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    draws = {
        name: torch.randn(restarts, *v.shape, generator=generator, dtype=v.dtype, device="cpu")
        for name, v in layer.items()
    }
    norm = joint_norm(draws)
    return {name: value / norm.view(-1, *[1] * (value.ndim - 1)) for name, value in draws.items()}
