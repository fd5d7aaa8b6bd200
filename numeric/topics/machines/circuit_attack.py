"""Upper bounds of the all-layer margin of a circuit's network: perturbations of its parameters that flip its output.

Rounding layers make every gradient of the output vanish at theta. The value of a gate *before* it is rounded has a
gradient: pushed past 1/2, it flips a bit. These directions are searched first.

Shapes: P moved copies of the parameters, r_i gates in layer i, R the widest of them.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool
from torch import Tensor

from numeric.tools.flips import Flip, smallest_flip, unit
from numeric.topics.machines.circuit import CircuitNetwork

Parameters = dict[str, Tensor]
SHARED = "zeta"  # the one correction function of a network that shares it
LARGEST = 1.0  # the last bias alone flips the prediction at distance 1
OUTPUT = 0  # F is the circuit's first output


class ChangeError(ValueError):
    """A perturbation names parameters that the network does not have, or has other shapes."""


@dataclass(frozen=True, eq=False)
class CircuitVictim:
    """The network of one circuit at one input: its parameters, tied where `shared`, and its signed output."""

    network: CircuitNetwork
    one: Tensor  # (m,)
    parameters: Parameters
    spread: Callable[[Parameters], Parameters]
    label: float

    def signed(self, moved: Mapping[str, Tensor]) -> Tensor:
        """(2 y - 1) F for each copy; tensors that are not moved are shared by all of them."""
        every = self.spread({**self.parameters, **moved})
        answers = self.network.run_dense(every, self.one)  # (P, outputs), or (outputs,) where nothing is moved
        return self.label * answers.reshape(-1, len(self.network.layered.outputs))[:, OUTPUT]


def victim(network: CircuitNetwork, bits: Bool[np.ndarray, " m"], *, shared: bool) -> CircuitVictim:
    own = {name: torch.tensor(value, dtype=torch.float64, device="cpu") for name, value in network.parameters().items()}
    one = torch.tensor(bits, dtype=torch.float64, device="cpu")
    label = float(torch.sign(network.run_dense(own, one)[OUTPUT, ...].flatten()[0]))
    if shared:
        return CircuitVictim(network, one, tied(network, own), untied(network), label)
    return CircuitVictim(network, one, own, dict, label)


def attack_circuit(
    network: CircuitNetwork,
    bits: Bool[np.ndarray, " m"],
    *,
    seed: int,
    shared: bool = False,
    steps: int = 60,
    restarts: int = 8,
) -> Flip:
    """The smallest perturbation found of all parameters that flips the sign of the first output at this input.

    `shared`: the corrections have one set of parameters (Definition D.5), which moves all of them.
    """
    target = victim(network, bits, shared=shared)
    directions = dict(_gate_directions(network, target.parameters, target.spread, target.one))
    return smallest_flip(
        target.signed, target.parameters, directions, largest=LARGEST, seed=seed, steps=steps, restarts=restarts
    )


def flips(network: CircuitNetwork, bits: Bool[np.ndarray, " m"], delta: Mapping[str, Tensor], *, shared: bool) -> bool:
    """Whether this perturbation flips the sign of the first output. Raises ChangeError where it does not fit."""
    target = victim(network, bits, shared=shared)
    for name, part in delta.items():
        if name not in target.parameters or target.parameters[name].shape != part.shape:
            raise ChangeError(f"the network has no parameter '{name}' of shape {tuple(part.shape)}")
    moved = {name: (target.parameters[name] + part)[None] for name, part in delta.items()}
    return bool(target.signed(moved)[0] <= 0) if moved else False


# A gate's raw value is locally linear in all parameters: along its gradient it changes fastest. (One that is 0 is a
# ReLU's: its gradient vanishes, and the biases in front of it are what moves it.)
def _gate_directions(
    network: CircuitNetwork, parameters: Parameters, spread: Callable[[Parameters], Parameters], one: Tensor
) -> Iterator[tuple[str, Parameters]]:
    """Towards a change of each gate's raw value, and of each layer's sum: unit moves of all parameters."""
    leaves = {name: value.clone().requires_grad_() for name, value in parameters.items()}
    for layer, values in network.trace(spread(leaves), one):
        for place, value in [*enumerate(values), ("all", values.sum())]:
            gradients = torch.autograd.grad(value, list(leaves.values()), retain_graph=True, allow_unused=True)
            moved = {
                name: g for name, g in zip(leaves, gradients, strict=True) if g is not None and bool((g != 0).any())
            }
            if moved:
                yield f"{layer}, gate {place}", unit(moved)


# Definition D.5: theta_i = (theta'_pi(1), ..., theta'_pi(b)) with distinct indices. The corrections differ in width
# only, so that each is the leading part of the widest.
def tied(network: CircuitNetwork, parameters: Parameters) -> Parameters:
    """The parameters with one correction function, the widest, in place of all."""
    widest = max(range(1, network.corrections + 1), key=lambda i: len(network.layered.layers[i]), default=None)
    kept = {name: value for name, value in parameters.items() if not name.startswith("zeta[")}
    if widest is None:
        return kept
    return {**kept, **{f"{SHARED}.{part}": parameters[f"zeta[{widest}].{part}"] for part in ("W1", "b1", "W2", "b2")}}


def untied(network: CircuitNetwork) -> Callable[[Parameters], Parameters]:
    """From tied parameters (with or without a dimension P) to those of every layer."""
    sizes = {i: len(network.layered.layers[i]) for i in range(1, network.corrections + 1)}
    widest = max(sizes.values(), default=0)

    def spread(shared: Parameters) -> Parameters:
        every = {name: value for name, value in shared.items() if not name.startswith(f"{SHARED}.")}
        for i, r in sizes.items():
            both = torch.cat(
                [
                    torch.arange(r, dtype=torch.int64, device="cpu"),
                    widest + torch.arange(r, dtype=torch.int64, device="cpu"),
                ]
            )  # the units of phi(z - 1/3), then phi(z - 2/3)
            every[f"zeta[{i}].W1"] = shared[f"{SHARED}.W1"][..., both, :][..., :r]
            every[f"zeta[{i}].b1"] = shared[f"{SHARED}.b1"][..., both]
            every[f"zeta[{i}].W2"] = shared[f"{SHARED}.W2"][..., :r, :][..., both]
            every[f"zeta[{i}].b2"] = shared[f"{SHARED}.b2"][..., :r]
        return every

    return spread
