"""Pre-, looped and post-transformer of one layer each as one layer in a loop (algoformer, section 2.2).

All heads run in every loop, each part's into blocks of its own; the feed-forward layer lets one part through. Which one
stands in a counter, which it moves on: no head is needed to select.

Shapes: s size of a block.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from numeric.networks.construction import Embedding
from numeric.networks.layers import FeedForward, Head, Layer, SoftmaxAttention, spelled_out
from numeric.networks.loops import Looped
from numeric.networks.maps import Action, BlockMap, BlockPair
from numeric.networks.stream import Block, Stream, StreamError

PARTS = "pre", "loop", "post"
COUNTER, ONE = "fused.counter", "fused.one"


@dataclass(frozen=True)
class LoopPart:
    """One layer: heads and a feed-forward layer, each of which may be missing, both residual."""

    name: str
    heads: tuple[Head, ...]
    feed_forward: FeedForward | None

    @classmethod
    def of(cls, name: str, layers: Sequence[Layer]) -> "LoopPart":
        """Raises StreamError for more than one layer, and for layers that are not of this kind."""
        heads, own = list[Head](), list[FeedForward]()
        for each in map(spelled_out, layers):
            if isinstance(each, SoftmaxAttention) and each.residual and not heads and not own:
                heads += each.heads
            elif isinstance(each, FeedForward) and each.residual and not own:
                own.append(each)
            else:
                remedy = "Give softmax attention and then a feed-forward layer, both residual, or one of them."
                raise StreamError(f"fused: {name}", f"{len(layers)} layers, among them {type(each).__name__}", remedy)
        return cls(name, tuple(heads), own[0] if own else None)

    @property
    def written(self) -> tuple[str, ...]:
        """The blocks that its heads add to."""
        return tuple(dict.fromkeys(block for head in self.heads for block in head.value.written))

    def own(self, block: str) -> str:
        """The block where its heads write what they add to `block`; a hidden block of its feed-forward layer."""
        return f"{self.name}.{block}"

    @property
    def closed(self) -> str:
        """The block that is 0 where it is this part's turn, and 1 elsewhere."""
        return f"fused.{self.name}.closed"


def fused(network: Looped, bound: float = 2.0**60) -> Looped:
    """The same function by T + 2 loops of one layer; `bound` is above what its hidden units take before their ReLU.

    Raises StreamError for parts of more than one layer.
    """
    parts = [LoopPart.of(name, getattr(network, name)) for name in PARTS]
    before = network.stream(0)
    scratch = [Block(part.own(name), before.size(name)) for part in parts for name in part.written]
    stream = before.extend(*scratch, Block(COUNTER, 1), *(Block(part.closed, 1) for part in parts))
    heads = tuple(_moved(head, part, stream) for part in parts for head in part.heads)
    start = {part.closed: np.ones(1) for part in parts[1:]}
    embedding, readout = network.embedding, network.readout
    return Looped(
        f"{network.name}, one layer",
        network.source,
        Embedding(BlockMap(embedding.map.source, stream, embedding.map.action), {**embedding.bias, **start}),
        BlockMap(stream, readout.target, readout.action),
        {},
        network.last_token_only,
        loop=(SoftmaxAttention(heads, residual=True), _feed_forward(parts, stream, network.T, bound)),
        T=network.T + 2,
    )


def _moved(head: Head, part: LoopPart, stream: Stream) -> Head:
    """The head on the larger stream, which writes to the blocks of its part."""
    both = (head.query, head.key)
    query, key = (None if each is None else BlockMap(stream, each.target, each.action) for each in both)
    value = {(part.own(target), source): what for (target, source), what in head.value.action.items()}
    return replace(head, name=part.own(head.name), query=query, key=key, value=BlockMap(stream, stream, value))


# A unit relu(z) of a part becomes relu(z - bound closed): z where closed = 0, exactly, and 0 where it is 1. What heads
# added is h: z takes h too, h = relu(h) - relu(-h) goes to its block, and its own block is cleared. With the counter t,
# an integer, 1[t >= T] = relu(t - T + 1) - relu(t - T); at t + 1 the parts are closed by 1, 1[t >= T], 1 - 1[t >= T].
class _Units:
    """Hidden units of a feed-forward layer, a block at a time."""

    def __init__(self, stream: Stream, bound: float) -> None:
        self.stream, self.bound, self.blocks = stream, bound, list[Block]()
        self.inner, self.outer = dict[BlockPair, Action](), dict[BlockPair, Action]()
        self.bias = dict[str, np.ndarray]()

    def add(
        self, name: str, size: int, inner: Mapping[str, Action], outer: Mapping[str, Action], bias: Any = 0.0
    ) -> None:
        self.blocks.append(Block(name, size))
        self.inner |= {(name, source): what for source, what in inner.items()}
        self.outer |= {(target, name): what for target, what in outer.items()}
        self.bias[name] = np.zeros(size) + bias

    def gated(
        self,
        part: LoopPart,
        name: str,
        size: int,
        inner: Mapping[str, Action],
        outer: Mapping[str, Action],
        bias: Any = 0.0,
    ) -> None:
        """Of a part, at its turn alone."""
        self.add(part.own(name), size, {**inner, part.closed: np.full((size, 1), -self.bound)}, outer, bias)

    def layer(self) -> FeedForward:
        hidden = Stream(self.blocks)
        maps = BlockMap(self.stream, hidden, self.inner), BlockMap(hidden, self.stream, self.outer)
        return FeedForward(maps[0], self.bias, maps[1], residual=True)


def _feed_forward(parts: Sequence[LoopPart], stream: Stream, T: int, bound: float) -> FeedForward:
    units = _Units(stream, bound)
    for part in parts:
        for block in part.written:
            own, size = part.own(block), stream.size(block)
            for side, sign in (("up", 1.0), ("down", -1.0)):
                units.gated(part, f"{block}.{side}", size, {own: sign}, {block: sign})
                units.add(f"{own}.clear.{side}", size, {own: sign}, {own: -sign})
        if part.feed_forward is not None:
            _add_hidden(units, part, part.feed_forward)
    pre, loop, post = (part.closed for part in parts)
    for closed in (pre, loop, post):
        units.add(f"{closed}.old", 1, {closed: 1.0}, {closed: -1.0})
    units.add(ONE, 1, {}, {COUNTER: 1.0, pre: 1.0, post: 1.0}, 1.0)
    units.add(f"{COUNTER}.from", 1, {COUNTER: 1.0}, {loop: 1.0, post: -1.0}, 1.0 - T)
    units.add(f"{COUNTER}.above", 1, {COUNTER: 1.0}, {loop: -1.0, post: 1.0}, -float(T))
    return units.layer()


def _add_hidden(units: _Units, part: LoopPart, layer: FeedForward) -> None:
    for hidden in layer.inner.target.blocks:
        taken = {source: what for (name, source), what in layer.inner.action.items() if name == hidden.name}
        added = {part.own(source): what for source, what in taken.items() if source in part.written}
        given = {target: what for (target, name), what in layer.outer.action.items() if name == hidden.name}
        bias = layer.inner_bias.get(hidden.name, 0.0)
        units.gated(part, f"hidden.{hidden.name}", hidden.size, {**taken, **added}, given, bias)
