"""How far the arguments may lie from 1 before an intermediate result can leave the range of float64.

If the size of each argument, unless it is 0, is between 2^-k and 2^k, then the size of a node, unless it is 0, is
between 2^-(a + b k) and 2^(c + d k): by its parts, from the letters up. A sum of doubles is 0 or as large as the last
place of its smallest term. What `conditioning` watches by its value (exponentials, large powers) counts as 1 here.
"""

from dataclasses import dataclass
from math import inf, log2

import sympy as sp
from sympy.logic.boolalg import Boolean
from sympy.matrices.expressions.matexpr import MatrixElement

from .nodes import Branches, Remembered, is_constant

LARGEST = 1000  # exponent of two that an intermediate result may reach; float64 has 1022
DIGITS = 53.0
NEAREST = 64  # exponent of two of arguments that are not far
LARGEST_POWER = 16  # larger ones are watched by their value
ODD = (sp.sin, sp.tan, sp.tanh, sp.atan, sp.asinh, sp.erf)  # as small as their argument


@dataclass(frozen=True)
class Line:
    """level + slope k."""

    level: float
    slope: float

    def __add__(self, other: "Line") -> "Line":
        return Line(self.level + other.level, self.slope + other.slope)

    def __mul__(self, factor: float) -> "Line":
        return Line(self.level * factor, self.slope * factor)

    def most(self) -> float:
        """The largest k at which it is at most LARGEST."""
        if self.slope <= 0:
            return inf if self.level <= LARGEST else 0.0
        return max(0.0, (LARGEST - self.level) / self.slope)


ZERO = Line(0.0, 0.0)


def highest(lines: list[Line]) -> Line:
    return Line(max(each.level for each in lines), max(each.slope for each in lines)) if lines else ZERO


def total(lines: list[Line]) -> Line:
    found = ZERO
    for each in lines:
        found = found + each
    return found


@dataclass(frozen=True)
class Size:
    """Exponents of two: at most `high`, and at least -`low` unless it is 0."""

    high: Line
    low: Line

    def power(self, exponent: float) -> "Size":
        if exponent >= 0:
            return Size(self.high * exponent, self.low * exponent)
        return Size(self.low * -exponent, self.high * -exponent)


ONE = Size(ZERO, ZERO)


class Magnitudes:
    """`most`: the largest k at which every node inside the expression stays in range."""

    def __init__(self, expr: sp.Basic | sp.MatrixBase) -> None:
        self.most = inf
        self._known = Remembered(self._size)
        for each in expr.flat() if isinstance(expr, sp.MatrixBase) else [expr]:
            self._parts(each)

    @property
    def usable(self) -> float:
        """The same; without limit where it would be within what a computation may well start from.

        That is a recursion through many layers, of a degree that no bound by exponents describes: what leaves the range
        there ends in an infinity.
        """
        return self.most if self.most >= NEAREST else inf

    def _parts(self, node: sp.Basic) -> Size:
        """The size of a node, whose parts are kept in range; itself it may leave it."""
        size: Size = self._known(node)
        return size

    def _kept(self, node: sp.Basic) -> Size:
        size = self._parts(node)
        if node.args and not is_constant(node) and not isinstance(node, MatrixElement):
            self._keep(size.high, size.low)
        return size

    def _keep(self, *lines: Line) -> None:
        self.most = min(self.most, *(each.most() for each in lines))

    def _size(self, node: sp.Basic) -> Size:
        if is_constant(node):
            return _of_number(node)
        if node.is_Symbol or isinstance(node, MatrixElement):
            return Size(Line(0.0, 1.0), Line(0.0, 1.0))
        if node.is_Add:
            return self._sum([self._kept(each) for each in node.args])
        if node.is_Mul:
            return self._product(node)
        if node.is_Pow:
            base, power = node.args
            size = self._kept(base)
            if not (power.is_number and power.is_real and abs(power) <= LARGEST_POWER):
                self._kept(power)
                return ONE
            found = size.power(float(power))
            if power < 0 and power != -1:  # printed as 1 over the power
                self._keep(found.high, found.low)
            return found
        sizes = [self._kept(each) for each in _values(node)]
        if isinstance(node, sp.Max | sp.Min | sp.Abs | Branches):
            return Size(highest([each.high for each in sizes]), highest([each.low for each in sizes]))
        if isinstance(node, sp.floor | sp.ceiling) and sizes:
            return Size(highest([sizes[0].high, ZERO]), ZERO)
        return Size(Line(2.0, 0.0), sizes[0].low + Line(2.0, 0.0)) if isinstance(node, ODD) else ONE

    def _sum(self, sizes: list[Size]) -> Size:
        high, low = highest([each.high for each in sizes]), highest([each.low for each in sizes])
        found = Size(high + Line(log2(len(sizes)), 0.0), low + Line(DIGITS, 0.0))
        if len(sizes) > 2:
            self._keep(found.high)
        return found

    def _product(self, node: sp.Mul) -> Size:
        sizes = [self._kept(each) for each in node.args]
        pairs = list(zip(node.args, sizes, strict=True))
        below = [size.power(-1.0) for each, size in pairs if each.is_Pow and each.exp.could_extract_minus_sign()]
        above = [size for each, size in pairs if not (each.is_Pow and each.exp.could_extract_minus_sign())]
        if len(sizes) > 2 or below:
            for part in (above, below):
                for ends in ([each.high for each in part], [each.low for each in part]):
                    self._keep(total([_positive(each) for each in ends]))
        return Size(total([each.high for each in sizes]), total([each.low for each in sizes]))


def _positive(line: Line) -> Line:
    return Line(max(line.level, 0.0), max(line.slope, 0.0))


def _of_number(number: sp.Expr) -> Size:
    size = abs(number.evalf(15)) if number.is_number else sp.nan
    if not (size.is_Float and size.is_finite and size > 0):
        return ONE
    exponent = float(sp.log(size, 2))
    if abs(exponent) > LARGEST:  # printed as 0 or not at all
        return ONE
    return Size(Line(exponent + 1, 0.0), Line(1 - exponent, 0.0))


def _values(node: sp.Basic) -> list[sp.Basic]:
    """The scalars among the arguments of a node, those of its conditions too."""
    found: list[sp.Basic] = []
    for each in node.args:
        if isinstance(each, sp.Expr):
            found += [] if getattr(each, "is_Matrix", False) else [each]
        elif isinstance(each, Boolean):
            found += _values(each)
    return found
