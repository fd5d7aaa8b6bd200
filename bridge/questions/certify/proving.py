"""`prove`: an inequality on a box, proved, refuted with a point, or left undecided with the boxes that are open.

Branch and bound: a box on which no form proves the inequality is cut across the coordinate that the bound depends on
most, worst box first. The tree of cuts is the certificate; `bridge.questions.certify.checking` goes through it again.

The time limit can be reached in the middle of a step. A box is therefore marked, or cut, by a single assignment after
the proof is complete, so that the tree is correct at any moment.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from heapq import nlargest
from html import escape
from itertools import islice, product

import sympy as sp

from bridge.lowering.ball_values import SMALLEST_NORMAL
from bridge.lowering.branch_and_bound import best_first, cut_across
from bridge.questions.certify.deadline import Deadline, OutOfTime, checked_seconds
from bridge.questions.certify.explaining import outcome_text
from bridge.questions.certify.forms import Enclosures
from bridge.questions.certify.scalars import Box, Cell, positive, shown, volume
from bridge.questions.certify.search import likely_lowest
from bridge.questions.certify.words import box_text
from numeric.balls import Arb, float_above, rational, working_precision
from symbolic.derivations.inequalities import Inequality

Point = dict[sp.Symbol, Fraction]
LOOK = 64  # boxes between two reports
INWARDS = 1024  # the share of the way to the middle
MOST_CORNERS = 64  # of the whole box, at which it is looked whether the expression is defined
KEPT_BOXES = 20  # of those that are left open
MOST_CUTS = 4_000  # of one box: from a range of 10^1000 down to what balls cannot separate


class Status(StrEnum):
    PROVED = "proved"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Split:
    """An inner node: the box is cut across coordinate `axis` at `at`; first the lower part, then the upper."""

    axis: int
    at: Fraction


@dataclass(frozen=True)
class Leaf:
    """A box that is done: how the inequality was shown there.

    `by` is "range" (the natural extension), "slope" (mean-value form), "hessian" (second derivatives in the vanishing
    coordinates), "form" (the quadratic form of the inequality), "outside k" (the k-th condition of `where` is negative
    throughout), or "open".
    """

    by: str


Node = Split | Leaf


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run of `prove`.

    `nodes` is the tree of boxes in preorder. `point` and `value` (an upper bound of the expression there) refute.
    `open_count` boxes are left, and `open_boxes` are the largest of them; `share` is the part of the box's volume that
    was settled. `reason` states why an undecided run ended. `print` shows all that, and of an undecided run what is in
    the way of a proof.
    """

    inequality: Inequality
    status: Status
    nodes: tuple[Node, ...] = field(default=(), repr=False)
    point: Point = field(default_factory=dict)
    value: float | None = None
    open_boxes: tuple[Box, ...] = field(default=(), repr=False)
    open_count: int = 0
    share: float = 0.0
    seconds: float = 0.0
    reason: str = ""

    @property
    def boxes(self) -> int:
        """How many boxes the root was cut into."""
        return sum(isinstance(node, Leaf) for node in self.nodes)

    @property
    def words(self) -> str:
        """The inequality by name, its status and, if it is proved, on how many boxes."""
        words = f"{self.inequality.name} {self.status.value}"
        count = f"{self.boxes} box{'' if self.boxes == 1 else 'es'}"
        return f"{words} on {count}" if self.status is Status.PROVED else words

    def __str__(self) -> str:
        return outcome_text(self)

    def _repr_html_(self) -> str:
        return "<br>\n".join(map(escape, str(self).splitlines()))


def prove(
    inequality: Inequality,
    *,
    seconds: float = 60.0,
    most_boxes: int = 1_000_000,
    progress: Callable[[int, float], None] | None = None,
    keep_on_interrupt: bool = False,
    deadline: Deadline | None = None,
) -> Outcome:
    """Prove `inequality` by branch and bound over Arb balls, in at most about `seconds` and `most_boxes` boxes.

    A running `deadline` replaces `seconds`. When the time limit is reached the outcome is undecided, with the reason.

    "proved" means that the expression, as it was given, is a real number at every point of the region, and >= 0 (> 0).
    "refuted" gives a point of exact rationals at which it is defined and surely negative (not positive, if strict).
    One that is undefined somewhere and not refuted is undecided, with the reason.

    `progress` receives the number of boxes and the share settled. With `keep_on_interrupt`, Ctrl-C ends the search like
    the time limit: the result so far is kept, and the caller must detect the interruption itself.
    """
    deadline = deadline or Deadline(checked_seconds("prove", seconds))
    return _Search(inequality, deadline, most_boxes, progress or (lambda boxes, share: None)).run(keep_on_interrupt)


