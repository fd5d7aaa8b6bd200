"""A report on results: a folder of HTML pages, each with the comparison, the statement and the proof of one result.

A page is made of its result alone, by a job that is kept as it is done. So a report that was stopped goes on, and a
page that cannot be made leaves the others as they are.
"""

import contextlib
import importlib.util
import json
import os
import re
import secrets
import shlex
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bridge.export.written_files import check_folder, write_text
from bridge.limits.files import digests
from bridge.questions.checked_call import Progress
from bridge.questions.compare import compare
from bridge.questions.errata import errata
from bridge.questions.errata.pages import facts
from bridge.questions.kept import KeptParts, kept_in
from bridge.questions.sweeping.engines import JobOutcome, Processes
from bridge.questions.sweeping.jobs import processes
from bridge.theorems.registry import TheoremLike, find_theorem
from bridge.theorems.theorem import Theorem
from symbolic.statements.catalogue import RUNNING
from symbolic.words.errors import UsageError

PACKAGES = {"jinja2": "jinja2", "latex2mathml": "latex2mathml", "matplotlib": "matplotlib"}
DEPENDS_ON = ("boundsmith", "torch", "sympy", "numpy", "python-flint", *PACKAGES.values())
INDEX, RECORD, OURS = "index.html", "report.json", "boundsmith report"


@dataclass(frozen=True)
class Asked:
    """A result as it is `typed`, an id or a Python file, with parameters as `compare` takes them."""

    typed: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    settings: Sequence[str] = ()  # the same as options of the command
    source: TheoremLike | None = None  # the same result, where it is read already

    @cached_property
    def theorem(self) -> Theorem:
        """A file runs once in a process."""
        return find_theorem(self.typed if self.source is None else self.source)

    def __reduce__(self) -> tuple[Any, ...]:
        """What another process needs, which reads a file itself: no theorem of a file can be sent there."""
        return Asked, (self.typed, self.parameters, self.settings)

    @property
    def command(self) -> str:
        return shlex.join(["boundsmith", "compare", self.typed, *self.settings])


@dataclass(frozen=True)
class Report:
    """What was written: how many pages, and the results of which a page or a part of one could not be made."""

    folder: Path
    pages: int
    problems: Mapping[str, str]


def report(
    asked: Sequence[Asked], folder: str | os.PathLike[str], *, jobs: int | None = None, progress: Progress | None = None
) -> Report:
    """Writes the report on these results into a folder, which is made or, if it holds a report, replaced.

    Pages that are done are kept in `FOLDER.unfinished` until all are; the same call goes on with them. `jobs` processes
    run at once, by default as many as there are cores. A page that cannot be made says why, and so does the report that
    is returned; with parameters that are refused nothing is written. Raises UsageError for a missing package, for a
    folder that cannot be written or holds anything else, and where the disk is full.
    """
    _require_packages()
    target = Path(os.path.realpath(folder))
    _check_target(target, folder)
    names = _names(asked)
    with kept_in(target.with_name(f"{target.name}.unfinished"), _identity(asked), "report") as kept:
        failed = _made(dict(zip(names, asked, strict=True)), kept, jobs, progress or _unseen)
        with _going_on(kept):
            parts = {name: _part(kept, name, each, failed) for name, each in zip(names, asked, strict=True)}
            _write_site(target, parts)
        problems = {part["summary"]["id"]: part["summary"]["problem"] for part in parts.values()}
        if not any(problems.values()):
            kept.remove()
    return Report(Path(folder), len(parts), {id: problem for id, problem in problems.items() if problem})


def _unseen(done: int, total: int, label: str) -> None:
    """Progress that nobody looks at."""


# One page.


def _page(job: tuple[str, Asked]) -> str:
    """The files of a result's page, and what the overview says of it, as JSON."""
    from bridge.export.report.pages import ResultPage, ShownErratum, Summary, counts

    name, asked = job
    theorem = asked.theorem
    comparison = compare(theorem, **asked.parameters)
    entries = errata(theorem, typed=asked.typed)
    shown = [ShownErratum(each.weight, each.sentence, facts(each), each.command) for each in entries]
    html, problems = ResultPage(theorem.statement, comparison, shown, asked.command, name).html()
    summary = Summary(
        **_described(name, theorem),
        counts=counts(comparison),
        errata=dict(Counter(each.weight for each in entries)),
        problem=" ".join(problems),
    )
    files = {f"{name}.html": html, f"{name}.json": comparison.to_json() + "\n"}
    return json.dumps({"files": files, "summary": asdict(summary)})


def _described(name: str, theorem: Theorem) -> dict[str, str]:
    result = theorem.statement
    claim = RUNNING[result.id].summary if result.id in RUNNING else result.title
    return {"id": result.id, "claim": claim, "citation": str(result.citation), "file": name}


def _failed_page(name: str, asked: Asked, failure: str) -> dict[str, Any]:
    from bridge.export.report.pages import Summary, failed_html

    summary = Summary(**_described(name, asked.theorem), counts={}, errata={}, problem=failure)
    return {"files": {f"{name}.html": failed_html(summary)}, "summary": asdict(summary)}


