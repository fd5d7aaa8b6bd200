"""The run of a decoder step by step, with keys and values kept, and without the coordinates that nothing reads.

It is no `Construction`, whose layers see all tokens at once: here token i + 1 is the output at token i, so that a run
of 10^4 steps would be a network run as often, each time on one token more. The encoder's tokens enter the layers too,
and an attack runs batches in which each input has parameters of its own. Attention with a null key serves the decoder
alone and stays with it.

Behind each layer only those coordinates of the stream are computed that a later weight other than 0, a tap or the
output reads; to leave the others out changes no number.

Shapes: B inputs, m symbols, P positions, w width of the stream, n coordinates of it that are read behind a layer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from numeric.topics.machines.attending import AffineWeights, AttentionModule, Memory, Weights

Where = dict[str, tuple[int, list[int]]]  # tap -> (layer, coordinates of the stream)


@dataclass(frozen=True, eq=False)
class DecoderRun:
    """What a run gave: o_1 .. o_steps, theta_cls . o_steps, and the taps at each step.

    `lengths`: the tokens of each input. `leak`: the largest distance, over all attentions, steps and coordinates, of a
    softmax mean to the hard-max mean of the same scores and values; 0 for a run with hard max.
    """

    outputs: Tensor  # (B, steps, w)
    prediction: Tensor  # (B,)
    taps: dict[str, Tensor]  # (B, steps, size)
    lengths: Tensor  # (B,)
    leak: float = 0.0


def joined(runs: Sequence[DecoderRun]) -> DecoderRun:
    """One run of all the inputs of these."""
    return DecoderRun(
        torch.cat([run.outputs for run in runs]),
        torch.cat([run.prediction for run in runs]),
        {name: torch.cat([run.taps[name] for run in runs]) for name in runs[0].taps},
        torch.cat([run.lengths for run in runs]),
        max(run.leak for run in runs),
    )


class ElementwiseRounding:
    """h -> phi(W3 phi(W2 h + b2)) where W2 = [D; D'] and W3 = [E, E'] are diagonal blocks: coordinate by coordinate."""

    def __init__(self, diagonals: tuple[np.ndarray, np.ndarray, np.ndarray], weights: Weights, rows: Tensor) -> None:
        self.up, self.bias, self.down = (
            torch.tensor(each, dtype=weights.dtype, device=weights.device)[:, rows] for each in diagonals
        )  # (2, n) each

    def __call__(self, h: Tensor) -> Tensor:
        hidden = torch.addcmul(self.bias, self.up, h).relu_()  # (B, 2, n)
        return hidden.mul_(self.down).sum(-2, keepdim=True).relu_()  # (B, 1, n)


class DenseRounding:
    """The same by its matrices."""

    def __init__(self, weights: Weights, name: str, rows: Tensor) -> None:
        middle, whole = (
            torch.arange(weights.shapes[f"{name}.ff[{place}].b"][0], device=weights.device, dtype=torch.int64)
            for place in (2, 1)
        )
        self.up = AffineWeights(weights, f"{name}.ff[2]", middle, whole)
        self.down = AffineWeights(weights, f"{name}.ff[3]", rows, middle)

    def __call__(self, h: Tensor) -> Tensor:
        return self.down(self.up(h).relu()).relu()


def diagonals(own: Mapping[str, np.ndarray], name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """(W2, b2, W3) of a layer as diagonals, (2, w) each; None if its W2, W3, b3 are not of that form."""
    up, bias, down = own[f"{name}.ff[2].W"], own[f"{name}.ff[2].b"], own[f"{name}.ff[3].W"]
    w = down.shape[0]
    if up.shape != (2 * w, w) or down.shape != (w, 2 * w) or own[f"{name}.ff[3].b"].any():
        return None
    blocks = [up[:w], up[w:], down[:, :w], down[:, w:]]
    if any(np.count_nonzero(block) != np.count_nonzero(np.diagonal(block)) for block in blocks):
        return None
    first, second, third, fourth = (np.diagonal(block) for block in blocks)
    return np.stack([first, second]), bias.reshape(2, w), np.stack([third, fourth])


def _columns(W: Tensor) -> Tensor:
    """Which source coordinates (S,) a weight (..., T, S) reads."""
    return (W != 0).flatten(0, -2).any(0)


class CachedLayer:
    """One decoder layer between the coordinates read behind the layer before it and those read behind itself."""

    def __init__(self, weights: Weights, name: str, out: Tensor) -> None:
        """`out` (w,): is the coordinate read behind this layer?"""
        self.weights, self.name, self.out = weights, name, out
        own_rounding = not (weights.is_given(f"{name}.ff[2]") or weights.is_given(f"{name}.ff[3]"))
        self.diagonals = diagonals(weights.own, name) if own_rounding else None
        self.has_decoder, self.has_encoder = (weights.has(f"{name}.{side}") for side in ("decoder", "encoder"))
        self._mark_what_is_read()

    def _mark_what_is_read(self) -> None:
        weights, name = self.weights, self.name
        first = weights[f"{name}.ff[1].W"]  # (..., T, w)
        self.hidden = torch.ones_like(self.out) if self.diagonals is None else self.out
        read = _columns(first[..., self.hidden, :])  # (w,)
        self.from_encoder = read & self._written("encoder") if self.has_encoder else read.new_zeros(())
        if self.has_encoder:
            read = read | _columns(weights[f"{name}.encoder.query.W"])
        self.from_decoder = read & self._written("decoder") if self.has_decoder else read.new_zeros(())
        if self.has_decoder:
            value = weights[f"{name}.decoder.value.W"][..., self.from_decoder, :]
            query, key = (weights[f"{name}.decoder.{part}.W"] for part in ("query", "key"))
            read = read | _columns(query) | _columns(key) | _columns(value)
        self.read = read

    def _written(self, side: str) -> Tensor:
        """Which coordinates (w,) the value of this attention can write."""
        weights, name = self.weights, f"{self.name}.{side}"
        W = (weights[f"{name}.value.W"] != 0).any(-1)  # (..., w)
        parts = [W, weights[f"{name}.value.b"] != 0, weights[f"{name}.null_value"] != 0]
        return torch.stack([part.reshape(-1, part.shape[-1]).any(0) for part in parts]).any(0)

    def place(self, source: Tensor) -> None:
        """Fix the coordinates (n,) behind the layer before, a superset of those read, and build the modules."""
        weights, name, rows = self.weights, self.name, self.out.nonzero()[:, 0]
        every = torch.arange(len(self.out), device=weights.device, dtype=torch.int64)
        self.decoder = self.encoder = None
        if self.has_decoder:
            written = self.from_decoder.nonzero()[:, 0]
            self.decoder = AttentionModule(weights, f"{name}.decoder", written, source, source)
        if self.has_encoder:
            written = self.from_encoder.nonzero()[:, 0]
            self.encoder = AttentionModule(weights, f"{name}.encoder", written, source, every)
        self.first = AffineWeights(weights, f"{name}.ff[1]", self.hidden.nonzero()[:, 0], source)
        self.rounding = (
            DenseRounding(weights, name, rows)
            if self.diagonals is None
            else ElementwiseRounding(self.diagonals, weights, rows)
        )

    def floats_per_input(self, steps: int, symbols: int) -> int:
        """How many numbers the keys and values of one input take."""
        total = 0
        for module, count in ((self.decoder, steps), (self.encoder, symbols)):
            if module is not None:
                total += (count + 1) * (module.key.W.shape[-2] + module.value.W.shape[-2] + 2)
        return total

    def begin(self, inputs: int, steps: int, encoded: Tensor, absent: Tensor | None) -> None:
        """Forget; compute the keys and values of the encoder's outputs (B, m, w)."""
        self.past = None if self.decoder is None else Memory(self.decoder, inputs, steps)
        self.input = None if self.encoder is None else Memory(self.encoder, inputs, encoded.shape[1])
        if self.encoder is not None and self.input is not None:
            self.input.append(self.encoder.key(encoded), self.encoder.value(encoded), absent)

    @property
    def memories(self) -> list[Memory]:
        return [memory for memory in (self.past, self.input) if memory is not None]

    def step(self, h: Tensor, inverse_temperature: float | None) -> Tensor:
        """h^(k-1)_i (B, 1, n) -> h^(k)_i (B, 1, n'), the current step being a key of its own."""
        if self.decoder is not None and self.past is not None:
            self.past.append(self.decoder.key(h), self.decoder.value(h))
            h = self.decoder.add(h, self.past, inverse_temperature)
        if self.encoder is not None and self.input is not None:
            h = self.encoder.add(h, self.input, inverse_temperature)
        return self.rounding(self.first(h).relu())


