"""The network of wei2021, Lemma B.1 and Lemma 3.3: two ReLU layers for each layer of gates, two to round its values.

    F' = readout f_{q-1} zeta_{q-2} f_{q-2} ... zeta_1 f_1,    each of them  phi(W2 phi(W1 h + b1) + b2).

It is no `Construction`: it has no tokens, its layers have thousands of gates of two parents each, which are gathered a
block of inputs at a time, its answers are exact in every dtype, since 1/3 and 2/3 are rounded to suit it, and its
margin moves all parameters, with a copy for each perturbation.

Shapes: N inputs, m input bits, r_i gates in layer i, `outputs` outputs, P perturbed copies of the parameters.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from numeric.search.threads import one_thread
from numeric.topics.machines.gates import NO_PARENT, GateKind, GateLayer, LayeredCircuit

CACHED = 2**17  # numbers that a block of inputs may take in the widest layer, so that a block stays in the cache


@dataclass(frozen=True)
class GateWeights:
    """phi(w2 phi(w1 . x + b1) + b2) of the one or two parents x."""

    w1: tuple[float, ...]
    b1: float
    w2: float
    b2: float

    @property
    def norm(self) -> float:
        """The 1-norm of the gate's parameters."""
        return sum(map(abs, self.w1)) + abs(self.b1) + abs(self.w2) + abs(self.b2)


# Proposition B.2: AND = phi(x1 + x2 - 1), OR = 1 - phi(1 - x1 - x2); Lemma B.1: NOT = 1 - z. The second ReLU changes
# nothing, since none of these is negative on bits. The -1 of NOT stands in the column of the gate's parent: on the
# diagonal, where the proof of Lemma B.1 puts it, it would negate whatever gate has the same place in the layer before.
GATE_WEIGHTS = {
    GateKind.AND: GateWeights((1.0, 1.0), -1.0, 1.0, 0.0),
    GateKind.OR: GateWeights((-1.0, -1.0), 1.0, -1.0, 1.0),
    GateKind.NOT: GateWeights((-1.0,), 1.0, 1.0, 0.0),
    GateKind.ID: GateWeights((1.0,), 0.0, 1.0, 0.0),
}

# Proposition 3.4: round(z) = 3 phi(z - 1/3) - 3 phi(z - 2/3).
ROUNDING_SLOPE = 3.0
ROUNDING_STARTS = (1 / 3, 2 / 3)


def layer_matrices(layer: GateLayer, before: int) -> dict[str, np.ndarray]:
    """W1 (r, before), b1 (r,), W2 (r, r), b2 (r,) of one layer of gates behind `before` values."""
    weights = [GATE_WEIGHTS[kind] for kind in layer.kinds]
    W1 = np.zeros((len(layer), before))
    for row, (gate, parents) in enumerate(zip(weights, layer.parents, strict=True)):
        for weight, parent in zip(gate.w1, parents, strict=False):
            W1[row, parent] += weight  # a gate may have the same parent twice
    return {
        "W1": W1,
        "b1": np.array([gate.b1 for gate in weights]),
        "W2": np.diag([gate.w2 for gate in weights]),
        "b2": np.array([gate.b2 for gate in weights]),
    }


def rounding_matrices(r: int) -> dict[str, np.ndarray]:
    """W1 (2r, r), b1 (2r,), W2 (r, 2r), b2 (r,) of the correction function of r values."""
    one = np.eye(r)
    return {
        "W1": np.concatenate([one, one]),
        "b1": -np.repeat(ROUNDING_STARTS, r),
        "W2": ROUNDING_SLOPE * np.concatenate([one, -one], axis=1),
        "b2": np.zeros(r),
    }