class _Part:
    """A box of the tree, `cuts` cuts below the root."""

    def __init__(self, box: Box, cuts: int = 0) -> None:
        self.box, self.cuts = box, cuts
        self.cut: tuple[Split, _Part, _Part] | None = None
        self.by = "open"

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


class _Search:
    def __init__(
        self, inequality: Inequality, deadline: Deadline, most_boxes: int, progress: Callable[[int, float], None]
    ) -> None:
        self.inequality, self.enclosures = inequality, Enclosures(inequality)
        self.deadline, self.most_boxes, self.progress = deadline, most_boxes, progress
        self.widths = [high - low for low, high in self.enclosures.root]
        self.settled = Fraction(0)
        self.stage = self.undefined = ""

    def run(self, keep_on_interrupt: bool) -> Outcome:
        root, refuted, reason = _Part(self.enclosures.root), None, ""
        try:
            with self.deadline.interrupting(), working_precision(self.enclosures.bits):
                refuted = self._decide(root)
            reason = self.undefined
        except OutOfTime:
            reason = f"the time limit of {self.deadline.seconds:g} s was reached while {self.stage}"
        except KeyboardInterrupt:
            if not keep_on_interrupt:
                raise
            reason = f"interrupted while {self.stage}"
        return self._outcome(root, refuted, reason)

    def _decide(self, root: _Part) -> tuple[Point, float] | None:
        self.stage = "a likely minimum was searched for"
        self.deadline.check()
        lowest = likely_lowest(self.inequality, check=self.deadline.check)
        self.stage = "boxes were proved"
        if self.enclosures.domain:  # the lowest may be at its edge, where the expression is undefined
            middle = self._middle(root.box)
            lowest += [tuple(x + (y - x) / INWARDS for x, y in zip(at, middle, strict=True)) for at in lowest]
        refuted = self._refutation(lowest)
        if refuted is None and not self._meets_undefined(root.box, corners_of(root.box)):
            return self._search(root)
        return refuted

    def _outcome(self, root: _Part, refuted: tuple[Point, float] | None, reason: str) -> Outcome:
        nodes = tuple(part.node() for part in root.preorder())
        open_boxes = [part.box for part in root.preorder() if part.cut is None and part.by == "open"]
        point, value = refuted or ({}, None)
        status = Status.REFUTED if refuted else Status.UNDECIDED if open_boxes else Status.PROVED
        return Outcome(
            self.inequality,
            status,
            nodes,
            point,
            value,
            tuple(nlargest(KEPT_BOXES, open_boxes, key=lambda box: volume(box, self.enclosures.root))),
            len(open_boxes),
            float(self.settled),
            self.deadline.spent,
            reason if status is Status.UNDECIDED else "",
        )

    def _search(self, root: _Part) -> tuple[Point, float] | None:
        """Prove the boxes one by one, the worst first; a point that refutes ends it."""
        count, refuted = 1, None

        def enough(_: float, look: tuple[_Part, _Look]) -> bool:
            nonlocal refuted
            if count % LOOK == 0:
                self.progress(count, float(self.settled))
            self.deadline.check()
            if count >= self.most_boxes:
                return True
            box = look[0].box
            refuted = self._refutation([self._middle(box)])
            return refuted is not None or self._meets_undefined(box, [self._middle(box)])

        def halves(look: tuple[_Part, _Look]) -> Iterator[tuple[float, tuple[_Part, _Look]]]:
            """Those that are not proved; none of a point, or of what is as small as one: it stays open."""
            nonlocal count
            parts = self._cut(look[0], look[1].weights)
            count += parts is not None
            yield from self._open(parts or ())

        best_first(self._open([root]), halves, enough)
        if refuted is None and count < self.most_boxes:
            self.progress(count, float(self.settled))
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

    @staticmethod
    def _middle(box: Box) -> tuple[Fraction, ...]:
        return tuple((low + high) / 2 for low, high in box)

    def _refutation(self, points: Sequence[Sequence[Fraction]]) -> tuple[Point, float] | None:
        """The first of the points that is surely inside and at which the inequality surely fails."""
        for point in points:
            self.deadline.check()
            value = self.enclosures.value_at(point)
            fails = value <= 0 if self.inequality.strict else value < 0
            if fails and self.enclosures.inside(point) and self.enclosures.defined_at(point):
                return dict(zip(self.enclosures.coordinates, point, strict=True)), float_above(value)
        return None

    def _meets_undefined(self, box: Box, points: Sequence[Sequence[Fraction]]) -> bool:
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


def corners_of(box: Box) -> list[tuple[Fraction, ...]]:
    """The first of the corners, and the middle."""
    middle = tuple((low + high) / 2 for low, high in box)
    return [*islice(product(*box), MOST_CORNERS), middle]


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