class IncrementalDecoder:
    """A decoder with its parameters on one device, ready to run batches of inputs."""

    def __init__(self, weights: Weights, depth: int, taps: Where) -> None:
        self.weights, self.dtype, self.device = weights, weights.dtype, weights.device
        width = weights.shapes["initial"][0]
        tapped = torch.zeros(depth + 1, width, dtype=torch.bool, device=self.device)
        for layer_of_tap, coordinates in taps.values():
            tapped[layer_of_tap, coordinates] = True
        # From the last layer to the first: what is read behind it. Then from the first to the last: the modules.
        read, backwards = torch.ones(width, dtype=torch.bool, device=self.device), list[CachedLayer]()
        for k in range(depth, 0, -1):
            backwards.append(CachedLayer(weights, f"layer[{k}]", read))
            read = backwards[-1].read | tapped[k - 1]
        self.layers = backwards[::-1]
        self.source = read.nonzero()[:, 0]  # coordinates of h^(0)
        places = [self.source]
        for layer in self.layers:
            layer.place(places[-1])
            places.append(layer.out.nonzero()[:, 0])
        # Where each tap lies among the coordinates that are computed behind its layer.
        self.taps: list[list[tuple[str, Tensor]]] = [[] for _ in places]
        for name, (at, coordinates) in taps.items():
            wanted = torch.tensor(coordinates, dtype=torch.int64, device=self.device)
            self.taps[at].append((name, torch.searchsorted(places[at], wanted)))

    def floats_per_input(self, steps: int, symbols: int) -> int:
        """How many numbers a run keeps for each input."""
        width = self.weights.shapes["initial"][0] + sum(len(at) for layer in self.taps for _, at in layer)
        return steps * width + symbols * width + sum(layer.floats_per_input(steps, symbols) for layer in self.layers)

    def run(
        self, tokens: Tensor, lengths: Tensor, positions: Tensor, steps: int, inverse_temperature: float | None
    ) -> DecoderRun:
        """Run these inputs, all at once; `lengths` on the CPU, row i of `positions` is beta(i)."""
        count, symbols = tokens.shape
        encoded = self._embedded(tokens) + positions[1 : symbols + 1]  # (B, m, w): e_j = E_(:, x_j) + beta(j)
        for layer in self.layers:
            layer.begin(count, steps, encoded, self._absent(lengths, symbols))
        o = self.weights["initial"].expand(count, -1).unsqueeze(1)  # (B, 1, w)
        outputs = o.new_empty(count, steps, o.shape[-1])
        taps = {name: o.new_empty(count, steps, len(at)) for layer in self.taps for name, at in layer}
        for i in range(1, steps + 1):
            h = (o + positions[i])[..., self.source]  # (B, 1, n): o_(i-1) + beta(i)
            for name, at in self.taps[0]:
                taps[name][:, i - 1] = h[:, 0, at]
            for layer, wanted in zip(self.layers, self.taps[1:], strict=True):
                h = layer.step(h, inverse_temperature)
                for name, at in wanted:
                    taps[name][:, i - 1] = h[:, 0, at]
            o = h
            outputs[:, i - 1] = o[:, 0]
        leak = max((memory.leak for layer in self.layers for memory in layer.memories), default=0.0)
        return DecoderRun(outputs, (self.weights["classifier"] * o[:, 0]).sum(-1), taps, lengths, leak)

    def _embedded(self, tokens: Tensor) -> Tensor:
        E = self.weights["embedding"].mT  # (A, w) or (B, A, w)
        tokens = tokens.to(self.device)
        if E.ndim == 2:
            return E[tokens]  # (B, m, w)
        return E.gather(1, tokens.unsqueeze(-1).expand(-1, -1, E.shape[-1]))  # (B, m, w)

    def _absent(self, lengths: Tensor, symbols: int) -> Tensor | None:
        """Which of the null key and the symbols an input does not have, (B, 1, m + 1); None if it has all."""
        if bool((lengths == symbols).all()):
            return None
        place = torch.arange(symbols + 1, device=self.device, dtype=torch.int64)
        return (place > lengths.to(self.device).unsqueeze(-1)).unsqueeze(1)
