"""The kinds of layers, as data: heads of attention, feed-forward, and layers kept as the few numbers that they hold.

Positions are numbered 1..L as in the papers.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, TypeAlias

import numpy as np
from jaxtyping import Float64

from numeric.networks.maps import Action, BlockMap, BlockPair, LowRank, Number, all_finite, as_weight, frozen_array
from numeric.networks.stream import Stream, StreamError


@dataclass(frozen=True, eq=False)
class Affine:
    """x -> W x + b; the bias is given per block of the target, absent blocks have none."""

    map: BlockMap
    bias: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "bias", checked_bias(f"{type(self).__name__}.bias", self.map.target, self.bias))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} from {self.map.source.width} to {self.map.target.width} coordinates>"

    def dense(self) -> tuple[Float64[np.ndarray, "T S"], Float64[np.ndarray, " T"]]:
        """W and b in full."""
        return self._dense

    @cached_property
    def _dense(self) -> tuple[np.ndarray, np.ndarray]:
        return self.map.dense(), bias_vector(self.map.target, self.bias)


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
Weights: TypeAlias = Mapping[BlockPair, Action]


def _size(stream: Stream, source: str, action: Action) -> int:
    """Of what the action makes of the block."""
    shape: tuple[int, ...] = action.left.shape if isinstance(action, LowRank) else getattr(action, "shape", ())
    return shape[0] if len(shape) > 1 else stream.size(source)


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

    def __repr__(self) -> str:
        return f"<Head {self.name}>"

    def __post_init__(self) -> None:
        call = f"Head({self.name!r})"
        if (self.query is None) != (self.key is None):
            raise StreamError(call, "only one of query and key is given", "Give both, or neither for no dot product.")
        if self.query is None or self.key is None:
            return
        require_same(call, "target of query", self.query.target, "target of key", self.key.target)
        require_same(call, "source of query", self.query.source, "source of value", self.value.source)
        require_same(call, "source of key", self.key.source, "source of value", self.value.source)

    @classmethod
    def of(cls, name: str, stream: Stream, *, query: Weights, key: Weights, value: Weights) -> "Head":
        """The head whose maps have these actions, see `BlockMap`; `value` maps the stream to itself.

        Queries and keys lie in the blocks that the query names, each as large as what the query maps to it.
        """
        scores = Stream.of(**{target: _size(stream, source, action) for (target, source), action in query.items()})
        return cls(
            name, BlockMap(stream, scores, query), BlockMap(stream, scores, key), BlockMap(stream, stream, value)
        )

    def with_opposite(self) -> tuple["Head", "Head"]:
        """This head and one with the opposite queries and values.

        For ReLU attention both together are linear attention: relu(s) v + relu(-s) (-v) = s v.
        """
        if self.query is None:
            raise StreamError(f"Head({self.name!r}).with_opposite", "there is no query", "Give query and key.")
        query, value = self.query.opposite(), self.value.opposite()
        return self, replace(self, name=f"opposite {self.name}", query=query, value=value)

    @property
    def has_dot_product(self) -> bool:
        return self.query is not None


@dataclass(frozen=True, eq=False)
class AttentionKind:
    """Base class of the kinds of attention: h_i + the sum of what the heads give; without h_i if not `residual`."""

    heads: tuple[Head, ...]
    residual: bool

    def __repr__(self) -> str:
        named = ", ".join(head.name for head in self.heads[:4])
        return f"<{type(self).__name__} of {len(self.heads)} heads: {named}{', ...' if len(self.heads) > 4 else ''}>"

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


class ElementwiseMultiplication(AttentionKind):
    """h_i + sum over heads of <W_Q h_i, W_K h_i> W_V h_i, at each token by itself (wu2024, Definition 6)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_dot_products("ElementwiseMultiplication", "Element-wise multiplication", self.heads)


@dataclass(frozen=True, eq=False)
class FeedForward:
    """h + W_outer relu(W_inner h + b), at each token by itself; without h if not `residual`."""

    inner: BlockMap
    inner_bias: Mapping[str, np.ndarray]
    outer: BlockMap
    residual: bool

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.inner.target.width} ReLUs on {self.source.width} coordinates>"

    def __post_init__(self) -> None:
        require_same("FeedForward", "target of inner", self.inner.target, "source of outer", self.outer.source)
        object.__setattr__(
            self, "inner_bias", checked_bias("FeedForward.inner_bias", self.inner.target, self.inner_bias)
        )
        if self.residual:
            require_same("FeedForward(residual=True)", "source", self.source, "target", self.target)

    @property
    def source(self) -> Stream:
        return self.inner.source

    @property
    def target(self) -> Stream:
        return self.outer.target


class CompactLayer(ABC):
    """A residual layer kept as the few numbers that its many heads or hidden units hold.

    `shared_blocks` applies it as a whole, on tensors and on balls; other interpreters run what it spells out.
    """

    stream: Stream
    residual: ClassVar[bool] = True

    def __repr__(self) -> str:
        return f"<{type(self).__name__} on {self.stream.width} coordinates>"

    @abstractmethod
    def spelled_out(self) -> AttentionKind | FeedForward:
        """The same layer with all its matrices, as the paper has them."""

    @property
    def source(self) -> Stream:
        return self.stream

    @property
    def target(self) -> Stream:
        return self.stream


Layer: TypeAlias = AttentionKind | FeedForward | CompactLayer


def spelled_out(layer: Layer) -> AttentionKind | FeedForward:
    """The layer with all its matrices."""
    return layer.spelled_out() if isinstance(layer, CompactLayer) else layer


def _require_position(call: str, first_key: int) -> None:
    if first_key < 1:
        raise StreamError(call, f"first_key={first_key}", "Positions are numbered from 1.")


def require_same(call: str, left_name: str, left: Stream, right_name: str, right: Stream) -> None:
    if left != right:
        raise StreamError(call, f"{left_name} is {left} but {right_name} is {right}", "Build both on one Stream.")


def _check_heads(call: str, heads: tuple[Head, ...], residual: bool) -> None:
    if not heads:
        raise StreamError(call, "no heads", "Give at least one.")
    names = [head.name for head in heads]
    if len(set(names)) < len(names):
        raise StreamError(call, f"repeated head names {names}", "Give each head a name of its own.")
    for head in heads[1:]:
        require_same(
            call, f"source of head {names[0]!r}", heads[0].value.source, f"of head {head.name!r}", head.value.source
        )
        require_same(
            call, f"target of head {names[0]!r}", heads[0].value.target, f"of head {head.name!r}", head.value.target
        )
    if residual:
        require_same(f"{call}(residual=True)", "source", heads[0].value.source, "target", heads[0].value.target)


def _require_dot_products(call: str, kind: str, heads: tuple[Head, ...]) -> None:
    for head in heads:
        if not head.has_dot_product or head.positions is not None:
            raise StreamError(
                f"{call}, head {head.name!r}",
                "no query and key, or a positional term",
                f"{kind} is defined with a dot product and without positions.",
            )


def checked_bias(call: str, stream: Stream, bias: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
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


def bias_vector(stream: Stream, bias: Mapping[str, np.ndarray]) -> Float64[np.ndarray, " width"]:
    """The bias of the whole stream, zero on the blocks that are not named."""
    vector = np.zeros(stream.width)
    for name, values in bias.items():
        if values.dtype == object:
            raise StreamError("bias in torch", "numbers that are balls", "Run it exactly, or build it from numbers.")
        vector[stream.slice(name)] = values
    return vector