class CircuitNetwork:
    """The network of a layered circuit, with or without the correction functions; it answers 2 G(x) - 1."""

    def __init__(self, layered: LayeredCircuit, rounding: bool = True):
        self.layered = layered
        self.rounding = rounding

    @property
    def corrections(self) -> int:
        """How many correction functions there are: one behind every layer of gates but the last."""
        return self.layered.q - 2 if self.rounding else 0

    def blocks(self) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
        """The two-layer nets f[1], zeta[1], f[2], ... in order, each with its matrices, one at a time."""
        layers = self.layered.layers
        for i in range(1, len(layers)):
            yield f"f[{i}]", layer_matrices(layers[i], len(layers[i - 1]))
            if i <= self.corrections:
                yield f"zeta[{i}]", rounding_matrices(len(layers[i]))

    def readout(self) -> dict[str, np.ndarray]:
        """z -> 2z - 1 on the places of the outputs: W (outputs, r_{q-1}), b (outputs,)."""
        places = self.layered.outputs
        W = np.zeros((len(places), len(self.layered.layers[-1])))
        W[np.arange(len(places)), places] = 2.0
        return {"W": W, "b": -np.ones(len(places))}

    def parameters(self) -> dict[str, np.ndarray]:
        """Every dense parameter in float64, layer by layer: f[1].W1, ..., zeta[1].W1, ..., readout.W, readout.b."""
        parts = [*self.blocks(), ("readout", self.readout())]
        return {f"{name}.{part}": value for name, matrices in parts for part, value in matrices.items()}

    def run(
        self, bits: Bool[np.ndarray, "N m"], dtype: torch.dtype = torch.float64, device: str | torch.device = "cpu"
    ) -> Float[Tensor, "N outputs"]:
        """The answers, in {-1, +1}, by gathers in place of matrices, a block of inputs at a time."""
        values = self.values(bits, dtype, device)
        return values.mul_(2).sub_(1)

    def values(
        self, bits: Bool[np.ndarray, "N m"], dtype: torch.dtype = torch.float64, device: str | torch.device = "cpu"
    ) -> Float[Tensor, "N outputs"]:
        """The output gates' values before the readout. Raises CircuitError for bits of another width."""
        self.layered.check_bits(bits)
        layers = [_Gathered.of(layer, dtype, device) for layer in self.layered.layers[1:]]
        starts = representable_thirds(dtype)
        outputs = torch.tensor(self.layered.outputs, dtype=torch.int64, device=device)
        answers = torch.empty((len(bits), len(outputs)), dtype=dtype, device=device)
        with one_thread():
            for first, h in self._blocks_of_inputs(bits, dtype, device):
                for i, layer in enumerate(layers, start=1):
                    h = layer(h)  # (r_i, N')
                    h = rounded(h, starts) if i <= self.corrections else h
                answers[first : first + h.shape[1]] = h[outputs].T
        return answers

    def _blocks_of_inputs(
        self, bits: np.ndarray, dtype: torch.dtype, device: str | torch.device
    ) -> Iterator[tuple[int, Tensor]]:
        """The inputs block by block, transposed (m, N'), with the number of each block's first."""
        size = max(1, self._cached(torch.device(device)) // self.layered.r)
        for first in range(0, len(bits), size):
            block = np.ascontiguousarray(bits[first : first + size].T)
            yield first, torch.from_numpy(block).to(device, dtype)

    @staticmethod
    def _cached(device: torch.device) -> int:
        return CACHED if device.type == "cpu" else 2**9 * CACHED

    def run_dense(self, parameters: Mapping[str, Tensor], bits: Tensor) -> Tensor:
        """The answers (N, outputs) from dense matrices, differentiable in them; bits (N, m).

        Every parameter may have a dimension P in front, a perturbed copy for each; then bits is one input (m,) and the
        answer (P, outputs).
        """
        *_, (_, answers) = self.trace(parameters, bits)
        return answers

    def trace(self, parameters: Mapping[str, Tensor], bits: Tensor) -> Iterator[tuple[str, Tensor]]:
        """The same with what leads there: g[i], the values of each layer of gates before they are rounded, and F."""
        one = bits.ndim == 1
        h = (bits.unsqueeze(0) if one else bits).to(parameters["readout.W"].dtype)  # (N, m)
        for i in range(1, self.layered.q):
            h = two_layers(h, net(parameters, f"f[{i}]"))
            yield f"g[{i}]", h.squeeze(-2) if one else h
            h = two_layers(h, net(parameters, f"zeta[{i}]")) if i <= self.corrections else h
        answers = _affine(parameters["readout.W"], parameters["readout.b"], h)
        yield "F", answers.squeeze(-2) if one else answers


def net(parameters: Mapping[str, Tensor], name: str) -> dict[str, Tensor]:
    """W1, b1, W2, b2 of the two-layer net of that name."""
    return {part: parameters[f"{name}.{part}"] for part in ("W1", "b1", "W2", "b2")}


def two_layers(h: Tensor, net: Mapping[str, Tensor]) -> Tensor:
    """phi(W2 phi(W1 h + b1) + b2) of h (..., N, n); the parameters may have leading dimensions."""
    return _affine(net["W2"], net["b2"], _affine(net["W1"], net["b1"], h).relu()).relu()


def _affine(W: Tensor, b: Tensor, h: Tensor) -> Tensor:
    """W h + b for h (..., N, r), W (..., r', r), b (..., r')."""
    return h @ W.mT + b.unsqueeze(-2)


@dataclass(frozen=True)
class _Gathered:
    """One layer of gates by the places of its parents; the second weight is 0 where there is no second parent."""

    first: Tensor  # (r,)
    second: Tensor  # (r,)
    weights: tuple[Tensor, ...]  # w1 of either parent, b1, w2, b2: (r, 1) each

    @classmethod
    def of(cls, layer: GateLayer, dtype: torch.dtype, device: str | torch.device) -> "_Gathered":
        gates = [GATE_WEIGHTS[kind] for kind in layer.kinds]
        columns = [[gate.w1[0], sum(gate.w1[1:]), gate.b1, gate.w2, gate.b2] for gate in gates]
        places = np.where(layer.parents == NO_PARENT, layer.parents[:, :1], layer.parents)
        first, second = torch.tensor(places, dtype=torch.int64, device=device).unbind(1)
        weights = torch.tensor(columns, dtype=dtype, device=device).unsqueeze(-1).unbind(1)
        return cls(first, second, weights)

    def __call__(self, h: Tensor) -> Tensor:
        """phi(W2 phi(W1 h + b1) + b2) of h (r_{i-1}, N'): (r_i, N')."""
        w1, w1_second, b1, w2, b2 = self.weights
        hidden = h.index_select(0, self.first).mul_(w1)
        hidden.addcmul_(h.index_select(0, self.second), w1_second).add_(b1).relu_()
        return hidden.mul_(w2).add_(b2).relu_()


def rounded(h: Tensor, starts: tuple[float, float]) -> Tensor:
    """phi(3 phi(h - 1/3) - 3 phi(h - 2/3)), element by element."""
    up, down = ((h - start).relu_().mul_(ROUNDING_SLOPE) for start in starts)
    return up.sub_(down).relu_()


@dataclass(frozen=True)
class _Neighbours:
    """The three numbers of a dtype next to `value`: the nearest, then one unit of rounding below and above."""

    value: float
    dtype: torch.dtype

    @cached_property
    def numbers(self) -> tuple[float, ...]:
        nearest = torch.tensor(self.value, dtype=self.dtype, device="cpu")
        ends = (torch.tensor(end, dtype=self.dtype, device="cpu") for end in (0.0, 1.0))
        return (nearest.item(), *(torch.nextafter(nearest, end).item() for end in ends))


def representable_thirds(dtype: torch.dtype) -> tuple[float, float]:
    """1/3 and 2/3 rounded to `dtype` (down or up, by one unit at most) so that round(1) is 1 in its arithmetic too.

    Rounded to nearest, they give 1 in float64 and 0.99999994 in float32. Raises ValueError for a dtype that has no
    such pair.
    """
    one = torch.ones(1, dtype=dtype, device="cpu")
    low, high = (_Neighbours(start, dtype).numbers for start in ROUNDING_STARTS)
    for start in ((a, b) for a in low for b in high):
        if rounded(one, start).item() == 1.0:
            return start
    raise ValueError(f"no roundings of 1/3 and 2/3 to {dtype} give round(1) = 1; use float64 or float32")


@dataclass(frozen=True)
class CircuitSizes:
    """Counts of the matrices: layers of ReLUs, widest layer, 1-norms."""

    depth: int
    width: int
    gates: float  # sum over i of |theta_i|_1
    per_gate: float  # max over i of |theta_i|_1 / r_i
    rounding: float  # sum over i of |xi_i|_1


def measured_sizes(network: CircuitNetwork) -> CircuitSizes:
    """Counted from the dense matrices, one two-layer net at a time."""
    gates, rounding, per_gate = 0.0, 0.0, 0.0
    depth, width = 0, network.layered.m
    for name, matrices in network.blocks():
        norm = float(sum(np.abs(matrix).sum() for matrix in matrices.values()))
        depth += 2
        width = max(width, *(len(matrices[bias]) for bias in ("b1", "b2")))
        if name.startswith("zeta"):
            rounding += norm
        else:
            gates += norm
            per_gate = max(per_gate, norm / len(matrices["b2"]))
    return CircuitSizes(depth, width, gates, per_gate, rounding)
