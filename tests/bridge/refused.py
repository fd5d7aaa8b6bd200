"""Calls that `compare` refuses: the cases of a table of them, and what each error says."""

from collections.abc import Mapping, Sequence

import pytest

from bridge.questions.compare import compare
from symbolic import UsageError


def cases(refused: Mapping[str, Sequence[tuple[dict[str, object], str]]]) -> list[pytest.ParameterSet]:
    """One case for each id, its wrong parameters and words of the error."""
    return [pytest.param(id, *case, id=f"{id}, {case[0]}") for id, each in refused.items() for case in each]


def check(id: str, params: dict[str, object], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        compare(id, **params)
