"""AR(q) on a table: the network of algoformer's Theorem 3.2 on its first values, predictions of the last ones.

Bounds are about series in [-B, B] and steps eta <= 2 / (q B^2). Here the step is longer, by the data: none is stated.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bridge.budget import Budget
from bridge.data import Table
from bridge.looped.autoregression import AUTOREGRESSION, STATEMENT
from bridge.looped.copies import signs
from bridge.looped.series import HELD, LAGS, TITLES, Fit, Series, table
from bridge.record import NamedTable, Row
from bridge.study import DirectCase
from bridge.theorem_study import TheoremStudy
from symbolic.statements import UsageError

LOOPS = 500


def values_of(table: Table) -> Tensor:
    """The values of a series. Raises UsageError for a table that is none, and for gaps in time."""
    if table.features.shape[1] != 1 or table.targets.shape[1] != 1:
        names = ", ".join(table.names)
        raise UsageError(
            f"{table.source}: a series has one column of times beside its values, but there are {names}; remove the "
            f"others"
        )
    times = table.features[:, 0]
    steps = np.diff(times)
    wrong = np.flatnonzero(np.abs(steps - np.median(steps)) > 1e-6 * np.abs(np.median(steps)))
    if len(wrong) or not np.median(steps) > 0:
        place = int(wrong[0]) if len(wrong) else 0
        raise UsageError(
            f"{table.source}: the series has gaps in time: {table.names[0]} goes from {times[place]:g} to "
            f"{times[place + 1]:g}, where steps are {np.median(steps):g}; give equal steps forward"
        )
    return torch.tensor(table.targets[:, 0])


class AutoregressionStudy(TheoremStudy):
    """The theorem, and the network on a series."""

    lags = "q"

    def __init__(self) -> None:
        super().__init__(AUTOREGRESSION)

    def data_defaults(self, params: Mapping[str, Any], table: Table) -> dict[str, Any]:
        found = {"N": len(table.features) - 1 - HELD, "q": LAGS, "T": LOOPS, "L": 0, "d": 1, **params}
        N, q = (STATEMENT.number(name, found[name]) for name in ("N", "q"))
        fitting = 1 <= q < N < len(table.features)
        if not fitting:
            return found
        series = Series.of(values_of(table), int(N))
        return {"eta": series.step(int(q)), "B": series.largest, **found}

    def data_case(self, params: Mapping[str, Any], table: Table, *, seed: int, dtype: str, device: str) -> DirectCase:
        """Raises UsageError for parameters that do not fit the series."""
        if dtype != "float64" or device != "cpu":
            raise UsageError(f"{self.result.id}: series are read in float64 on the cpu; leave out dtype and device")
        _require_fit(self.result.id, params, table)
        series = Series.of(values_of(table), params["N"])
        if params["B"] < series.largest:
            raise UsageError(
                f"{self.result.id}: B = {params['B']:g}, but the series, scaled by its first values, reaches "
                f"{series.largest:.6g}; leave B out"
            )
        positions = signs(len(series.x), params["q"], params["eps"], params["m"], seed)
        given = {name: params[name] for name in AUTOREGRESSION.implied if name in params}
        shared = params["T"], params["eta"], positions, params["eps"], params["accuracy"], params["B"], given
        return SeriesCase(params, [Fit(series, q, *shared) for q in range(1, params["q"] + 1)], table.source)


def _require_fit(id: str, params: Mapping[str, Any], table: Table) -> None:
    N, q, T, last = params["N"], params["q"], params["T"], len(table.features) - 1
    wrong = []
    if not 1 <= q < N:
        wrong.append(f"q = {q} lags for N = {N} values before those held out; take 1 to {N - 1}")
    if not 2 <= N < last:
        wrong.append(f"N = {N}, but the last time of {table.source} is {last}; take N = 2 to {last - 1}")
    if T < 1:
        wrong.append(f"T = {T}; take a loop at least")
    if params["L"] or params["d"] != 1:
        wrong.append(f"L = {params['L']} and d = {params['d']}, but a series is fitted as it is; leave out L and d")
    if wrong:
        raise UsageError(f"{id}: {'; '.join(wrong)}")


class SeriesCase(DirectCase):
    """AR(1), ..., AR(q) on a series."""

    uses = frozenset({"seed"})

    def __init__(self, params: Mapping[str, Any], fits: Sequence[Fit], source: str) -> None:
        super().__init__(STATEMENT, {**fits[-1].knobs, **params})
        self.fits, self.source = fits, source

    def rows(self, budget: Budget) -> list[Row]:
        last = self.fits[-1]
        missed = last.series.unit * float((last.network - last.descent).abs().max())
        return [
            *(
                self._row(f"error.{name}", last.mean_error(name), f"mean error of {words}")
                for name, words in TITLES.items()
            ),
            self._row("network", missed, "largest difference of a prediction from that of exact gradient descent"),
        ]

    def _row(self, name: str, value: float, meaning: str) -> Row:
        N, count = self.fits[-1].series.N, len(self.fits[-1].series.x)
        return Row(
            quantity=f"prediction.{name}", kind="exact", quantifier="on this series", params=dict(self.params),
            measured=value, norm="units of the series", meaning=meaning, samples=1,
            domain=f"the last {count - 1 - N} values of {self.source}, each from the {self.fits[-1].q} before it",
        )  # fmt: skip

    def tables(self) -> list[NamedTable]:
        last = self.fits[-1]
        pairs = zip(*(last.coefficients(name).tolist() for name in TITLES), strict=True)
        return [
            table(f"AR(q) on {self.source}: T = {last.T}, eta = {last.eta:.4g} on the scaled series", self.fits),
            NamedTable(
                title=f"coefficients of AR({last.q})",
                columns=["lag", *TITLES.values()],
                rows=[[lag, *each] for lag, each in enumerate(pairs, start=1)],
            ),
        ]
