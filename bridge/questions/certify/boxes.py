"""Branch and bound: boxes cut until a form proves the inequality on each, the worst box first.

The time limit can be reached in the middle of a step. A box is therefore marked, or cut, by a single assignment after
the proof is complete, so that the tree is correct at any moment.
"""

import heapq
import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from math import inf

import numpy as np
import sympy as sp

from bridge.lowering.ball_values import SMALLEST_NORMAL
from bridge.lowering.branch_and_bound import cut_across
from bridge.questions.certify.deadline import Deadline
from bridge.questions.certify.forms import Enclosures
from bridge.questions.certify.nodes import MOST_CUTS, OPEN, Leaf, Node, Split
from bridge.questions.certify.scalars import Box, Cell, positive, shown
from bridge.questions.certify.screening import Look, Screen, axes
from bridge.questions.certify.words import box_text
from numeric.balls import Arb, float_above, rational

Point = dict[sp.Symbol, Fraction]
LOOK = 64  # boxes between two reports
MANY, AT_ONCE = 16, 4096  # boxes that are looked at together
MOST_CORNERS = 64  # of the whole box, at which it is looked whether the expression is defined


class _Part:
    """A box of the tree, `cuts` cuts below the root."""

    def __init__(self, box: Box, cuts: int = 0) -> None:
        self.box, self.cuts = box, cuts
        self.cut: tuple[Split, _Part, _Part] | None = None
        self.by = OPEN

    # by hand rather than by recursion: trees are deep
    def preorder(self) -> "Iterator[_Part]":
        stack = [self]
        while stack:
            part = stack.pop()
            yield part
            if part.cut is not None:
                stack += part.cut[:0:-1]

    def node(self) -> Node:
        return Leaf(self.by) if self.cut is None else self.cut[0]


