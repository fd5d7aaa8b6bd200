"""The jobs of a sweep, run by an engine: each is kept as it is done, and those that fail are named at the end."""

import contextlib
from collections.abc import Mapping
from typing import Any

import joblib

from bridge.limits.memory import available_bytes, gibibytes
from bridge.questions.checked_call import Progress
from bridge.questions.kept import KeptParts
from bridge.questions.sweeping.engines import Engine, Function, JobOutcome
from symbolic.words.errors import UsageError

PROCESS = 512 << 20  # bytes of a process with torch and SymPy loaded, about


def run_jobs(function: Function, jobs: Mapping[str, Any], kept: KeptParts, engine: Engine, progress: Progress) -> None:
    """Keeps what each job gives. Raises UsageError if some fail, once all others are done."""
    failed: dict[str, JobOutcome] = {}
    progress(0, len(jobs), "jobs")
    with contextlib.closing(engine.run(function, jobs)) as outcomes:
        for done, (name, outcome) in enumerate(outcomes, 1):
            if outcome.failure:
                failed[name] = outcome
            else:
                kept.keep(name, outcome.text)
            progress(done, len(jobs), f"{name} is done")
    if failed:
        _raise(failed, kept, len(jobs))


def _raise(failed: Mapping[str, JobOutcome], kept: KeptParts, count: int) -> None:
    name, first = next(iter(sorted(failed.items())))
    if first.traceback:
        raise RuntimeError(f"sweep: the job {name} raised\n{first.traceback}")
    raise UsageError(
        f"sweep: {len(failed)} of {count} jobs failed, first {name}: {first.failure.rstrip('.')}. What is done is kept "
        f"in '{kept.folder}'; the same command tries the others again."
    )


def processes(count: int | None, needed: int) -> int:
    """How many processes are meant: `count`, or as many as there are cores and room for `needed` bytes in each.

    Raises UsageError for none, and for more than memory holds, saying how many fit.
    """
    if count is not None and count < 1:
        raise UsageError(f"sweep: --jobs {count}; give the number of processes, at least 1.")
    each, available = needed + PROCESS, available_bytes()
    fit = available // each
    if count is None:
        return int(max(1, min(joblib.cpu_count(), fit)))
    if count > max(1, fit):
        raise UsageError(
            f"sweep: --jobs {count} take about {gibibytes(count * each)} GiB of memory, this machine has "
            f"{gibibytes(available)} to give; {max(1, fit)} fit."
        )
    return count
