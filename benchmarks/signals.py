"""Long runs that end cleanly when they are asked to."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

ENDING = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def noting_signals() -> Iterator[list[int]]:
    """The signals that asked for an end: what was begun is finished, so that no count is of half of it."""
    asked: list[int] = []
    former = {each: signal.signal(each, lambda number, _: asked.append(number)) for each in ENDING}
    try:
        yield asked
    finally:
        for each, handler in former.items():
            signal.signal(each, handler)
