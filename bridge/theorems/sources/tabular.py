"""Tables of real numbers: the first rows make a prompt, and the next one is the query."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch

from bridge.limits.arguments import arguments_of, called_with
from bridge.theorems.data import ScaledTable, Table, scaled
from bridge.theorems.record import Row
from bridge.theorems.sources.source import (
    EXACT,
    NETWORK,
    AboutRows,
    InputSource,
    Predicted,
    Prediction,
    flagged,
    joined,
)
from symbolic.words.errors import UsageError
from symbolic.words.shown import brief

LEAST = 2  # examples: a deviation takes two


@dataclass(frozen=True)
class Tabular(InputSource):
    """The first `rows` rows are the examples and the next one is the query, scaled into balls of the radii `bounds`.

    `rows` and `columns` name parameters: the number of examples, and the dimension of their features; `targets`, where
    it is one, that of their targets. `bounds` on the 2-norms of features and of targets are numbers, or parameters.
    `spanning`: there are no fewer examples than columns. `range_of` gives, from parameters, the open range that targets
    are scaled into (None: any).

    `prompt` gives the inputs of one prompt, from the `data`, a `ScaledTable`; one that takes `count` gives so many,
    (count, ...) each, of which there are `prompts` at most. A query outside the first bound is refused, unless `far`.
    """

    reads = Table
    called = "tables"

    rows: str
    columns: str
    bounds: tuple[str | float, str | float]
    prompt: Callable[..., Any]
    targets: str = ""
    spanning: bool = False
    range_of: Callable[..., tuple[float, float] | None] | None = None
    prompts: int = 1
    far: bool = False

    __repr__ = brief

    def sizes(self, material: Table) -> dict[str, int]:
        count, columns = material.features.shape
        found = {self.rows: count - 1, self.columns: columns}
        return found | ({self.targets: material.targets.shape[1]} if self.targets else {})

    @property
    def needs(self) -> tuple[str, ...]:
        radii = (each for each in self.bounds if isinstance(each, str))
        of_range = () if self.range_of is None else arguments_of(self.range_of)
        return (self.rows, self.columns, *filter(None, [self.targets]), *radii, *of_range)

    def read(self, id: str, params: Mapping[str, Any], material: Table) -> ScaledTable:
        open_range = None if self.range_of is None else called_with(self.range_of, params)
        radii = (params[each] if isinstance(each, str) else each for each in self.bounds)
        data = scaled(material.first(params[self.rows] + 1), *radii, output_range=open_range)
        if data.outside and not self.far:
            raise UsageError(f"{id}: {data.remark} the hypotheses; leave that row out, or take another {self.rows}")
        return data

    def require_fit(self, id: str, params: Mapping[str, Any], material: Table) -> None:
        material.require_target(id)
        count, rows = len(material.features), params[self.rows]
        least = max(LEAST, material.features.shape[1]) if self.spanning else LEAST
        shape = {self.columns: (material.features.shape[1], "columns")}
        shape |= {self.targets: (material.targets.shape[1], "targets")} if self.targets else {}
        wrong = [
            f"{name} = {params[name]} for the {width} {what} of {material.source}; leave {name} out"
            for name, (width, what) in shape.items()
            if params[name] != width
        ]
        if not least <= rows < count:
            few = f"give {least + 1} rows at least" if count <= least else f"take {self.rows} = {least} to {count - 1}"
            wrong.append(f"{self.rows} = {rows}, but {material.source} has {count} rows with the query; {few}")
        if wrong:
            raise UsageError(f"{id}: {'; '.join(wrong)}")

    def most(self, samples: int) -> int:
        return min(samples, self.prompts)

    def inputs(self, call: Callable[..., Any], data: ScaledTable, count: int, seed: int) -> dict[str, torch.Tensor]:
        several = "count" in arguments_of(self.prompt)
        found = call(self.prompt, {"count": self.most(count), "seed": seed})
        arrays = {name: torch.as_tensor(each, dtype=torch.float64) for name, each in found.items()}
        return arrays if several else {name: each[None] for name, each in arrays.items()}

    def compared(
        self, data: ScaledTable, found: Sequence[tuple[Prediction, Predicted]], about: AboutRows
    ) -> Iterable[Row]:
        """Each prediction for the query and its absolute error, in the units of the target."""
        row = partial(
            about.row, quantifier="on this table", norm="units of the target", samples=1,
            domain=f"the query of {data.source}, with the {len(data.x)} rows before it as prompt",
        )  # fmt: skip
        target, outside = data.raw(data.y_query), "query outside B_x" if data.outside else ""
        yield row("target", target, "the query's target", remark=data.remark, flags=flagged([outside]))
        mean = Prediction("mean", "baseline: the mean of the prompt's targets", lambda: None)
        known, notes = {}, {}
        for each, predicted in [(mean, Predicted(np.array(data.middle))), *found]:
            remark = joined([predicted.remark, data.remark, each.far if data.outside else ""])
            about_it = notes[each.name] = {"remark": remark, "flags": flagged([predicted.flag, outside])}
            value = known[each.name] = data.raw(predicted.value)
            yield row(each.name, value, each.meaning, **about_it)
            yield row(f"{each.name}.error", abs(value - target), f"absolute error of: {each.meaning}", **about_it)
        if {NETWORK, EXACT} <= known.keys():
            apart = abs(known[NETWORK] - known[EXACT])
            meaning = "distance of the network's prediction from the exact one"
            yield row("difference", apart, meaning, **notes[NETWORK])
