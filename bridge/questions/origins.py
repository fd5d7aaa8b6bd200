"""Where the inputs of a comparison come from: the hypotheses, a text, or a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bridge.instances.instance import Instance
from bridge.instances.real import Real, lags_of, real_instance, suiting
from bridge.limits.run import Run
from bridge.theorems.data import Table
from bridge.theorems.real_inputs import Material, TextFile
from bridge.theorems.tables import load_table
from bridge.theorems.theorem import Theorem
from symbolic.words.errors import UsageError


@dataclass(frozen=True)
class InputOrigin:
    """Where the inputs come from: a text, a table, or (None) the hypotheses."""

    words: str
    material: Material | None = None

    @property
    def random(self) -> bool:
        return self.material is None

    def least(self, run: Run) -> Run | None:
        """What is run at least: real inputs are not attacked; what a table takes its source tells, by its rows."""
        if isinstance(self.material, Table):
            return None
        return run if self.material is None else run.without_attack()

    def defaults(self, theorem: Theorem, params: Mapping[str, Any]) -> dict[str, Any]:
        return {} if self.material is None else suiting(theorem, params, self.material)

    def lagged(self, theorem: Theorem, lags: int | None, params: Mapping[str, Any]) -> dict[str, Any]:
        """The parameter that the lags of a series are. Raises UsageError where there is none, or it is given too."""
        if lags is None:
            return {}
        if not isinstance(self.material, Table):
            raise UsageError(
                f"compare: lags = {lags} goes with a series; give data = NAME or csv = FILE too, or omit it"
            )
        name = lags_of(theorem)
        if not name:
            raise UsageError(f"{theorem.id} takes no lags: it does not read a table as a series")
        if name in params:
            raise UsageError(f"compare: lags = {lags} is the parameter {name}, which is given too; keep one")
        return {name: lags}

    def instance(self, theorem: Theorem, point: Mapping[str, Any], run: Run) -> Instance:
        if self.material is None:
            return Instance.of(theorem, dict(point), run)
        return real_instance(theorem, point, self.material, run)

    def counts(self, instance: Instance) -> bool:
        """Whether the memory of a point is still to be told."""
        if self.material is None:
            return True
        inputs = instance.inputs
        return bool(instance.theorem.inputs) and isinstance(inputs, Real) and inputs.source.work is None


def origin_of(
    text: str | None, data: str | None, csv: str | None, target: str | None, features: str | Sequence[str] | None
) -> InputOrigin:
    given = [name for name, value in (("text", text), ("data", data), ("csv", csv)) if value is not None]
    if len(given) > 1:
        raise UsageError(f"compare: inputs come from one source, but {' and '.join(given)} are given; keep one of them")
    if target is not None and csv is None:
        raise UsageError(f"compare: target = '{target}' names a column of a csv; give csv = FILE too, or no target")
    if features is not None and data is None and csv is None:
        raise UsageError(
            f"compare: features = {features!r} names columns of a table; give data = NAME or csv = FILE too, or omit it"
        )
    if text is not None:
        return InputOrigin("text", TextFile.at(text))
    if not given:
        return InputOrigin("random")
    table = load_table(data, csv, target, features)
    return InputOrigin(f"table {table.source}{table.note}", table)
