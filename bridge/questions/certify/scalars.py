"""Functions of a box's coordinates, with lower bounds: the natural extension and the mean-value form.

On Arb balls, which are quick, and where they do not suffice on intervals with two ends, which lose less.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import flint
import sympy as sp

from bridge.lowering import lower
from bridge.questions.certify.sizes import check_sizes, replaced
from bridge.questions.certify.tapes import Tape, UnknownNodeError
from numeric.balls import Arb, Ends, rational
from symbolic.derivations.inequalities import Inequality
from symbolic.words.errors import UsageError

Box = tuple[tuple[Fraction, Fraction], ...]  # one interval for each coordinate, in the order of Inequality.box
BITS = 64
SHORT = 40  # nodes of an expression whose slopes are enclosed by ends too


def root_of(inequality: Inequality) -> Box:
    """The whole box."""
    return tuple((Fraction(low), Fraction(high)) for low, high in inequality.box.values())


def volume(box: Box, root: Box) -> Fraction:
    """The volume relative to the root's; coordinates that are fixed do not count."""
    sides = zip(box, root, strict=True)
    return math.prod(((b - a) / (d - c) for (a, b), (c, d) in sides if c < d), start=Fraction(1))


def balls_of(box: Box) -> list[Arb]:
    """The box as balls that contain it."""
    return [rational(low) if low == high else rational(low).union(rational(high)) for low, high in box]


@dataclass(frozen=True, eq=False)
class Cell:
    """A box with its balls, which every form uses."""

    box: Box

    @cached_property
    def balls(self) -> list[Arb]:
        return balls_of(self.box)

    @cached_property
    def ends(self) -> list[Ends]:
        return [Ends.around(low, high) for low, high in self.box]


@dataclass(frozen=True)
class Scalar:
    """A function of the box's coordinates, with its gradient where SymPy has one that encloses its differences."""

    expression: sp.Expr
    symbols: tuple[sp.Symbol, ...]
    bits: int

    @cached_property
    def value(self) -> Any:
        return lower(self.expression, "arb", args=self.symbols, bits=self.bits)

    # SymPy's derivative will not do: it is simplified, and the one of atan(tan(x)) is 1, across all jumps.
    @cached_property
    def tape(self) -> Tape | None:
        """The nodes of the expression; None where a node has no derivative that encloses its differences."""
        try:
            return Tape(self.expression, self.symbols)
        except UnknownNodeError:
            return None

    def smooth_on(self, balls: Sequence[Arb]) -> bool:
        """Whether every node is an analytic function of those before it on the box: no pole, no kink, no edge."""
        return self.tape is not None and self.tape.analytic and all(b.is_finite() for b in self.tape.derivatives(balls))

    def below(self, cell: Cell) -> Arb:
        """A lower bound by the natural extension; nan if there is none."""
        below = self.value(*cell.balls).lower()
        if below > 0 or self.tape is None:
            return below
        by_ends = Ends.of(self.tape.value(cell.ends)).low  # of a constant it is a ball
        return below if below >= by_ends else by_ends

    def slopes(self, cell: Cell) -> list[Arb] | None:
        """Enclosures of the partial derivatives on the box; None where there are none to be had."""
        if self.tape is None:
            return None
        if len(self.tape.nodes) > SHORT:
            return self.tape.gradient(cell.balls)
        return [slope.ball if isinstance(slope, Ends) else slope for slope in self.tape.gradient(cell.ends)]

    # f(x) = f(c) + sum_i f_i(xi) (x_i - c_i) with xi in the box. Where f_i >= 0 on the box c_i is its lower end, where
    # f_i <= 0 the upper one: those terms are >= 0. Otherwise c_i is the middle, and the term is at least -|f_i| radius.
    def below_by_slopes(self, cell: Cell, slopes: Sequence[Arb]) -> Arb:
        """A lower bound by the mean-value form; nan if there is none."""
        centre, loss = [], flint.arb(0)
        for (low, high), slope in zip(cell.box, slopes, strict=True):
            if low == high or slope >= 0:
                centre.append(rational(low))
            elif slope <= 0:
                centre.append(rational(high))
            else:
                centre.append(rational((low + high) / 2))
                loss += abs(slope).upper() * rational((high - low) / 2)
        return (self.value(*centre) - loss).lower()


def positive(ball: Arb, strict: bool) -> bool:
    """Whether a lower bound proves > 0 (>= 0); nan proves nothing."""
    return bool(ball > 0) if strict else bool(ball >= 0)


def by_slope(scalar: Scalar, cell: Cell, strict: bool) -> bool:
    """Whether the mean-value form shows the function positive (>= 0, unless strict) on the box."""
    slopes = scalar.slopes(cell)
    return slopes is not None and positive(scalar.below_by_slopes(cell, slopes), strict)


def shown(scalar: Scalar, cell: Cell, strict: bool = False) -> bool:
    """Whether either form proves that the function is >= 0 on the box, or > 0 if strict."""
    return positive(scalar.below(cell), strict) or by_slope(scalar, cell, strict)


# Where no slope changes its sign on the box, the function is least at a corner. Its exact value there counts: a ball
# around 1/3 - x at x = 1/3 contains negative numbers.
def least_at_corner(scalar: Scalar, cell: Cell) -> bool:
    """Whether the function is least at a corner of the box, and a rational number >= 0 there."""
    slopes = scalar.slopes(cell)
    if slopes is None or not all(a == b or s >= 0 or s <= 0 for (a, b), s in zip(cell.box, slopes, strict=True)):
        return False
    corner = [a if a == b or s >= 0 else b for (a, b), s in zip(cell.box, slopes, strict=True)]
    if not scalar.value(*map(rational, corner)).contains(0):
        return False
    at = {symbol: sp.Rational(x.numerator, x.denominator) for symbol, x in zip(scalar.symbols, corner, strict=True)}
    try:
        check_sizes(replaced(scalar.expression, at), "a corner")
    except UsageError:
        return False
    value = scalar.expression.xreplace(at)
    return bool(value.is_Rational and value >= 0)
