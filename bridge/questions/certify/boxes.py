"""Branch and bound: boxes cut until a form proves the inequality on each, the worst box first.

The time limit can be reached in the middle of a step. A box is therefore marked, or cut, by a single assignment after
the proof is complete, so that the tree is correct at any moment.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product

import sympy as sp

from bridge.lowering.ball_values import SMALLEST_NORMAL
from bridge.lowering.branch_and_bound import best_first, cut_across
from bridge.questions.certify.deadline import Deadline
from bridge.questions.certify.forms import Enclosures
from bridge.questions.certify.nodes import MOST_CUTS, OPEN, Leaf, Node, Split
from bridge.questions.certify.scalars import Box, Cell, positive, shown, volume
from bridge.questions.certify.words import box_text
from numeric.balls import Arb, float_above, rational

Point = dict[sp.Symbol, Fraction]
LOOK = 64  # boxes between two reports
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


@dataclass(frozen=True)
class _Look:
    """The lower bound of the expression on an open box, and how much each coordinate matters."""

    below: float
    weights: list[float]


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
        self._waiting: list[tuple[float, tuple[_Part, _Look]]] | None = None

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
        left = [part.box for part in self.root.preorder() if part.cut is None and part.by == OPEN]
        return sorted(left, key=lambda box: volume(box, self.enclosures.root), reverse=True)

    def search(self, most_boxes: int) -> tuple[Point, float] | None:
        """Prove the boxes one by one, the worst first; a point that refutes ends it."""
        refuted = None

        def enough(_: float, look: tuple[_Part, _Look]) -> bool:
            nonlocal refuted
            if self.count % LOOK == 0:
                self.progress(self.count, float(self.settled))
            self.deadline.check()
            if self.count >= most_boxes:
                return True
            box = look[0].box
            refuted = self.refutation([middle_of(box)])
            return refuted is not None or self.meets_undefined(box, [middle_of(box)])

        def halves(look: tuple[_Part, _Look]) -> Iterator[tuple[float, tuple[_Part, _Look]]]:
            """Those that are not proved; none of a point, or of what is as small as one: it stays open."""
            parts = self._cut(look[0], look[1].weights)
            self.count += parts is not None
            yield from self._open(parts or ())

        start = list(self._open([self.root])) if self._waiting is None else self._waiting
        self._waiting = best_first(start, halves, enough).parts
        if refuted is None and self.count < most_boxes:
            self.progress(self.count, float(self.settled))
        return refuted

    def _open(self, parts: Sequence[_Part]) -> "Iterator[tuple[float, tuple[_Part, _Look]]]":
        """The parts that no form proves, by the lower bound of the expression there."""
        for part in parts:
            look = self._prove(part)
            if look is not None:
                yield look.below, (part, look)

    def _prove(self, part: _Part) -> _Look | None:
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
            return _Look(-float("inf"), [0.0] * len(part.box))
        self.deadline.check()
        if self.inequality.vanishing and self.enclosures.shown_on(cell, "hessian"):
            return self._settle(part, "hessian")
        if self.inequality.form is not None and not strict:
            failing = [minor for minor in self.enclosures.minors if not shown(minor, cell)]
            if not failing:
                return self._settle(part, "form")
            known = [slopes for minor in failing if (slopes := minor.slopes(cell)) is not None]
            weights = _added(weights, *(_weights(part.box, slopes) for slopes in known))
        return _Look(max((float(b) for b in bounds if b.is_finite()), default=-float("inf")), weights)

    def _settle(self, part: _Part, by: str) -> _Look | None:
        """Nothing is left to look at."""
        part.by = by
        self.settled += volume(part.box, self.enclosures.root)
        return None

    def _cut(self, part: _Part, weights: list[float]) -> "tuple[_Part, _Part] | None":
        """The two halves across the coordinate that matters most; across the relatively widest if none is known to."""
        widest = [_relative(high - low, width) for (low, high), width in zip(part.box, self.widths, strict=True)]
        if max(widest) == 0.0 or part.cuts == MOST_CUTS:
            return None
        # A coordinate is not cut a thousandfold while another is whole: its weight may be all overestimation.
        known = sum(weights) > 0.0 and all(w < float("inf") for w in weights)
        key = [w * x**0.25 for w, x in zip(weights, widest, strict=True)] if known else widest
        axis = max(range(len(key)), key=lambda i: (key[i], widest[i]))
        low, high = part.box[axis]
        if low == high:
            axis = max(range(len(key)), key=lambda i: widest[i])
            low, high = part.box[axis]
        at = (low + high) / 2
        lower, upper = (_Part(box, part.cuts + 1) for box in cut_across(part.box, axis, at))
        part.cut = Split(axis, at), lower, upper
        return lower, upper

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
    return [*islice(product(*box), MOST_CORNERS), middle_of(box)]


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
    reach = [r if r == r else float("inf") for r in reach]
    if any(r == float("inf") for r in reach):
        return [float(high > low) if r == float("inf") else 0.0 for r, (low, high) in zip(reach, box, strict=True)]
    total = sum(reach)
    return [r / total for r in reach] if total > 0 else reach


def _added(*many: Sequence[float]) -> list[float]:
    return [sum(each) for each in zip(*many, strict=True)]
