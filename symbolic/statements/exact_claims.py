"""Printed statements about numbers that exact rationals decide: checked at a point, refuted by a small search."""

import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from symbolic.derivations.exact_numbers import as_rational
from symbolic.words.errors import UsageError
from symbolic.words.shown import brief

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
    small vectors to search, in order of preference. An int, a Fraction or a float is the rational number that it is.

    Raises UsageError for a relation that is none of =, <=, >=, <, >, for a grid that holds other things than vectors of
    rationals or no point that meets the premises, and for sides that are no two rationals.
    """

    name: str
    relation: str
    sides: Callable[[Point], tuple[Any, Any]]
    premises: Callable[[Point], list[str]]
    grid: Mapping[str, tuple[tuple[Any, ...], ...]]  # kept as rationals
    setting: str = ""  # what is fixed beside the point's letters

    __repr__ = brief

    def __post_init__(self) -> None:
        if not isinstance(self.relation, str) or self.relation not in RELATIONS:
            known = ", ".join(RELATIONS)
            raise UsageError(
                f"ExactClaim '{self.name}': relation {self.relation!r} is not known; choose one of {known}"
            )
        for name in ("sides", "premises"):
            if not callable(getattr(self, name)):
                raise UsageError(f"ExactClaim '{self.name}': {name} = {getattr(self, name)!r:.80}; give a function")
        object.__setattr__(self, "grid", self._rational_grid())
        if next(self.points(), None) is None:
            raise UsageError(f"ExactClaim '{self.name}': no point of the grid meets the premises; add one that does")

    def holds(self, point: Point) -> bool:
        """Whether the claim is true there, by exact arithmetic."""
        return bool(RELATIONS[self.relation](*self.both(point)))

    def both(self, point: Point) -> tuple[sp.Rational, sp.Rational]:
        """Left and right at a point. Raises UsageError where they are no two rationals."""
        call = f"ExactClaim '{self.name}'"
        if not isinstance(point, Mapping) or not self.grid.keys() <= point.keys():
            raise UsageError(f"{call}: the point {point!r:.80}; give a vector of each letter, {', '.join(self.grid)}")
        found = self.sides(point)
        if not isinstance(found, Sequence) or isinstance(found, str) or len(found) != 2:
            raise UsageError(f"{call}: sides give {found!r:.80}; give the pair (left, right)")
        left, right = found
        return as_rational(call, "the left side", left), as_rational(call, "the right side", right)

    def missed(self, point: Point) -> list[str]:
        """The premises that the point misses, in words."""
        found: Any = self.premises(point) or ()
        if not isinstance(found, Iterable):
            raise UsageError(f"ExactClaim '{self.name}': premises give {found!r:.80}; give what is missed, in words")
        return [found] if isinstance(found, str) else list(found)

    def points(self) -> Iterator[dict[str, Numbers]]:
        """The points of the grid that meet the premises."""
        for values in itertools.product(*self.grid.values()):
            point = dict(zip(self.grid, values, strict=True))
            if not self.missed(point):
                yield point

    def _rational_grid(self) -> dict[str, tuple[Numbers, ...]]:
        call, advice = f"ExactClaim '{self.name}'", "give vectors of rationals by letter, such as {'x': ((1,), (2,))}"
        grid = self.grid
        if not isinstance(grid, Mapping) or not grid or not all(isinstance(letter, str) for letter in grid):
            raise UsageError(f"{call}: grid = {grid!r:.80}; {advice}")
        for letter, vectors in grid.items():
            if not isinstance(vectors, tuple | list) or not all(isinstance(each, tuple | list) for each in vectors):
                raise UsageError(f"{call}: grid[{letter!r}] = {vectors!r:.80}; {advice}")
        return {
            letter: tuple(tuple(as_rational(call, letter, x) for x in vector) for vector in vectors)
            for letter, vectors in grid.items()
        }

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
