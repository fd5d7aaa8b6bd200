"""`boundsmith report`: results as a site of HTML pages."""

from collections.abc import Sequence
from pathlib import Path

from bridge.cli.codes import AdvisedInterrupt
from bridge.cli.requests import request
from bridge.cli.terminal import progress, show, warnings_in_words
from symbolic.statements.catalogue import RUNNING
from symbolic.words.errors import UsageError


def run_report(
    ids: Sequence[str],
    folder: Path | None,
    *,
    every: bool,
    settings: Sequence[str],
    grids: Sequence[str],
    jobs: int | None,
) -> int:
    """0; 1 if a page, or a part of one, could not be made. Raises UsageError for anything that the call gets wrong."""
    if every == bool(ids):
        raise UsageError("report takes results, as `boundsmith report induction.vanilla -o FOLDER`, or --all.")
    if folder is None:
        raise UsageError("report: name a folder by -o FOLDER.")
    if (settings or grids) and len(ids) != 1:
        raise UsageError("report: --set and --grid are for one result; name one ID, or omit them.")
    requests = [request(each, settings, grids) for each in ids]
    typed = [word for name, all in (("--set", settings), ("--grid", grids)) for each in all for word in (name, each)]
    from bridge.questions.report import Asked, report

    asked = [Asked(each.typed, each.parameters, typed, each.theorem) for each in requests]
    asked = asked or [Asked(id) for id in RUNNING]
    try:
        with warnings_in_words(), progress("preparing the report") as seen:
            written = report(asked, folder, jobs=jobs, progress=seen)
    except KeyboardInterrupt:
        unfinished = folder.with_name(f"{folder.name}.unfinished")
        if not unfinished.exists():
            raise
        how = f"pages that are done are kept in '{unfinished}'; the same command goes on"
        raise AdvisedInterrupt(how) from None
    show(f"written: {folder / 'index.html'} ({written.pages} page{'s' if written.pages > 1 else ''})")
    show(*(f"{id}: {problem}" for id, problem in written.problems.items()))
    if written.problems:
        show(
            f"{len(written.problems)} of {written.pages} pages could not be made in full; the same command tries again"
        )
    return 1 if written.problems else 0
