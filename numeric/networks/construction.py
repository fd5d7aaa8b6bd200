"""Constructions as data: streams, block maps and layers, without an interpreter.

`numeric.networks.network` runs a construction in PyTorch, `shared_blocks` beside it block by block in PyTorch or in Arb
balls (`numeric.networks.exact`); all read the same weights.
Positions are numbered 1..L as in the papers; layers 1..U, with layer 0 the embedding.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from numeric.networks.layers import Affine, AttentionKind, Head, Layer, require_same
from numeric.networks.maps import BlockMap, identity_map
from numeric.networks.stream import Stream, StreamError, nearest


class Embedding(Affine):
    """x_s -> W_E x_s + b_E at each token."""


@dataclass(frozen=True)
class StreamTap:
    """The block `block` of every token after layer `layer`."""

    layer: int
    block: str


@dataclass(frozen=True)
class ChangeTap:
    """What layer `layer`, which is residual, adds to the block `block` of every token."""

    layer: int
    block: str


@dataclass(frozen=True)
class ScoresTap:
    """The dot products <W_Q h_i, W_K h_j> of a head, before softmax or ReLU, without the positional term."""

    layer: int
    head: str


@dataclass(frozen=True)
class AttentionTap:
    """The attention weights of a head: softmax, ReLU over n, logistic over N, or scores (linear); 0 where masked."""

    layer: int
    head: str


@dataclass(frozen=True)
class OutputTap:
    """What the network returns."""


LayerTap: TypeAlias = StreamTap | ChangeTap | ScoresTap | AttentionTap
Tap: TypeAlias = LayerTap | OutputTap


@dataclass(frozen=True, eq=False)
class Construction:
    """A network with all its weights, and the names of the intermediate quantities that it exposes.

    Input tokens lie in `source`. With `last_token_only` the last layer and the readout are computed for the last
    query alone, and the taps of the last layer hold just that row.
    """

    name: str
    source: Stream
    embedding: Embedding
    layers: tuple[Layer, ...]
    readout: BlockMap
    taps: Mapping[str, Tap] = field(default_factory=dict)
    last_token_only: bool = False

    def __repr__(self) -> str:
        width = self.embedding.map.target.width
        return f"<{type(self).__name__} {self.name}: {len(self.layers)} layers on {width} coordinates>"

    def __post_init__(self) -> None:
        object.__setattr__(self, "layers", tuple(self.layers))
        object.__setattr__(self, "taps", {"output": OutputTap(), **self.taps})
        call = f"Construction({self.name!r})"
        if not self.layers:
            raise StreamError(call, "no layers", "Give at least one.")
        require_same(call, "source", self.source, "source of the embedding", self.embedding.map.source)
        for number, layer in enumerate(self.layers, start=1):
            require_same(
                call,
                f"stream after layer {number - 1}",
                self.stream(number - 1),
                f"source of layer {number}",
                layer.source,
            )
        require_same(
            call,
            f"stream after layer {len(self.layers)}",
            self.stream(-1),
            "source of the readout",
            self.readout.source,
        )
        for name, tap in self.taps.items():
            self._check_tap(name, tap)

    @classmethod
    def of(cls, name: str, stream: Stream, *layers: Layer, taps: Mapping[str, Tap] | None = None) -> "Construction":
        """Layers on one stream, whose tokens are the input, with the last token as the output."""
        same = identity_map(stream)
        return cls(name, stream, Embedding(same), layers, same, dict(taps or {}), last_token_only=True)

    def stream(self, layer: int) -> Stream:
        """The stream after layer `layer`: 0 is the embedding, -1 the last layer."""
        if layer == 0:
            return self.embedding.map.target
        return self.layers[layer - 1 if layer > 0 else layer].target

    def head(self, layer: int, name: str) -> Head:
        """The head `name` of layer `layer` (1..U)."""
        heads = {head.name: head for head in self._heads(layer)}
        if name not in heads:
            raise StreamError(
                f"Construction({self.name!r})", f"no head {name!r} in layer {layer}", nearest(name, heads)
            )
        return heads[name]

    def first_query(self, layer: int, length: int) -> int:
        """0-based index of the first query that layer `layer` computes: the last token's, or 0 for all of them."""
        return length - 1 if self.last_token_only and layer == len(self.layers) else 0

    def select_taps(self, names: list[str] | tuple[str, ...] | None) -> dict[str, Tap]:
        """The taps of these names; all for None."""
        chosen = list(self.taps) if names is None else list(names)
        for name in chosen:
            if name not in self.taps:
                raise StreamError(f"taps of {self.name!r}", f"no tap {name!r}", nearest(name, self.taps))
        return {name: self.taps[name] for name in chosen}

    def _heads(self, layer: int) -> tuple[Head, ...]:
        attention = self.layers[layer - 1]
        return attention.heads if isinstance(attention, AttentionKind) else ()

    def _check_tap(self, name: str, tap: Tap) -> None:
        call = f"tap {name!r} of {self.name!r}"
        if (name == "output") != isinstance(tap, OutputTap):
            raise StreamError(call, f"got {tap}", "The name 'output' is reserved for the output of the network.")
        if isinstance(tap, OutputTap):
            return
        lowest = 0 if isinstance(tap, StreamTap) else 1
        if not lowest <= tap.layer <= len(self.layers):
            raise StreamError(call, f"no layer {tap.layer}", f"Layers are numbered {lowest} to {len(self.layers)}.")
        if isinstance(tap, StreamTap | ChangeTap):
            self.stream(tap.layer).slice(tap.block)
            if isinstance(tap, ChangeTap) and not self.layers[tap.layer - 1].residual:
                raise StreamError(call, f"layer {tap.layer} is not residual", "Tap the stream instead.")
        elif not self.head(tap.layer, tap.head).has_dot_product and isinstance(tap, ScoresTap):
            raise StreamError(
                call, f"head {tap.head!r} of layer {tap.layer} has no dot product", "Tap its attention instead."
            )


def taps_by_layer(taps: Mapping[str, Tap]) -> dict[int, dict[str, LayerTap]]:
    """The taps of each layer that has one, by name."""
    found: dict[int, dict[str, LayerTap]] = {}
    for name, tap in taps.items():
        if not isinstance(tap, OutputTap):
            found.setdefault(tap.layer, {})[name] = tap
    return found
