"""What `compare` returns: a record that shows itself, as a table for print, notebooks, LaTeX and files."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bridge.export.choice import Choice
from bridge.export.choice import choice as read
from bridge.export.html import comparison_html
from bridge.export.latex_tables import comparison_latex
from bridge.export.markdown import comparison_markdown
from bridge.export.tables import comparison_csv
from bridge.export.terminal import comparison_text
from bridge.export.writing import export
from bridge.limits.files import read_text
from bridge.theorems.record import Record
from symbolic.words.errors import UsageError


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
        return comparison_html(self.comparison, self.choice)

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

    def __str__(self) -> str:
        """The table, as the command prints it."""
        return comparison_text(self)

    def __repr__(self) -> str:
        return f"<Comparison of {self.result}: {len(self.rows)} rows>"

    def _repr_html_(self) -> str:
        return comparison_html(self)


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
