"""`boundsmith compare`: run, write the files, print."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import bridge
from bridge.cli.outputs import Outputs
from bridge.cli.requests import Request
from bridge.cli.sources import Source
from bridge.cli.terminal import progress, say, show, show_json_text, warnings_in_words
from bridge.export import export, plot_steps, save_witnesses
from bridge.export.terminal import comparison_blocks, row_blocks
from bridge.record import Comparison
from bridge.registry import find_study


def run_compare(request: Request, options: Mapping[str, Any], outputs: Outputs) -> None:
    """`options` are the keyword arguments of `bridge.compare` that the user gave; it has defaults for the others."""
    with warnings_in_words(), progress(f"preparing {request.source.typed}") as report:
        comparison = bridge.compare(request.source.theorem, **options, progress=report, **request.parameters)
    _write(comparison, outputs)
    if outputs.as_json:
        show_json_text(comparison.to_json())
    else:
        show(*comparison_blocks(comparison, outputs.all_rows, outputs.steps))
        _name_files(comparison, outputs)


def run_replay(source: Source, path: Path, *, as_json: bool) -> None:
    """Checks a saved witness again."""
    study = find_study(source.theorem)
    row = bridge.replay(str(path), study)
    if as_json:
        show_json_text(row.model_dump_json(indent=2))
    else:
        show(f"{study.result.id}: the witness in {path}, run again", *row_blocks(row, study.automatic))


def _write(comparison: Comparison, outputs: Outputs) -> None:
    if outputs.witnesses:  # first, so that the tables can name the files
        save_witnesses(comparison, outputs.witnesses)
    for path in filter(None, [*outputs.tables, outputs.plot]):
        export(comparison, path, outputs.all_rows)
    if outputs.plot_steps:
        plot_steps(comparison, outputs.plot_steps)


def _name_files(comparison: Comparison, outputs: Outputs) -> None:
    for path in outputs.files:
        say(f"written: {path}")
    if outputs.witnesses:
        count = sum(row.witness is not None for row in comparison)
        say(f"written: {count} witnesses in {outputs.witnesses}")
