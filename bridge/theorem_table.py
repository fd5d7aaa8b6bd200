"""A theorem at the rows of a table, which make its one prompt (`Tabular`)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from bridge.arguments import called_with
from bridge.budget import Budget
from bridge.data import ScaledTable, Table, scaled
from bridge.study import Inputs
from bridge.theorem import Theorem
from bridge.theorem_case import TheoremCase
from symbolic.statements import UsageError


class TableCase(TheoremCase):
    """The prompt of a table, which is not attacked; `data` is the table, scaled by its examples alone."""

    def __init__(
        self,
        theorem: Theorem,
        params: Mapping[str, Any],
        weights: Mapping[str, Tensor],
        dtype: str,
        device: str,
        table: Table,
    ) -> None:
        assert theorem.tabular is not None  # asked of theorems that take tables
        theorem.tabular.require_fit(theorem.id, params, table)
        self.data = scaled(table.first(params[theorem.tabular.rows] + 1), *(params[b] for b in theorem.tabular.bounds))
        _require_inside(theorem.id, self.data)
        found = called_with(theorem.tabular.prompt, {**params, "data": self.data})
        self._prompt = {name: torch.as_tensor(each, dtype=torch.float64) for name, each in found.items()}
        super().__init__(replace(theorem, samples=self._repeated), params, weights, dtype, device)
        self.attackable = False

    def _repeated(self, count: int) -> Inputs:
        return {name: each[None].expand(count, *each.shape) for name, each in self._prompt.items()}

    def within(self, budget: Budget) -> Budget:
        return replace(budget.without_attack(), samples=1)


def _require_inside(id: str, data: ScaledTable) -> None:
    if data.outside:
        raise UsageError(f"{id}: {data.remark} the hypotheses; leave that row out, or take another number of rows")
