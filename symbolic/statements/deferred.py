"""A sequence that is made when it is first looked at: to derive the quantities of a statement may take a second."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TypeVar, overload

Item = TypeVar("Item")


class Deferred(Sequence[Item]):
    """What `make` gives, which is called once at most."""

    def __init__(self, make: Callable[[], Sequence[Item]]) -> None:
        self._make = make

    @cached_property
    def items(self) -> tuple[Item, ...]:
        return tuple(self._make())

    @overload
    def __getitem__(self, place: int) -> Item: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Item, ...]: ...
    def __getitem__(self, place: int | slice) -> Item | tuple[Item, ...]:
        return self.items[place]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)
