"""Theorem 3.1 (algoformer) on a table of real numbers: its step size, its letters, and predictions beside others."""

import math
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
from bridge.data import Table, scaled
from bridge.looped.gradient_descent import GRADIENT_DESCENT, features
from bridge.record import NamedTable, Row
from bridge.study import Inputs
from bridge.theorem_study import TheoremStudy
from bridge.theorem_table import TableCase
from symbolic.statements import Quantity, UsageError

ENLARGED = 1e-6  # relative: letters that are computed in float64
ROUNDED = 1e-9  # relative: the eigenvalue and what rests on it
SECONDS = 1e-7  # for each pair of tokens and loop, over all runs
OF_LETTERS = 50_000  # ball operations, for letters that do not depend on the rows


class GradientDescentStudy(TheoremStudy):
    """Theorem 3.1, also at the rows of a table."""

    def __init__(self) -> None:
        super().__init__(GRADIENT_DESCENT)

    def data_defaults(self, params: Mapping[str, Any], table: Table) -> dict[str, Any]:
        """With the step size 1 / lambda_max of the scaled features, where Phi is the identity."""
        known = super().data_defaults(params, table)
        N = params.get("N", known["N"])
        if params.get("L", 0) != 0 or not isinstance(N, int) or not 2 <= N < len(table.features):
            return known
        phi = torch.as_tensor(scaled(table.first(N + 1), known["B_x"], known["B_y"]).x)
        high = params.get("high", (1 + ROUNDED) * largest_eigenvalue(phi))
        return {**known, "high": high, "eta": 1 / high}

    def data_case(self, params: Mapping[str, Any], table: Table, *, seed: int, dtype: str, device: str) -> "OfTable":
        """Raises UsageError for parameters that do not fit the table, and for features beyond their bounds."""
        resolved, weights = self.point(params, seed, dtype)
        if "c" not in params:
            resolved["c"] *= above_best(resolved["N"], resolved["c"] * resolved["B_x"] ** 2 / resolved["N"])
        length = 2 * resolved["N"] + 2
        Cost(64.0 * length**2, SECONDS * length**2 * resolved["T"]).announce(
            f"compare {self.result.id} at {table.source}"
        )
        theorem = replace(self.theorem, refusal=None, exact_limit=OF_LETTERS, quantities=_remarked)
        return OfTable(theorem, resolved, weights, dtype, device, table)


# The best c of all inputs has the worst truncation as large as the rounding. Features that point in all directions
# leave less of truncation, which is followed with its signs, by about sqrt(N); rounding is bounded by norms.
def above_best(N: int, largest_score: float) -> float:
    """A power of 2 near sqrt(N), less where scores would exceed 1."""
    return 2.0 ** max(0, round(min(math.log2(N) / 2, -math.log2(largest_score))))


def _remarked() -> tuple[Quantity, ...]:
    """The quantities, with what is said of them at a table."""
    more = "the bound covers the rounding of the run, which is not measured apart; letters of the prompt in float64"
    stated = GRADIENT_DESCENT.statement.quantities
    return tuple(replace(each, remark=f"{each.remark}; {more}") if each.scopes else each for each in stated)


def largest_eigenvalue(phi: Tensor) -> float:
    """Of Phi^T Phi / N."""
    return float(torch.linalg.matrix_norm(phi, 2)) ** 2 / len(phi)


class OfTable(TableCase):
    """Of some hundred rows balls would take minutes: nothing is run in them. Bounds cover the rounding of the run."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        largest, high = largest_eigenvalue(self._features[:-1]), self.full_params["high"]
        if largest > high * (1 + ROUNDED):
            raise UsageError(
                f"{self.result.id}: Phi(X)^T Phi(X) / N of {self.data.source} has the eigenvalue {largest:.6g}, above "
                f"high = {high:.6g}; leave high out"
            )

    @property
    def _features(self) -> Tensor:
        found: Tensor = features(self._prompt["x"], self.weights["mlp"])
        return found

    def rounding_estimate(self) -> float:
        return 0.0

    def instance_values(self, scope: str, inputs: Inputs | None) -> dict[sp.Symbol, Any]:
        return {**self._of_network, **({} if scope == "network" else self._letters)}

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

    def tables(self) -> list[NamedTable]:
        return []

    def extra_rows(self, budget: Budget) -> list[Row]:
        """Target and predictions of the query, in the units of the table; and how far two of them are apart, scaled."""
        runs = self._in_floats(self.sample(1, 0), ["prediction"])
        network, exact = (each["prediction"][0].double() for each in runs)
        found = {
            "target": (torch.as_tensor(self.data.y_query), "the query's target"),
            "network": (network, "prediction of the transformer"),
            "exact": (exact, "prediction of T exact steps"),
            "linear": (self._linear, "prediction of scikit-learn's LinearRegression"),
        }
        rows = [self._row(name, self._raw(value), meaning) for name, (value, meaning) in found.items()]
        apart = self._row("apart", float(abs(network - exact).max()), "distance of network and exact steps")
        return [*rows, apart.model_copy(update={"norm": "scaled, |y| <= B_y"})]

    @property
    def _linear(self) -> Tensor:
        try:
            from sklearn.linear_model import LinearRegression
        except ImportError as error:
            why = "a table is compared with scikit-learn, which is not installed: pip install 'boundsmith[data]'"
            raise UsageError(why) from error
        phi = self._features.numpy()
        model = LinearRegression(fit_intercept=False).fit(phi[:-1], self._prompt["y"].numpy())
        return torch.as_tensor(model.predict(phi[-1:])[0])

    def _raw(self, y: Tensor) -> float:
        return float(self.data.in_raw_units(y.numpy())[0])

    def _row(self, name: str, value: float, meaning: str) -> Row:
        return Row(
            quantity=f"prediction.{name}", kind="exact", quantifier="on this table", params=dict(self.params),
            measured=value, norm="units of the target", meaning=meaning, samples=1,
            domain=f"the query of {self.data.source}, with the {len(self.data.x)} rows before it as examples",
        )  # fmt: skip
