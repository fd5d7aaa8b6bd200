"""The bounds that are read at the items of a batch: one reading gives those of all quantities.

Shapes: C cases, I items of each, Q quantities.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from bridge.goals import Goal
from bridge.items import Items
from bridge.running import Runner
from bridge.theorem_case import TheoremCase
from symbolic.statements import Quantity


class ReadingBatch:
    """Bounds of one scope. `cells` are those of `items`, `varying` the parameters and weights of all items."""

    def __init__(
        self,
        cells: Sequence[tuple[TheoremCase, Goal]],
        items: Items,
        varying: Mapping[str, Tensor],
        runner: Runner,
    ) -> None:
        self.items, self.runner, self.varying = items, runner, set(varying)
        quantities = _quantities(cells)
        self.function = cells[0][0].reading_of(quantities, str(cells[0][1].scope))
        names, restarts = [quantity.name for quantity in quantities], len(items.places) // len(cells)
        wanted = [names.index(goal.quantity.name) for _, goal in cells for _ in range(restarts)]
        self.wanted = torch.tensor(wanted, device=runner.device).unsqueeze(-1)  # (items, 1)
        cases = _groups([case for case, _ in cells])
        self.count = len(cases)
        self.own = {
            **{name: self._by_case(value)[:, 0] for name, value in varying.items()},
            **{name: _numbers([case.number(s) for case in cases]) for name, s in self.function.letters.items()},
        }

    def bounds(self, known: Mapping[str, Tensor]) -> Tensor:
        """That of its quantity at each item, (items)."""
        inputs = {name: self._by_case(value) for name, value in known.items() if name not in self.varying}
        found = self.runner.batched_by_case(self.function, self.own, inputs)  # (C, I, Q)
        bounds: Tensor = found.flatten(0, 1).gather(1, self.wanted)[:, 0]
        return bounds

    def _by_case(self, values: Tensor) -> Tensor:
        return self.items.of(values).unflatten(0, (self.count, -1))  # (C, I, ...)


def _quantities(cells: Sequence[tuple[TheoremCase, Goal]]) -> list[Quantity]:
    return list({goal.quantity.name: goal.quantity for _, goal in cells}.values())


def _groups(cases: Sequence[TheoremCase]) -> list[TheoremCase]:
    """One for each case, where each has as many cells in a row; else one for each cell."""
    each = list(dict.fromkeys(cases))
    size = len(cases) // len(each)
    return each if list(cases) == [case for case in each for _ in range(size)] else list(cases)


def _numbers(values: Sequence[float]) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)
