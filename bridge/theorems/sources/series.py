"""Series: values at equal steps of time, of which the last ones are predicted from those before them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bridge.theorems.data import Table
from bridge.theorems.record import Row
from bridge.theorems.sources.source import EXACT, NETWORK, AboutRows, InputSource, Predicted, Prediction, flagged
from symbolic.words.errors import UsageError
from symbolic.words.shown import brief

EQUAL_STEPS = 1e-6  # relative


@dataclass(frozen=True)
class ScaledSeries:
    """Values x at the times 0..M, (M + 1); those of 0..N have mean 0 and are at most 1. Raw ones are centre + unit x.

    The times 1..N are the examples, each later value is to be predicted from those before it.
    """

    x: Tensor
    N: int
    centre: float = 0.0
    unit: float = 1.0
    source: str = "the series"

    @classmethod
    def of(cls, values: Tensor, N: int, source: str = "the series") -> "ScaledSeries":
        """Raises UsageError for a series that is constant over the examples."""
        centre = values[: N + 1].mean()
        unit = (values[: N + 1] - centre).abs().max()
        if not unit > 1e-12 * values[: N + 1].abs().max():
            raise UsageError(f"{source} is constant over its first {N + 1} values, so that nothing can be fitted")
        return cls((values - centre) / unit, N, float(centre), float(unit), source)

    @property
    def largest(self) -> float:
        return float(self.x.abs().max())

    def mean_error(self, predicted: Tensor) -> float:
        """Of predictions of all times, (M + 1): that of the values behind the examples, in their units."""
        return self.unit * float((predicted - self.x)[self.N + 1 :].abs().mean())


@dataclass(frozen=True)
class Series(InputSource):
    """A table of one column of times and one of values, of which the last `held` are to be predicted.

    One column alone is of values at equal steps.
    `examples` and `lags` name parameters: the number N of values before them that are fitted, and from how many values
    before it each is predicted; `--lags` sets the latter. The `data` are a `ScaledSeries`, and predictions are values
    at all times, (M + 1), scaled as these are. No prompt is made of a series, so that no bound is measured there.
    """

    reads = Table
    called = "series"
    makes_prompts = False

    examples: str
    lags: str
    held: int

    __repr__ = brief

    def sizes(self, material: Table) -> dict[str, int]:
        return {self.examples: len(material.features) - 1 - self.held}

    @property
    def needs(self) -> tuple[str, ...]:
        return (self.examples, self.lags)

    def require_fit(self, id: str, params: Mapping[str, Any], material: Table) -> None:
        N, q, last = params[self.examples], params[self.lags], len(material.features) - 1
        wrong = []
        if not 1 <= q < N:
            held = f"{self.examples} = {N} values before those held out"
            wrong.append(f"{self.lags} = {q} lags for {held}; take 1 to {N - 1}")
        if not 2 <= N < last:
            wrong.append(
                f"{self.examples} = {N}, but the last time of {material.source} is {last}; take 2 to {last - 1}"
            )
        if wrong:
            raise UsageError(f"{id}: {'; '.join(wrong)}")

    def read(self, id: str, params: Mapping[str, Any], material: Table) -> ScaledSeries:
        return ScaledSeries.of(_values(material), params[self.examples], material.source)

    def most(self, samples: int) -> int:
        return 0

    def inputs(self, call: Callable[..., Any], data: ScaledSeries, count: int, seed: int) -> dict[str, Tensor]:
        return {}

    def compared(
        self, data: ScaledSeries, found: Sequence[tuple[Prediction, Predicted]], about: AboutRows
    ) -> Iterable[Row]:
        """The mean error of each prediction over the values held out."""
        row = partial(
            about.row, quantifier="on this series", norm="units of the series", samples=1,
            domain=f"the last {len(data.x) - 1 - data.N} values of {data.source}, each from the "
            f"{about.params[self.lags]} before it",
        )  # fmt: skip
        known = {
            each.name: torch.as_tensor(predicted.value, dtype=torch.float64, device="cpu") for each, predicted in found
        }
        for each, predicted in found:
            notes = {"remark": predicted.remark, "flags": flagged([predicted.flag])}
            yield row(
                f"{each.name}.error", data.mean_error(known[each.name]), f"mean error of: {each.meaning}", **notes
            )
        if {NETWORK, EXACT} <= known.keys():
            apart = data.unit * float((known[NETWORK] - known[EXACT]).abs().max())
            yield row("difference", apart, "largest difference of a prediction of the network from the exact one")


def _values(table: Table) -> Tensor:
    """The values of a series. Raises UsageError for a table that is none, and for gaps in time."""
    columns = (table.features.shape[1], table.targets.shape[1])
    if sum(columns) == 1:
        return torch.tensor((table.features if columns[0] else table.targets)[:, 0], dtype=torch.float64, device="cpu")
    if columns != (1, 1):
        names = ", ".join(table.names)
        raise UsageError(
            f"{table.source}: a series has one column of times beside its values, but there are {names}; name the "
            f"one by --features"
        )
    times = table.features[:, 0]
    steps = np.diff(times)
    usual = np.median(steps)
    wrong = np.flatnonzero(np.abs(steps - usual) > EQUAL_STEPS * np.abs(usual))
    if len(wrong) or not usual > 0:
        place = int(wrong[0]) if len(wrong) else 0
        raise UsageError(
            f"{table.source}: the series has gaps in time: {table.names[0]} goes from {times[place]:g} to "
            f"{times[place + 1]:g}, where steps are {usual:g}; give equal steps forward, "
            f"or name the values by --features without --target: rows are then equal steps"
        )
    return torch.tensor(table.targets[:, 0], dtype=torch.float64, device="cpu")
