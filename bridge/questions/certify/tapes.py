"""Gradients on balls by the chain rule, backwards over the nodes of an expression.

SymPy's derivative of a long expression is a far longer one: it takes minutes to write down. A tape costs about four
evaluations for all partial derivatives together, and encloses them: each step back is a product with an enclosure of
one node's own derivative.
"""

import operator
from collections.abc import Callable, Sequence
from functools import cached_property, reduce

import sympy as sp
from flint import arb

from bridge.lowering.ball_values import exact_ball
from numeric.balls import Arb, rational
from numeric.balls.functions import ONE_ARGUMENT, BallFunction, absolute, int_power, rational_power

Values = Sequence[Arb]


def _others(values: Values) -> list[Arb]:
    """For each factor the product of all the others."""
    before, after = [arb(1)], [arb(1)]
    for value in values[:-1]:
        before.append(before[-1] * value)
    for value in reversed(values[1:]):
        after.append(after[-1] * value)
    return [a * b for a, b in zip(before, reversed(after), strict=True)]


def _erf_slope(x: Arb) -> Arb:
    return 2 / arb.pi().sqrt() * (-int_power(x, 2)).exp()


# Of functions of one argument, on balls. Each function is analytic where value and derivative are finite.
SLOPES: dict[type, BallFunction] = {
    sp.exp: arb.exp,
    sp.log: lambda x: 1 / x,
    sp.sin: arb.cos,
    sp.cos: lambda x: -x.sin(),
    sp.tan: lambda x: 1 + int_power(x.tan(), 2),
    sp.atan: lambda x: 1 / (1 + int_power(x, 2)),
    sp.tanh: lambda x: 1 - int_power(ONE_ARGUMENT["tanh"](x), 2),
    sp.sinh: ONE_ARGUMENT["cosh"],
    sp.cosh: ONE_ARGUMENT["sinh"],
    sp.erf: _erf_slope,
    sp.erfc: lambda x: -_erf_slope(x),
    sp.gamma: lambda x: x.gamma() * x.digamma(),
}
SEVERAL: dict[type, Callable[[Arb, Arb], Arb]] = {
    sp.Add: operator.add,
    sp.Mul: operator.mul,
    sp.Max: arb.max,
    sp.Min: arb.min,
}
KINKED = (sp.Abs, sp.Max, sp.Min)


def value_of(function: type, *arguments: Arb) -> Arb:
    """A function of SymPy on balls: of one argument, a sum, a product or an extremum."""
    if function in SEVERAL:
        return reduce(SEVERAL[function], arguments)
    return absolute(*arguments) if function is sp.Abs else ONE_ARGUMENT[function.__name__](*arguments)


def power_of(base: Arb, exponent: sp.Rational) -> Arb:
    return rational_power(base, int(exponent.p), int(exponent.q))


class UnknownNodeError(TypeError):
    """The expression has a node that a tape does not support."""


class Tape:
    """The nodes of an expression, in the order of evaluation. Raises UnknownNodeError for one that it cannot take.

    `gradient(at)`, at one ball for each of `symbols`, gives an enclosure of every partial derivative on that box.
    """

    def __init__(self, expression: sp.Expr, symbols: Sequence[sp.Symbol]) -> None:
        self.places: dict[sp.Basic, int] = {symbol: i for i, symbol in enumerate(symbols)}
        self.count = len(symbols)
        self.nodes: list[tuple[int, sp.Basic, tuple[int, ...]]] = []  # place, node, places of its arguments
        self.constants: dict[int, sp.Expr] = {}
        self.last = self._place(expression)

    def _place(self, node: sp.Basic) -> int:
        if node in self.places:
            return self.places[node]
        if not node.free_symbols:
            place = self._new(node)
            self.constants[place] = node
            return place
        known = type(node) in SLOPES or type(node) in SEVERAL or isinstance(node, sp.Abs)
        if not (known or (node.is_Pow and node.exp.is_Rational)):
            raise UnknownNodeError(f"no gradient on balls for {type(node).__name__}")
        arguments = (node.base,) if node.is_Pow else node.args
        places = tuple(self._place(argument) for argument in arguments)
        place = self._new(node)
        self.nodes.append((place, node, places))
        return place

    @property
    def analytic(self) -> bool:
        """Whether no node has a kink."""
        return not any(isinstance(node, KINKED) for _, node, _ in self.nodes)

    def _new(self, node: sp.Basic) -> int:
        self.places[node] = len(self.places)
        return self.places[node]

    @cached_property
    def _constant_balls(self) -> dict[int, Arb]:
        return {place: exact_ball(constant) for place, constant in self.constants.items()}

    def _forwards(self, at: Sequence[Arb]) -> list[Arb]:
        values: list[Arb] = [*at, *([arb(0)] * (len(self.places) - self.count))]
        for place, constant in self._constant_balls.items():
            values[place] = constant
        for place, node, arguments in self.nodes:
            given = [values[i] for i in arguments]
            values[place] = power_of(given[0], node.exp) if node.is_Pow else value_of(type(node), *given)
        return values

    def derivatives(self, at: Sequence[Arb]) -> list[Arb]:
        """Of every node, in each of its arguments."""
        values = self._forwards(at)
        partials = (_partials(node, [values[i] for i in arguments]) for _, node, arguments in self.nodes)
        return [partial for each in partials for partial in each if partial is not None]

    def gradient(self, at: Sequence[Arb]) -> list[Arb]:
        values = self._forwards(at)
        zero = arb(0)
        slopes: list[Arb | None] = [None] * len(values)
        slopes[self.last] = arb(1)
        for place, node, arguments in reversed(self.nodes):
            slope = slopes[place]
            if slope is None:
                continue
            for argument, partial in zip(arguments, _partials(node, [values[i] for i in arguments]), strict=True):
                if argument in self.constants:
                    continue
                known = slopes[argument]
                change = slope if partial is None else slope * partial
                slopes[argument] = change if known is None else known + change
        return [slope if slope is not None else zero for slope in slopes[: self.count]]


def _partials(node: sp.Basic, given: list[Arb]) -> list[Arb | None]:
    """The derivative of the node in each of its arguments; None for 1."""
    if node.is_Add:
        return [None] * len(given)
    if node.is_Mul:
        return list(_others(given))
    if isinstance(node, KINKED):
        return list(_kinked_slopes(node, given))
    if node.is_Pow:
        return [rational(node.exp) * power_of(given[0], node.exp - 1)]
    return [SLOPES[type(node)](given[0])]


# Clarke: a Lipschitz function's differences are those slopes that it has nearby, and what lies between them. Max has
# the slope of an argument that is the largest somewhere: between 0 and 1 in each.
def _kinked_slopes(node: sp.Basic, given: list[Arb]) -> list[Arb]:
    one, zero = arb(1), arb(0)
    if isinstance(node, sp.Abs):
        return [one if given[0] > 0 else -one if given[0] < 0 else (-one).union(one)]
    sign = 1 if isinstance(node, sp.Max) else -1
    slopes = []
    for i, value in enumerate(given):
        others = [sign * other for k, other in enumerate(given) if k != i]
        mine = sign * value
        if all(mine > other for other in others):
            slopes.append(one)
        else:
            slopes.append(zero if any(mine < other for other in others) else zero.union(one))
    return slopes
