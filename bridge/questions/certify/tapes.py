"""Values and gradients over the nodes of an expression: on balls, on intervals with two ends, on many boxes at once.

SymPy's derivative of a long expression is a far longer one: it takes minutes to write down. A tape costs about four
evaluations for all partial derivatives together, and encloses them: each step back by the chain rule is a product with
an enclosure of one node's own derivative.
"""

import operator
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache, reduce
from typing import Any

import sympy as sp
from flint import arb, fmpq

from bridge.lowering.ball_values import exact_ball
from numeric.balls import Ends, FloatEnds
from numeric.balls.functions import ONE_ARGUMENT, absolute, rational_power

Number = Any  # a ball, Ends, or FloatEnds of many boxes
Values = Sequence[Number]


def _others(values: Values) -> list[Number]:
    """For each factor the product of all the others."""
    if len(values) == 2:
        return [values[1], values[0]]
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
    if isinstance(x, FloatEnds):
        return x.apply("digamma")  # it has none
    return Ends.of(_gamma_slope(x.ball)) if isinstance(x, Ends) else x.gamma() * x.digamma()


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
    sp.Max: lambda a, b: a.max(b),
    sp.Min: lambda a, b: a.min(b),
}
KINKED = (sp.Abs, sp.Max, sp.Min)


def value_of(function: type, *arguments: Number) -> Number:
    """A function of SymPy on balls or intervals: of one argument, a sum, a product or an extremum."""
    if function in SEVERAL:
        return reduce(SEVERAL[function], arguments)
    (x,) = arguments
    if function is sp.Abs:
        return absolute(x) if isinstance(x, arb) else abs(x)
    return ONE_ARGUMENT[function.__name__](x) if isinstance(x, arb) else x.apply(function.__name__)


def power_of(base: Number, exponent: sp.Rational) -> Number:
    p, q = int(exponent.p), int(exponent.q)
    return rational_power(base, p, q) if isinstance(base, arb) else base.power(p, q)


class UnknownNodeError(TypeError):
    """The expression has a node that a tape does not support."""


class Tape:
    """The nodes of an expression, in the order of evaluation. Raises UnknownNodeError for one that it cannot take.

    `value(at)` and `gradient(at)`, at one number for each of `symbols`, enclose the expression and all of its
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

    def value(self, at: Values) -> Number:
        return self._forwards(at)[self.last]

    @cached_property
    def _constants(self) -> dict[type, dict[int, Number]]:
        """The constants as each kind of number."""
        balls = {place: exact_ball(constant) for place, constant in self.constants.items()}
        kinds = {kind: {place: kind.of(ball) for place, ball in balls.items()} for kind in (Ends, FloatEnds)}
        return {arb: balls, **kinds}

    def _forwards(self, at: Values) -> list[Number]:
        values: list[Number] = [*at, *([arb(0)] * (len(self.places) - self.count))]
        for place, constant in self._constants[type(at[0]) if at else arb].items():
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
        factor, exponent = _of_slope(node.exp)
        return [factor * power_of(given[0], exponent)]
    return [SLOPES[type(node)](given[0])]


@lru_cache(maxsize=256)
def _of_slope(exponent: sp.Rational) -> tuple[Any, sp.Rational]:
    """Factor and exponent of the slope of a power."""
    return fmpq(int(exponent.p), int(exponent.q)), exponent - 1


# Clarke: a Lipschitz function's differences are those slopes that it has nearby, and what lies between them. Max has
# the slope of an argument that is the largest somewhere: between 0 and 1 in each.
def _kinked_slopes(node: sp.Basic, given: Values) -> list[Number]:
    if isinstance(node, sp.Abs):
        return [_step(given[0], -1)]
    sign = 1 if isinstance(node, sp.Max) else -1
    return [
        reduce(operator.mul, (_step((value - other) * sign, 0) for k, other in enumerate(given) if k != i))
        for i, value in enumerate(given)
    ]


def _step(x: Number, below: int) -> Number:
    """1 where x > 0, `below` where x < 0, and from one to the other where x may be 0."""
    return Ends.of(x).step(below, 1).ball if isinstance(x, arb) else x.step(below, 1)
