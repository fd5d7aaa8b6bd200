"""Theorem 1 (li2025) on a table of real numbers: the transformer's prediction of a held-out row, and 20 random splits.

The first N rows are the prompt, the next one is the query. Features are scaled into the ball by the prompt alone
(bridge/data.py); predictions of the query are in the units of the table. Nobody knows f or its noise there: the bounds
are outside their hypotheses.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bridge.budget import Budget
from bridge.cost import Cost
from bridge.data import ScaledTable, Table, scaled
from bridge.record import NamedTable, Row, Verdict
from bridge.study import Refusal
from bridge.tabular import require_table
from bridge.theorem import Theorem
from bridge.theorem_case import TheoremCase
from bridge.theorem_study import TheoremStudy
from bridge.universal.prompts import learner
from bridge.universal.risk import RISK
from numeric.universal import lasso
from numeric.universal.features import draw_features
from numeric.universal.proximal import objective
from numeric.universal.risk import Learner, with_idle
from symbolic.statements import UsageError

BLOCKS = 400
# Set by hand with the bundled table in view: no statement gives lam or a class where f is unknown.
DEFAULTS = {
    "n": 256, "L": 2 * BLOCKS + 1, "tau": 4.5, "lam": 0.005, "sigma": 0.0, "family": "union", "bumps": 2, "width": 2.0,
    "slope": 2.0,
}  # fmt: skip
SPLITS, SHARE = 20, 0.8  # of the rows for the prompt
EXACT, STEPS = 1e-13, 100_000  # duality gap and steps of the minimiser that is compared with scikit-learn's
TOLERANCE, SWEEPS = 1e-14, 200_000  # of scikit-learn's
APART = 1e-6  # predictions of two minimisers that differ by more than their accuracy
SPREAD = 1e-9  # of held-out targets in [-1, 1], up to which R^2 says nothing
UNSCORED = "a column is (nearly) constant over the prompt, or the held-out targets are"
INSIDE = 1 - 1e-12  # of the ball, for what is moved to its sphere
ROUGH = 2e-9  # seconds for each example, feature and layer


class RiskStudy(TheoremStudy):
    """Theorem 1, also at the rows of a table."""

    def __init__(self) -> None:
        super().__init__(RISK)

    def data_defaults(self, params: Mapping[str, Any], table: Table) -> dict[str, Any]:
        rows, d = table.features.shape
        return {**DEFAULTS, "N": rows - 1, "d": d}

    def data_case(self, params: Mapping[str, Any], table: Table, *, seed: int, dtype: str, device: str) -> "RiskCase":
        """Raises UsageError for parameters that do not fit the table, and for a query outside the ball."""
        if dtype != "float64" or device != "cpu":
            raise UsageError(f"{self.result.id}: tables are read in float64 on the cpu; leave out dtype and device")
        require_table(self.result.id, table, params)
        size = params["N"] * params["n"]
        cost = Cost(200.0 * size, ROUGH * size * params["L"] * (SPLITS + 1))
        cost.require(f"compare {self.result.id} at {params['N']} rows", "lower N, n or L")
        cost.announce(f"compare {self.result.id} at {params['N']} rows")
        resolved, _ = self.point(params, seed)
        data = scaled(table.first(params["N"] + 1), 1.0, 1.0)
        if data.outside:
            raise UsageError(
                f"{self.result.id}: the query of {table.source}, row {params['N'] + 1}, has the norm "
                f"{data.query_norm:.6g} after scaling by the prompt, outside the unit ball; leave that row out, or "
                f"take another N"
            )
        return RiskCase(self.theorem, resolved, table, data, seed)


def linear_lasso(phi: Tensor, y: Tensor, lam: float) -> Tensor:
    """scikit-learn's Lasso on the same features and weight of the 1-norm, (m)."""
    try:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import Lasso
    except ImportError as error:
        raise UsageError("a table is compared with scikit-learn, which is not installed: pip install 'boundsmith[data]'"
                         ) from error  # fmt: skip
    model = Lasso(alpha=lam / 2, fit_intercept=False, tol=TOLERANCE, max_iter=SWEEPS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # rounding may end it earlier: the title says how close
        return torch.as_tensor(model.fit(phi.numpy(), y.numpy()).coef_)


def least_squares(x: Tensor, y: Tensor) -> Tensor:
    """On the scaled columns and a constant, (d + 1)."""
    return torch.linalg.lstsq(_with_one(x), y).solution


def _with_one(x: Tensor) -> Tensor:
    return torch.cat([x, torch.ones_like(x[:, :1])], 1)


@dataclass(frozen=True)
class Fit:
    """What is learnt from x (N, d), y (N) in the ball and in [-1, 1], for queries (Q, d)."""

    of: Learner
    x: Tensor
    y: Tensor
    queries: Tensor

    @cached_property
    def run(self) -> tuple[Tensor, Tensor]:
        """y_hat for the first query, (), and rho^(L), (m)."""
        y_hat, rho = self.of.predictions(self.x, self.y[None], self.queries[:1])
        return y_hat[0, 0], rho[0, 0]

    @cached_property
    def exact(self) -> Tensor:
        return linear_lasso(self.of.features(self.x), self.y, self.of.at.lam)

    @property
    def predictions(self) -> dict[str, Tensor]:
        """At the queries, (Q)."""
        phi = self.of.features(self.queries)
        linear = _with_one(self.queries) @ least_squares(self.x, self.y)
        return {"transformer": phi @ self.run[1], "scikit-learn's Lasso": phi @ self.exact, "least squares": linear}

    @property
    def apart(self) -> tuple[float, float, float]:
        """How far a minimiser, as the blocks converge to one, is from scikit-learn's: objective, fit, predictions.

        Objective and values at the examples are unique; predictions are not where the minimiser is not.
        """
        phi, lam = self.of.features(self.x), self.of.at.lam
        found = lasso.solve(phi, self.y, lam, EXACT, STEPS)
        objectives = (objective(phi, self.y, rho, lam) for rho in (found, self.exact))
        first, second = map(float, objectives)
        fitted, predicted = (each @ (found - self.exact) for each in (phi, self.of.features(self.queries)))
        return abs(first - second), float(fitted.abs().max()), float(predicted.abs().max())


class RiskCase(TheoremCase):
    """The network at a table's prompt."""

    def __init__(self, theorem: Theorem, params: Mapping[str, Any], table: Table, data: ScaledTable, seed: int) -> None:
        self.table, self.data, self.seed = table.first(params["N"] + 1), data, seed
        why = Refusal(Verdict.OUTSIDE, f"f and the noise of {table.source} are unknown, and so is C_F")
        super().__init__(replace(theorem, refusal=lambda: why), params, {}, "float64", "cpu")
        self.attackable, self.uses = False, frozenset({"seed"})
        family = self.runner.built["members_of"]
        features = with_idle(draw_features(family, params["n"] - 1, seed))
        self.learner = learner(features, {**params, "N": len(data.x)})

    # The query.

    @cached_property
    def fit(self) -> Fit:
        x, y, query = (torch.as_tensor(each) for each in (self.data.x, self.data.y[:, 0], self.data.x_query[None]))
        return Fit(self.learner, x, y, query)

    def extra_rows(self, budget: Budget) -> list[Row]:
        """Target and predictions of the query, in the units of the table."""
        target = self._raw(torch.as_tensor(self.data.y_query))
        rows = [self._row("target", target, "the query's target")]
        for name, found in {"y_hat": self.fit.run[0], **self.fit.predictions}.items():
            short, value = SHORT[name], self._raw(found.reshape(1))
            rows.append(self._row(short, value, MEANINGS[short]))
            rows.append(self._row(f"{short}.error", abs(value - target), f"absolute error of: {MEANINGS[short]}"))
        return rows

    def _raw(self, y: Tensor) -> float:
        return float(self.data.in_raw_units(y.numpy())[0])

    def _row(self, name: str, value: float, meaning: str) -> Row:
        return Row(
            quantity=f"prediction.{name}", kind="exact", quantifier="on this table", params=dict(self.params),
            measured=value, norm="units of the target", meaning=meaning, seed=self.seed, samples=1,
            domain=f"the query of {self.data.source}, with the {len(self.data.x)} rows before it as prompt",
        )  # fmt: skip

    # Splits.

    def tables(self) -> list[NamedTable]:
        fits = [each for each in self.splits() if each is not None]
        if not fits:
            raise UsageError(
                f"{self.result.id}: none of {SPLITS} random splits of {self.table.source} has a score, as {UNSCORED}; "
                f"give more rows"
            )
        moved = sum(count for _, _, count in fits)
        scores = {name: [score(fit.predictions[name], y) for fit, y, _ in fits] for name in SHORT if name != "y_hat"}
        title = [
            f"R^2 on the held-out rows of {len(fits)} random splits",
            f"{moved} of these rows were outside the ball and moved to its sphere",
            "transformer: phi^T rho of the run whose query is the first of them",
            *_limit([fit.apart for fit, _, _ in fits]),
            *([f"{SPLITS - len(fits)} splits were skipped, as {UNSCORED}"] if len(fits) < SPLITS else []),
        ]
        return [
            NamedTable(
                title="; ".join(title),
                columns=["predictor", "mean R^2", "least", "largest"],
                rows=[[name, float(np.mean(each)), min(each), max(each)] for name, each in scores.items()],
            )
        ]

    def splits(self) -> Iterator[tuple[Fit, Tensor, int] | None]:
        """Fits of random splits, the held-out targets (Q), scaled as the prompt, and how many queries were moved.

        None for a split that has no score.
        """
        rows = len(self.table.features)
        for seed in range(self.seed, self.seed + SPLITS):
            order = np.random.default_rng(seed).permutation(rows)
            prompt, held = np.split(order, [int(SHARE * rows)])
            yield self._split(prompt, held)

    def _split(self, prompt: np.ndarray, held: np.ndarray) -> tuple[Fit, Tensor, int] | None:
        parts = self._scaled(prompt, held)
        if parts is None:
            return None
        queries = torch.as_tensor(np.stack([each.x_query for each in parts]))
        norms = torch.linalg.vector_norm(queries, dim=1, keepdim=True)
        inside = torch.where(norms > 1, queries / norms * INSIDE, queries)
        targets = torch.as_tensor(np.stack([each.y_query for each in parts]))[:, 0]
        if targets.max() - targets.min() <= SPREAD:
            return None
        at = replace(self.learner, at=replace(self.learner.at, N=len(prompt)))
        fit = Fit(at, torch.as_tensor(parts[0].x), torch.as_tensor(parts[0].y[:, 0]), inside)
        return fit, targets, int((norms > 1).sum())

    def _scaled(self, prompt: np.ndarray, held: np.ndarray) -> list[ScaledTable] | None:
        """The prompt with each of the held-out rows as query; None where a column is constant over the prompt."""
        try:
            return [scaled(self._rows(np.append(prompt, row)), 1.0, 1.0) for row in held]
        except UsageError:
            return None

    def _rows(self, places: np.ndarray) -> Table:
        return replace(self.table, features=self.table.features[places], targets=self.table.targets[places])


SHORT = {"y_hat": "y_hat", "transformer": "rho", "scikit-learn's Lasso": "lasso", "least squares": "least_squares"}
MEANINGS = {
    "y_hat": "prediction of the transformer",
    "rho": "phi^T rho of its last block",
    "lasso": "scikit-learn's Lasso on the same features",
    "least_squares": "least squares on the columns",
}


def _limit(apart: Sequence[tuple[float, float, float]]) -> list[str]:
    """The largest distances of the two minimisers in words."""
    objectives, fitted, predicted = map(max, zip(*apart, strict=True))
    found = [
        f"the blocks converge to a minimiser of the Lasso: its objective is within {objectives:.1g} of that of "
        f"scikit-learn's, its values at the examples within {fitted:.1g}"
    ]
    if predicted > APART:
        why = ", as the minimiser is not unique" if fitted <= APART else ""
        found.append(f"their predictions differ by up to {predicted:.1g}{why}")
    return found


def score(found: Tensor, y: Tensor) -> float:
    """R^2."""
    return float(1 - ((found - y) ** 2).sum() / ((y - y.mean()) ** 2).sum())
