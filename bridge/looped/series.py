"""AR(q) by the network of algoformer's Theorem 3.2 on a series: its predictions beside those of least squares.

Times are 0..M; 1..N are the examples, each later value is predicted from the q values before it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from bridge.head_formats import pair_for, recommended
from bridge.looped.copies import sharpness, signs
from bridge.record import NamedTable
from numeric.looped import autoregression as numeric
from numeric.network import Network
from symbolic.statements import UsageError

HELD = 20  # values at the end of a series that are predicted
LAGS = 9
STEP = 1.9  # times the largest eigenvalue, below 2
TITLES = {"network": "transformer", "descent": "exact gradient descent", "least_squares": "least squares"}


@dataclass(frozen=True)
class Series:
    """Values x, (M + 1), of which the first N + 1 have mean 0 and are at most 1; raw ones are centre + unit x."""

    x: Tensor
    N: int
    centre: float = 0.0
    unit: float = 1.0

    @classmethod
    def of(cls, values: Tensor, N: int) -> "Series":
        """Raises UsageError for a series that is constant over the examples."""
        centre = values[: N + 1].mean()
        unit = (values[: N + 1] - centre).abs().max()
        if not unit > 1e-12 * values[: N + 1].abs().max():
            raise UsageError(f"the series is constant over its first {N + 1} values, so that nothing can be fitted")
        return cls((values - centre) / unit, N, float(centre), float(unit))

    @property
    def largest(self) -> float:
        return float(self.x.abs().max())

    def lagged(self, q: int) -> Tensor:
        return numeric.lagged(self.x[:, None], q)

    def step(self, q: int) -> float:
        """The step size for up to q lags: largest eigenvalues grow with q."""
        examples = self.lagged(q)[1 : self.N + 1]
        return STEP / float(torch.linalg.eigvalsh(examples.mT @ examples / self.N)[-1])


@dataclass(frozen=True)
class Fit:
    """AR(q) of a series by T loops; predictions of all times (M + 1).

    `positions` are those of -q..M at least, with the gap `eps`, and B bounds the series. beta, c and C are computed unless
    they are `given`.
    """

    series: Series
    q: int
    T: int
    eta: float
    positions: Tensor
    eps: float
    accuracy: float
    B: float
    given: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def knobs(self) -> dict[str, float]:
        x, phi = self.series.x, self.series.lagged(self.q)
        size = float((phi @ phi.mT).abs().max()) / self.series.N
        pair = pair_for("opposite", "float64", keys=len(x), size=size, width=self.q)
        beta = sharpness(N=len(x), B=self.B, eps=self.eps, accuracy=self.accuracy)
        return {"beta": beta, **recommended(pair, "float64"), **self.given}

    @cached_property
    def network(self) -> Tensor:
        x, N, signs = self.series.x[:, None], self.series.N, self.positions[: len(self.series.x) + self.q]
        beta, c, C = (self.knobs[name] for name in ("beta", "c", "C"))
        at = numeric.Setting(signs, N, self.q, beta, self.B, self.eta, c, C)
        network = Network(numeric.transformer(at, self.T))
        state = network.run(numeric.tokens(x, N, signs)[None], ["state"])["state"][0, :-1]
        return (state + numeric.labels(x, N))[:, 0]

    @cached_property
    def descent(self) -> Tensor:
        x = self.series.x[:, None]
        return numeric.path(self.series.lagged(self.q), x, self.series.N, self.eta, self.T)[-1][:, 0]

    @property
    def least_squares(self) -> Tensor:
        """Of the same examples, with 0 before the series."""
        phi, N = self.series.lagged(self.q), self.series.N
        return phi @ torch.linalg.lstsq(phi[1 : N + 1], self.series.x[1 : N + 1]).solution

    def coefficients(self, predictor: str) -> Tensor:
        """Those with which lags give the predictions, (q)."""
        return torch.linalg.lstsq(self.series.lagged(self.q), getattr(self, predictor)).solution

    def mean_error(self, predictor: str) -> float:
        """Of the values behind the examples, in their units."""
        missed = (getattr(self, predictor) - self.series.x)[self.series.N + 1 :]
        return self.series.unit * float(missed.abs().mean())

    @property
    def apart(self) -> float:
        """The largest difference of a coefficient from that of least squares."""
        return float((self.coefficients("network") - self.coefficients("least_squares")).abs().max())


def table(title: str, found: Sequence[Fit]) -> NamedTable:
    columns = ["lags", "largest difference of a coefficient", *(f"mean error of {each}" for each in TITLES.values())]
    rows: list[list[str | int | float | None]] = [
        [each.q, each.apart, *(each.mean_error(predictor) for predictor in TITLES)] for each in found
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
    return torch.tensor(x[q:], dtype=torch.float64)


def of_synthetic(seed: int) -> NamedTable:
    count = SYNTHETIC_N + 1 + HELD
    positions = signs(count, LAGS, GAP, 0, seed)
    drawn = ((q, Series.of(synthetic(q, count, seed), SYNTHETIC_N)) for q in range(1, LAGS + 1))
    found = [Fit(each, q, SYNTHETIC_T, each.step(q), positions, GAP, ACCURACY, each.largest) for q, each in drawn]
    title = f"synthetic AR(q), seed {seed}: N = {SYNTHETIC_N}, T = {SYNTHETIC_T}, the {HELD} values behind predicted"
    return table(title, found)
