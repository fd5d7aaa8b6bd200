"""Theorem 3.1 (algoformer) at the rows of a table: its step size, its c, and predictions beside least squares."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bridge.limits.cost import attention
from bridge.theorems.data import ScaledTable
from bridge.theorems.sources import Prediction, Tabular
from bridge.theorems.sources.programs import linear_regression
from bridge.topics.looped.gradient_descent_knobs import STATEMENT, resolve
from numeric.balls.digits import apart
from numeric.topics.looped.gradient_descent import features
from symbolic.words.errors import UsageError

ROUNDED = 1e-9  # relative: the eigenvalue and what rests on it


def prompt(data: ScaledTable) -> dict[str, Any]:
    return {"x": np.concatenate([data.x, data.x_query[None]]), "y": data.y}


def step(L: int, given: Mapping[str, Any], data: ScaledTable) -> dict[str, float]:
    """The step size 1 / lambda_max of the scaled features, where Phi is the identity."""
    if L != 0:
        return {}
    high = given.get(
        "high", (1 + ROUNDED) * largest_eigenvalue(torch.as_tensor(data.x, dtype=torch.float64, device="cpu"))
    )
    return {"high": high, "eta": 1 / high}


def scale(N: int, B_x: float, given: Mapping[str, Any], dtype: str) -> dict[str, float]:
    """c above the best one of all inputs."""
    if "c" in given:
        return {}
    c = resolve(given, 0, dtype)["c"]
    return {"c": c * above_best(N, c * B_x**2 / N)}


# The best c of all inputs has the worst truncation as large as the rounding. Features that point in all directions
# leave less of truncation, which is followed with its signs, by about sqrt(N); rounding is bounded by norms.
def above_best(N: int, largest_score: float) -> float:
    """A power of 2 near sqrt(N), less where scores would exceed 1."""
    return 2.0 ** max(0, round(min(math.log2(N) / 2, -math.log2(largest_score))))


def largest_eigenvalue(phi: Tensor) -> float:
    """Of Phi^T Phi / N."""
    return float(torch.linalg.matrix_norm(phi, 2)) ** 2 / len(phi)


def require_short_steps(x: Tensor, mlp: Tensor, high: float, data: ScaledTable) -> None:
    """Raises UsageError for features with an eigenvalue above `high`."""
    largest = largest_eigenvalue(features(x, mlp)[:-1])
    if largest > high * (1 + ROUNDED):
        found, given = apart(largest, high)
        raise UsageError(
            f"{STATEMENT.id}: Phi(X)^T Phi(X) / N of {data.source} has the eigenvalue {found}, above high = {given}; "
            f"leave high out"
        )


def by_scikit_learn(x: Tensor, y: Tensor, mlp: Tensor) -> Tensor:
    phi = features(x, mlp)
    return linear_regression(phi[:-1], y, phi[-1])


TABLE = Tabular(
    "N", "d", ("B_x", "B_y"), prompt,
    defaults={"L": 0, "m": 1, "B_x": 1.0, "B_y": 1.0, "T": (1, 10, 100, 500)},
    suggested=step,
    implied=scale,
    require=require_short_steps,
    instead=lambda theorem: replace(theorem, tables=()).with_at_point(refusal=None),
    covers_rounding=True,
    predictions=(
        Prediction("network", "prediction of the transformer", lambda network: network["prediction"]),
        Prediction("exact", "prediction of T exact steps", lambda reference: reference["prediction"]),
        Prediction("linear", "prediction of scikit-learn's LinearRegression", by_scikit_learn),
    ),
    work=lambda N, T: attention(2 * N + 2, T).times(4),  # of the network, exact, and each again for the bounds
)  # fmt: skip
