"""Conditions for an expression to be defined, shown on boxes, or shown to fail at a point or in a box."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from bridge.questions.certify.definedness import DomainCondition, Relation
from bridge.questions.certify.scalars import Cell, Scalar, least_at_corner, shown
from numeric.balls import rational


@dataclass(frozen=True)
class Requirement:
    """A condition for an expression to be defined, as a function of the coordinates, and its negative."""

    condition: DomainCondition
    scalar: Scalar
    opposite: Scalar

    def holds_on(self, cell: Cell) -> bool:
        """Whether it is shown to hold throughout."""
        relation = self.condition.relation
        if relation is Relation.NEVER:
            return False
        if relation is Relation.NONNEGATIVE:
            return shown(self.scalar, cell) or least_at_corner(self.scalar, cell)
        if shown(self.scalar, cell, strict=True):
            return True
        if relation is Relation.NONZERO:
            return shown(self.opposite, cell, strict=True)
        ball = self.scalar.value(*cell.balls)
        return relation is Relation.NO_POLE and bool(ball.is_finite()) and not ball.contains_integer()

    def fails_at(self, point: Sequence[Fraction]) -> bool:
        """Whether it surely fails at a point of exact numbers."""
        relation = self.condition.relation
        if relation is Relation.NEVER:
            return True
        ball = self.scalar.value(*map(rational, point))
        if relation is Relation.POSITIVE:
            return bool(ball <= 0)
        if relation is Relation.NONNEGATIVE:
            return bool(ball < 0)
        exact = bool(ball.is_exact() and ball.is_integer())
        return exact and bool(ball == 0 if relation is Relation.NONZERO else ball <= 0)

    # The intermediate value theorem: where every node of the expression has finite slopes it is continuous.
    def fails_somewhere(self, cell: Cell) -> bool:
        """Whether an expression that must not be 0 surely takes both signs on the box."""
        if self.condition.relation is not Relation.NONZERO or self.scalar.tape is None:
            return False
        ends = [self.scalar.value(*map(rational, corner)) for corner in zip(*cell.box, strict=True)]
        if not (any(end > 0 for end in ends) and any(end < 0 for end in ends)):
            return False
        return all(slope.is_finite() for slope in self.scalar.tape.derivatives(cell.balls))
