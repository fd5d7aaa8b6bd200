"""The tokens of a prompt as blocks, where a block that is the same at all tokens has one row.

Shapes: B batch (1 on balls), L tokens, R rows of a block (L, or 1 for all tokens), s size of a block.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Array: TypeAlias = Any  # a tensor or an array of balls
Blocks: TypeAlias = dict[str, Array]  # block name -> (B, R, block size); a missing block is zero


class Products:
    """What is made of blocks, dot products of their rows above all, once as long as they are those of the stream."""

    def __init__(self) -> None:
        self._known: dict[tuple[Hashable, ...], tuple[Sequence[Array], Array]] = {}

    def of(self, queries: Array, keys: Array) -> Array:
        """(B, Q, s) and (B, R, s) to (B, Q, R)."""
        return self.once((), (queries, keys), lambda: queries @ keys.mT)

    def once(self, maker: Hashable, blocks: Sequence[Array], make: Callable[[], Array]) -> Array:
        """What `maker` makes of these blocks."""
        place = maker, *map(id, blocks)
        if place not in self._known:
            self._known[place] = blocks, make()
        return self._known[place][1]

    def keep(self, blocks: Blocks) -> None:
        """Forgets what other blocks than these enter."""
        if self._known:
            here = set(map(id, blocks.values()))
            self._known = {place: known for place, known in self._known.items() if here.issuperset(place[1:])}


@dataclass(frozen=True)
class Queries:
    """The tokens first..length-1 (0-based) that a layer computes, of `length` tokens."""

    first: int
    length: int

    @property
    def count(self) -> int:
        return self.length - self.first

    def rows(self, block: Array) -> Array:
        """Those of a block."""
        return block[:, self.first :] if self.first and block.shape[1] > 1 else block

    def of(self, blocks: Blocks) -> Blocks:
        return {name: self.rows(block) for name, block in blocks.items()} if self.first else blocks


def summed(blocks: Mapping[str, Array], more: Mapping[str, Array]) -> Blocks:
    return {**blocks, **{name: blocks[name] + each if name in blocks else each for name, each in more.items()}}


def at_every(block: Array, count: int) -> Array:
    """The block at `count` tokens, (B, count, s)."""
    return block if block.shape[1] == count else block.expand(block.shape[0], count, block.shape[2])
