"""A call that is refused, with its message."""

from collections.abc import Callable
from typing import Any

import pytest

import boundsmith as bs


def require_refused(refused: tuple[Callable[[], Any], str]) -> None:
    """That the call raises UsageError, with these words in it."""
    call, words = refused
    with pytest.raises(bs.UsageError) as error:
        call()
    assert words in str(error.value)
