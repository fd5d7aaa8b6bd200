"""What an attack raises: the error of a quantity, or the ratio of the error to the bound at a prompt."""

from collections.abc import Iterable
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
