"""What a theorem says of tables of real numbers: the parameters that suit one, and the prompt that its rows make."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bridge.data import Table
from symbolic.statements import UsageError


@dataclass(frozen=True)
class Tabular:
    """The first `rows` rows are the examples and the next one is the query, scaled into balls of the radii `bounds`.

    `rows`, `columns` and `bounds` name parameters: the number of examples, the dimension of their features, and bounds
    on the 2-norms of features and of targets. `prompt` takes `data`, a `ScaledTable`, and parameters by name, and gives
    the inputs of one prompt. `defaults` are parameters that suit a table where none are given.
    """

    rows: str
    columns: str
    bounds: tuple[str, str]
    prompt: Callable[..., Any]
    defaults: Mapping[str, Any]

    def sizes(self, table: Table) -> dict[str, int]:
        count, columns = table.features.shape
        return {self.rows: count - 1, self.columns: columns}

    def require_fit(self, id: str, params: Mapping[str, Any], table: Table) -> None:
        """Raises UsageError for a table of another shape than the parameters say."""
        (count, columns), rows = table.features.shape, params[self.rows]
        wrong = []
        if table.targets.shape[1] != 1:
            wrong.append(f"{table.source} has {table.targets.shape[1]} targets, but labels are numbers")
        if params[self.columns] != columns:
            wrong.append(
                f"{self.columns} = {params[self.columns]}, but {table.source} has {columns} columns of features"
            )
        if not 2 <= rows < count:
            wrong.append(f"{self.rows} = {rows}, but {table.source} has {count} rows with the query")
        if wrong:
            raise UsageError(f"{id}: {'; '.join(wrong)}; leave {self.rows} and {self.columns} out")
