"""`boundsmith compare`: run, write the files, print."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import bridge
from bridge.cli.outputs import Outputs
from bridge.cli.requests import Request
from bridge.cli.sources import Source
from bridge.cli.terminal import line_width, progress, say, show_filled, show_json_text, warnings_in_words
from bridge.export.choice import Choice, chosen
from bridge.export.comparison import Comparison
from bridge.export.latex_tables import latex_left_out
from bridge.export.tables import save_witnesses
from bridge.export.terminal import comparison_blocks, row_blocks
from bridge.export.writing import export, plot, plot_steps
from bridge.questions.compare import shown_quantities
from bridge.theorems.registry import find_theorem

REAL_INPUTS = {"text", "data", "csv"}


def run_compare(request: Request, options: Mapping[str, Any], outputs: Outputs) -> None:
    """`options` are the keyword arguments of `bridge.compare` that the user gave; it has defaults for the others."""
    if outputs.choice.quantities and not REAL_INPUTS & set(options):
        _check_quantities(request, outputs.choice)
    with warnings_in_words(), progress(f"preparing {request.source.typed}") as report:
        comparison = bridge.compare(request.source.theorem, **options, progress=report, **request.parameters)
    _write(comparison, outputs)
    if outputs.as_json:
        show_json_text(chosen(comparison, outputs.choice).to_json())
    else:
        show_filled(*comparison_blocks(comparison, outputs.choice, steps=outputs.steps, width=line_width()))
        _name_files(comparison, outputs)


def _check_quantities(request: Request, choice: Choice) -> None:
    """Raises UsageError, before the run, for a quantity that no row has at the ends of the grid."""
    theorem = find_theorem(request.source.theorem)
    ends = [
        {name: value[end] if isinstance(value, tuple) else value for name, value in request.parameters.items()}
        for end in (0, -1)
    ]
    choice.check_quantities(name for point in ends for name in shown_quantities(theorem, point))


def run_replay(source: Source, path: Path, *, as_json: bool) -> None:
    """Checks a saved witness again."""
    theorem = find_theorem(source.theorem)
    row = bridge.replay(str(path), theorem)
    if as_json:
        show_json_text(row.model_dump_json(indent=2))
    else:
        blocks = row_blocks(row, theorem.knobs.automatic, line_width())
        show_filled(f"{theorem.id}: the witness in {path}, run again", *blocks)


def _write(comparison: Comparison, outputs: Outputs) -> None:
    if outputs.witnesses:  # first, so that the tables can name the files
        save_witnesses(comparison, outputs.witnesses)
    for path in outputs.tables:
        export(comparison, path, outputs.choice)
    if outputs.plot:
        plot(chosen(comparison, outputs.choice), outputs.plot, title=outputs.titled)
    if outputs.plot_steps:
        plot_steps(chosen(comparison, outputs.choice), outputs.plot_steps, title=outputs.titled)


def _name_files(comparison: Comparison, outputs: Outputs) -> None:
    for path in outputs.files:
        missing = latex_left_out(comparison, outputs.choice) if path.suffix.lower() == ".tex" else []
        without = f" (no room for {', '.join(missing)}; --columns chooses)" if missing else ""
        say(f"written: {path}{without}")
    if outputs.witnesses:
        count = sum(row.witness is not None for row in comparison)
        say(f"written: {count} witnesses in {outputs.witnesses}")
