"""Printed statements about numbers that exact rationals decide: checked at a point, refuted by a small search."""

import itertools
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import sympy as sp

from symbolic.statements import UsageError

Numbers = tuple[sp.Rational, ...]
Point = Mapping[str, Numbers]  # the statement's letters, each a vector of rationals (a number is one of length 1)

RELATIONS: dict[str, Callable[[sp.Rational, sp.Rational], bool]] = {
    "=": operator.eq,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}


@dataclass(frozen=True)
class ExactClaim:
    """left `relation` right at every point that meets the premises, as printed.

    `sides` gives left and right exactly, of a point: vectors of rationals by the statement's letters (a number is one
    of length 1). `premises` says in words which of the statement's premises a point misses. `grid` holds, by letter,
    small vectors to search, in order of preference.

    Raises UsageError for a relation that is none of =, <=, >=, <, >, and for a grid without points that meet the
    premises.
    """

    name: str
    relation: str
    sides: Callable[[Point], tuple[sp.Rational, sp.Rational]]
    premises: Callable[[Point], list[str]]
    grid: Mapping[str, tuple[Numbers, ...]]
    setting: str = ""  # what is fixed beside the point's letters

    def __post_init__(self) -> None:
        if self.relation not in RELATIONS:
            known = ", ".join(RELATIONS)
            raise UsageError(
                f"ExactClaim '{self.name}': relation {self.relation!r} is not known; choose one of {known}"
            )
        if next(self.points(), None) is None:
            raise UsageError(f"ExactClaim '{self.name}': no point of the grid meets the premises; add one that does")

    def holds(self, point: Point) -> bool:
        """Whether the claim is true there, by exact arithmetic."""
        return bool(RELATIONS[self.relation](*self.sides(point)))

    def points(self) -> Iterator[dict[str, Numbers]]:
        """The points of the grid that meet the premises."""
        for values in itertools.product(*self.grid.values()):
            point = dict(zip(self.grid, values, strict=True))
            if not self.premises(point):
                yield point

    def refutation(self) -> dict[str, Numbers] | None:
        """The first point of the grid at which the claim is false; None if it holds at all of them."""
        return next((point for point in self.points() if not self.holds(point)), None)


def one(point: Point, letter: str) -> sp.Rational:
    """The single number of a letter."""
    (number,) = point[letter]
    return number


def numbers(*values: object) -> tuple[Numbers, ...]:
    """A grid of single numbers."""
    return tuple((sp.Rational(value),) for value in values)
