"""Values and gradients on balls, or on intervals with two ends, over the nodes of an expression.

SymPy's derivative of a long expression is a far longer one: it takes minutes to write down. A tape costs about four
evaluations for all partial derivatives together, and encloses them: each step back by the chain rule is a product with
an enclosure of one node's own derivative.
"""

import operator
from collections.abc import Callable, Sequence
from functools import cached_property, reduce
from typing import Any

import sympy as sp
from flint import arb

from bridge.lowering.ball_values import exact_ball
from numeric.balls import Arb, Ends, rational
from numeric.balls.functions import ONE_ARGUMENT, absolute, rational_power

Number = Any  # a ball, or Ends
Values = Sequence[Number]


def _others(values: Values) -> list[Number]:
    """For each factor the product of all the others."""
    before, after = [arb(1)], [arb(1)]
    for value in values[:-1]:
        before.append(before[-1] * value)
    for value in reversed(values[1:]):
        after.append(after[-1] * value)
    return [a * b for a, b in zip(before, reversed(after), strict=True)]


def _of(function: type) -> Callable[[Number], Number]:
    return lambda x: value_of(function, x)


def _erf_slope(x: Number) -> Number:
    return value_of(sp.exp, -power_of(x, sp.Integer(2))) * (2 / arb.pi().sqrt())


def _gamma_slope(x: Number) -> Number:
    if isinstance(x, Ends):
        return Ends.of(_gamma_slope(x.ball))
    return x.gamma() * x.digamma()


TWO = sp.Integer(2)
# Of functions of one argument. Each function is analytic where value and derivative are finite.
SLOPES: dict[type, Callable[[Number], Number]] = {
    sp.exp: _of(sp.exp),
    sp.log: lambda x: 1 / x,
    sp.sin: _of(sp.cos),
    sp.cos: lambda x: -value_of(sp.sin, x),
    sp.tan: lambda x: 1 + power_of(value_of(sp.tan, x), TWO),
    sp.atan: lambda x: 1 / (1 + power_of(x, TWO)),
    sp.tanh: lambda x: 1 - power_of(value_of(sp.tanh, x), TWO),
    sp.sinh: _of(sp.cosh),
    sp.cosh: _of(sp.sinh),
    sp.erf: _erf_slope,
    sp.erfc: lambda x: -_erf_slope(x),
    sp.gamma: _gamma_slope,
}
SEVERAL: dict[type, Callable[[Number, Number], Number]] = {
    sp.Add: operator.add,
    sp.Mul: operator.mul,
    sp.Max: lambda a, b: b.max(a) if isinstance(b, Ends) else a.max(b),
    sp.Min: lambda a, b: b.min(a) if isinstance(b, Ends) else a.min(b),
}
KINKED = (sp.Abs, sp.Max, sp.Min)


def value_of(function: type, *arguments: Number) -> Number:
    """A function of SymPy on balls or ends: of one argument, a sum, a product or an extremum."""
    if function in SEVERAL:
        return reduce(SEVERAL[function], arguments)
    (x,) = arguments
    if function is sp.Abs:
        return abs(x) if isinstance(x, Ends) else absolute(x)
    return x.apply(function.__name__) if isinstance(x, Ends) else ONE_ARGUMENT[function.__name__](x)


def power_of(base: Number, exponent: sp.Rational) -> Number:
    p, q = int(exponent.p), int(exponent.q)
    return base.power(p, q) if isinstance(base, Ends) else rational_power(base, p, q)


class UnknownNodeError(TypeError):
    """The expression has a node that a tape does not support."""


class Tape:
    """The nodes of an expression, in the order of evaluation. Raises UnknownNodeError for one that it cannot take.

    `value(at)` and `gradient(at)`, at one ball (or Ends) for each of `symbols`, enclose the expression and all of its
    partial derivatives on that box.
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

    def value(self, at: Values) -> Number:
        return self._forwards(at)[self.last]

    @cached_property
    def _constant_ends(self) -> dict[int, Ends]:
        return {place: Ends.of(ball) for place, ball in self._constant_balls.items()}

    def _forwards(self, at: Values) -> list[Number]:
        values: list[Number] = [*at, *([arb(0)] * (len(self.places) - self.count))]
        constants = self._constant_ends if any(isinstance(x, Ends) for x in at) else self._constant_balls
        for place, constant in constants.items():
            values[place] = constant
        for place, node, arguments in self.nodes:
            given = [values[i] for i in arguments]
            values[place] = power_of(given[0], node.exp) if node.is_Pow else value_of(type(node), *given)
        return values

    def derivatives(self, at: Values) -> list[Number]:
        """Of every node, in each of its arguments."""
        values = self._forwards(at)
        partials = (_partials(node, [values[i] for i in arguments]) for _, node, arguments in self.nodes)
        return [partial for each in partials for partial in each if partial is not None]

    def gradient(self, at: Values) -> list[Number]:
        values = self._forwards(at)
        zero = arb(0)
        slopes: list[Number | None] = [None] * len(values)
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


def _partials(node: sp.Basic, given: Values) -> list[Number | None]:
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
def _kinked_slopes(node: sp.Basic, given: Values) -> list[Number]:
    one, zero = (Ends.of(x) if isinstance(given[0], Ends) else arb(x) for x in (1, 0))
    if isinstance(node, sp.Abs):
        return [one if given[0] > 0 else -one if given[0] < 0 else (-one).union(one)]
    sign = 1 if isinstance(node, sp.Max) else -1
    slopes = []
    for i, value in enumerate(given):
        ahead = [(value - other) * sign for k, other in enumerate(given) if k != i]
        if all(each > 0 for each in ahead):
            slopes.append(one)
        else:
            slopes.append(zero if any(each < 0 for each in ahead) else zero.union(one))
    return slopes
