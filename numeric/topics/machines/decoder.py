"""An encoder-decoder transformer as data, and its run: hard max (or softmax), one step after the other (Section 4.1).

Shapes: B inputs, m symbols of an input, w width of the stream, D layers, P positions, K width of query and key.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float64, Int64
from torch import Tensor

from numeric.networks.layers import Affine
from numeric.networks.stream import Stream, nearest
from numeric.topics.machines.attending import Weights
from numeric.topics.machines.incremental import DecoderRun, IncrementalDecoder, joined
from numeric.topics.machines.modules import DecoderLayer, NullKeyAttention, affine, passing, rounding

__all__ = [
    "NullKeyAttention", "DecoderLayer", "affine", "passing", "rounding",
    "Decoder", "DecoderError", "DecoderRun", "Tap", "parameters", "run",
]  # fmt: skip

FLOATS_AT_ONCE = 1 << 24  # keys, values and outputs held at once while inputs are streamed: 128 MiB in float64


class DecoderError(ValueError):
    """Tokens, parameters or taps do not fit the decoder: what came, what to do."""


@dataclass(frozen=True)
class Tap:
    """A named quantity of the proof: these blocks of the stream behind this layer (0: the input of the first)."""

    layer: int
    blocks: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Decoder:
    """The transformer of Section 4.1. `positions` gives beta(i): a function of i, or an array with row i."""

    stream: Stream
    embedding: np.ndarray  # (w, |A|): E
    positions: Callable[[int], np.ndarray] | np.ndarray  # beta
    initial: np.ndarray  # (w,): h_0^(0) without its position; the first step adds beta(1)
    layers: tuple[DecoderLayer, ...]
    classifier: np.ndarray  # (w,): theta_cls
    taps: Mapping[str, Tap] = field(default_factory=dict)

    def position_table(self, count: int) -> Float64[np.ndarray, "P w"]:
        """beta(0), ..., beta(count - 1). Raises DecoderError where the table is too short."""
        if callable(self.positions):
            return np.stack([self.positions(i) for i in range(count)])  # (P, w)
        if count > len(self.positions):
            raise DecoderError(
                f"position {count - 1} is beyond the last one, {len(self.positions) - 1}. "
                "Build the decoder for more steps."
            )
        return self.positions[:count]

    @cached_property
    def arrays(self) -> dict[str, np.ndarray]:
        """Every parameter that the construction uses, by name, in float64."""
        named = {"embedding": self.embedding, "initial": self.initial, "classifier": self.classifier}
        for index, layer in enumerate(self.layers, start=1):
            named |= _attention_arrays(f"layer[{index}].decoder", layer.decoder_attention)
            named |= _attention_arrays(f"layer[{index}].encoder", layer.encoder_attention)
            for place, module in enumerate(layer.feedforward, start=1):
                named |= _affine_arrays(f"layer[{index}].ff[{place}]", module)
        return named

    @cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of every parameter of the architecture, those of the unused attentions included."""
        used = [each for layer in self.layers for each in (layer.decoder_attention, layer.encoder_attention) if each]
        widest, w = max((len(each.null_key) for each in used), default=1), self.stream.width
        shapes = {name: array.shape for name, array in self.arrays.items()}
        for index in range(1, len(self.layers) + 1):
            for side in ("decoder", "encoder"):
                if f"layer[{index}].{side}.null_key" not in shapes:
                    shapes |= _unused_shapes(f"layer[{index}].{side}", widest, w)
        return shapes

    def tap(self, name: str) -> Tap:
        """The tap of this name; `layer[k]` is the whole stream behind layer k."""
        whole = {f"layer[{k}]": Tap(k, self.stream.names) for k in range(len(self.layers) + 1)}
        if name not in (known := {**whole, **self.taps}):
            raise DecoderError(f"no tap {name!r}. {nearest(name, self.taps or known)}")
        return known[name]

    def coordinates(self, tap: Tap) -> list[int]:
        """Where the blocks of a tap lie in the stream, in the order of the tap."""
        return [place for name in tap.blocks for place in range(self.stream.width)[self.stream.slice(name)]]


def parameters(decoder: Decoder, *, complete: bool = False) -> dict[str, Tensor]:
    """The parameters by name, float64; `complete` adds the zeros of the attentions that the construction leaves out."""
    own = {name: torch.tensor(array, dtype=torch.float64, device="cpu") for name, array in decoder.arrays.items()}
    if not complete:
        return own
    return {
        name: own[name] if name in own else torch.zeros(shape, dtype=torch.float64, device="cpu")
        for name, shape in decoder.shapes.items()
    }


