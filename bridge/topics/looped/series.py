"""AR(q) by the network of algoformer's Theorem 3.2 on a series: its predictions beside those of least squares.

Times are 0..M; 1..N are the examples, each later value is predicted from the q values before it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from bridge.theorems.head_formats import pair_for, recommended
from bridge.theorems.record import NamedTable
from bridge.theorems.sources import ScaledSeries
from bridge.topics.looped.copies import sharpness, signs
from numeric.networks.network import Network
from numeric.topics.looped import autoregression as numeric

HELD = 20  # values at the end of a series that are predicted
LAGS = 9
STEP = 1.9  # times the largest eigenvalue, below 2
TITLES = {"network": "transformer", "descent": "exact gradient descent", "least_squares": "least squares"}


def lagged(series: ScaledSeries, q: int) -> Tensor:
    return numeric.lagged(series.x[:, None], q)


def step(series: ScaledSeries, q: int) -> float:
    """The step size for up to q lags: largest eigenvalues grow with q."""
    examples = lagged(series, q)[1 : series.N + 1]
    return STEP / float(torch.linalg.eigvalsh(examples.mT @ examples / series.N)[-1])


def knobs(series: ScaledSeries, q: int, eps: float, accuracy: float, B: float) -> dict[str, float]:
    """beta, c and C for positions with the gap eps, and lags of that accuracy."""
    phi = lagged(series, q)
    size = float((phi @ phi.mT).abs().max()) / series.N
    pair = pair_for("opposite", "float64", keys=len(series.x), size=size, width=q)
    return {"beta": sharpness(N=len(series.x), B=B, eps=eps, accuracy=accuracy), **recommended(pair, "float64")}


@dataclass(frozen=True)
class SeriesFit:
    """AR(q) of a series by T loops; predictions of all times (M + 1).

    `positions` are those of -q..M at least, B bounds the series, and `knobs` are beta, c and C.
    """

    series: ScaledSeries
    q: int
    T: int
    eta: float
    positions: Tensor
    B: float
    knobs: Mapping[str, float]

    @cached_property
    def network(self) -> Tensor:
        x, N, signs = self.series.x[:, None], self.series.N, self.positions[: len(self.series.x) + self.q]
        beta, c, C = (self.knobs[name] for name in ("beta", "c", "C"))
        at = numeric.SeriesSetting(signs, N, self.q, beta, self.B, self.eta, c, C)
        network = Network(numeric.transformer(at, self.T))
        state = network.run(numeric.tokens(x, N, signs)[None], ["state"])["state"][0, :-1]
        return (state + numeric.labels(x, N))[:, 0]

    @cached_property
    def descent(self) -> Tensor:
        x = self.series.x[:, None]
        return numeric.path(lagged(self.series, self.q), x, self.series.N, self.eta, self.T)[-1][:, 0]

    @property
    def least_squares(self) -> Tensor:
        """Of the same examples, with 0 before the series."""
        phi, N = lagged(self.series, self.q), self.series.N
        return phi @ torch.linalg.lstsq(phi[1 : N + 1], self.series.x[1 : N + 1]).solution

    def coefficients(self, predictor: str) -> Tensor:
        """Those with which lags give the predictions, (q)."""
        return torch.linalg.lstsq(lagged(self.series, self.q), getattr(self, predictor)).solution

    @property
    def apart(self) -> float:
        """The largest difference of a coefficient from that of least squares."""
        return float((self.coefficients("network") - self.coefficients("least_squares")).abs().max())


def by_order(title: str, found: Sequence[SeriesFit]) -> NamedTable:
    columns = ["lags", "largest difference of a coefficient", *(f"mean error of {each}" for each in TITLES.values())]
    rows: list[list[str | int | float | None]] = [
        [each.q, each.apart, *(each.series.mean_error(getattr(each, predictor)) for predictor in TITLES)]
        for each in found
    ]
    return NamedTable(title=title, columns=columns, rows=rows)


# Synthetic series.

SYNTHETIC_N, SYNTHETIC_T = 120, 100
GAP, ACCURACY = 0.5, 2.0**-40  # of positions, of copies


def synthetic(q: int, count: int, seed: int) -> Tensor:
    """AR(q) whose coefficients have absolute values that add up to 0.6, with noise of variance 1."""
    generator = np.random.default_rng(seed)
    drawn = generator.uniform(-1, 1, q)
    coefficients = 0.6 * drawn / np.abs(drawn).sum()
    x = list(generator.normal(size=q))
    for noise in generator.normal(size=count):
        x.append(float(coefficients @ x[: -q - 1 : -1]) + noise)
    return torch.tensor(x[q:], dtype=torch.float64, device="cpu")


def of_synthetic(seed: int) -> NamedTable:
    count = SYNTHETIC_N + 1 + HELD
    positions = signs(count, LAGS, GAP, 0, seed)
    drawn = ((q, ScaledSeries.of(synthetic(q, count, seed), SYNTHETIC_N)) for q in range(1, LAGS + 1))
    found = [
        SeriesFit(x, q, SYNTHETIC_T, step(x, q), positions, x.largest, knobs(x, q, GAP, ACCURACY, x.largest))
        for q, x in drawn
    ]
    title = f"synthetic AR(q), seed {seed}: N = {SYNTHETIC_N}, T = {SYNTHETIC_T}, the {HELD} values behind predicted"
    return by_order(title, found)
