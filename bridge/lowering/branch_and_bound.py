"""Best-first branch and bound: the open part with the least bound is cut, until enough is known of it."""

import heapq
import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

Part = TypeVar("Part")
Number = TypeVar("Number")
Keyed = tuple[float, Part]  # a bound of what the part may still hold, the worst of all first; and the part


@dataclass(frozen=True)
class Open(Generic[Part]):
    """The parts that are left, the one with the least bound first, and how many there were in all."""

    parts: list[Keyed[Part]]
    seen: int

    def least(self, otherwise: float) -> float:
        """The least bound of the parts that are left."""
        return self.parts[0][0] if self.parts else otherwise


def best_first(
    start: Iterable[Keyed[Part]],
    cut: Callable[[Part], Iterable[Keyed[Part]]],
    enough: Callable[[float, Part], bool],
    *,
    most: int | None = None,
    check: Callable[[], None] = lambda: None,
) -> Open[Part]:
    """Cuts the part with the least bound, the oldest of equals, until it is `enough`, none is left or `most` were seen.

    `cut` gives the parts that replace one: without those that are settled, so that every part that may hold what is
    looked for is settled or left open at any moment. `check`, called before each cut, may raise to end the search.
    """
    order = itertools.count()
    queue = [(bound, next(order), part) for bound, part in start]
    heapq.heapify(queue)
    seen = len(queue)
    while queue:
        check()
        bound, _, part = queue[0]
        if enough(bound, part) or (most is not None and seen >= most):
            break
        heapq.heappop(queue)
        for below, each in cut(part):
            heapq.heappush(queue, (below, next(order), each))
            seen += 1
    return Open([(bound, part) for bound, _, part in queue], seen)


def cut_across(
    box: tuple[tuple[Number, Number], ...], axis: int, at: Number
) -> tuple[tuple[tuple[Number, Number], ...], tuple[tuple[Number, Number], ...]]:
    """The lower and the upper part of a box, a range for each coordinate."""
    low, high = box[axis]
    before, after = box[:axis], box[axis + 1 :]
    return (*before, (low, at), *after), (*before, (at, high), *after)
