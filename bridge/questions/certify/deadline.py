"""A time limit: one object that is passed down and checked at each step."""

import contextlib
import numbers
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from symbolic.words.errors import UsageError

GRACE, AGAIN = 0.25, 0.5  # seconds: the checks of the work come first; an alarm lost in a destructor is repeated
LONGEST = 1e8  # seconds that a timer takes: three years


class OutOfTime(BaseException):
    """The time limit was reached. Not an Exception, so that no library catches it and goes on."""


class Deadline:
    """`seconds` from now on. `check` raises OutOfTime once they are over.

    One call of SymPy can take minutes without a check. With `alarmed`, code inside `interrupting` is therefore also
    interrupted by the process's timer, in the main thread of a POSIX system. Elsewhere only the checks at each step and
    the limits on the size of an expression (sizes.py) apply; a call into C needs the latter in any case.

    OutOfTime can be raised between any two steps: code that catches it may use only values that were stored atomically.
    """

    def __init__(self, seconds: float, *, clock: Callable[[], float] = time.monotonic, alarmed: bool = False) -> None:
        self.seconds = seconds
        self._clock, self._alarmed = clock, alarmed
        self._start = clock()

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """The time spent inside, for instance on loading a topic, does not count."""
        before = self._clock()
        yield
        self._start += self._clock() - before

    @property
    def spent(self) -> float:
        return self._clock() - self._start

    @property
    def over(self) -> bool:
        return self.spent > self.seconds

    def check(self) -> None:
        if self.over:
            raise OutOfTime

    @contextlib.contextmanager
    def interrupting(self) -> Iterator[None]:
        """Inside, the process's timer also checks. The timer and its handler are restored afterwards."""
        if not self._alarmed or not can_interrupt():
            yield
            return

        def expired(*_: Any) -> None:
            raise OutOfTime

        handler = signal.signal(signal.SIGALRM, expired)
        left = min(max(0.0, self.seconds - self.spent), LONGEST)
        timer = signal.setitimer(signal.ITIMER_REAL, left + GRACE, AGAIN)

        def put_back() -> None:
            signal.setitimer(signal.ITIMER_REAL, *timer)
            signal.signal(signal.SIGALRM, handler)

        try:
            yield
        finally:
            try:
                put_back()
            except OutOfTime:  # it was raised in this line; the next alarm is AGAIN seconds away
                put_back()


def checked_seconds(call: str, seconds: Any) -> float:
    """The time limit, a number > 0 or infinity. Raises UsageError, in the name of the call."""
    number = isinstance(seconds, numbers.Real) and not isinstance(seconds, bool)
    if not number or not seconds > 0:
        raise UsageError(f"{call}: seconds = {seconds!r:.80}; give a number > 0")
    return float(seconds)


def can_interrupt() -> bool:
    """Whether a timer can interrupt this thread: not on Windows, and the main thread only."""
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
