"""`prove`: an inequality on a box, proved, refuted with a point, or left undecided with the boxes that are open."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

import sympy as sp

from symbolic.inequalities import Inequality

Box = tuple[tuple[Fraction, Fraction], ...]  # one interval for each coordinate, in the order of Inequality.box
Point = dict[sp.Symbol, Fraction]


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
    coordinates), "outside k" (the k-th condition of `where` is negative throughout), or "open".
    """

    by: str


Node = Split | Leaf


@dataclass(frozen=True)
class Outcome:
    """What a run of `prove` gave.

    `nodes` is the tree of boxes in preorder. `point` and `value` (an upper bound of the expression there) refute.
    `open_boxes` are the boxes left, largest first; `share` is the part of the box's volume that was settled.
    """

    inequality: Inequality
    status: Status
    nodes: tuple[Node, ...] = ()
    point: Point = field(default_factory=dict)
    value: float | None = None
    open_boxes: tuple[Box, ...] = ()
    share: float = 0.0
    seconds: float = 0.0

    @property
    def boxes(self) -> int:
        return sum(isinstance(node, Leaf) for node in self.nodes)


def prove(
    inequality: Inequality,
    *,
    seconds: float = 60.0,
    most_boxes: int = 1_000_000,
    progress: Callable[[int, float], None] | None = None,
) -> Outcome:
    """Prove `inequality` by branch and bound over Arb balls, in at most about `seconds` and `most_boxes` boxes."""
    raise NotImplementedError
