"""Sums of hinges in balls: enclosures of the literal sum, its coefficients taken exactly."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import flint

from numeric.balls import Arb
from numeric.networks.hinges import Hinges, HingeSum


@dataclass(frozen=True, eq=False)
class ExactHingeSum(HingeSum):
    """What a sum of hinges is at a ball, how far it lies from given values, and where its kinks are."""

    _balls: dict[tuple[int, bool], list[tuple[Arb, Arb]]] = field(default_factory=dict, repr=False)

    def exact(self, t: Arb) -> Arb:
        """Encloses the literal sum, its coefficients taken exactly, at every point of the ball t."""
        if not t.is_finite():
            return flint.arb("nan")
        if t.is_exact():
            return self._exact_at(t)
        low, high = t.lower(), t.upper()
        ends = self._exact_at(low).union(self._exact_at(high))
        first, last = self._knots_around(low, high)
        if first > last:
            return ends
        # Linear between its kinks, f takes its extreme values at the ends of the ball or at a kink within it.
        inside = self.values[first : last + 1]
        slack = self._kink_slack
        low_inside, high_inside = (flint.arb(float(edge)) for edge in (inside.min(), inside.max()))
        return ends.union(low_inside - slack).union(high_inside + slack)

    def _knots_around(self, low: Arb, high: Arb) -> tuple[int, int]:
        """The first and last knot with a kink between the two points; the first is beyond the last if there is none."""
        width = 2 * self.radius / self.cells
        # Floats place the ends to within a cell; the kinks there are compared exactly.
        first = max(math.floor((float(low) + self.radius) / width) - 1, 0)
        last = min(math.ceil((float(high) + self.radius) / width) + 1, self.cells)
        while first <= last and not self._kink_between(first, low, high):
            first += 1
        while first <= last and not self._kink_between(last, low, high):
            last -= 1
        return first, last

    def _kink_between(self, knot: int, low: Arb, high: Arb) -> bool:
        """Whether a hinge of that knot may open between the two points."""
        kinks = (hinges.kink(place) for hinges, place in self._hinges_of(knot))
        return any(not (kink < low or kink > high) for kink in kinks)

    def _hinges_of(self, knot: int) -> Iterator[tuple[Hinges, int]]:
        if self.middle <= knot < self.cells:
            yield self.right, knot - self.middle
        if 1 <= knot <= self.middle:
            yield self.left, self.middle - knot

    @cached_property
    def _kink_slack(self) -> Arb:
        """Bounds how far f at any kink lies from the value stored for its knot."""
        return self.deviation(map(flint.arb, self.values.tolist())) + self.kink_size()

    # Each kink -a_1/a_0 lies within 4 ulp of its knot. For the knot next to t every other knot is at least half a cell
    # away, so all hinges before it are active at t, none behind it is, and its own is evaluated directly.
    def _exact_at(self, t: Arb) -> Arb:
        toward_right = t >= float(self.knots[self.middle])
        hinges, other = (self.right, self.left) if toward_right else (self.left, self.right)
        place = self._place(t, hinges)
        slope, intercept = self._active(toward_right)[place]
        total = self.constant + slope * t + intercept + hinges.at(place, t)
        return total + other.at(0, t) if place == 0 else total

    def exact_slope(self, t: Arb) -> Arb:
        """Encloses the slope of the literal sum at the exact point t; at a kink, and next to it, both slopes."""
        if not (t.is_finite() and t.is_exact()):
            return flint.arb("nan")
        toward_right = t >= float(self.knots[self.middle])
        hinges, other = (self.right, self.left) if toward_right else (self.left, self.right)
        place = self._place(t, hinges)
        before, active = self._active(toward_right)[place][0], hinges.active_at(place, t)
        if active is False and place > 0:
            return before
        beyond = before + hinges.slope_of(place) if place < len(hinges.weights) else before
        if active is True:
            return beyond
        # The two hinges at the middle knot have one kink: on its other side the other one is active alone.
        return beyond.union(other.slope_of(0) if place == 0 else before)

    def _place(self, t: Arb, hinges: Hinges) -> int:
        """The knot next to t, counted from the middle; the number of hinges beyond the end."""
        distance = abs(float(t) - float(self.knots[self.middle])) * (self.cells / (2 * self.radius))
        return min(len(hinges.weights), round(min(distance, self.cells)))

    def _active(self, toward_right: bool) -> list[tuple[Arb, Arb]]:
        bits = max(128, 1 << (flint.ctx.prec - 1).bit_length())
        if (bits, toward_right) not in self._balls:
            with flint.ctx.workprec(bits):
                hinges = self.right if toward_right else self.left
                self._balls[bits, toward_right] = list(hinges.active_lines())
        return self._balls[bits, toward_right]

    def exact_values(self) -> Iterator[Arb]:
        """The exact function at the knots, from the first to the last, in balls."""
        middle = self.middle
        leftwards = list(self._along(self.left, self.right, self.knots[:middle][::-1].tolist()))
        yield from reversed(leftwards)
        at_middle = flint.arb(float(self.knots[middle]))
        yield self.constant + self.right.at(0, at_middle) + self.left.at(0, at_middle)
        yield from self._along(self.right, self.left, self.knots[middle + 1 :].tolist())

    def _along(self, hinges: Hinges, other: Hinges, knots: list[float]) -> Iterator[Arb]:
        lines = hinges.active_lines()
        next(lines)  # no hinge is active at the middle
        for place, (knot, (slope, intercept)) in enumerate(zip(knots, lines, strict=True), start=1):
            yield self.constant + slope * knot + intercept + hinges.at(place, flint.arb(knot))

    def deviation(self, exact_function: Iterator[Arb]) -> Arb:
        """Encloses from above the largest distance of this sum from the given values, over the knots."""
        pairs = zip(self.exact_values(), exact_function, strict=True)
        return _largest(abs(ours - theirs) for ours, theirs in pairs)

    def kink_size(self) -> Arb:
        """How large a single hinge is at its own knot (0, were kinks exactly at the knots), from above."""
        return _largest(
            abs((flint.arb(slope) * knot + offset) * c)
            for hinges in (self.right, self.left)
            for c, slope, offset, knot in _rows(hinges)
        )

    def kink_shift(self) -> Arb:
        """How far a kink lies from its knot, from above."""
        return _largest(
            abs((flint.arb(slope) * knot + offset) / slope)
            for hinges in (self.right, self.left)
            for c, slope, offset, knot in _rows(hinges)
            if c != 0
        )


def _rows(hinges: Hinges) -> Iterator[tuple[float, float, float, float]]:
    columns = (hinges.weights, hinges.slopes, hinges.offsets, hinges.knots)
    return zip(*(column.tolist() for column in columns), strict=True)


def _largest(balls: Iterator[Arb]) -> Arb:
    """An upper bound of numbers that are not negative: the largest upper end."""
    largest = flint.arb(0)
    for ball in balls:
        end = ball.upper()
        if not end <= largest:
            largest = end
    return largest
