"""What a command is about: the id of a result, or a Python file with a theorem of the user's own.

The statement of a result of ours is found without torch, so that a command that only shows formulas, or refuses,
answers at once.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Union

from bridge.theorems.packages import find_packaged, require_unclaimed
from bridge.theorems.theorem_files import check_file, is_file
from symbolic.statements.catalogue import find_result, is_claimed
from symbolic.statements.result import Result

if TYPE_CHECKING:
    import bridge.theorems.theorem


@dataclass(frozen=True)
class Source:
    """As typed; what the engine takes (the id, or the theorem of a file, which is read once); and its statement."""

    typed: str
    theorem: Union[str, "bridge.theorems.theorem.Theorem"]
    result: Result

    @property
    def is_own(self) -> bool:
        return is_file(self.typed)


def find_source(typed: str) -> Source:
    """Raises UsageError for an unknown id and for a file without a theorem."""
    if is_file(typed):
        check_file(typed)
        from bridge.theorems.registry import find_theorem

        theorem = find_theorem(typed)
        return Source(typed, theorem, theorem.statement)
    if not is_claimed(typed):
        return Source(typed, typed, find_packaged(typed).statement)
    require_unclaimed(typed)
    return Source(typed, typed, find_result(typed))
