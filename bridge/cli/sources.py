"""What a command is about: the id of a result, or a Python file with a theorem of the user's own.

An id is looked up without torch, so that a command that only shows formulas, or refuses, answers at once.
"""

from typing import Any

from symbolic.catalogue import find_result
from symbolic.statements import Result


def is_own(source: str) -> bool:
    """Whether it names a file (`own.py`, `own.py:NAME`) and not an id."""
    return source.partition(".py:")[0].endswith(".py") or ".py:" in source


def find_source(source: str) -> Any:
    """What the engine takes: a file's study, so that the file runs once; an id as it is, if it runs."""
    if not is_own(source):
        find_result(source)
        return source
    from bridge.registry import find_study

    return find_study(source)


def find_statement(source: str) -> Result:
    """The statement of the theorem. Raises UsageError for an unknown id and for a file without one."""
    if not is_own(source):
        return find_result(source)
    from bridge.registry import find_study

    return find_study(source).result
