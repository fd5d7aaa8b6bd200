"""The token vector as a stream of named blocks.

A construction never computes an index: it names blocks ("move `x` to `y`"), and the stream stores their places.
"""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property


class StreamError(ValueError):
    """Blocks, maps or tensors do not match. The message gives the call, the argument and what to do."""

    def __init__(self, call: str, got: str, remedy: str) -> None:
        super().__init__(f"{call}: {got}. {remedy}")


def nearest(name: str, known: Iterable[str]) -> str:
    """Remedy text for an unknown name: the nearest known names, else all of them."""
    names = list(known)
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.5) or names
    return f"Did you mean {' or '.join(repr(match) for match in close)}?" if close else "No names are defined."


@dataclass(frozen=True)
class Block:
    """A named group of `size` neighbouring coordinates of the token vector."""

    name: str
    size: int

    def __post_init__(self) -> None:
        if not self.name:
            raise StreamError("Block", "got an empty name", "Name the block after the quantity that it holds.")
        if self.size < 1:
            raise StreamError(
                f"Block({self.name!r}, {self.size})", "the size must be at least 1", "Leave the block out."
            )


@dataclass(frozen=True)
class Stream:
    """The blocks of a token vector, in order; `width` coordinates in all."""

    blocks: tuple[Block, ...]

    def __init__(self, blocks: Iterable[Block]) -> None:
        object.__setattr__(self, "blocks", tuple(blocks))
        repeated = sorted({name for name in self.names if self.names.count(name) > 1})
        if repeated:
            raise StreamError(
                f"Stream({', '.join(self.names)})",
                f"repeated block names {repeated}",
                "Give each block a name of its own.",
            )

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(block.name for block in self.blocks)

    @cached_property
    def width(self) -> int:
        return sum(block.size for block in self.blocks)

    @cached_property
    def _slices(self) -> dict[str, slice]:
        ends = [sum(block.size for block in self.blocks[: index + 1]) for index in range(len(self.blocks))]
        return {block.name: slice(end - block.size, end) for block, end in zip(self.blocks, ends, strict=True)}

    def headed_by(self, *blocks: Block) -> "Stream":
        """A stream of the same width with these blocks on top, for papers whose matrices are all D x D."""
        rest = self.width - sum(block.size for block in blocks)
        return Stream([*blocks, Block("rest", rest)])

    def slice(self, name: str) -> slice:
        """The coordinates of the block `name`."""
        if name not in self._slices:
            raise StreamError(f"Stream.slice({name!r})", f"no such block in {self}", nearest(name, self.names))
        return self._slices[name]

    def size(self, name: str) -> int:
        """The number of coordinates of the block `name`."""
        where = self.slice(name)
        return int(where.stop - where.start)

    def only(self, names: Iterable[str]) -> "Stream":
        """The stream of these blocks alone, in the order of this stream."""
        kept = set(names)
        for name in kept:
            self.slice(name)
        return Stream(block for block in self.blocks if block.name in kept)

    def extend(self, *blocks: Block) -> "Stream":
        """The stream with more blocks behind it."""
        return Stream((*self.blocks, *blocks))

    def __add__(self, other: "Stream") -> "Stream":
        return self.extend(*other.blocks)

    def __contains__(self, name: str) -> bool:
        return name in self._slices

    def __str__(self) -> str:
        return f"[{', '.join(f'{block.name}:{block.size}' for block in self.blocks)}]"
