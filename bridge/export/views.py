"""The table of a comparison as a value: shown by print and in notebooks, as LaTeX or Markdown, saved to files."""

from dataclasses import dataclass

from bridge.export.choice import Choice
from bridge.export.html import comparison_html
from bridge.export.latex_tables import comparison_latex
from bridge.export.markdown import comparison_markdown
from bridge.export.tables import comparison_csv
from bridge.export.terminal import comparison_text
from bridge.export.writing import export
from bridge.theorems.record import Record


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
