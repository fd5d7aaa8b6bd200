"""`boundsmith compare`: refuse early what is bound to fail, run, write the files, print."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bridge
from bridge.cli.assignments import parameters, with_options
from bridge.cli.sources import find_source
from bridge.cli.terminal import progress, say, show, show_json_text, warnings_in_words
from bridge.export import PLOTS, TABLES, check_folder, check_output, export, save_witnesses
from bridge.export.terminal import comparison_blocks, row_blocks
from bridge.record import Comparison
from bridge.registry import find_study
from symbolic.catalogue import find_result
from symbolic.statements import UsageError


@dataclass(frozen=True)
class Outputs:
    """What is to be made of a comparison: files, and what the terminal shows."""

    tables: tuple[Path, ...] = ()
    plot: Path | None = None
    witnesses: Path | None = None
    as_json: bool = False
    all_rows: bool = False
    steps: bool = False

    @property
    def files(self) -> tuple[Path, ...]:
        return (*self.tables, self.plot) if self.plot else self.tables

    def check(self) -> None:
        """Raises UsageError if a file cannot be written: before the run, which may be long."""
        for path in self.tables:
            check_output(path, TABLES)
        if self.plot:
            check_output(self.plot, PLOTS)
        if self.witnesses:
            check_folder(self.witnesses)
        for path in self.files:
            if [other.resolve() for other in self.files].count(path.resolve()) > 1:
                raise UsageError(f"'{path}' is given twice; name each output file once.")


def run_compare(
    id: str,
    settings: Sequence[str],
    grids: Sequence[str],
    options: Mapping[str, Any],
    outputs: Outputs,
    named: Mapping[str, str] | None = None,
) -> None:
    """`options` are the keyword arguments of `bridge.compare` that the user gave; it has defaults for the others.

    `named` are parameters with their own option (a machine, its input): strings, even if they consist of digits.
    """
    source = find_source(id)
    params = check_names(source, with_options(parameters(settings, grids), named or {}))
    _check_target(options)
    outputs.check()
    with warnings_in_words(), progress(f"preparing {id}") as report:
        comparison = bridge.compare(source, **options, progress=report, **params)
    _write(comparison, outputs)
    if outputs.as_json:
        show_json_text(comparison.to_json())
    else:
        show(*comparison_blocks(comparison, outputs.all_rows, outputs.steps))
        _name_files(comparison, outputs)


def _check_target(options: Mapping[str, Any]) -> None:
    """Raises UsageError for a --target whose column no --csv has; the engine refuses sources that clash."""
    if "target" in options and "csv" not in options:
        beside = next((f", not with --{name}" for name in ("data", "text") if name in options), "")
        raise UsageError(f"--target goes with --csv FILE{beside}.")


def run_replay(id: str, path: Path, others: Sequence[str], outputs: Outputs) -> None:
    """Checks a saved witness again. `others` are options that cannot be combined with it."""
    source = find_source(id)
    if others or outputs.files or outputs.witnesses:
        raise UsageError("--witness checks one saved input again and takes only --json; omit the other options.")
    study = find_study(source)
    row = bridge.replay(str(path), study)
    if outputs.as_json:
        show_json_text(row.model_dump_json(indent=2))
    else:
        show(f"{study.result.id}: the witness in {path}, run again", *row_blocks(row, study.automatic))


def check_names(source: Any, params: dict[str, Any]) -> dict[str, Any]:
    """`params`, if the result has them all (`seed`, say, would clash with an argument of `compare`)."""
    result = find_result(source) if isinstance(source, str) else source.result
    for name in params:
        result.parameter(name)
    return params


def _write(comparison: Comparison, outputs: Outputs) -> None:
    if outputs.witnesses:  # first, so that the tables can name the files
        save_witnesses(comparison, outputs.witnesses)
    for path in outputs.files:
        export(comparison, path, outputs.all_rows)


def _name_files(comparison: Comparison, outputs: Outputs) -> None:
    for path in outputs.files:
        say(f"written: {path}")
    if outputs.witnesses:
        count = sum(row.witness is not None for row in comparison)
        say(f"written: {count} witnesses in {outputs.witnesses}")
