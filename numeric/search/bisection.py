"""Where a condition ceases to hold, by halving."""

from collections.abc import Callable


def last_that_holds(holds: Callable[[float], bool], start: float, end: float, *, steps: int = 60) -> float:
    """The last point on the way from `start` to `end` at which `holds` was seen to be true.

    It is within |end - start| 2^-steps of one where it is false. It has to be true at `start` and false at `end`, which
    are not evaluated. Where it turns more than once, one of the turns is found.
    """
    for _ in range(steps):
        middle = (start + end) / 2
        start, end = (middle, end) if holds(middle) else (start, middle)
    return start
