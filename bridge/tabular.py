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
        require_table(id, table, params, rows=self.rows, columns=self.columns)


def require_table(
    id: str, table: Table, params: Mapping[str, Any], *, rows: str = "N", columns: str = "d", least: int = 2
) -> None:
    """Raises UsageError for a table with several targets, or of another shape than these parameters say.

    One row more than the examples, of which there are `least` or more, is the query.
    """
    (count, width), source, wrong = table.features.shape, table.source, []
    if table.targets.shape[1] != 1:
        wrong.append(f"{source} has {table.targets.shape[1]} targets, but labels are numbers")
    if params[columns] != width:
        wrong.append(f"{columns} = {params[columns]} for the {width} columns of {source}; leave {columns} out")
    if not least <= params[rows] < count:
        few = f"give {least + 1} rows at least" if count <= least else f"take {rows} = {least} to {count - 1}"
        wrong.append(f"{rows} = {params[rows]}, but {source} has {count} rows with the query; {few}")
    if wrong:
        raise UsageError(f"{id}: {'; '.join(wrong)}")
