"""Long runs that end cleanly when they are asked to."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

ENDING = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def noting_signals() -> Iterator[list[int]]:
    """The signals that asked for an end: what was begun is finished, so that no count is of half of it.

    Asked a second time the run ends at once, by KeyboardInterrupt: what was begun may take long.
    """
    asked: list[int] = []

    def note(number: int, _: object) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)

    former = {each: signal.signal(each, note) for each in ENDING}
    try:
        yield asked
    finally:
        for each, handler in former.items():
            signal.signal(each, handler)
