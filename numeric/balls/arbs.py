"""Single Arb balls: precision, ends rounded outward, and functions of balls that flint lacks or computes too widely."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import flint

Arb: TypeAlias = Any  # flint.arb: python-flint's classes carry no types


@contextmanager
def working_precision(bits: int) -> Iterator[None]:
    """Sets Arb's working precision inside the block; restores the previous one afterwards, also after an error."""
    before = flint.ctx.prec
    flint.ctx.prec = bits
    try:
        yield
    finally:
        flint.ctx.prec = before


def float_above(ball: Arb) -> float:
    """A float64 that is at least every point of the ball, and close to its upper end."""
    end = ball.upper()
    near = float(end)
    return near if flint.arb(near) >= end else math.nextafter(near, math.inf)


def float_below(ball: Arb) -> float:
    """A float64 that is at most every point of the ball, and close to its lower end."""
    return 0.0 - float_above(-ball)  # and not -0.0


def ball_maximum(balls: Sequence[Arb]) -> Arb:
    """Encloses the largest of the numbers (Python's `max` on balls picks one of them and is wrong); 0 for none."""
    largest = balls[0] if balls else flint.arb(0)
    for ball in balls[1:]:
        largest = largest.max(ball)
    return largest


def square_root(ball: Arb) -> Arb:
    """sqrt over the part of the ball in [0, inf); nan where there is none."""
    if ball.lower() >= 0 or ball < 0:
        return ball.sqrt()
    return flint.arb(0).union(ball.upper().sqrt())


def absolute(ball: Arb) -> Arb:
    return ball.abs_lower().union(ball.abs_upper()) if ball.contains(0) else abs(ball)


def exact_softmax(logits: Sequence[Arb]) -> list[Arb]:
    """Softmax; the pivot is one exact number, so that it cancels and does not widen the balls."""
    if not logits:
        return []
    pivot = softmax_pivot(logits)
    exponentials = [(ball - pivot).exp() for ball in logits]
    total = sum(exponentials, start=flint.arb(0))
    return [ball / total for ball in exponentials]


def softmax_pivot(logits: Sequence[Arb]) -> Arb:
    """An exact number near the largest logit."""
    return max(ball.mid() for ball in logits)  # middles are exact, so that Python's `max` is right