def run(
    decoder: Decoder,
    tokens: Int64[Tensor, "B m"],
    steps: int,
    *,
    lengths: Int64[Tensor, " B"] | None = None,
    parameters: Mapping[str, Tensor] | None = None,
    inverse_temperature: float | None = None,
    dtype: torch.dtype = torch.float64,
    device: torch.device | str = "cpu",
    taps: Sequence[str] = (),
) -> DecoderRun:
    """Run `steps` >= 1 decoder steps; no gradients.

    `lengths`: how many tokens of each row count (default: all). `parameters`: tensors in place of the decoder's own,
    all of them or some, each of the own shape or with a leading dimension B (a copy for each row); a layer whose W2 or
    W3 is given runs by its matrices. `inverse_temperature`: softmax over the same scores in place of the hard max.
    Memory: inputs are streamed, a few at once. Raises DecoderError for what does not fit the decoder.
    """
    given = dict(parameters or {})
    lengths = (
        torch.full((len(tokens),), tokens.shape[1], dtype=torch.int64, device="cpu")
        if lengths is None
        else lengths.cpu()
    )
    batched = _check(decoder, tokens, steps, lengths, given)
    where = {name: (decoder.tap(name).layer, decoder.coordinates(decoder.tap(name))) for name in taps}
    table = decoder.position_table(1 + max(steps, tokens.shape[1]))  # (P, w)
    positions = torch.tensor(table, dtype=dtype, device=device)

    def network(rows: slice) -> IncrementalDecoder:
        part = {name: tensor[rows] if name in batched else tensor for name, tensor in given.items()}
        weights = Weights(decoder.arrays, decoder.shapes, part, dtype, torch.device(device))
        return IncrementalDecoder(weights, len(decoder.layers), where)

    with torch.no_grad():
        compiled = network(slice(None))
        at_once = max(1, FLOATS_AT_ONCE // compiled.floats_per_input(steps, tokens.shape[1]))
        pieces = []
        for first in range(0, len(tokens), at_once):
            rows = slice(first, first + at_once)
            part = network(rows) if batched and at_once < len(tokens) else compiled
            pieces.append(part.run(tokens[rows], lengths[rows], positions, steps, inverse_temperature))
    return joined(pieces)


def _check(
    decoder: Decoder, tokens: Tensor, steps: int, lengths: Tensor, given: Mapping[str, Tensor]
) -> frozenset[str]:
    """Refuses what does not fit; returns the names of the parameters with a copy for each row."""
    symbols = decoder.embedding.shape[1]
    if not len(tokens) or steps < 1:
        raise DecoderError(f"{len(tokens)} inputs and {steps} steps. Give at least one input and one step.")
    if tokens.numel() and not 0 <= int(tokens.min()) <= int(tokens.max()) < symbols:
        raise DecoderError(f"a token outside 0 .. {symbols - 1}. Tokens are indices of the {symbols} symbols.")
    if lengths.shape != (len(tokens),) or not 0 <= int(lengths.min()) <= int(lengths.max()) <= tokens.shape[1]:
        raise DecoderError(f"lengths {lengths.tolist()} of {tuple(tokens.shape)} tokens. Give one length for each row.")
    batched = set()
    for name, tensor in given.items():
        if name not in decoder.shapes:
            raise DecoderError(f"no parameter {name!r}. {nearest(name, decoder.shapes)}")
        shape = decoder.shapes[name]
        if tensor.shape == (len(tokens), *shape):
            batched.add(name)
        elif tensor.shape != shape:
            raise DecoderError(
                f"parameter {name!r} of shape {tuple(tensor.shape)}. Give {shape}, or {(len(tokens), *shape)}."
            )
    return frozenset(batched)


def _affine_arrays(name: str, module: Affine) -> dict[str, np.ndarray]:
    weight, bias = module.dense()
    return {f"{name}.W": weight, f"{name}.b": bias}


def _attention_arrays(name: str, attention: NullKeyAttention | None) -> dict[str, np.ndarray]:
    if attention is None:
        return {}
    return {
        **_affine_arrays(f"{name}.query", attention.query),
        **_affine_arrays(f"{name}.key", attention.key),
        **_affine_arrays(f"{name}.value", attention.value),
        f"{name}.null_key": attention.null_key,
        f"{name}.null_value": attention.null_value,
    }


def _unused_shapes(name: str, K: int, w: int) -> dict[str, tuple[int, ...]]:
    sizes = {"query": K, "key": K, "value": w}
    shapes: dict[str, tuple[int, ...]] = {}
    for part, size in sizes.items():
        shapes |= {f"{name}.{part}.W": (size, w), f"{name}.{part}.b": (size,)}
    return {**shapes, f"{name}.null_key": (K,), f"{name}.null_value": (w,)}
