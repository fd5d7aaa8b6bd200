"""A bar of long work in a notebook. Elsewhere there is none: the command has its own, and a script prints nothing."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

Progress = Callable[[int | float, int | float, str], None]  # how much is done, of how much, in words
LATE, EACH = 1.0, 0.2  # seconds: before the bar is shown, between two of its states


@dataclass(frozen=True)
class Bar:
    """A state of a bar: the share that is done, and what is being done."""

    share: float
    words: str

    def __repr__(self) -> str:
        return f"{self.share:4.0%} {self.words}"

    def _repr_html_(self) -> str:
        return f'<progress value="{self.share:.3f}" max="1"></progress> {escape(self.words)}'


@dataclass(frozen=True)
class _Gone:
    """What stands in the place of a bar at the end."""

    def __repr__(self) -> str:
        return ""

    def _repr_html_(self) -> str:
        return ""


@contextlib.contextmanager
def notebook_bar() -> Iterator[Progress]:
    """Inside, reports move a bar below the cell, if one runs and takes longer than LATE seconds."""
    display = _display()
    if display is None:
        yield lambda done, total, words: None
        return
    shown: list[Any] = []
    last = time.monotonic() + LATE - EACH

    def report(done: int | float, total: int | float, words: str) -> None:
        nonlocal last
        if time.monotonic() - last < EACH:
            return
        last, state = time.monotonic(), Bar(done / total if total else 0.0, words)
        if shown:
            shown[0].update(state)
        else:
            shown.append(display(state, display_id=True))

    try:
        yield report
    finally:
        for each in shown:
            each.update(_Gone())


def _display() -> Callable[..., Any] | None:
    """What shows objects below the cell that runs; None outside of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return sys.modules["IPython.display"].display if hasattr(shell, "kernel") else None
