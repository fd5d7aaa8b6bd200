"""Single Arb balls: precision, ends rounded outward, rationals, maxima and softmax."""

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


def rational(number: Any) -> Arb:
    """Encloses a rational number: an int, a Fraction, a Rational of SymPy."""
    return flint.arb(flint.fmpq(int(number.numerator), int(number.denominator)))


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


def exact_softmax(logits: Sequence[Arb]) -> list[Arb]:
    """Softmax; the pivot is one exact number, so that it cancels and does not widen the balls."""
    if not logits:
        return []
    pivot = max(ball.mid() for ball in logits)  # middles are exact, so that Python's `max` is right
    exponentials = [(ball - pivot).exp() for ball in logits]
    total = sum(exponentials, start=flint.arb(0))
    return [ball / total for ball in exponentials]
