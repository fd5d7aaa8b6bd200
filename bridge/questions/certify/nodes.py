"""The nodes of a proof: a tree of boxes in preorder, whose leaves are done by a form or by a step."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any

from bridge.lowering.branch_and_bound import cut_across
from bridge.questions.certify.goals import ProofGoal
from bridge.questions.certify.scalars import Box
from bridge.questions.certify.steps import ProofStep

MOST_CUTS = 4_000  # of one box: from a range of 10^1000 down to what balls cannot separate
OPEN, EMPTY = "open", "empty"  # of a box that is left, and of a goal without a region


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
    throughout), "empty" (a goal without a region), or "open".
    """

    by: str


@dataclass(frozen=True)
class Reduction:
    """A box that is done by a step: the inequality there follows from the step's children, each with its nodes.

    `goals` are the children as the step gave them when it was found; a check makes them anew.
    """

    step: ProofStep
    trees: tuple[Any, ...]
    goals: tuple[ProofGoal, ...] = field(default=(), compare=False, repr=False)


Node = Split | Leaf | Reduction


def boxes_in(nodes: tuple[Node, ...]) -> int:
    """How many boxes and steps a proof has."""
    total = 0
    for node in nodes:
        total += not isinstance(node, Split)
        if isinstance(node, Reduction):
            total += sum(map(boxes_in, node.trees))
    return total


class TreeError(ValueError):
    """The nodes do not form a tree of boxes. The message gives the fault and the node."""


def boxes_of(root: Box, nodes: Iterable[Node | Callable[[Box], Node]]) -> Iterator[tuple[Box, Node]]:
    """Each node with its box, rebuilt from the root; the leaves cover it by construction. Raises TreeError.

    A node may be a function of its box (for a cut in the middle).
    """
    waiting = [(root, 0)]
    for at, given in enumerate(nodes):
        if not waiting:
            raise TreeError(f"node {at}: the tree is complete before it")
        box, cuts = waiting.pop()
        node = given if isinstance(given, Split | Leaf | Reduction) else given(box)
        if isinstance(node, Split):
            if cuts == MOST_CUTS:
                raise TreeError(f"node {at}: a box is cut more than {MOST_CUTS} times")
            waiting += ((part, cuts + 1) for part in reversed(_cut(box, node, at)))
        yield box, node
    if waiting:
        raise TreeError(f"{len(waiting)} boxes have no node: the tree is truncated")


def _cut(box: Box, split: Split, at: int) -> tuple[Box, Box]:
    if not 0 <= split.axis < len(box):
        raise TreeError(f"node {at}: there is no axis {split.axis}")
    low, high = box[split.axis]
    if not low < split.at < high:
        raise TreeError(f"node {at}: the cut at {split.at} is outside of [{low}, {high}]")
    return cut_across(box, split.axis, split.at)
