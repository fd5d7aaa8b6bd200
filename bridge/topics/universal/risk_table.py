"""Theorem 1 (li2025) on a table of real numbers: the transformer's prediction of a held-out row, and random splits.

Features are scaled into the ball by the prompt alone. Nobody knows f or its noise there: the bounds are outside their
hypotheses.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from bridge.theorems.data import ScaledTable
from bridge.theorems.sources import Prediction, Tabular
from bridge.topics.universal.prompts import learner as learner_of
from bridge.topics.universal.prompts import of_blocks
from bridge.topics.universal.risk_splits import LASSO, SPLITS, LassoFit, by_split
from numeric.topics.universal.features import Family, draw_features
from numeric.topics.universal.risk import Learner, with_idle

BLOCKS = 400
# Set by hand with the bundled table in view: no statement gives lam or a class where f is unknown.
DEFAULTS = {
    "n": 256, "L": 2 * BLOCKS + 1, "tau": 4.5, "lam": 0.005, "sigma": 0.0, "family": "union", "bumps": 2, "width": 2.0,
    "slope": 2.0,
}  # fmt: skip


def learner(n: int, members_of: Family, params: Mapping[str, Any], seed: int) -> Learner:
    return learner_of(with_idle(draw_features(members_of, n - 1, seed)), dict(params))


def fit(data: ScaledTable, learner: Learner) -> LassoFit:
    x, y, query = (
        torch.as_tensor(each, dtype=torch.float64, device="cpu") for each in (data.x, data.y[:, 0], data.x_query[None])
    )
    return LassoFit(learner, x, y, query)


def predicted(fit: LassoFit) -> Mapping[str, Tensor]:
    return fit.predictions


TABLE = Tabular(
    "N", "d", (1.0, 1.0), dict,
    defaults=DEFAULTS,
    outside="f and the noise of {source} are unknown, and so is C_F",
    instead=lambda theorem: replace(theorem, tables=()),
    float64=True,
    built={"learner": learner, "fit": fit, "predicted": predicted},
    predictions=(
        Prediction("network", "prediction of the transformer", lambda fit: fit.run[0]),
        Prediction("rho", "phi^T rho of its last block", lambda predicted: predicted["transformer"]),
        Prediction("lasso", f"{LASSO} on the same features", lambda predicted: predicted[LASSO]),
        Prediction("least_squares", "least squares on the columns", lambda predicted: predicted["least squares"]),
    ),
    tables=(by_split,),
    work=lambda N, n, L: of_blocks(N, n, L).times(SPLITS + 1),
)  # fmt: skip
