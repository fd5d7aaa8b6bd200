"""Boxes looked at in floats, many at once: which forms may prove each of them, and which coordinate matters.

Nothing rests on it. A box that no form can prove by floats is cut without a proof by Arb being tried; of all others Arb
decides, and of those of which floats know nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from math import inf, nextafter
from typing import Any

import numpy as np

from bridge.questions.certify.forms import Enclosures
from bridge.questions.certify.scalars import Box, Scalar
from numeric.balls import FloatEnds

NOISE = 16  # times the width at a point: so far below 0 a bound may be by rounding alone
Floats = Any  # an array with a number for each box
Sides = Sequence[FloatEnds]


@dataclass(frozen=True)
class Look:
    """A box that is open: a lower bound of the expression, and the coordinate to cut across.

    `forms` may prove it, and the inequality may fail in its middle: all that is known of a box by floats alone.
    """

    below: float
    axis: int
    forms: Sequence[str] = ()
    may_fail: bool = True


def axes(weights: Floats, widths: Floats) -> Floats:
    """The coordinate of each box that matters most; the relatively widest where no weight is known.

    A coordinate is not cut a thousandfold while another is whole: its weight may be all overestimation.
    """
    known = (weights.sum(0) > 0) & np.isfinite(weights).all(0)
    keys = np.where(known, np.where(widths > 0, weights * widths**0.25, -1.0), widths)
    return np.where(keys == keys.max(0), widths, -1.0).argmax(0)


@dataclass(frozen=True)
class _Seen:
    """A function on the boxes: lower bounds by its range and by slopes, how far they may be wrong, and the reach of
    each coordinate, |slope| width."""

    by_range: Floats
    by_slopes: Floats
    noise: Floats
    reach: Floats

    @property
    def below(self) -> Floats:
        return np.fmax(self.by_range, self.by_slopes)

    def hopes(self) -> tuple[Floats, Floats]:
        """Where either form may show that the function is >= 0; what is nan may be anything."""
        return tuple(~(bound < -self.noise) for bound in (self.by_range, self.by_slopes))

    @property
    def hope(self) -> Floats:
        return reduce(np.logical_or, self.hopes())

    @property
    def weights(self) -> Floats:
        """The reaches as shares; where some are unknown, only those."""
        reach = np.where(np.isnan(self.reach), inf, self.reach)
        unknown = np.isinf(reach)
        total = np.where(unknown, 0.0, reach).sum(0)
        return np.where(unknown.any(0), unknown, reach / np.where(total > 0, total, 1.0))


class Screen:
    """The functions of an inequality on many boxes."""

    def __init__(self, enclosures: Enclosures) -> None:
        self.enclosures, self.inequality = enclosures, enclosures.inequality

    @cached_property
    def _minors(self) -> list[Scalar]:
        return [] if self.inequality.strict else self.enclosures.minors

    def looks(self, boxes: Sequence[Box]) -> list[Look]:
        """At each of the boxes."""
        sides = [_sides([box[i] for box in boxes]) for i in range(len(boxes[0]))]
        with np.errstate(all="ignore"):
            whole, *minors = (_seen(each, sides, len(boxes)) for each in (self.enclosures.whole, *self._minors))
            outside = [_seen(each, sides, len(boxes)).hope for each in self.enclosures.opposites]
            weights = sum((np.where(each.hope, 0.0, each.weights) for each in minors), start=whole.weights)
            widths = np.array([side.high - side.low for side in sides]) / self._widths
            cuts = axes(weights, np.where(np.isnan(widths), 0.0, widths)).tolist()
            may_fail = (~(self._in_the_middle(sides, len(boxes)) > 0)).tolist()
        hopes = dict(zip(("range", "slope"), whole.hopes(), strict=True))
        hopes |= {f"outside {k}": hope for k, hope in enumerate(outside)}
        if self.inequality.vanishing and not self.inequality.strict:
            hopes["hessian"] = np.ones(len(boxes), dtype=bool)
        if minors:
            hopes["form"] = reduce(np.logical_and, (each.hope for each in minors))
        forms = [[form for form, hope in hopes.items() if hope[i]] for i in range(len(boxes))]
        below = np.where(np.isnan(whole.below), -inf, whole.below).tolist()
        return [Look(*each) for each in zip(below, cuts, forms, may_fail, strict=True)]

    @cached_property
    def _widths(self) -> Floats:
        return np.array([[_outwards(high - low, inf)] for low, high in self.enclosures.root])

    def _in_the_middle(self, sides: Sides, count: int) -> Floats:
        """A lower bound there."""
        tape = self.enclosures.whole.tape
        middles = [side.low / 2 + side.high / 2 for side in sides]
        value = np.nan if tape is None else FloatEnds.of(tape.value([FloatEnds(m, m) for m in middles])).low
        return np.broadcast_to(value, count)


def _sides(sides: Sequence[tuple[Fraction, Fraction]]) -> FloatEnds:
    lows, highs = zip(*sides, strict=True)
    return FloatEnds(np.array([_outwards(x, -inf) for x in lows]), np.array([_outwards(x, inf) for x in highs]))


def _outwards(number: Fraction, end: float) -> float:
    """The number, or the float next to it on the side of the end."""
    p, q = number.numerator, number.denominator
    try:
        near = p / q
    except OverflowError:
        return inf if p > 0 else -inf
    n, d = near.as_integer_ratio()
    return near if n * q == p * d else nextafter(near, end)


# The mean-value form of `scalars.py`: about the corner of least value where all slopes have a sign.
def _seen(scalar: Scalar, sides: Sides, count: int) -> _Seen:
    if scalar.tape is None:
        nothing = np.full(count, np.nan)
        return _Seen(nothing, nothing, nothing, np.full((len(sides), count), np.nan))
    slopes = [FloatEnds.of(slope) for slope in scalar.tape.gradient(sides)]
    centre, loss, reaches = [], np.zeros(count), []
    for side, slope in zip(sides, slopes, strict=True):
        fixed = side.low == side.high
        up, down = fixed | (slope.low >= 0), slope.high <= 0
        at = np.where(up, side.low, np.where(down, side.high, side.low / 2 + side.high / 2))
        reach = np.where(fixed, 0.0, slope.size() * (side.high - side.low))
        loss = loss + np.where(up | down, 0.0, reach / 2)
        centre.append(FloatEnds(at, at))
        reaches.append(reach)
    by_range = np.broadcast_to(FloatEnds.of(scalar.tape.value(sides)).low, count)
    at_centre = FloatEnds.of(scalar.tape.value(centre))
    noise = NOISE * np.broadcast_to(at_centre.high - at_centre.low, count)
    return _Seen(by_range, at_centre.low - loss, noise, np.array(reaches))
