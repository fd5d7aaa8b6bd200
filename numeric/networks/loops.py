"""Transformers in a loop, post(loop(... loop(pre(x)))): T loops with the same weights (algoformer, eq. (2))."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from numeric.networks.construction import Construction, Embedding, StreamTap, Tap
from numeric.networks.layers import FeedForward, Layer, spelled_out
from numeric.networks.maps import BlockMap, identity_map
from numeric.networks.stream import Stream, StreamError


@dataclass(frozen=True)
class LoopSize:
    """Layers as eq. (1) counts them, attention and then feed-forward, and the most heads of one of them.

    Attention or feed-forward alone is a layer too: the other does nothing.
    """

    layers: int
    heads: int


def size_of(layers: Iterable[Layer]) -> LoopSize:
    """The size of a transformer of these attention and feed-forward layers."""
    count, most, open_for_feed_forward = 0, 0, False
    for layer in layers:
        own = spelled_out(layer)
        feed_forward = isinstance(own, FeedForward)
        count += not (feed_forward and open_for_feed_forward)
        open_for_feed_forward = not feed_forward
        most = most if isinstance(own, FeedForward) else max(most, len(own.heads))
    return LoopSize(count, most)


@dataclass(frozen=True, eq=False, repr=False)
class Looped(Construction):
    """A construction of three parts, whose `layers` are pre, T times loop, and post."""

    layers: tuple[Layer, ...] = field(init=False)
    pre: tuple[Layer, ...] = field(kw_only=True, default=())
    loop: tuple[Layer, ...] = field(kw_only=True)
    post: tuple[Layer, ...] = field(kw_only=True, default=())
    T: int = field(kw_only=True)

    def __post_init__(self) -> None:
        call = f"Looped({self.name!r})"
        if self.T < 1:
            raise StreamError(call, f"T = {self.T}", "Run the loop once at least.")
        if not self.loop:
            raise StreamError(call, "a loop without layers", "Give at least one.")
        for part in ("pre", "loop", "post"):
            object.__setattr__(self, part, tuple(getattr(self, part)))
        object.__setattr__(self, "layers", (*self.pre, *self.loop * self.T, *self.post))
        super().__post_init__()

    def after(self, k: int) -> int:
        """The number of the last layer of loop k = 1..T; of `pre` for 0."""
        return len(self.pre) + k * len(self.loop)

    @property
    def sizes(self) -> dict[str, LoopSize]:
        """Of pre, loop and post."""
        return {"pre": size_of(self.pre), "loop": size_of(self.loop), "post": size_of(self.post)}


def looped(
    name: str,
    stream: Stream,
    *,
    pre: Sequence[Layer] = (),
    loop: Sequence[Layer],
    post: Sequence[Layer] = (),
    T: int,
    states: Iterable[str] = (),
    taps: Mapping[str, Tap] | None = None,
    embedding: Embedding | None = None,
    readout: BlockMap | None = None,
    last_token_only: bool = False,
) -> Looped:
    """Layers on one stream, whose tokens are input and output if no `embedding` and `readout` are given.

    The block b of `states` is tapped after `pre` as "b[0]" and after each loop as "b[1]", ..., "b[T]".
    """
    embedding = embedding or Embedding(identity_map(stream))
    after = range(len(pre), len(pre) + T * len(loop) + 1, len(loop) or 1)
    found = {f"{block}[{k}]": StreamTap(layer, block) for block in states for k, layer in enumerate(after)}
    return Looped(
        name,
        embedding.map.source,
        embedding,
        readout or identity_map(stream),
        {**found, **(taps or {})},
        last_token_only,
        pre=tuple(pre),
        loop=tuple(loop),
        post=tuple(post),
        T=T,
    )
