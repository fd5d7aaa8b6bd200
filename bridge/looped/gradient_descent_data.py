"""Theorem 3.1 (algoformer) on a table of real numbers: all rows but the last are the examples, the last is the query.

Features and targets are scaled by the examples alone (bridge/data.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import flint
import sympy as sp
import torch
from torch import Tensor

from bridge.budget import Budget
from bridge.cost import Cost
from bridge.data import ScaledTable, Table, scaled
from bridge.looped.gradient_descent import GRADIENT_DESCENT, features
from bridge.record import NamedTable, Row
from bridge.study import Inputs
from bridge.theorem import Theorem
from bridge.theorem_case import TheoremCase
from bridge.theorem_study import TheoremStudy
from symbolic.statements import Quantity, UsageError

LOOPS = (1, 10, 100, 500)
ENLARGED = 1e-6  # relative: letters that are computed in float64
ROUNDED = 1e-9  # relative: the eigenvalue and what rests on it
SECONDS = 1e-7  # for each pair of tokens and loop, over all runs


class GradientDescentStudy(TheoremStudy):
    """Theorem 3.1, also at the rows of a table."""

    def __init__(self) -> None:
        super().__init__(GRADIENT_DESCENT)

    def data_defaults(self, params: Mapping[str, Any], table: Table) -> dict[str, Any]:
        rows, d = table.features.shape
        N = params.get("N", rows - 1)
        known = {"N": N, "d": d, "m": table.targets.shape[1], "T": LOOPS, "L": 0, "B_x": 1.0, "B_y": 1.0}
        if params.get("L", 0) != 0 or not isinstance(N, int) or not 2 <= N < rows:
            return known
        high = params.get("high", (1 + ROUNDED) * largest_eigenvalue(torch.as_tensor(_scaled(table, known).x)))
        return {**known, "high": high, "eta": 1 / high}

    def data_case(self, params: Mapping[str, Any], table: Table, *, seed: int, dtype: str, device: str) -> "TableCase":
        """Raises UsageError for parameters that do not fit the table, and for features beyond their bounds."""
        _require_fit(self.result.id, params, table)
        resolved, weights = self.point(params, seed, dtype)
        cost = Cost(64.0 * (2 * resolved["N"] + 2) ** 2, SECONDS * (2 * resolved["N"] + 2) ** 2 * resolved["T"])
        cost.announce(f"compare {self.result.id} at {resolved['N']} rows")
        data = _scaled(table, resolved)
        _require_bounds(self.result.id, features(torch.as_tensor(data.x), weights["mlp"]), data, resolved)
        return TableCase(self.theorem, resolved, weights, dtype, device, data)


def _scaled(table: Table, params: Mapping[str, Any]) -> ScaledTable:
    return scaled(table.first(params["N"] + 1), params["B_x"], params["B_y"])


def largest_eigenvalue(phi: Tensor) -> float:
    """Of Phi^T Phi / N."""
    return float(torch.linalg.matrix_norm(phi, 2)) ** 2 / len(phi)


def _require_fit(id: str, params: Mapping[str, Any], table: Table) -> None:
    rows, d = table.features.shape
    sizes = {"d": d, "m": table.targets.shape[1]}
    wrong = [f"{name} = {params[name]} for the {size} columns of {table.source}; leave {name} out"
             for name, size in sizes.items() if params[name] != size]  # fmt: skip
    if not 2 <= params["N"] < rows:
        wrong.append(f"N = {params['N']}, but {table.source} has {rows} rows with the query; take N = 2 to {rows - 1}")
    if wrong:
        raise UsageError(f"{id}: {'; '.join(wrong)}")


def _require_bounds(id: str, phi: Tensor, data: ScaledTable, params: Mapping[str, Any]) -> None:
    if data.outside:
        raise UsageError(
            f"{id}: the query of {data.source} has the norm {data.query_norm:.6g} after scaling by the examples, above "
            f"B_x = {data.B_x:g}; take another N"
        )
    largest = largest_eigenvalue(phi)
    if largest > params["high"] * (1 + ROUNDED):
        raise UsageError(
            f"{id}: Phi(X)^T Phi(X) / N of {data.source} has the eigenvalue {largest:.6g}, above high = "
            f"{params['high']:.6g}; leave high out"
        )


class TableCase(TheoremCase):
    """The table's prompt. Bounds cover the rounding of the run, so that it is measured as it is."""

    def __init__(
        self, theorem: Theorem, params: Mapping[str, Any], weights: Mapping[str, Tensor], dtype: str, device: str,
        data: ScaledTable,
    ) -> None:  # fmt: skip
        self.data = data
        super().__init__(
            replace(theorem, samples=self._prompt, refusal=None, exact_limit=0), params, weights, dtype, device
        )
        self.attackable = False

    def _prompt(self, count: int, generator: torch.Generator) -> Inputs:
        x = torch.cat([torch.as_tensor(self.data.x), torch.as_tensor(self.data.x_query)[None]])
        return {"x": x[None], "y": torch.as_tensor(self.data.y)[None]}

    def tables(self) -> list[NamedTable]:
        return []

    def within(self, budget: Budget) -> Budget:
        return replace(budget, samples=1)

    def rounding_estimate(self) -> float:
        return 0.0

    # Of some hundred rows balls would take minutes.
    def instance_values(self, scope: str, inputs: Inputs | None) -> dict[sp.Symbol, Any]:
        return {} if scope == "network" else self._letters

    @cached_property
    def _letters(self) -> dict[sp.Symbol, flint.arb]:
        """The letters of the prompt in float64, enlarged."""
        prompt = {name: value.double() for name, value in self.sample(1, 0).items()}
        with torch.no_grad():
            found = {s: float(self.runner.batched(each, prompt)[0]) for s, each in self.prompt_functions.items()}
        return {letter: flint.arb(number) * (1 + ENLARGED) for letter, number in found.items()}

    def sample_bounds(self, quantities: Sequence[Quantity], inputs: Inputs, scope: str) -> dict[str, Tensor]:
        """Of the one prompt."""
        found = {each.name: self.instance(each, scope, inputs) for each in quantities}
        return {name: torch.tensor([float(bound.ball)]) for name, bound in found.items() if bound is not None}

    def extra_rows(self, budget: Budget) -> list[Row]:
        """Target and predictions of the query, in the units of the table."""
        prompt = {name: value[0] for name, value in self.sample(1, 0).items()}
        runs = self._in_floats(self.sample(1, 0), ["prediction"])
        network, exact = (each["prediction"][0].double() for each in runs)
        found = {
            "target": (torch.as_tensor(self.data.y_query), "the query's target"),
            "network": (network, "prediction of the transformer"),
            "exact": (exact, "prediction of T exact steps"),
            "linear": (self._linear(prompt), "prediction of scikit-learn's LinearRegression"),
        }
        rows = [self._row(name, self._raw(value), meaning) for name, (value, meaning) in found.items()]
        return [
            *rows,
            self._row("apart", float(abs(network - exact).max()), "distance of network and exact steps", "1"),
        ]

    def _linear(self, prompt: Inputs) -> Tensor:
        try:
            from sklearn.linear_model import LinearRegression
        except ImportError as error:
            why = "a table is compared with scikit-learn, which is not installed: pip install 'boundsmith[data]'"
            raise UsageError(why) from error
        phi = features(prompt["x"], self.weights["mlp"]).numpy()
        model = LinearRegression(fit_intercept=False).fit(phi[:-1], prompt["y"].numpy())
        return torch.as_tensor(model.predict(phi[-1:])[0])

    def _raw(self, y: Tensor) -> float:
        return float(self.data.in_raw_units(y.numpy())[0])

    def _row(self, name: str, value: float, meaning: str, norm: str = "units of the target") -> Row:
        return Row(
            quantity=f"prediction.{name}", kind="exact", quantifier="on this table", params=dict(self.params),
            measured=value, norm=norm if norm != "1" else "scaled, |y| <= B_y", meaning=meaning, samples=1,
            domain=f"the query of {self.data.source}, with the {len(self.data.x)} rows before it as examples",
        )  # fmt: skip
