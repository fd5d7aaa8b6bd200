"""Theorem 1 (li2025) at a table: what is learnt from its rows, and R^2 on the held-out rows of random splits."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from bridge.theorems.data import ScaledTable, Table, scaled
from bridge.theorems.record import NamedTable
from bridge.theorems.sources import programs
from numeric.topics.universal import lasso
from numeric.topics.universal.proximal import objective
from numeric.topics.universal.risk import Learner
from symbolic.words.errors import UsageError

SPLITS, SHARE = 20, 0.8  # of the rows for the prompt
EXACT, STEPS = 1e-13, 100_000  # duality gap and steps of the minimiser that is compared with scikit-learn's
APART = 1e-6  # predictions of two minimisers that differ by more than their accuracy
SPREAD = 1e-9  # of held-out targets in [-1, 1], up to which R^2 says nothing
UNSCORED = "a column is (nearly) constant over the prompt, or the held-out targets are"
LASSO = "scikit-learn's Lasso"
INSIDE = 1 - 1e-12  # of the ball, for what is moved to its sphere


def with_one(x: Tensor) -> Tensor:
    return torch.cat([x, torch.ones_like(x[:, :1])], 1)


@dataclass(frozen=True)
class LassoFit:
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
        return programs.lasso(self.of.features(self.x), self.y, self.of.at.lam)

    @property
    def predictions(self) -> dict[str, Tensor]:
        """At the queries, (Q)."""
        phi = self.of.features(self.queries)
        linear = with_one(self.queries) @ programs.least_squares(with_one(self.x), self.y)
        return {"transformer": phi @ self.run[1], LASSO: phi @ self.exact, "least squares": linear}

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


def by_split(data: ScaledTable, learner: Learner, seed: int) -> NamedTable:
    """R^2 of each predictor. Raises UsageError where no split has a score."""
    fits = [each for each in fits_of(data.table, learner, seed) if each is not None]
    if not fits:
        raise UsageError(
            f"universal.risk: none of {SPLITS} random splits of {data.source} has a score, as {UNSCORED}; give more "
            f"rows"
        )
    moved = sum(count for _, _, count in fits)
    found = [(fit.predictions, y) for fit, y, _ in fits]
    scores = {name: [score(each[name], y) for each, y in found] for name in found[0][0]}
    title = [
        f"R^2 on the held-out rows of {len(fits)} random splits",
        f"{moved} of these rows were outside the ball and moved to its sphere",
        "transformer: phi^T rho of the run whose query is the first of them",
        *limit([fit.apart for fit, _, _ in fits]),
        *([f"{SPLITS - len(fits)} splits were skipped, as {UNSCORED}"] if len(fits) < SPLITS else []),
    ]
    return NamedTable(
        title="; ".join(title),
        columns=["predictor", "mean R^2", "least", "largest"],
        rows=[[name, float(np.mean(each)), min(each), max(each)] for name, each in scores.items()],
    )


def fits_of(table: Table, learner: Learner, seed: int) -> Iterator[tuple[LassoFit, Tensor, int] | None]:
    """Fits of random splits, the held-out targets (Q), scaled as the prompt, and how many queries were moved.

    None for a split that has no score.
    """
    rows = len(table.features)
    for each in range(seed, seed + SPLITS):
        order = np.random.default_rng(each).permutation(rows)
        yield fit_of(table, learner, *np.split(order, [int(SHARE * rows)]))


def fit_of(table: Table, learner: Learner, prompt: np.ndarray, held: np.ndarray) -> tuple[LassoFit, Tensor, int] | None:
    parts = scaled_by(table, prompt, held)
    if parts is None:
        return None
    queries = torch.as_tensor(np.stack([each.x_query for each in parts]), dtype=torch.float64, device="cpu")
    norms = torch.linalg.vector_norm(queries, dim=1, keepdim=True)
    inside = torch.where(norms > 1, queries / norms * INSIDE, queries)
    targets = torch.as_tensor(np.stack([each.y_query for each in parts]), dtype=torch.float64, device="cpu")[:, 0]
    if targets.max() - targets.min() <= SPREAD:
        return None
    at = replace(learner, at=replace(learner.at, N=len(prompt)))
    fit = LassoFit(
        at,
        torch.as_tensor(parts[0].x, dtype=torch.float64, device="cpu"),
        torch.as_tensor(parts[0].y[:, 0], dtype=torch.float64, device="cpu"),
        inside,
    )
    return fit, targets, int((norms > 1).sum())


def scaled_by(table: Table, prompt: np.ndarray, held: np.ndarray) -> list[ScaledTable] | None:
    """The prompt with each of the held-out rows as query; None where a column is constant over the prompt."""

    def rows(places: np.ndarray) -> Table:
        return replace(table, features=table.features[places], targets=table.targets[places])

    try:
        return [scaled(rows(np.append(prompt, row)), 1.0, 1.0) for row in held]
    except UsageError:
        return None


def limit(apart: Sequence[tuple[float, float, float]]) -> list[str]:
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
