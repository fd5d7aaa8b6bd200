"""The token vector as a stream of named blocks.

A construction never computes an index: it names blocks ("move `x` to `y`"), and the stream stores their places.
"""

import difflib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch


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

    @classmethod
    def of(cls, **sizes: int) -> "Stream":
        """The stream of blocks of these names and sizes, in this order."""
        return cls(Block(name, size) for name, size in sizes.items())

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

    def tokens(self, *parts: Mapping[str, Any]) -> Any:
        """Tokens (n, width), part after part; each maps blocks to their values there, and blocks without one are 0.

        A part is one token, or as many as a matrix in it has rows. A value is an array (tokens, size) in floats or
        balls, (size,) for one token or (tokens,) for a block of one coordinate; or a number, for all coordinates.
        """
        return torch.cat([self._rows(part) for part in parts], -2)

    def _rows(self, part: Mapping[str, Any]) -> Any:
        arrays = {name: each for name, each in part.items() if not isinstance(each, int | float)}
        if not arrays:
            raise StreamError(
                "Stream.tokens", f"no array among {', '.join(part) or 'no blocks'}", "Give one, for dtype and device."
            )
        count = next((each.shape[-2] for each in arrays.values() if each.ndim > 1), 1)
        like = next(iter(arrays.values()))
        columns = {name: part[name] * like.new_ones(count, self.size(name)) for name in part.keys() - arrays.keys()}
        for name, array in arrays.items():
            if math.prod(array.shape) != count * self.size(name):
                raise StreamError(
                    f"Stream.tokens({name!r})",
                    f"an array of the shape {tuple(array.shape)} for {count} tokens",
                    f"Give one of the shape {(count, self.size(name))}.",
                )
            columns[name] = array.reshape(count, self.size(name))
        zeros = {block.name: like.new_zeros(count, block.size) for block in self.blocks if block.name not in columns}
        return torch.cat([{**columns, **zeros}[name] for name in self.names], -1)

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

    def __repr__(self) -> str:
        first = ", ".join(f"{block.name}:{block.size}" for block in self.blocks[:8])
        return f"<Stream of {self.width} coordinates: {first}{', ...' if len(self.blocks) > 8 else ''}>"

    def __str__(self) -> str:
        return f"[{', '.join(f'{block.name}:{block.size}' for block in self.blocks)}]"
