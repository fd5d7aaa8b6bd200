"""What is to be made of a comparison, files and what the terminal shows: checked before the run, which may be long."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bridge.cli.requests import Request
from bridge.export.choice import USUAL, Choice
from bridge.export.latex_tables import check_columns
from bridge.export.writing import PLOTS, TABLES, check_output
from bridge.export.written_files import check_folder
from bridge.limits.accepted import check_device, check_dtype
from bridge.limits.files import require_file
from bridge.questions.kept import is_kept
from symbolic.words.errors import UsageError

REAL_INPUTS = {"text", "data", "csv"}


@dataclass(frozen=True)
class Outputs:
    """See the options of `compare`."""

    tables: tuple[Path, ...] = ()
    plot: tuple[Path, ...] = ()
    witnesses: Path | None = None
    as_json: bool = False
    choice: Choice = field(default_factory=Choice)
    steps: bool = False
    plot_steps: tuple[Path, ...] = ()
    titled: bool = True
    resume: bool = False

    @property
    def unfinished(self) -> Path | None:
        """The folder beside the first file that keeps what is done until all is; None where no file is written."""
        return self.files[0].with_name(f"{self.files[0].name}.unfinished") if self.files else None

    @property
    def files(self) -> tuple[Path, ...]:
        return (*self.tables, *self.plots)

    @property
    def plots(self) -> tuple[Path, ...]:
        return (*self.plot, *self.plot_steps)

    def check(self) -> None:
        """Raises UsageError if a file cannot be written, or cannot show what was chosen."""
        for path in self.tables:
            check_output(path, TABLES)
        self._check_choice()
        for path in self.plots:
            check_output(path, PLOTS)
        self._check_unfinished()
        if self.witnesses:
            check_folder(self.witnesses)
        for path in self.files:
            if [other.resolve() for other in self.files].count(path.resolve()) > 1:
                raise UsageError(f"'{path}' is given twice; name each output file once.")

    def _check_unfinished(self) -> None:
        folder = self.unfinished
        if folder is None and self.resume:
            raise UsageError(
                "--resume goes on with a run that was stopped, whose points are kept beside its --output FILE; name "
                "that file too."
            )
        if folder is not None and not self.resume and is_kept(folder):
            raise UsageError(
                f"'{folder}' keeps points of a run that was stopped: --resume goes on with it; remove the folder to "
                f"begin again."
            )

    def _check_choice(self) -> None:
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


def check_compare(options: Mapping[str, Any], outputs: Outputs) -> None:
    """Raises UsageError for what is wrong with the options of `compare`, whatever the theorem."""
    if "dtype" in options:
        check_dtype(options["dtype"])
    if "device" in options:
        check_device(options["device"])
    sources = [name for name in REAL_INPUTS if name in options]
    if len(sources) == 1 and sources != ["data"]:  # the engine refuses several
        require_file(options[sources[0]], f"--{sources[0]}")
    outputs.check()


def check_choice(asked: Request, choice: Choice) -> None:
    """Raises UsageError for a column, a scope or a key to sort by that the theorem's table cannot have."""
    result = asked.result
    choice.check([*(each.name for each in result.parameters), *(symbol.name for symbol in result.symbols)])


def check_replay(path: Path, others: Sequence[str], outputs: Outputs) -> None:
    """Raises UsageError for a witness that cannot be read, and for options that cannot be combined with it."""
    if others or outputs.files or outputs.witnesses or outputs.resume or outputs.choice != USUAL:
        raise UsageError("--witness checks one saved input again and takes only --json; omit the other options.")
    require_file(str(path), "witness")
