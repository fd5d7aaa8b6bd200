"""What `compare` returns: a record that shows itself, as a table for print, notebooks, LaTeX and files."""

import contextlib
import importlib.metadata
import json
import re
from dataclasses import dataclass
from operator import index
from pathlib import Path
from typing import Any, Self, overload

from pydantic import ValidationError

from bridge.export.choice import NO_SCOPE, Choice, is_part
from bridge.export.choice import choice as read
from bridge.export.html import comparison_html
from bridge.export.latex_tables import comparison_latex
from bridge.export.markdown import comparison_markdown
from bridge.export.tables import comparison_csv, comparison_frame
from bridge.export.terminal import comparison_text
from bridge.export.writing import export, figure
from bridge.limits.accepted import require_known
from bridge.limits.files import read_text
from bridge.theorems.record import Record, Row
from symbolic.words.errors import UsageError
from symbolic.words.shown import screen


@dataclass(frozen=True, repr=False)
class TableView:
    """A comparison and what of it is shown. Each method raises UsageError for what the comparison does not have."""

    comparison: Record
    choice: Choice

    def text(self, width: int | None = None) -> str:
        """As a terminal of `width` columns shows it; without one no column is left out."""
        return comparison_text(self.comparison, self.choice, width)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<table of {self.comparison.result}: {len(self.comparison.rows)} rows>"

    def _repr_html_(self) -> str:
        return screen(comparison_html(self.comparison, self.choice))

    def latex(self) -> str:
        """A booktabs table, with the packages that it needs in its first line."""
        return comparison_latex(self.comparison, self.choice)

    def markdown(self) -> str:
        return comparison_markdown(self.comparison, self.choice)

    def csv(self) -> str:
        return comparison_csv(self.comparison, self.choice)

    def save(self, *paths: str) -> None:
        """Writes files, each in the format that its suffix names."""
        for path in paths:
            export(self.comparison, path, self.choice)


class Comparison(Record):
    """Printed, derived, instance and measured, side by side: what `compare` returns."""

    def table(self, **choice: Any) -> TableView:
        """The table of some rows and columns.

        `columns`, `quantity`, `scope` and `sort` take a name, several with commas between them, or a list; `all_rows`
        adds the intermediate quantities; `siunitx`, `caption` and `label` are for LaTeX. Raises UsageError for what is
        not there.
        """
        return TableView(self, read(**choice))

    def save(self, *paths: str, **choice: Any) -> None:
        """Writes .tex, .md, .html, .csv or .json files, or a plot to .png, .svg or .pdf files, by the ending of each.

        The choice is that of `table`.
        """
        self.table(**choice).save(*paths)

    def plot(self, quantity: str | None = None, x: str | None = None, *, title: bool = True) -> Any:
        """A matplotlib figure: bounds and errors of a quantity against the parameter `x`, or its tiers at one point.

        By default the main quantity, against the parameter with the most values. Raises UsageError for a quantity or a
        parameter that is not there, for a comparison without a number to draw, and without matplotlib.
        """
        return figure(self, quantity, x, title=title)

    def to_frame(self) -> Any:
        """A pandas DataFrame with the columns of the CSV file. Raises UsageError without pandas."""
        return comparison_frame(self)

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: str | slice | tuple[str, str]) -> Self: ...
    def __getitem__(self, place: Any) -> Row | Self:
        """One row by its index; the comparison of some rows by a slice, a quantity, or a quantity and a scope.

        A name that no row has stands for its parts, as p for p[1]. The scope of rows without one is "none". Raises
        UsageError for what is not there.
        """
        if isinstance(place, slice):
            return self._with(self.rows[place])
        if isinstance(place, str):
            return self._with(self._rows_of(place))
        if isinstance(place, tuple) and len(place) == 2 and all(isinstance(each, str) for each in place):
            quantity, scope = place
            rows = self._rows_of(quantity)
            scopes = dict.fromkeys(row.scope or NO_SCOPE for row in rows)
            require_known(scope, list(scopes), f"comparison: {quantity} has no rows of the scope")
            return self._with([row for row in rows if (row.scope or NO_SCOPE) == scope])
        if not hasattr(place, "__index__"):
            raise UsageError(
                f"comparison[{place!r}]: give an index, a slice, a quantity, or a quantity and a scope, such as "
                f"comparison['output', 'prompt']"
            )
        if not -len(self.rows) <= index(place) < len(self.rows):
            raise UsageError(f"comparison[{place}]: there are {len(self.rows)} rows, from 0 to {len(self.rows) - 1}")
        return self.rows[place]

    def __len__(self) -> int:
        return len(self.rows)

    def _rows_of(self, quantity: str) -> list[Row]:
        rows = [row for row in self if row.quantity == quantity] or [
            row for row in self if is_part(row.quantity, quantity)
        ]
        if not rows:
            names = list(dict.fromkeys(row.quantity for row in self))
            require_known(quantity, names, "comparison: there is no quantity")
        return rows

    def _with(self, rows: list[Row]) -> Self:
        """The same without the tables beside the rows, which are of the whole comparison."""
        return self.model_copy(update={"rows": rows, "tables": []})

    def __str__(self) -> str:
        """The table, as the command prints it."""
        return comparison_text(self)

    def __repr__(self) -> str:
        return f"<Comparison of {self.result}: {len(self.rows)} rows>"

    def _repr_html_(self) -> str:
        return screen(comparison_html(self))


def load(path: str | Path) -> Comparison:
    """The comparison that was saved as JSON, equal to it.

    Raises UsageError for a file that is missing, truncated, foreign, or written by a newer boundsmith.
    """
    text = read_text(str(path), "load")
    _refuse_newer(path, text)
    try:
        return Comparison.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        place = f" at {where}" if where else ""
        raise UsageError(f"load: '{path}' is not a comparison that boundsmith wrote: {first['msg']}{place}.") from error


def _refuse_newer(path: str | Path, text: str) -> None:
    """Raises UsageError for what a newer version wrote, whose fields may mean something else."""
    theirs, ours = "", importlib.metadata.version("boundsmith")
    with contextlib.suppress(ValueError, LookupError, TypeError):  # no record
        theirs = str(json.loads(text)["environment"]["boundsmith"])
    if _release(theirs) > _release(ours):
        raise UsageError(
            f"load: '{path}' was written by boundsmith {theirs}, and this is {ours}; upgrade boundsmith, or compare "
            f"again."
        )


def _release(version: str) -> list[int]:
    """The numbers of a version, which compare as versions do: 0.10.1 is above 0.9."""
    return [int(number) for number in re.findall(r"\d+", version)[:3]]
