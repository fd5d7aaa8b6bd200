"""Some of the items of a batch."""

from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor


class Items:
    """The items of these places, of `total`, in this order."""

    def __init__(self, places: Sequence[int], total: int, device: torch.device) -> None:
        self.places, self.total = list(places), total
        self.index = torch.tensor(self.places, dtype=torch.long, device=device)
        self.are_all = self.places == list(range(total))

    def of(self, values: Tensor) -> Tensor:
        return values if self.are_all else values[self.index]

    def of_each(self, named: Mapping[str, Tensor]) -> dict[str, Tensor]:
        return {name: self.of(values) for name, values in named.items()}

    def into(self, batch: Tensor, values: Tensor) -> Tensor:
        """The batch with these items replaced."""
        return values if self.are_all else batch.index_copy(0, self.index, values)

    def where(self, flags: Sequence[bool]) -> "Items":
        """Those of a flag each."""
        chosen = [place for place, flag in zip(self.places, flags, strict=True) if flag]
        return Items(chosen, self.total, self.index.device)

    def by_name(self, names: Sequence[str]) -> "Iterator[tuple[str, Items, Items]]":
        """Each name that these items have: which of these have it, and which of all. `names` are those of all."""
        own = [names[place] for place in self.places]
        for name in dict.fromkeys(own):
            spots = Items([spot for spot, each in enumerate(own) if each == name], len(own), self.index.device)
            yield name, spots, self.where([each == name for each in own])
