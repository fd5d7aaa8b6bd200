"""The search for a value of a knob that meets the error. It only uses a function from values to probes, no theorem.

1. The first look: every value of the grid's `first`. Over the admissible values the bound falls, rises, falls and then
   rises, or has another shape. If no value meets the error, the search tries the values between them (`more`), and then
   a neighbourhood of the least bound, towards a minimum or towards the end of the admissible values.
2. Of the values that meet the error the search chooses the least one; for a rising bound the largest one.
3. It then locates the boundary between the chosen value and the next value, which does not meet the error.

An answer is a value that was probed, as it is returned.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from bridge.questions.solving.probes import KnobProbe, State
from bridge.questions.solving.values import WHOLE, Grid, Lattice, Number

SAME = 1e-9  # relative: two bounds as close as that count as equal
CLOSE = 1e-12  # relative width at which a place counts as located
STEPS = 48  # of locating a place, at most: each halves the bracket, in logarithms, at least every second time
ENOUGH, NEAR_ENOUGH = 20, 1e-6  # steps after which that relative width is enough: a bound with jumps has no secants
GOLDEN = (math.sqrt(5) - 1) / 2
FLAT, FAR = 1.01, 1.1  # factors: a bracket whose bounds differ by less is flat, an error below it by more is far


class BoundShape(StrEnum):
    """The shape of the bound as a function of the knob, over the values of the first look."""

    FALLS = "decreases"
    RISES = "increases"
    FALLS_THEN_RISES = "first decreases, then increases"
    FALLS_OVERALL = "decreases overall, but not everywhere"
    RISES_OVERALL = "increases overall, but not everywhere"
    CONSTANT = "does not change"


RISING = (BoundShape.RISES, BoundShape.RISES_OVERALL)


class NoAnswerError(Exception):
    """No value that was searched meets the error; the message is a clause with the reason."""


class UnchangedError(Exception):
    """The bound is the same at every value that was searched."""


@dataclass(frozen=True)
class SolvedKnob:
    """The value and its probe, the shape of the bound, and the next value that does not meet the error, if any.

    `searched`: the least and the largest value at which there is a bound, of those that were tried.
    """

    value: Number
    probe: KnobProbe
    shape: BoundShape
    beyond: tuple[Number, KnobProbe] | None
    searched: tuple[Number, Number]


class Search:
    """The search for one error along one knob."""

    def __init__(
        self, at: Callable[[Number], KnobProbe], grid: Grid, error: float, *, integer: bool, lattice: Lattice = WHOLE
    ) -> None:
        self._at, self.grid, self.error, self.integer, self.lattice = at, grid, error, integer, lattice
        self.seen: dict[Number, KnobProbe] = {}

    def run(self) -> SolvedKnob:
        """Raises NoAnswerError, and UnchangedError."""
        for value in self.grid.first:
            self.probe(value)
        if not self._meeting():
            self._try_more()
        shape = shape_of([self.seen[value].number for value in sorted(self.seen)])
        if shape is BoundShape.CONSTANT:
            raise UnchangedError
        if not self._meeting():
            self._approach_the_least()
        meeting = self._meeting()
        if not meeting:
            raise NoAnswerError(self._reason())
        downwards = shape not in RISING
        value = meeting[0] if downwards else meeting[-1]
        return self._located(value, shape, downwards=downwards)

    def probe(self, value: Number) -> KnobProbe:
        if value not in self.seen:
            self.seen[value] = self._at(value)
        return self.seen[value]

    def meets(self, value: Number) -> bool:
        return self.probe(value).meets(self.error)

    def _meeting(self) -> list[Number]:
        return [value for value in sorted(self.seen) if self.meets(value)]

    def _admissible(self) -> list[Number]:
        return [value for value in sorted(self.seen) if self.seen[value].state is State.ADMISSIBLE]

    # If the first look finds nothing.

    def _try_more(self) -> None:
        for value in self._promising():
            if self.meets(value):
                return

    def _promising(self) -> list[Number]:
        """The values around the least bound of the first look, up to its admissible neighbours; all if it has none."""
        known = self._admissible()
        if not known:
            return list(self.grid.more)
        place = known.index(min(known, key=self._number))
        low = known[place - 1] if place > 0 else -math.inf
        high = known[place + 1] if place + 1 < len(known) else math.inf
        return [value for value in self.grid.more if low < value < high]

    def _number(self, value: Number) -> float:
        number = self.probe(value).number
        return math.inf if number is None else number

    # The bound counts as infinite where it cannot be relied on, so that the least one may lie at such a place. Golden
    # sections: of a bound with one minimum they close in on it.
    def _approach_the_least(self) -> None:
        known = self._admissible()
        if not known:
            return
        least = min(known, key=self._number)
        order = sorted(self.seen)
        place = order.index(least)
        if place > 0 and place + 1 < len(order):
            self._golden(order[place - 1], least, order[place + 1])

    def _golden(self, left: Number, middle: Number, right: Number) -> None:
        for _ in range(STEPS):
            wider = right if self._apart(middle, right) >= self._apart(left, middle) else left
            value = self._between(middle, wider, 1 - GOLDEN)
            if value in (left, middle, right) or self._close(left, right) or self._is_flat(left, middle, right):
                return
            if self.meets(value):
                return
            if self._number(value) < self._number(middle):
                left, right = (middle, right) if wider == right else (left, middle)
                middle = value
            elif wider == right:
                right = value
            else:
                left = value

    def _is_flat(self, *bracket: Number) -> bool:
        """Whether the bound hardly changes over the bracket, far above the error: further points are not worth it."""
        numbers = [self._number(value) for value in bracket]
        return max(numbers) <= FLAT * min(numbers) and self.error < min(numbers) / FAR

    # Locating the place where meeting the error ends.

    def _located(self, value: Number, shape: BoundShape, *, downwards: bool) -> SolvedKnob:
        order = sorted(self.seen)
        beyond = [v for v in (reversed(order) if downwards else order) if (v < value if downwards else v > value)]
        if not beyond:
            return SolvedKnob(value, self.probe(value), shape, None, self._ends())
        outside, inside = self._closed_in(beyond[0], value)
        return SolvedKnob(inside, self.probe(inside), shape, (outside, self.probe(outside)), self._ends())

    def _ends(self) -> tuple[Number, Number]:
        known = self._admissible()
        return known[0], known[-1]

    def _closed_in(self, outside: Number, inside: Number) -> tuple[Number, Number]:
        """The secant in logarithms, and the middle wherever that has not halved the bracket."""
        halved = True
        for step in range(STEPS):
            if self._close(outside, inside, CLOSE if step < ENOUGH else NEAR_ENOUGH):
                break
            width = self._apart(outside, inside)
            middle = self._secant(outside, inside) if halved else None
            middle = self._between(outside, inside, 0.5) if middle is None else middle
            if middle in (outside, inside):
                break
            outside, inside = (outside, middle) if self.meets(middle) else (middle, inside)
            halved = self._apart(outside, inside) <= width / 2
        return outside, inside

    def _secant(self, outside: Number, inside: Number) -> Number | None:
        """Where the bound would be the error if it were a power of the knob; None if one end has no positive bound.

        A little nearer to the end that is further away, so that the place lies between this point and the other end.
        """
        high, low = self.probe(outside).number, self.probe(inside).number
        if not high or not low or not 0 < low < high < math.inf:
            return None
        share = (math.log(high) - math.log(self.error)) / (math.log(high) - math.log(low))
        push = 0.01 * min(share, 1 - share)
        share += push if share < 0.5 else -push
        return self._between(outside, inside, min(max(share, 0.0), 1.0))

    # The scale: logarithms where both ends have one sign and neither is 0, as the knob itself otherwise.

    def _between(self, start: Number, end: Number, share: float) -> Number:
        if start * end > 0:
            sign = 1 if start > 0 else -1
            a, b = math.log(abs(start)), math.log(abs(end))
            value = sign * math.exp(a + share * (b - a))
        else:
            value = start + share * (end - start)
        low, high = min(start, end), max(start, end)
        if self.integer:
            whole, step = self.lattice.nearest(value), self.lattice.step
            return min(max(whole, low + step), high - step) if high - low > step else low
        return min(max(value, low), high)

    def _apart(self, start: Number, end: Number) -> float:
        if start * end > 0:
            return abs(math.log(abs(start)) - math.log(abs(end)))
        return float(abs(end - start))

    def _close(self, start: Number, end: Number, width: float = CLOSE) -> bool:
        if self.integer:
            return abs(end - start) <= self.lattice.step
        return abs(end - start) <= width * max(abs(start), abs(end))

    # Why there is no answer.

    def _reason(self) -> str:
        known = self._admissible()
        if not known:
            return self._reason_for_none()
        least = min(known, key=self._number)
        order = sorted(self.seen)
        words = f"from {order[0]:.4g} to {order[-1]:.4g} the least bound found is {_shown(self._number(least))}"
        return f"{words}, at {least:.10g}{self._ends_beside(least)}"

    def _ends_beside(self, value: Number) -> str:
        """The condition that ends the admissible values next to this one, if one does."""
        order = sorted(self.seen)
        place = order.index(value)
        sides = {"below": place - 1, "above": place + 1}
        beside = {side: self.seen[order[k]] for side, k in sides.items() if 0 <= k < len(order)}
        ended = {side: each.reason for side, each in beside.items() if each.state is not State.ADMISSIBLE}
        return "".join(f"; {side} that: {reason}" for side, reason in ended.items())

    def _reason_for_none(self) -> str:
        if not self.seen:
            return "no value meets the hypotheses"
        order = sorted(self.seen)
        kinds: dict[State, Number] = {}
        for value in order[len(order) // 2 :] + order:
            kinds.setdefault(self.seen[value].state, value)
        return "; ".join(f"at {value:.10g}: {self.seen[value].reason}" for value in kinds.values())


def shape_of(bounds: list[float | None]) -> BoundShape:
    """The shape of the bounds in the order of the knob; None stands for a missing bound."""
    known = [bound for bound in bounds if bound is not None]
    turns: list[bool] = []  # whether it rises, a run each
    last = known[0] if known else 0.0
    for bound in known[1:]:
        if abs(bound - last) > SAME * max(abs(bound), abs(last)) or (math.inf in (bound, last) and bound != last):
            rises = bound > last
            if not turns or turns[-1] != rises:
                turns.append(rises)
            last = bound
    shapes = {
        (): BoundShape.CONSTANT,
        (False,): BoundShape.FALLS,
        (True,): BoundShape.RISES,
        (False, True): BoundShape.FALLS_THEN_RISES,
    }
    if len(known) < 2:
        return BoundShape.FALLS_OVERALL  # one value has no direction: any shape will do
    return shapes.get(tuple(turns), BoundShape.RISES_OVERALL if known[-1] > known[0] else BoundShape.FALLS_OVERALL)


def _shown(bound: float) -> str:
    return "beyond float64" if not math.isfinite(bound) else f"{bound:.4g}"
