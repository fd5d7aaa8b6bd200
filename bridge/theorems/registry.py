"""What can be compared: a theorem as a value, the id of a result of ours or of a package's theorem, a Python file."""

import os
from functools import cache

from bridge.theorems.packages import find_packaged, require_unclaimed
from bridge.theorems.theorem import Theorem
from bridge.theorems.theorem_files import is_file, read_theorem
from symbolic.statements.catalogue import RUNNING, find_running, is_claimed
from symbolic.words.errors import UsageError

TheoremLike = str | os.PathLike[str] | Theorem


@cache
def theorems() -> dict[str, Theorem]:
    """Every theorem of ours by the id of its result."""
    return {id: registered_theorem(id) for id in RUNNING}


def find_theorem(source: TheoremLike) -> Theorem:
    """The theorem itself, that in a file, or that of an id.

    Raises UsageError for an id that is unknown (with the nearest ones), planned, or that several packages have, and for
    a file without a theorem.
    """
    if isinstance(source, os.PathLike):
        source = os.fspath(source)
    if not isinstance(source, str | Theorem):
        raise UsageError(
            f"{source!r:.80} is not a theorem; give an id, a theorem, or the path of a file that holds one"
        )
    if isinstance(source, str) and not is_file(source):
        if not is_claimed(source):
            return find_packaged(source)
        require_unclaimed(source)
        return registered_theorem(source)
    theorem = source if isinstance(source, Theorem) else read_theorem(source)
    if theorem.id in RUNNING and registered_theorem(theorem.id) is not theorem:
        raise UsageError(f"the id '{theorem.id}' is that of a result of boundsmith; give your theorem another id")
    return theorem


@cache
def registered_theorem(result_id: str) -> Theorem:
    """That of the result of that id, and never of a file: for ids that records and witnesses name."""
    found: Theorem = find_running(result_id).on("bridge")
    return found
