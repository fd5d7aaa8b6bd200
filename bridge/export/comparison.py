"""A record that shows itself: what `compare` returns, printed as its table, in notebooks too, and written to files."""

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bridge.export.choice import choice as read
from bridge.export.terminal import comparison_text
from bridge.export.views import TableView
from bridge.limits.files import read_text
from bridge.theorems.record import Record
from symbolic.words.errors import UsageError


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

    def __str__(self) -> str:
        """The table, as the command prints it."""
        return comparison_text(self)

    def __repr__(self) -> str:
        return f"<Comparison of {self.result}: {len(self.rows)} rows>"

    def _repr_html_(self) -> str:
        return str(self.table()._repr_html_())


def load(path: str | Path) -> Comparison:
    """A comparison read back from its JSON. Raises UsageError for a missing, truncated or foreign file."""
    text = read_text(str(path), "comparison")
    try:
        return Comparison.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        place = f" at {where}" if where else ""
        raise UsageError(f"comparison: '{path}' is not one that boundsmith wrote: {first['msg']}{place}.") from error
