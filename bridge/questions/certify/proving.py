"""`prove`: an inequality on a box, proved, refuted with a point, or left undecided with the boxes that are open.

A point at which it fails is looked for first; then a few boxes are tried, then steps (`finding` beside it), then boxes
as long as time is left. The tree of cuts and steps is the certificate; `checking` goes through it again.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape

from bridge.questions.certify.boxes import BoxSearch, Point, corners_of, middle_of
from bridge.questions.certify.deadline import Deadline, OutOfTime, checked_seconds
from bridge.questions.certify.explaining import outcome_text
from bridge.questions.certify.finding import found_by_steps
from bridge.questions.certify.forms import Enclosures
from bridge.questions.certify.nodes import Leaf, Node, Split, Status, boxes_in
from bridge.questions.certify.scalars import Box
from bridge.questions.certify.search import likely_lowest
from numeric.balls import working_precision
from symbolic.derivations.inequalities import Inequality

__all__ = ["Leaf", "Outcome", "Split", "Status", "prove"]

INWARDS = 1024  # the share of the way to the middle
KEPT_BOXES = 20  # of those that are left open
FEW = 96  # boxes, before steps are looked for


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
        """How many boxes the root was cut into; those of steps, and the steps themselves, count too."""
        return boxes_in(self.nodes)

    @property
    def words(self) -> str:
        """The inequality by name, its status and, if it is proved, on how many boxes."""
        words = f"{self.inequality.name} {self.status.value}"
        count = f"{self.boxes} box{'' if self.boxes == 1 else 'es'}"
        return f"{words} on {count}" if self.status is Status.PROVED else words

    def __str__(self) -> str:
        return outcome_text(self)

    def __repr__(self) -> str:
        return f"<Outcome: {self.words}>"

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
    boxes_alone: bool = False,
) -> Outcome:
    """Prove `inequality` by steps, and by branch and bound, in at most about `seconds` and `most_boxes` boxes.

    With `boxes_alone` no steps are looked for.

    A running `deadline` replaces `seconds`. When the time limit is reached the outcome is undecided, with the reason.

    "proved" means that the expression, as it was given, is a real number at every point of the region, and >= 0 (> 0).
    "refuted" gives a point of exact rationals at which it is defined and surely negative (not positive, if strict).
    One that is undefined somewhere and not refuted is undecided, with the reason.

    `progress` receives the number of boxes and the share settled. With `keep_on_interrupt`, Ctrl-C ends the search like
    the time limit: the result so far is kept, and the caller must detect the interruption itself.
    """
    deadline = deadline or Deadline(checked_seconds("prove", seconds))
    heard = progress or (lambda boxes, share: None)
    return _Proving(inequality, deadline, most_boxes, heard, boxes_alone).run(keep_on_interrupt)


class _Proving:
    def __init__(
        self,
        inequality: Inequality,
        deadline: Deadline,
        most_boxes: int,
        progress: Callable[[int, float], None],
        boxes_alone: bool,
    ) -> None:
        self.boxes_alone = boxes_alone
        self.inequality, self.enclosures = inequality, Enclosures(inequality)
        self.deadline, self.most_boxes = deadline, most_boxes
        self.boxes = BoxSearch(self.enclosures, deadline, progress)
        self.by_steps: tuple[Node, ...] = ()
        self.stage = ""

    def run(self, keep_on_interrupt: bool) -> Outcome:
        refuted, reason = None, ""
        try:
            with self.deadline.interrupting(), working_precision(self.enclosures.bits):
                refuted = self._decide()
            reason = self.boxes.undefined
        except OutOfTime:
            reason = f"the time limit of {self.deadline.seconds:g} s was reached while {self.stage}"
        except KeyboardInterrupt:
            if not keep_on_interrupt:
                raise
            reason = f"interrupted while {self.stage}"
        return self._outcome(refuted, reason)

    def _decide(self) -> tuple[Point, float] | None:
        self.stage = "a likely minimum was searched for"
        self.deadline.check()
        lowest = likely_lowest(self.inequality, check=self.deadline.check)
        self.stage = "boxes were proved"
        root = self.enclosures.root
        if self.enclosures.domain:  # the lowest may be at its edge, where the expression is undefined
            middle = middle_of(root)
            lowest += [tuple(x + (y - x) / INWARDS for x, y in zip(at, middle, strict=True)) for at in lowest]
        refuted = self.boxes.refutation(lowest)
        if refuted is not None or self.boxes.meets_undefined(root, corners_of(root)):
            return refuted
        refuted = self.boxes.search(min(FEW, self.most_boxes))
        if refuted is None and self.boxes.waiting and not self.boxes.undefined:
            self.stage = "steps were looked for"
            if not self.boxes_alone:
                self.by_steps = found_by_steps(self.enclosures, self.deadline, self.most_boxes)
            self.stage = "boxes were proved"
            if not self.by_steps:
                refuted = self.boxes.search(self.most_boxes)
        return refuted

    def _outcome(self, refuted: tuple[Point, float] | None, reason: str) -> Outcome:
        nodes = self.by_steps or self.boxes.nodes
        open_boxes = [] if self.by_steps else self.boxes.open_boxes
        point, value = refuted or ({}, None)
        status = Status.REFUTED if refuted else Status.UNDECIDED if open_boxes else Status.PROVED
        return Outcome(
            self.inequality,
            status,
            nodes,
            point,
            value,
            tuple(open_boxes[:KEPT_BOXES]),
            len(open_boxes),
            1.0 if self.by_steps else float(self.boxes.settled),
            self.deadline.spent,
            reason if status is Status.UNDECIDED else "",
        )
