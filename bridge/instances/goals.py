"""What an attack raises: the error of a quantity, or its ratio to the bound at a prompt; and the items of its batch."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from symbolic.statements.result import Quantity


@dataclass(frozen=True, eq=False)
class Goal:
    """The error of a quantity; with a scope, the ratio of the error to the prompt bound of that scope.

    With a `tier` too, to the printed or claimed bound in the letters of the prompt.
    """

    quantity: Quantity
    scope: str | None = None
    tier: str = ""

    @property
    def key(self) -> tuple[str, str | None]:
        return self.quantity.name, f"{self.scope}: {self.tier}" if self.tier else self.scope


def prompt_scopes(quantity: Quantity) -> list[str]:
    """The scopes whose bound depends on the prompt."""
    return [scope for scope in quantity.scopes if scope != "network"]


def goals_of(quantities: Iterable[Quantity]) -> list[Goal]:
    """For each quantity its error, then its ratio in each scope of a prompt."""
    return [Goal(quantity, scope) for quantity in quantities for scope in (None, *prompt_scopes(quantity))]


def stated_goals(quantity: Quantity, tiers: Iterable[str]) -> list[Goal]:
    """The ratio to each of these tiers at a prompt."""
    return [Goal(quantity, "prompt", tier) for tier in tiers]


def ratio(errors: Tensor, bounds: Tensor) -> Tensor:
    """error / bound, what an attack raises. Beside a bound that is not positive (or nan) an error ranks above all
    others: such an input is always looked at exactly."""
    positive = bounds > 0
    beside_none = torch.finfo(errors.dtype).max * (errors / (1 + errors))  # finite, and growing with the error
    return torch.where(positive, errors / torch.where(positive, bounds, torch.ones_like(bounds)), beside_none)


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
