"""`boundsmith compare`, `solve` and `show --steps`: run, write the files, print."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NoReturn

from rich.console import RenderableType

from bridge.cli.codes import AdvisedInterrupt
from bridge.cli.outputs import REAL_INPUTS, Outputs
from bridge.cli.requests import Request
from bridge.cli.terminal import (
    line_width,
    progress,
    show,
    show_filled,
    show_json,
    show_json_text,
    warnings_in_words,
)
from bridge.export.choice import Choice, chosen
from bridge.export.comparison import Comparison
from bridge.export.grids import bounded
from bridge.export.latex_tables import latex_left_out
from bridge.export.tables import save_witnesses
from bridge.export.terminal import comparison_blocks, row_blocks
from bridge.export.writing import export, plot, plot_steps
from bridge.questions.compare import Interrupted, compare, shown_quantities
from bridge.questions.kept import KeptParts
from bridge.questions.replaying import replay
from bridge.questions.solve import solve
from bridge.questions.solving.solution import sentences
from bridge.questions.steps import all_steps
from bridge.theorems.registry import find_theorem

SOLVED = (
    *("result", "name", "value", "bound", "requested", "quantity", "tier"),
    *("closed_form", "closed_form_conditions", "method", "params", "note", "of_error", "chance"),
)
KEPT_FIRST = ("step", "error", "bound", "size", "ratio", "norm", "by", "rule")


Runner = Callable[[Request, Mapping[str, Any], Outputs], None]
_runner: ContextVar[Runner | None] = ContextVar("_runner", default=None)


def run_compare(request: Request, options: Mapping[str, Any], outputs: Outputs) -> None:
    """`options` are the keyword arguments of `compare` that the user gave; it has defaults for the others."""
    if outputs.choice.quantities and not REAL_INPUTS & set(options):
        _check_quantities(request, outputs.choice)
    (_runner.get() or _compare_here)(request, options, outputs)


@contextlib.contextmanager
def run_by(runner: Runner) -> Iterator[None]:
    """Inside, comparisons that are asked for are run by the runner: a sweep, say."""
    token = _runner.set(runner)
    try:
        yield
    finally:
        _runner.reset(token)


def _compare_here(request: Request, options: Mapping[str, Any], outputs: Outputs) -> None:
    kept: dict[str, Any] = {} if outputs.unfinished is None else {"keep": outputs.unfinished}
    try:
        with warnings_in_words(), progress(f"preparing {request.typed}") as report:
            comparison = compare(request.theorem, **options, **kept, progress=report, **request.parameters)
    except Interrupted as stop:
        how = "with --output FILE they would be kept, and --resume would go on"
        if kept:
            how = f"kept in '{outputs.unfinished}'; the same command with --resume goes on"
        show_part(stop, outputs, how)
    show_comparison(comparison, outputs)
    if outputs.unfinished is not None:
        KeptParts(outputs.unfinished).remove()


def show_part(stop: Interrupted, outputs: Outputs, how: str) -> NoReturn:
    """Prints the table of what is done, and raises an interrupt that says how to go on."""
    if not stop.points:
        raise stop
    if not outputs.as_json:
        show_filled(*comparison_blocks(stop.comparison, outputs.choice, steps=outputs.steps, width=line_width()))
    raise AdvisedInterrupt(f"{stop.points} of {stop.of} points are done; {how}") from None


def show_comparison(comparison: Comparison, outputs: Outputs) -> None:
    """Writes the files, and prints the table or the JSON."""
    _write(comparison, outputs)
    if outputs.as_json:
        show_json_text(chosen(comparison, outputs.choice).to_json())
    else:
        show_filled(*comparison_blocks(comparison, outputs.choice, steps=outputs.steps, width=line_width()))
        _name_files(comparison, outputs)


def _check_quantities(request: Request, choice: Choice) -> None:
    """Raises UsageError, before the run, for a quantity that no row has at the ends of the grid."""
    theorem = find_theorem(request.theorem)
    ends = [
        {name: value[end] if isinstance(value, tuple) else value for name, value in request.parameters.items()}
        for end in (0, -1)
    ]
    choice.check_quantities(name for point in ends for name in shown_quantities(theorem, point))


def run_replay(request: Request, path: Path, *, as_json: bool) -> None:
    """Checks a saved witness again."""
    theorem = find_theorem(request.theorem)
    row = replay(str(path), theorem)
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
    for path in outputs.plot:
        plot(chosen(comparison, outputs.choice), path, title=outputs.titled)
    for path in outputs.plot_steps:
        plot_steps(chosen(comparison, outputs.choice), path, title=outputs.titled)


def _name_files(comparison: Comparison, outputs: Outputs) -> None:
    for path in outputs.files:
        missing = latex_left_out(comparison, outputs.choice) if path.suffix.lower() == ".tex" else []
        without = f" (no room for {', '.join(missing)}; --columns chooses)" if missing else ""
        show(f"written: {path}{without}")
    if outputs.witnesses:
        count = sum(row.witness is not None for row in comparison)
        show(f"written: {count} witnesses in {outputs.witnesses}")


def run_solve(request: Request, knob: str, options: Mapping[str, Any], *, as_json: bool) -> None:
    """`options` are the keyword arguments of `solve` that the user gave. `knob` may be `error` itself."""
    with warnings_in_words(), progress(f"solving {request.typed} for {knob}"):
        solution = solve(request.theorem, for_=knob, **options, **request.parameters)
    conditions = [{"statement": each.statement, "kind": str(each.kind)} for each in solution.conditions]
    record = {**{name: getattr(solution, name) for name in SOLVED}, "conditions": conditions}
    if as_json:
        show_json(record)
    else:
        show(*sentences(solution))


def run_steps(request: Request, *, seed: int, exact: bool, as_json: bool) -> None:
    with warnings_in_words(), progress(f"reading {request.typed}"):
        found = all_steps(request.theorem, seed=seed, exact=exact, **request.parameters)
    if as_json:
        show_json({name: [row.record for row in steps] for name, steps in found.items()})
        return
    how = "on balls, rounded up" if exact else "in float64; --exact proves them"
    blocks: list[RenderableType] = []
    for name, steps in found.items():
        blocks += [
            *([name] if len(found) > 1 else []),
            *bounded(*steps.filled, line_width(), KEPT_FIRST, cut=("stopped",)),
            "",
        ]
    rules = "by: the enclosure of this prompt, or the rule in norms"
    show_filled(*blocks, f"one random prompt, seed {seed}; {how}; {rules}")
