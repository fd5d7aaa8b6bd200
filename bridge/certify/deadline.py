"""When a piece of work has to end: one object that is passed down and asked at each step."""

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

GRACE, AGAIN = 0.25, 0.5  # seconds: the work's own question comes first; an alarm lost in a destructor comes again
LONGEST = 1e8  # seconds that a timer takes: three years


class OutOfTime(BaseException):
    """The time is over. Not an Exception: no library may take it for an error of its own and go on."""


class Deadline:
    """`seconds` from now on. `ask` raises OutOfTime once they are over.

    One call of SymPy's can take minutes and asks nobody. With `alarmed`, what runs inside `interrupting` is therefore
    also interrupted by the process's timer, in the main thread of a POSIX system. Elsewhere the questions alone hold,
    and the limits on the size of an expression (`bridge.certify.sizes`), which no call into C can do without.

    OutOfTime can then come between any two steps: whoever catches it may use only what was stored in one piece.
    """

    def __init__(self, seconds: float, *, clock: Callable[[], float] = time.monotonic, alarmed: bool = False) -> None:
        self.seconds = seconds
        self._clock, self._alarmed = clock, alarmed
        self._start = clock()

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """What happens inside, such as loading a topic, does not count."""
        before = self._clock()
        yield
        self._start += self._clock() - before

    @property
    def spent(self) -> float:
        return self._clock() - self._start

    @property
    def over(self) -> bool:
        return self.spent > self.seconds

    def ask(self) -> None:
        if self.over:
            raise OutOfTime

    @contextlib.contextmanager
    def interrupting(self) -> Iterator[None]:
        """Inside, the process's timer asks too. The timer and its handler are put back afterwards."""
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
            except OutOfTime:  # it came in this very line; the next one is AGAIN seconds away
                put_back()


def can_interrupt() -> bool:
    """Whether a timer can interrupt this thread: not on Windows, and the main thread only."""
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
