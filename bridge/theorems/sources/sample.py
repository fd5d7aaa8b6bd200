"""Tables whose rows are draws of a law: the theorem is compared at the law that is fitted to them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bridge.theorems.data import Table
from bridge.theorems.real_inputs import Material
from bridge.theorems.record import Row
from bridge.theorems.sources.source import AboutRows, InputSource, Predicted, Prediction
from symbolic.statements.result import Result
from symbolic.words.errors import UsageError
from symbolic.words.shown import brief


@dataclass(frozen=True)
class Sample(InputSource):
    """Rows as independent draws of a law: no prompt is made of them, and nothing is predicted. A target is refused.

    `rows` and `columns` name parameters: how many rows are examples, `usual` where that is not given, and their
    dimension, at most `dimensions`. The `data` are the `Table`, of which features alone are read, and `longest` rows
    drawn at random of a longer one. `implied` fits the law: it gives the parameters that `fitted` names, which nobody
    else gives, and may give weights that are drawn by the seed.
    """

    reads = Table
    called = "tables"
    reads_inputs = False

    rows: str
    columns: str
    fitted: tuple[str, ...]
    usual: int
    dimensions: int
    longest: int

    __repr__ = brief

    def sizes(self, material: Table) -> dict[str, int]:
        count, columns = material.features.shape
        return {self.rows: min(count, self.usual), self.columns: columns}

    @property
    def needs(self) -> tuple[str, ...]:
        return (self.rows, self.columns)

    def suiting(self, result: Result, given: Mapping[str, Any], material: Material) -> dict[str, Any]:
        taken = [name for name in self.fitted if name in given]
        if taken:
            raise UsageError(f"{result.id}: {', '.join(taken)} is fitted to {material.source}; leave it out")
        return super().suiting(result, given, material)

    def require_fit(self, id: str, params: Mapping[str, Any], material: Table) -> None:
        (count, columns), n, d = material.features.shape, params[self.rows], params[self.columns]
        wrong = []
        names, most = ", ".join(material.names), self.dimensions
        if not 1 <= columns <= most:
            wrong.append(f"{columns} columns of {material.source}; take 1 to {most} of them by --features: {names}")
        elif d != columns:
            wrong.append(f"{self.columns} = {d} for {material.source} with {names}; leave {self.columns} out")
        if n > min(count, self.longest):
            found = f"{self.rows} = {n}, but {material.source} has {count} rows"
            wrong.append(f"{found}; take 1 to {min(count, self.longest)}")
        if material.target:
            wrong.append(
                f"--target {material.target}, but nothing is predicted; leave it out, and take columns by --features"
            )
        if wrong:
            raise UsageError(f"{id}: {'; '.join(wrong)}")

    def read(self, id: str, params: Mapping[str, Any], material: Table) -> Table:
        count = len(material.features)
        if count <= self.longest:
            return material
        chosen = np.sort(np.random.default_rng(0).choice(count, self.longest, replace=False))
        features, targets = material.features[chosen], material.targets[chosen]
        source = f"{material.source} ({self.longest} of its {count} rows)"
        return replace(material, features=features, targets=targets, source=source)

    def most(self, samples: int) -> int:
        return 0

    def inputs(self, call: Callable[..., Any], data: Table, count: int, seed: int) -> dict[str, Any]:
        return {}

    def compared(self, data: Table, found: Sequence[tuple[Prediction, Predicted]], about: AboutRows) -> Iterable[Row]:
        return ()
