"""A clock for tests: it goes by the questions, not by the time."""

from itertools import count
from math import inf

from bridge.questions.certify.deadline import Deadline


def expiring(after: int) -> Deadline:
    """Is over once it was asked `after` times."""
    ticks = count()
    return Deadline(float(after), clock=lambda: float(next(ticks)))


def counting() -> tuple[Deadline, "Questions"]:
    """Is never over, and counts."""
    questions = Questions()
    return Deadline(inf, clock=questions), questions


class Questions:
    def __init__(self) -> None:
        self.count = -1  # the start is not a question

    def __call__(self) -> float:
        self.count += 1
        return 0.0
