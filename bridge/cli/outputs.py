"""What is to be made of a comparison: files, and what the terminal shows."""

from dataclasses import dataclass, field
from pathlib import Path

from bridge.export.choice import Choice
from bridge.export.latex_tables import check_columns
from bridge.export.writing import PLOTS, TABLES, check_output
from bridge.export.written_files import check_folder
from symbolic.words.errors import UsageError


@dataclass(frozen=True)
class Outputs:
    """See the options of `compare`."""

    tables: tuple[Path, ...] = ()
    plot: Path | None = None
    witnesses: Path | None = None
    as_json: bool = False
    choice: Choice = field(default_factory=Choice)
    steps: bool = False
    plot_steps: Path | None = None
    titled: bool = True

    @property
    def files(self) -> tuple[Path, ...]:
        return (*self.tables, *self.plots)

    @property
    def plots(self) -> tuple[Path, ...]:
        return tuple(path for path in (self.plot, self.plot_steps) if path)

    def check(self) -> None:
        """Raises UsageError if a file cannot be written: before the run, which may be long."""
        for path in self.tables:
            check_output(path, TABLES)
        self._check_choice()
        for path in self.plots:
            check_output(path, PLOTS)
        if self.witnesses:
            check_folder(self.witnesses)
        for path in self.files:
            if [other.resolve() for other in self.files].count(path.resolve()) > 1:
                raise UsageError(f"'{path}' is given twice; name each output file once.")

    def _check_choice(self) -> None:
        """Raises UsageError for a choice that the formats cannot show."""
        suffixes = {path.suffix.lower() for path in self.tables}
        of_latex = {
            "--siunitx aligns the numbers": self.choice.siunitx,
            "--caption is the caption": self.choice.caption,
            "--label is the label": self.choice.label,
        }
        for meaning in (meaning for meaning, given in of_latex.items() if given and ".tex" not in suffixes):
            others = f", not with {', '.join(sorted(suffixes))}" if suffixes else ""
            raise UsageError(f"{meaning} of a LaTeX table: it goes with --output FILE.tex{others}.")
        if self.choice.columns and self.as_json and suffixes <= {".json"}:
            raise UsageError("--columns: JSON has every field of a row; omit --columns, or name a .csv file.")
        if ".tex" in suffixes:
            check_columns(self.choice)
