"""Theorem 4.1 (algoformer) on a table of real numbers: the prediction of a held-out row, and the error of each loop.

The first N rows are the prompt, the next one is the query. Columns are standardised by the prompt and divided by the
largest singular value, labels centred and scaled into [-1, 1].
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from bridge.budget import Budget
from bridge.cost import Cost
from bridge.data import ScaledTable, Table, scaled
from bridge.looped import newton_tables as tables
from bridge.looped.newton import NEWTON
from bridge.looped.newton_tables import Run
from bridge.record import NamedTable, Row
from bridge.tabular import require_table
from bridge.theorem import Theorem
from bridge.theorem_case import TheoremCase
from bridge.theorem_study import TheoremStudy
from symbolic.looped.newton_statement import quantities_of
from symbolic.operations import Second
from symbolic.statements import Quantity, UsageError

LOOPS = 30
ABOVE = 1 + 1e-9  # for rounding: no singular value is above 1, and none of S below 1/kappa
SECONDS = 4e-8  # for each score of a loop


@dataclass(frozen=True)
class Prompt:
    """X (N, d) with singular values in [kappa^(-1/2), 1], y (N) in [-1, 1], x (d)."""

    X: Tensor
    y: Tensor
    x: Tensor
    kappa: float

    @classmethod
    def of(cls, data: ScaledTable) -> Self:
        X, y, x = (torch.as_tensor(each) for each in (data.x, data.y[:, 0], data.x_query))
        singular = torch.linalg.svdvals(X)
        unit = singular[0] * ABOVE
        return cls(X / unit, y, x / unit, float((unit / singular[-1]) ** 2) * ABOVE)


class NewtonStudy(TheoremStudy):
    """Theorem 4.1, also at the rows of a table."""

    def __init__(self) -> None:
        super().__init__(NEWTON)

    def data_defaults(self, params: Mapping[str, Any], table: Table) -> dict[str, Any]:
        rows, d = table.features.shape
        return {"N": rows - 1, "d": d, "T": LOOPS}

    def data_case(self, params: Mapping[str, Any], table: Table, *, seed: int, dtype: str, device: str) -> "NewtonCase":
        """Raises UsageError for parameters that do not fit the table, and where S is nearly singular."""
        require_table(self.result.id, table, params, least=max(2, table.features.shape[1]))
        data = scaled(table.first(params["N"] + 1), 1.0, 1.0)
        prompt = Prompt.of(data)
        known = {**params, "kappa": prompt.kappa}
        resolved, _ = self.point({**known, **self._best(known, prompt, table.source, dtype)}, seed, dtype)
        pairs = resolved["T"] * (2 * resolved["N"] + 2) ** 2
        cost = Cost(64.0 * pairs / resolved["T"], SECONDS * pairs)
        cost.require(f"compare {self.result.id} at {resolved['N']} rows", "lower N or T")
        return NewtonCase(self.theorem, resolved, prompt, data, dtype, device)

    def _best(self, params: Mapping[str, Any], prompt: Prompt, source: str, dtype: str) -> dict[str, float]:
        """c and C for these data, where they are not given. Raises UsageError where the floor is above the state."""
        at = {**{p.name: p.default for p in self.result.parameters}, **params}
        second = Second(at["second"])
        C = params.get("C", tables.enough_C(at["N"], dtype))
        c = params.get("c", tables.best_c(prompt.X, second, at["T"], C, dtype))
        floor = tables.predicted(prompt.X, second, at["T"], c, C, dtype)
        if not floor <= 1:
            raise UsageError(
                f"{self.result.id}: S = X^T X of {source} is nearly singular for {dtype}: its least eigenvalue is "
                f"{1 / prompt.kappa:.3g} times the largest, and the floor is {floor:.3g} times the state with c = "
                f"{c:.3g}; leave out columns that others determine"
            )
        return {"c": c, "C": C}


class NewtonCase(TheoremCase):
    """The network at a table's prompt."""

    def __init__(
        self, theorem: Theorem, params: Mapping[str, Any], prompt: Prompt, data: ScaledTable, dtype: str, device: str
    ) -> None:
        self.prompt, self.data, self.name = prompt, data, dtype
        inputs = {name: getattr(prompt, name)[None] for name in ("X", "y", "x")}
        super().__init__(
            replace(theorem, quantities=_last_loop, samples=lambda count: inputs, tables=(), leading=()),
            params, {}, dtype, device,
        )  # fmt: skip
        self.attackable = False

    def rounding_estimate(self) -> float:
        return self._rounding

    @cached_property
    def _rounding(self) -> float:
        return super().rounding_estimate()

    def within(self, budget: Budget) -> Budget:
        return replace(budget, samples=1)

    @cached_property
    def loops(self) -> Run:
        p = self.params
        return Run.of(
            self.prompt.X, self.prompt.y, self.prompt.x, p["T"], p["alpha"], p["c"], p["C"], p["second"], self.name
        )

    # The query.

    def extra_rows(self, budget: Budget) -> list[Row]:
        """Target and predictions of the query, in the units of the table."""
        squares = np.linalg.lstsq(self.prompt.X.numpy(), self.prompt.y.numpy())[0] @ self.prompt.x.numpy()
        found = {
            "target": (float(self.data.y_query[0]), "the query's target"),
            "y_hat": (self.loops.y_hat, "prediction of the transformer"),
            "newton": (self.loops.exact, f"prediction of T = {self.params['T']} exact steps"),
            "least_squares": (float(squares), "numpy's least squares"),
        }
        rows = [self._row(name, self._raw(value), meaning) for name, (value, meaning) in found.items()]
        apart = abs(self.loops.y_hat - self.loops.exact)
        return [*rows, self._row("difference", apart, "of the transformer from the exact steps, labels in [-1, 1]")]

    def _raw(self, y: float) -> float:
        return float(self.data.in_raw_units(np.array([y]))[0])

    def _row(self, name: str, value: float, meaning: str) -> Row:
        return Row(
            quantity=f"prediction.{name}", kind="exact", quantifier="on this table", params=dict(self.params),
            measured=value, norm="units of the target", meaning=meaning, samples=1,
            domain=f"the query of {self.data.source}, with the {len(self.data.x)} rows before it as prompt",
        )  # fmt: skip

    # Loops.

    def tables(self) -> list[NamedTable]:
        """The error of the whole state after each loop beside both bounds."""
        p, second = self.params, Second(self.params["second"])
        at_prompt = self.instance_values("prompt", self.sample(1, 0))
        instance = {letter: float(ball) for letter, ball in at_prompt.items()}
        bounds = [tables.bounds(second, p, known) for known in ({}, instance)]
        rows: list[list[str | int | float | None]] = [
            [k + 1, error, *of_loop]
            for k, (error, *of_loop) in enumerate(zip(self.loops.errors[1:], *bounds, strict=True))
        ]
        floor = tables.predicted(self.prompt.X, second, p["T"], p["c"], p["C"], self.name) * self.loops.sizes[-1]
        title = (
            f"State of all tokens after each loop, 2-norm; condition {p['kappa']:.4g}, {self.name}; predicted floor of "
            f"the last: {floor:.3g}"
        )
        return [NamedTable(title=title, columns=["loop", "measured, with rounding", "derived", "instance"], rows=rows)]


def _last_loop(second: str) -> tuple[Quantity, ...]:
    """Of some hundred rows nothing tells what positions leak from rounding."""
    return tuple(each for each in quantities_of(second, 1) if each.name != "labels")
