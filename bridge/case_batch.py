"""Restarts of several goals of one case as the items of one batch: its errors and bounds run once for all of them.

Shapes: R restarts of each goal, G goals, R * G items.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from bridge.budget import Budget
from bridge.goals import Goal, ratio
from bridge.items import Items
from bridge.study import Case, Inputs
from numeric.attack import attack_groups

NEARBY = 3e-3  # relative size of the noise around the best point of the envelope, where the rest of an attack starts
FIRST_STEP, SECOND_STEP = 0.5, 0.05  # first step of an attack, and of that rest, relative to the inputs


class CaseBatch:
    """The goals of a case whose errors and bounds at one input do not depend on the other inputs.

    Where the case has an envelope of its errors, the first half of the attack climbs that, once for each quantity; the
    goals then start around its best points.
    """

    def __init__(self, case: Case, goals: Sequence[Goal], budget: Budget) -> None:
        self.case, self.goals, self.restarts = case, list(goals), budget.restarts

    def ascended(self, budget: Budget) -> list[Inputs]:
        """For each goal the input at which it was largest."""
        starts = self.case.starts(budget.restarts, budget.seed)
        names = list(dict.fromkeys(goal.quantity.name for goal in self.goals))
        steps = budget.attack // 2 if self.case.has_envelope else 0
        if steps:
            climbed = self._attacked(
                self._objective_of(names, self.case.envelope), [starts] * len(names), budget, steps, FIRST_STEP
            )
            near = {name: self._around(best, budget) for name, best in zip(names, climbed, strict=True)}
        else:
            near = dict.fromkeys(names, starts)
        groups = [near[goal.quantity.name] for goal in self.goals]
        size = SECOND_STEP if steps else FIRST_STEP
        return self._attacked(self._objective, groups, budget, budget.attack - steps, size)

    def _attacked(
        self,
        objective: Callable[[Inputs], Tensor],
        starts: Sequence[Inputs],
        budget: Budget,
        steps: int,
        size: float,
    ) -> list[Inputs]:
        joined = {name: torch.cat([each[name] for each in starts]) for name in starts[0]}
        results = attack_groups(
            objective, joined, self.case.project, len(starts), steps=steps, step_size=size, seed=budget.seed
        )
        witnesses = [result.witness for result in results]
        return [witness for witness in witnesses if isinstance(witness, dict)]  # the structure of the starts

    def _around(self, best: Inputs, budget: Budget) -> Inputs:
        generator = torch.Generator().manual_seed(budget.seed)
        moved = {}
        for name, value in best.items():
            noise = torch.randn((budget.restarts, *value.shape), generator=generator, dtype=torch.float64)
            noise[0] = 0.0
            moved[name] = value + NEARBY * noise.to(value.device)
        return self.case.project(moved)

    def _objective_of(
        self, names: Sequence[str], errors: Callable[[Inputs, Sequence[str]], dict[str, Tensor]]
    ) -> Callable[[Inputs], Tensor]:
        """The error of a name for each group of restarts."""
        places = torch.arange(len(names)).repeat_interleave(self.restarts)

        def objective(inputs: Inputs) -> Tensor:
            found = errors(inputs, names)
            table = torch.stack([found[name] for name in names])  # (names, items)
            return table[places.to(table.device), torch.arange(table.shape[1], device=table.device)]

        return objective

    def _objective(self, inputs: Inputs) -> Tensor:
        found = self._errors(inputs)
        bounds = torch.ones_like(found)
        for scope, groups in self._scopes.items():
            names = [self.goals[place].quantity.name for place in groups]
            items = self._items(groups)
            at_items = self.case.bounds_at(list(dict.fromkeys(names)), items.of_each(inputs), scope)
            own = [at_items[name].unflatten(0, (len(groups), -1))[spot] for spot, name in enumerate(names)]
            bounds = items.into(bounds, torch.cat(own))
        is_ratio = torch.tensor([goal.scope is not None for goal in self.goals], device=found.device)
        return torch.where(is_ratio.repeat_interleave(self.restarts), ratio(found, bounds), found)

    def _errors(self, inputs: Inputs) -> Tensor:
        def errors(inputs: Inputs, names: Sequence[str]) -> dict[str, Tensor]:
            return self.case.errors(inputs, list(dict.fromkeys(names)), attack=True)

        return self._objective_of([goal.quantity.name for goal in self.goals], errors)(inputs)

    @property
    def _scopes(self) -> dict[str, list[int]]:
        """The scopes of prompts, and the goals of each."""
        found: dict[str, list[int]] = {}
        for place, goal in enumerate(self.goals):
            if goal.scope is not None:
                found.setdefault(goal.scope, []).append(place)
        return found

    def _items(self, groups: Sequence[int]) -> Items:
        places = [group * self.restarts + restart for group in groups for restart in range(self.restarts)]
        return Items(places, len(self.goals) * self.restarts, self.case.device)