class BoxSearch:
    """The tree of boxes of an inequality, and the search in it, which can be taken up again."""

    def __init__(
        self,
        enclosures: Enclosures,
        deadline: Deadline,
        progress: Callable[[int, float], None] = lambda boxes, share: None,
    ) -> None:
        self.inequality, self.enclosures = enclosures.inequality, enclosures
        self.deadline, self.progress = deadline, progress
        self.widths = [high - low for low, high in enclosures.root]
        self.settled = Fraction(0)
        self.undefined = ""
        self.root = _Part(enclosures.root)
        self.count = 1
        self.screen = Screen(enclosures)
        self._waiting: list[tuple[float, int, _Part, Look]] = []
        self._order = itertools.count()

    @property
    def waiting(self) -> bool:
        """Whether boxes are left that can be cut."""
        return bool(self._waiting)

    @property
    def nodes(self) -> tuple[Node, ...]:
        return tuple(part.node() for part in self.root.preorder())

    @property
    def open_boxes(self) -> list[Box]:
        """The boxes that are left, the largest first."""
        left = [part for part in self.root.preorder() if part.cut is None and part.by == OPEN]
        return [part.box for part in sorted(left, key=lambda part: part.cuts)]

    def search(self, most_boxes: int) -> tuple[Point, float] | None:
        """Prove the boxes, the worst first; a point that refutes ends it.

        A few are cut one by one, many together: floats then tell which of their halves may have a proof.
        """
        if self.count == 1 and not self._waiting:
            self._open([self.root])
        while self._waiting and self.count < most_boxes:
            several = min(len(self._waiting), most_boxes - self.count, AT_ONCE) if len(self._waiting) >= MANY else 1
            halves: list[_Part] = []
            for _, _, part, look in [heapq.heappop(self._waiting) for _ in range(several)]:
                self.deadline.check()
                if refuted := self._fails(part, look):
                    return refuted
                if self.undefined:
                    return None
                # None of a point, or of what is as small as one: it stays open.
                if (parts := self._cut(part, look.axis)) is not None:
                    halves += parts
                    self.count += 1
                if self.count % LOOK == 0:
                    self.progress(self.count, float(self.settled))
            self._open(halves)
        if self.count < most_boxes:
            self.progress(self.count, float(self.settled))
        return None

    def _fails(self, part: _Part, look: Look) -> tuple[Point, float] | None:
        """The middle of the box where it refutes; it may also show that the expression is undefined there."""
        middle = [middle_of(part.box)]
        refuted = self.refutation(middle) if look.may_fail else None
        if refuted is None:
            self.meets_undefined(part.box, middle)
        return refuted

    def _open(self, parts: Sequence[_Part]) -> None:
        """What no form proves waits, by the lower bound of the expression there."""
        looks = self.screen.looks([part.box for part in parts]) if len(parts) >= MANY else [None] * len(parts)
        for part, seen in zip(parts, looks, strict=True):
            look = self._prove(part) if seen is None else self._prove_by(part, seen)
            if look is not None:
                heapq.heappush(self._waiting, (look.below, next(self._order), part, look))

    def _prove_by(self, part: _Part, seen: Look) -> Look | None:
        """The same by the forms that floats leave."""
        cell = Cell(part.box)
        for form in seen.forms:
            self.deadline.check()
            if self.enclosures.shown_on(cell, form):
                return self._settle(part, form)
        return seen

    def _prove(self, part: _Part) -> Look | None:
        """Mark the box if a form proves it; otherwise return the bounds and slopes found on it."""
        self.deadline.check()
        cell, strict = Cell(part.box), self.inequality.strict
        defined = self.enclosures.defined_on(cell)
        below = self.enclosures.whole.below(cell)
        if defined and positive(below, strict):
            return self._settle(part, "range")
        bounds, weights = [below], [0.0] * len(part.box)
        slopes = self.enclosures.whole.slopes(cell)
        if slopes is not None:
            centred = self.enclosures.whole.below_by_slopes(cell, slopes)
            if defined and positive(centred, strict):
                return self._settle(part, "slope")
            bounds.append(centred)
            weights = _weights(part.box, slopes)
        for k in range(len(self.enclosures.conditions)):
            self.deadline.check()
            if self.enclosures.shown_on(cell, f"outside {k}"):
                return self._settle(part, f"outside {k}")
        if not defined:
            return Look(-inf, self._axis(part.box, [0.0] * len(part.box)))
        self.deadline.check()
        if self.inequality.vanishing and self.enclosures.shown_on(cell, "hessian"):
            return self._settle(part, "hessian")
        if self.inequality.form is not None and not strict:
            failing = [minor for minor in self.enclosures.minors if not shown(minor, cell)]
            if not failing:
                return self._settle(part, "form")
            known = [slopes for minor in failing if (slopes := minor.slopes(cell)) is not None]
            weights = list(map(sum, zip(weights, *(_weights(part.box, slopes) for slopes in known), strict=True)))
        lowest = max((float(bound) for bound in bounds if bound.is_finite()), default=-inf)
        return Look(lowest, self._axis(part.box, weights))

    def _settle(self, part: _Part, by: str) -> Look | None:
        """Nothing is left to look at."""
        part.by = by
        self.settled += Fraction(1, 1 << part.cuts)  # each cut halves
        return None

    def _cut(self, part: _Part, axis: int) -> "tuple[_Part, _Part] | None":
        """The two halves across that coordinate."""
        if not part.box or part.box[axis][0] == part.box[axis][1] or part.cuts == MOST_CUTS:
            return None
        low, high = part.box[axis]
        at = (low + high) / 2
        lower, upper = (_Part(box, part.cuts + 1) for box in cut_across(part.box, axis, at))
        part.cut = Split(axis, at), lower, upper
        return lower, upper

    def _axis(self, box: Box, weights: list[float]) -> int:
        """The coordinate that matters most, by the rule of `axes`."""
        widest = [_relative(high - low, width) for (low, high), width in zip(box, self.widths, strict=True)]
        return int(axes(np.array([weights]).T, np.array([widest]).T)[0]) if box else 0

    def refutation(self, points: Sequence[Sequence[Fraction]]) -> tuple[Point, float] | None:
        """The first of the points that is surely inside and at which the inequality surely fails."""
        for point in points:
            self.deadline.check()
            value = self.enclosures.value_at(point)
            fails = value <= 0 if self.inequality.strict else value < 0
            if fails and self.enclosures.inside(point) and self.enclosures.defined_at(point):
                return dict(zip(self.enclosures.coordinates, point, strict=True)), float_above(value)
        return None

    def meets_undefined(self, box: Box, points: Sequence[Sequence[Fraction]]) -> bool:
        """Whether the expression is surely undefined at one of these points, at the simplest one of the box, or in it.

        Then no search can prove the inequality; `undefined` is the reason.
        """
        if not self.enclosures.domain:
            return False
        for point in (*points, tuple(simplest(low, high) for low, high in box)):
            self.deadline.check()
            if (failing := self.enclosures.undefined_at(point)) is not None:
                at = ", ".join(f"{s} = {x}" for s, x in zip(self.enclosures.coordinates, point, strict=True))
                self.undefined = f"it is undefined at {at}: it requires {failing.words}"
                return True
        if (failing := self.enclosures.undefined_in(Cell(box))) is not None:
            self.undefined = (
                f"it is undefined somewhere in {box_text(self.inequality, box)}: it requires {failing.words}"
            )
        return bool(self.undefined)


def middle_of(box: Box) -> tuple[Fraction, ...]:
    return tuple((low + high) / 2 for low, high in box)


def corners_of(box: Box) -> list[tuple[Fraction, ...]]:
    """The first of the corners, and the middle."""
    return [*itertools.islice(itertools.product(*box), MOST_CORNERS), middle_of(box)]


def simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction of the least denominator in [low, high]: poles are often at such."""
    if low <= 0 <= high:
        return Fraction(0)
    if high < 0:
        return -simplest(-high, -low)
    whole = -(-low.numerator // low.denominator)
    if whole <= high:
        return Fraction(whole)
    return whole - 1 + 1 / simplest(1 / (high - whole + 1), 1 / (low - whole + 1))


def _relative(part: Fraction, whole: Fraction) -> float:
    """The share as a float; not 0 for a coordinate that can still be cut, however small."""
    return max(float(part / whole), SMALLEST_NORMAL) if part else 0.0


def _weights(box: Box, slopes: Sequence[Arb]) -> list[float]:
    """How much each coordinate can change the function: |slope| width, as shares; where one is unknown, only those."""
    reach = [
        float((abs(slope).upper() * rational(high - low)).upper())
        for (low, high), slope in zip(box, slopes, strict=True)
    ]
    reach = [r if r == r else inf for r in reach]
    if any(r == inf for r in reach):
        return [float(high > low) if r == inf else 0.0 for r, (low, high) in zip(reach, box, strict=True)]
    total = sum(reach)
    return [r / total for r in reach] if total > 0 else reach
