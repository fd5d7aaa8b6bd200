"""The transformers of a theorem at several points, run on one batch: together where their shapes allow it.

Shapes: R items of the batch, B of them that one network runs, L tokens.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from bridge.instances.goals import Items
from bridge.instances.networks import Networks
from bridge.theorems.transformer import Transformer
from numeric.networks.network import Network
from numeric.networks.shared_blocks import SharedNetwork
from numeric.search.ensemble import Ensemble, family, widest

WIDEST, LONGEST = 64, 128  # coordinates and tokens, up to which dense weights and kernels cost less than more calls
Found = tuple[str, Items, Tensor]  # a quantity, the items whose goal it is, and what the network makes of it there


@dataclass(frozen=True, eq=False)
class BatchMember:
    """The transformer of one point, and the places that it runs."""

    transformer: Transformer
    network: Network | SharedNetwork
    length: int
    places: list[int]

    @property
    def company(self) -> Hashable:
        """Equal for members that one batch runs."""
        construction = self.network.construction
        if self.transformer.shared or self.length > LONGEST or widest(construction) > WIDEST:
            return id(self.network)
        return family(construction), self.length


def together(
    members: Sequence[BatchMember], networks: Networks, names: Sequence[str], varying: Mapping[str, Tensor]
) -> Iterator["TransformerBatch"]:
    """The members in as few batches as possible. `names` are the quantities of all R items."""
    companies: dict[Hashable, list[BatchMember]] = {}
    for member in members:
        companies.setdefault(member.company, []).append(member)
    for company in companies.values():
        yield TransformerBatch(company, networks, names, varying)


class TransformerBatch:
    """Members of one company as one network; `varying` are the parameters and weights that differ between items."""

    def __init__(
        self, members: Sequence[BatchMember], networks: Networks, names: Sequence[str], varying: Mapping[str, Tensor]
    ) -> None:
        self.networks = networks
        by_tokens: dict[Hashable, list[BatchMember]] = {}
        for member in members:
            source = member.network.construction.source
            by_tokens.setdefault((member.transformer.tokens, source), []).append(member)
        self.entering = [(own[0], self._items(own, len(names))) for own in by_tokens.values()]
        self.members = [member for own in by_tokens.values() for member in own]
        self.readings = [
            _Reading(name, networks.transformer(name), spots, items, items.of_each(varying))
            for name, spots, items in self._items(self.members, len(names)).by_name(names)
        ]
        self.taps = sorted({tap for each in self.readings for tap in networks.taps(each.transformer, [each.name])})
        self.network = self._network()

    def run(self, known: Mapping[str, Tensor]) -> Iterator[Found]:
        """From the inputs of all R items, and what varies among them."""
        tokens = [self._tokens(member, items.of_each(known)) for member, items in self.entering]
        taps = self.network.run(torch.cat(tokens), self.taps)
        for each in self.readings:
            here = {**each.varying, **each.spots.of_each(taps)}
            yield each.name, each.items, self.networks.read(each.transformer, each.name, here, torch.float64)

    def _tokens(self, member: BatchMember, known: Mapping[str, Tensor]) -> Tensor:
        source = member.network.construction.source
        return self.networks.tokens(member.transformer, known, torch.float64, source)

    def _items(self, members: Sequence[BatchMember], total: int) -> Items:
        return Items([place for member in members for place in member.places], total, self.networks.known.format.device)

    def _network(self) -> Network | SharedNetwork | Ensemble:
        if len(self.members) == 1:
            return self.members[0].network
        index = [number for number, member in enumerate(self.members) for _ in member.places]
        constructions = [member.network.construction for member in self.members]
        return Ensemble(
            constructions,
            torch.tensor(index, dtype=torch.int64, device="cpu"),
            torch.float64,
            self.networks.known.format.device,
        )


@dataclass(frozen=True, eq=False)
class _Reading:
    """What is read for one quantity: at the spots among those that the network runs, which are `items` of all."""

    name: str
    transformer: Transformer
    spots: Items
    items: Items
    varying: Mapping[str, Tensor]