def _made(asked: Mapping[str, Asked], kept: KeptParts, jobs: int | None, progress: Progress) -> dict[str, str]:
    """Keeps the pages that are not kept yet; those that cannot be made, with the reason."""
    left = {name: (name, each) for name, each in asked.items() if kept.read(name) is None}
    failed: dict[str, str] = {}
    done = len(asked) - len(left)
    progress(done, len(asked), next(iter(left), "done"))
    count = min(processes(jobs, 0), max(1, len(left)))
    with contextlib.closing(Processes(count).run(_page, left)) as outcomes:
        for name, outcome in outcomes:
            done += 1
            if outcome.failure:
                _require_page(asked[name], outcome)
                failed[name] = _reason(outcome)
            else:
                with _going_on(kept):
                    kept.keep(name, outcome.text)
            progress(done, len(asked), f"{name} is done")
    return failed


def _require_page(asked: Asked, outcome: JobOutcome) -> None:
    """Raises UsageError for a call that was wrong: parameters of the user's were refused."""
    if asked.parameters and not outcome.traceback:
        raise UsageError(outcome.failure)


def _reason(outcome: JobOutcome) -> str:
    return f"{outcome.failure} This is a bug; please report it." if outcome.traceback else outcome.failure


def _part(kept: KeptParts, name: str, asked: Asked, failed: Mapping[str, str]) -> dict[str, Any]:
    text = kept.read(name)
    if text is None:
        return _failed_page(name, asked, failed[name])
    try:
        found: dict[str, Any] = json.loads(text)
    except ValueError:
        raise UsageError(f"report: '{kept.folder}' keeps a page of {name} that cannot be read; remove it.") from None
    return found


# All of them.


def _write_site(target: Path, parts: Mapping[str, Mapping[str, Any]]) -> None:
    """Aside, then moved into place: a reader never sees half a report."""
    from bridge.export.report.pages import Summary, overview_html

    summaries = [part["summary"] for part in parts.values()]
    files = {name: text for part in parts.values() for name, text in part["files"].items()}
    files[INDEX] = overview_html([Summary(**each) for each in summaries], version("boundsmith"))
    files[RECORD] = json.dumps({"written by": OURS, "results": summaries}, indent=2) + "\n"
    aside, old = (target.with_name(f".{target.name}-{secrets.token_hex(8)}.part") for _ in range(2))
    try:
        aside.mkdir()
        for name, text in files.items():
            write_text(aside / name, text)
        if target.exists():
            target.rename(old)
        aside.rename(target)
    except OSError as error:
        raise UsageError(f"report: cannot write '{target}': {error.strerror}; choose another folder.") from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


@contextlib.contextmanager
def _going_on(kept: KeptParts) -> Iterator[None]:
    """A refusal to write says that what is done is kept."""
    try:
        yield
    except UsageError as refusal:
        if not kept.names():
            raise
        more = f"What is done is kept in '{kept.folder}'; the same command goes on with it."
        raise UsageError(f"{refusal} {more}") from refusal


# What is asked.


def _names(asked: Sequence[Asked]) -> list[str]:
    """The name of each page, in letters, digits, dots and dashes. Raises UsageError for a result given twice."""
    ids = [each.typed if each.typed in RUNNING else each.theorem.id for each in asked]
    names = [re.sub(r"[^A-Za-z0-9_.-]+", "-", id) for id in ids]
    twice = next((id for id, name in zip(ids, names, strict=True) if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"report: '{twice}' is given twice; name each result once.")
    return names


def _identity(asked: Sequence[Asked]) -> dict[str, Any]:
    """All that the pages depend on."""
    values = [value for each in asked for value in each.parameters.values() if isinstance(value, str)]
    return {
        "results": [each.command for each in asked],
        "files": digests([*(each.typed.rpartition(":")[0] or each.typed for each in asked), *values]),
        "packages": {name: version(name) for name in DEPENDS_ON},
    }


def _require_packages() -> None:
    missing = [name for module, name in PACKAGES.items() if importlib.util.find_spec(module) is None]
    if missing:
        are = "are" if len(missing) > 1 else "is"
        raise UsageError(
            f"report: needs {' and '.join(missing)}, which {are} not installed: pip install 'boundsmith[report]'."
        )


def _check_target(target: Path, typed: str | os.PathLike[str]) -> None:
    """Raises UsageError unless it is a new or an empty folder, or one with a report, in which nobody stands."""
    check_folder(typed)
    if not target.exists():
        return
    if Path.cwd().is_relative_to(target):
        raise UsageError(f"report: '{typed}' is the folder that this is called from; name a folder in it.")
    others = sorted(path.name for path in target.iterdir())
    if others and not _is_report(target / RECORD):
        raise UsageError(f"report: '{typed}' holds other files ({others[0]}); choose a new or an empty folder.")


def _is_report(record: Path) -> bool:
    try:
        found = json.loads(record.read_text())
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and found.get("written by") == OURS
