"""Checks: rows that are not the error of a network. Two sides, their relation, and the inputs at which they are judged.

A lower bound, an identity, a limit, a proof, a count, an erratum: the theorem gives the sides, the engine the verdict,
the witness and its replay.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import flint
import sympy as sp
import torch

from bridge.lowering.ball_values import BASE_BITS, as_exact
from numeric.balls import BallArray, float_above, rational, working_precision
from numeric.balls.floats import ball_of_entry, floats_enclosed
from numeric.balls.limits import TooLargeForExact
from symbolic.statements.landau import Constant
from symbolic.statements.result import Quantity, Result
from symbolic.words.prose import make_prose
from symbolic.words.shown import brief

PROVABLE = ("printed", "derived", "instance")
Number = Any  # int, float, Fraction, SymPy number or ball
Points = Mapping[str, Any] | Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class OverSeeds:
    """Values of a statistic over independent seeds, and a confidence interval of its centre.

    With probability at most level/2 each, `low` is above it and `high` is below it; `centre` says what it is, and
    `assumption` under what the level holds.
    """

    values: tuple[float, ...]
    low: float
    high: float
    level: float
    centre: str
    assumption: str


@dataclass(frozen=True)
class Sides:
    """What was found at some inputs, and what bounds it there.

    `found` is the quantity itself, a ball where it is enclosed (`within`, `at_most` for a run in floats); None if
    nothing was run. The row shows it, or the float `measured` where that is given, or the float `attacked` of a search.
    A bound that is left out is the quantity's own formula, if it has one, at the parameters and at `letters`, which
    only these inputs give. `rounding` is how far a float run is from `found` (0 for a count): the row then shows both.
    Two sides that differ by no more than Python may have rounded in one that is a float refute nothing: Fractions and
    balls are exact.

    `proved` names the tiers that a proof covers beyond these inputs; a bound that follows from one of them is proved as
    well, and one that `found` contradicts is undecided. `computed` names those that a computation supports without a
    proof (a rate is consistent then). `over_seeds`: `found` is the centre of values over seeds, and its interval judges
    the bounds. `outside` names the hypothesis that does not hold at these inputs, by tier if it is one of a single
    bound, `excuse` one whose failure matters only to a bound that fails too: one that is kept is called kept.
    `samples` is how many random inputs were run for it.

    A printed Landau symbol is decided by `limit`, that of the quantity over the printed expression along a path (nan:
    not known), where `found` and `derived`, if both are given, agree at its end (within AGREEMENT). `printed` is then
    the expression with all constants 1. `at` are the parameters where the numbers stand, if others than those of the
    run: the end of the path, say. Or the symbol is consistent by a `constant` (symbolic/statements/landau.py) with
    which it holds for the derived count over a whole range, where the count is right here. Without a limit or a
    constant a rate inside a symbol is not judged, and any other number inside one is shown and undecided.
    """

    found: Number | None = None
    measured: float | None = None
    attacked: float | None = None
    printed: Number | None = None
    derived: Number | None = None
    instance: Number | None = None
    rounding: float | None = None
    proved: tuple[str, ...] = ()
    computed: tuple[str, ...] = ()
    letters: Mapping[sp.Symbol, Number] = field(default_factory=dict)
    limit: sp.Expr | None = None
    outside: str | Mapping[str, str] = ""
    excuse: str = ""
    at: Mapping[str, Any] = field(default_factory=dict)
    remark: str = ""
    samples: int | None = None
    constant: Constant | None = None
    over_seeds: OverSeeds | None = None

    __repr__ = brief

    def __post_init__(self) -> None:
        make_prose(self, "outside", "excuse", "remark", checked=False)
        unknown = [tier for tier in (*self.proved, *self.computed, *self.outside_of) if tier not in PROVABLE]
        if unknown:
            raise ValueError(f"Sides: {', '.join(unknown)} is not a tier; the tiers are {', '.join(PROVABLE)}")

    @property
    def outside_of(self) -> Mapping[str, str]:
        """The hypothesis of each bound that alone does not hold."""
        return {} if isinstance(self.outside, str) else self.outside

    @property
    def outside_all(self) -> str:
        """The hypothesis of all bounds that does not hold, or ""."""
        return self.outside if isinstance(self.outside, str) else ""


@dataclass(frozen=True)
class Check:
    """A quantity whose sides are computed at `inputs`, by name: arrays, or a function of parameters that gives them.

    Such a function may take settings of the run too, to draw them.

    `sides` takes parameters, weights and these inputs by name (all of them as one mapping: `inputs`), and of the run
    `samples`, `attack`, `restarts`, `seed`, `dtype` and `device` (the last two by their names); what no function of a
    theorem takes has no effect on it. Several inputs in a list give a row each. An input with the name of a parameter,
    one number, replaces it: where the two differ, the row stands at no point of the grid. A number (no array) with the
    name of another letter of the statement gives it.

    Where a condition of the quantity on parameters fails there is neither the quantity nor its row. `params` are
    parameters of its own, for a check that does not depend on those of the comparison (an erratum at a point); it is
    then judged once, with one sample, no attack and seed 0; those that it leaves out have their defaults, the first of
    a grid.

    Several checks of one quantity (along several paths, for several choices) are told apart by their `construction`, in
    words, which their rows and the names of their witnesses show.
    """

    quantity: Quantity
    sides: Callable[..., Sides]
    inputs: Points | Callable[..., Points] = field(default_factory=dict)
    params: Mapping[str, Any] | None = None
    construction: str = ""

    __repr__ = brief

    @property
    def name(self) -> str:
        return f"{self.quantity.name} ({self.construction})" if self.construction else self.quantity.name


def checks_of(
    statement: Result, sides: Mapping[str, Callable[..., Sides]], points: Mapping[str, Any] = MappingProxyType({})
) -> tuple[Check, ...]:
    """Checks of quantities of the statement, by name: their sides, and the points of those that have some."""
    return tuple(Check(statement.quantity(name), each, points.get(name, {})) for name, each in sides.items())


def sides_at(number: Callable[..., Any], *inputs: torch.Tensor, bits: int = 192) -> Sides:
    """A number of these inputs, by a function that runs on tensors and on balls: as floats give it, and exactly.

    The float alone where balls are too much work.
    """
    measured = float(number(*inputs))
    try:
        with working_precision(bits):
            exact = number(*(BallArray.exactly(each, bits) for each in inputs)).balls[0]
            return Sides(exact, measured, rounding=float_above(abs(exact - flint.arb(measured))))
    except TooLargeForExact:
        return Sides(measured=measured, remark="too large for exact arithmetic")


def as_ball(number: Number) -> flint.arb:
    """An enclosure of the number: ints and floats exactly, a Fraction to many more bits than a float has."""
    if isinstance(number, flint.arb):
        return number
    exact = as_exact(number)
    if isinstance(exact, int):
        return flint.arb(exact)
    with working_precision(BASE_BITS):
        return rational(exact)


def enclosed(number: Number) -> flint.arb:
    """The same, where a float stands for all numbers that Python may have rounded to it."""
    if not isinstance(number, float):
        return as_ball(number)
    with working_precision(BASE_BITS), floats_enclosed():
        return ball_of_entry(number)


def within(number: float, accuracy: float) -> flint.arb:
    """What a run in floats gives, true to an absolute accuracy."""
    return flint.arb(number, accuracy)


def at_most(number: float, accuracy: float) -> flint.arb:
    """A least value >= 0 of which a search found this one, true to a relative accuracy."""
    return flint.arb(0).union(flint.arb(number) * (1 + flint.arb(accuracy)))
