"""`boundsmith sweep`: a command over a grid, as jobs that are kept in a folder and merged into one record.

The grid of a comparison is swept by its points. Of any other command, and of a comparison with --over, each combination
of options is a job.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bridge.cli.codes import INTERRUPTED, AdvisedInterrupt
from bridge.cli.outputs import Outputs
from bridge.cli.requests import Request
from bridge.cli.running import run_by, show_comparison, show_part
from bridge.cli.swept_commands import CommandLine, SweptCommand, run_command
from bridge.cli.terminal import Progress, line_width, progress, show, show_filled, show_json_text, warnings_in_words
from bridge.export.grids import bounded
from bridge.export.terminal import comparison_blocks
from bridge.export.writing import comparison_json
from bridge.export.written_files import write_text
from bridge.questions.checked_call import CheckedCall, Interrupted, checked_call
from bridge.questions.kept import JOBS, RECORD, KeptParts, kept_in, require_own, typed_in
from bridge.questions.sweeping.comparing import kept_rows, swept_comparison
from bridge.questions.sweeping.engines import Cluster, Engine, Processes, in_folder
from bridge.questions.sweeping.jobs import processes, run_jobs
from symbolic.words.errors import UsageError

COMPARE = "compare"


@dataclass(frozen=True)
class Workers:
    """Who runs the jobs: as the user asks."""

    jobs: int | None = None
    dask: str | None = None

    def engine(self, needed: int = 0) -> Engine:
        """For jobs that take so many bytes. Raises UsageError for what cannot be had."""
        return Processes(processes(self.jobs, needed)) if self.dask is None else Cluster(self.dask)


def run_sweep(
    program: CommandLine, folder: Path, command: Sequence[str], over: Sequence[str], workers: Workers
) -> None:
    """Runs what is not done in the folder, and shows the record of all. Raises UsageError."""
    if workers.jobs is not None and workers.dask is not None:
        raise UsageError("sweep: --jobs and --dask are two engines; give one of them.")
    if workers.jobs is not None:
        processes(workers.jobs, 0)  # raises for a number that no sweep can have
    require_own(folder, "sweep")
    name, *arguments = command
    typed = {"command": name, "arguments": arguments, "over": list(over), "folder": str(Path.cwd())}
    if name == COMPARE and not over:
        _run_comparison(program, arguments, _ComparisonSweep(folder.absolute(), workers, typed))
    else:
        _run_options(folder.absolute(), SweptCommand.of(program, name, arguments, over), workers, typed)


def show_sweep(program: CommandLine, folder: Path) -> None:
    """What is done so far, also while a sweep is at work. Raises UsageError for a folder without one."""
    folder, typed = folder.absolute(), typed_in(folder)
    if typed is None:
        raise UsageError(f"sweep: '{folder}' was not made by a sweep; --resume of `compare` goes on with it.")
    kept, arguments, over = KeptParts(folder), typed["arguments"], typed["over"]
    with in_folder(typed["folder"]):
        if typed["command"] == COMPARE and not over:
            _run_comparison(program, arguments, _PartOfComparison(kept))
        else:
            _show_options(SweptCommand.of(program, typed["command"], arguments, over), kept)


# A comparison, by its points.


def _run_comparison(
    program: CommandLine, arguments: Sequence[str], runner: "_ComparisonSweep | _PartOfComparison"
) -> None:
    with run_by(runner):
        command, name = program.command(COMPARE), f"boundsmith {COMPARE}"
        if command.main(args=list(arguments), prog_name=name, standalone_mode=False) == INTERRUPTED:
            raise KeyboardInterrupt
    if not runner.asked:
        raise UsageError("sweep: this comparison has no grid; give it to `boundsmith compare` itself.")


class _ComparisonSweep:
    """The runner that `boundsmith compare` has in a sweep."""

    def __init__(self, folder: Path, workers: Workers, typed: Mapping[str, Any]) -> None:
        self.folder, self.workers, self.typed, self.asked = folder, workers, typed, False

    def __call__(self, request: Request, options: Mapping[str, Any], outputs: Outputs) -> None:
        self.asked = True
        if outputs.resume:
            raise UsageError("sweep: a sweep goes on where it was stopped; omit --resume.")
        with warnings_in_words(), progress(f"preparing {request.typed}") as report:
            call = checked_call(request.theorem, options, request.parameters)
            engine = self.workers.engine(call.bytes)
            with kept_in(self.folder, call.identity, "sweep", self.typed) as kept:
                try:
                    asked = (request.typed, options, request.parameters)
                    comparison = swept_comparison(*asked, kept, engine, call, report)
                except KeyboardInterrupt:
                    interrupted: Interrupted | None = _part(call, kept)
                else:
                    interrupted = None
                    write_text(self.folder / RECORD, comparison_json(comparison))
        if interrupted is not None:
            show_part(interrupted, outputs, _how(self.folder))
        show_comparison(comparison, outputs)
        _name_record(self.folder, as_json=outputs.as_json)


class _PartOfComparison:
    """The runner that `boundsmith compare` has where a sweep is shown."""

    def __init__(self, kept: KeptParts) -> None:
        self.kept, self.asked = kept, False

    def __call__(self, request: Request, options: Mapping[str, Any], outputs: Outputs) -> None:
        self.asked = True
        with warnings_in_words():
            part = _part(checked_call(request.theorem, options, request.parameters), self.kept)
        shown = replace(outputs, tables=(), plot=(), plot_steps=(), witnesses=None)
        if shown.as_json:
            show_json_text(part.comparison.to_json())
            return
        if part.points:
            show_filled(*comparison_blocks(part.comparison, shown.choice, steps=shown.steps, width=line_width()))
        show(f"{part.points} of {part.of} points are done")


def _part(call: CheckedCall, kept: KeptParts) -> Interrupted:
    done = kept_rows(kept, call.instances)
    return Interrupted(call.comparison(done, whole=False), len(done), len(call.instances))


def _how(folder: Path) -> str:
    return f"they are kept in '{folder}', and the same command goes on"


def _name_record(folder: Path, *, as_json: bool) -> None:
    if not as_json:
        show(f"written: {folder / RECORD}")


# Any other command, by combinations of its options.


def _run_options(folder: Path, swept: SweptCommand, workers: Workers, typed: Mapping[str, Any]) -> None:
    engine = workers.engine()
    with kept_in(folder, swept.identity, "sweep", typed) as kept:
        try:
            with warnings_in_words(), progress(f"preparing {swept.name}") as report:
                _run_missing(swept, kept, engine, report)
        except KeyboardInterrupt:
            interrupted = True
        else:
            interrupted = False
            write_text(folder / RECORD, json.dumps(swept.record(kept), indent=2, ensure_ascii=False) + "\n")
    if interrupted:
        done = _show_options(swept, kept)
        raise AdvisedInterrupt(f"{done} of {len(swept.jobs)} jobs are done; {_how(folder)}")
    _show_options(swept, kept)
    _name_record(folder, as_json=False)


def _run_missing(swept: SweptCommand, kept: KeptParts, engine: Engine, report: Progress) -> None:
    done = set(kept.names())
    jobs = {
        name: {
            "main": swept.program.main,
            "arguments": swept.job(options),
            "cwd": str(Path.cwd()),
            "own": str(kept.folder / JOBS / name),
            "resume": "--resume" in swept.options and "--resume" not in swept.arguments,
        }
        for name, options in swept.jobs.items()
        if name not in done
    }
    run_jobs(run_command, jobs, kept, engine, report)


def _show_options(swept: SweptCommand, kept: KeptParts) -> int:
    """The table of the jobs: what varies, and what each that is done gives. Returns how many are done."""
    headings, lines, done = swept.table(kept)
    show_filled(
        *bounded(headings, lines, line_width(), all_in=f"{RECORD} has all"), f"{done} of {len(lines)} jobs are done"
    )
    return done
