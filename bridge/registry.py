"""What can be compared: a theorem as a value, the id of a result of ours or of a package's theorem, a Python file."""

import os
from functools import cache

from bridge.packages import find_packaged, require_unclaimed
from bridge.study import Study
from bridge.theorem import Theorem
from bridge.theorem_files import is_file, read_theorem
from bridge.theorem_study import TheoremStudy
from symbolic.catalogue import RUNNING, find_running, is_claimed
from symbolic.statements import UsageError

TheoremLike = str | os.PathLike[str] | Theorem | Study


@cache
def studies() -> dict[str, Study]:
    """Every Study by the id of its Result."""
    return {id: find_study(id) for id in RUNNING}


def find_study(source: TheoremLike) -> Study:
    """The study of a theorem, of the theorem in a file, or of the result of an id.

    Raises UsageError for an id that is unknown (with the nearest ones), planned, or that several packages have, and for
    a file without a theorem.
    """
    if isinstance(source, Study):
        return source
    if isinstance(source, os.PathLike):
        source = os.fspath(source)
    if not isinstance(source, str | Theorem):
        raise UsageError(
            f"{source!r:.80} is not a theorem; give an id, a theorem, or the path of a file that holds one"
        )
    if isinstance(source, str) and not is_file(source):
        if not is_claimed(source):
            return TheoremStudy(find_packaged(source))
        require_unclaimed(source)
        return registered_study(source)
    theorem = source if isinstance(source, Theorem) else read_theorem(source)
    if theorem.id in RUNNING and registered_study(theorem.id).theorem is not theorem:
        raise UsageError(f"the id '{theorem.id}' is that of a result of boundsmith; give your theorem another id")
    return TheoremStudy(theorem)


@cache
def registered_study(result_id: str) -> TheoremStudy:
    """The study of the result of that id, and never of a file: for ids that records and witnesses name."""
    return TheoremStudy(find_running(result_id).on("bridge"))
