"""Constructions as data: streams, block maps and layers, without an interpreter.

`numeric.network` runs a construction in PyTorch and `numeric.exact` in Arb balls; both read the same weights.
Positions are numbered 1..L as in the papers; layers 1..U, with layer 0 the embedding.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

import numpy as np
from jaxtyping import Float64

from numeric.maps import BlockMap, Number, all_finite, as_weight, frozen_array, identity_map
from numeric.stream import Stream, StreamError, nearest


@dataclass(frozen=True)
class RelativePositions:
    """Alibi: R_ij = -slope * (i - j - 1) for i - j >= 1 and -infinity otherwise; keys below `first_key` are masked too.

    Strictly causal: a token never attends to itself. A query whose every key is masked receives 0.
    """

    slope: Number
    first_key: int = 1
    strict: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "slope", as_weight(self.slope))
        if not (0 <= self.slope < math.inf):
            raise StreamError("RelativePositions", f"slope={self.slope}", "Give a finite slope of at least 0.")
        _require_position("RelativePositions", self.first_key)


@dataclass(frozen=True)
class Causal:
    """A mask alone: the query i sees the keys first_key..i, without i itself if `strict`.

    A query whose every key is masked receives 0.
    """

    strict: bool = False
    first_key: int = 1
    slope: ClassVar[Number] = 0.0

    def __post_init__(self) -> None:
        _require_position("Causal", self.first_key)


Positions: TypeAlias = RelativePositions | Causal


@dataclass(frozen=True, eq=False)
class Head:
    """One attention head: scores <W_Q h_i, W_K h_j>, values W_V h_j (the output matrix is part of W_V).

    query and key may both be None: no dot product. positions None: every token attends to every token.
    """

    name: str
    query: BlockMap | None
    key: BlockMap | None
    value: BlockMap
    positions: Positions | None = None

    def __post_init__(self) -> None:
        call = f"Head({self.name!r})"
        if (self.query is None) != (self.key is None):
            raise StreamError(call, "only one of query and key is given", "Give both, or neither for no dot product.")
        if self.query is None or self.key is None:
            return
        _require_same(call, "target of query", self.query.target, "target of key", self.key.target)
        _require_same(call, "source of query", self.query.source, "source of value", self.value.source)
        _require_same(call, "source of key", self.key.source, "source of value", self.value.source)

    @property
    def has_dot_product(self) -> bool:
        return self.query is not None


@dataclass(frozen=True, eq=False)
class AttentionKind:
    """Base class of the kinds of attention: h_i + the sum of what the heads give; without h_i if not `residual`."""

    heads: tuple[Head, ...]
    residual: bool

    def __post_init__(self) -> None:
        _check_heads(type(self).__name__, self.heads, self.residual)

    @property
    def source(self) -> Stream:
        return self.heads[0].value.source

    @property
    def target(self) -> Stream:
        return self.heads[0].value.target


class SoftmaxAttention(AttentionKind):
    """h_i + sum over heads of sum_j softmax_j(<W_Q h_i, W_K h_j> + R_ij) W_V h_j; without h_i if not `residual`."""


class ReluAttention(AttentionKind):
    """h_i + sum over heads of (1/n) sum_j relu(<W_Q h_i, W_K h_j>) W_V h_j, n the number of tokens; not causal."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_dot_products("ReluAttention", "ReLU attention", self.heads)


class LinearAttention(AttentionKind):
    """h_i + sum over heads of sum_j <W_Q h_i, W_K h_j> W_V h_j; neither normalised nor causal.

    Linear self-attention as von Oswald et al. (2023), "Transformers learn in-context by gradient descent", describe it.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_dot_products("LinearAttention", "Linear attention", self.heads)


class LogisticAttention(AttentionKind):
    """h_i + sum over heads of (1/N) sum_j sigma(<W_Q h_i, W_K h_j>) W_V h_j for N + 1 tokens, N >= 1; not causal.

    sigma(x) = 1/(1 + e^-x), entry by entry (li2025, eq. (11), where the roles of Q and K are exchanged). A head without
    dot product has scores 0.
    """


@dataclass(frozen=True, eq=False)
class FeedForward:
    """h + W_outer relu(W_inner h + b), at each token by itself; without h if not `residual`."""

    inner: BlockMap
    inner_bias: Mapping[str, np.ndarray]
    outer: BlockMap
    residual: bool

    def __post_init__(self) -> None:
        _require_same("FeedForward", "target of inner", self.inner.target, "source of outer", self.outer.source)
        object.__setattr__(
            self, "inner_bias", _checked_bias("FeedForward.inner_bias", self.inner.target, self.inner_bias)
        )
        if self.residual:
            _require_same("FeedForward(residual=True)", "source", self.source, "target", self.target)

    @property
    def source(self) -> Stream:
        return self.inner.source

    @property
    def target(self) -> Stream:
        return self.outer.target


Layer: TypeAlias = AttentionKind | FeedForward


@dataclass(frozen=True, eq=False)
class Embedding:
    """x_s -> W_E x_s + b_E at each token; the bias is given per block name, absent blocks have none."""

    map: BlockMap
    bias: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "bias", _checked_bias("Embedding.bias", self.map.target, self.bias))


@dataclass(frozen=True)
class StreamTap:
    """The block `block` of every token after layer `layer`."""

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


LayerTap: TypeAlias = StreamTap | ScoresTap | AttentionTap
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "layers", tuple(self.layers))
        object.__setattr__(self, "taps", {"output": OutputTap(), **self.taps})
        call = f"Construction({self.name!r})"
        if not self.layers:
            raise StreamError(call, "no layers", "Give at least one.")
        _require_same(call, "source", self.source, "source of the embedding", self.embedding.map.source)
        for number, layer in enumerate(self.layers, start=1):
            _require_same(
                call,
                f"stream after layer {number - 1}",
                self.stream(number - 1),
                f"source of layer {number}",
                layer.source,
            )
        _require_same(
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
        return () if isinstance(attention, FeedForward) else attention.heads

    def _check_tap(self, name: str, tap: Tap) -> None:
        call = f"tap {name!r} of {self.name!r}"
        if (name == "output") != isinstance(tap, OutputTap):
            raise StreamError(call, f"got {tap}", "The name 'output' is reserved for the output of the network.")
        if isinstance(tap, OutputTap):
            return
        lowest = 0 if isinstance(tap, StreamTap) else 1
        if not lowest <= tap.layer <= len(self.layers):
            raise StreamError(call, f"no layer {tap.layer}", f"Layers are numbered {lowest} to {len(self.layers)}.")
        if isinstance(tap, StreamTap):
            self.stream(tap.layer).slice(tap.block)
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


def bias_vector(stream: Stream, bias: Mapping[str, np.ndarray]) -> Float64[np.ndarray, " width"]:
    """The bias of the whole stream, zero on the blocks that are not named."""
    vector = np.zeros(stream.width)
    for name, values in bias.items():
        if values.dtype == object:
            raise StreamError("bias in torch", "numbers that are balls", "Run it exactly, or build it from numbers.")
        vector[stream.slice(name)] = values
    return vector


def _require_position(call: str, first_key: int) -> None:
    if first_key < 1:
        raise StreamError(call, f"first_key={first_key}", "Positions are numbered from 1.")


def _require_same(call: str, left_name: str, left: Stream, right_name: str, right: Stream) -> None:
    if left != right:
        raise StreamError(call, f"{left_name} is {left} but {right_name} is {right}", "Build both on one Stream.")


def _check_heads(call: str, heads: tuple[Head, ...], residual: bool) -> None:
    if not heads:
        raise StreamError(call, "no heads", "Give at least one.")
    names = [head.name for head in heads]
    if len(set(names)) < len(names):
        raise StreamError(call, f"repeated head names {names}", "Give each head a name of its own.")
    for head in heads[1:]:
        _require_same(
            call, f"source of head {names[0]!r}", heads[0].value.source, f"of head {head.name!r}", head.value.source
        )
        _require_same(
            call, f"target of head {names[0]!r}", heads[0].value.target, f"of head {head.name!r}", head.value.target
        )
    if residual:
        _require_same(f"{call}(residual=True)", "source", heads[0].value.source, "target", heads[0].value.target)


def _require_dot_products(call: str, kind: str, heads: tuple[Head, ...]) -> None:
    for head in heads:
        if not head.has_dot_product or head.positions is not None:
            raise StreamError(
                f"{call}, head {head.name!r}",
                "no query and key, or a positional term",
                f"{kind} is defined with a dot product and without positions.",
            )


def _checked_bias(call: str, stream: Stream, bias: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    checked = {}
    for name, values in bias.items():
        array = frozen_array(values)
        if array.shape != (stream.size(name),) or not all_finite(array):
            raise StreamError(
                f"{call}[{name!r}]",
                f"an array of shape {array.shape} for a block of size {stream.size(name)}",
                "Give one finite number for each coordinate of the block.",
            )
        checked[name] = array
    return checked
