"""Gradients on balls by the chain rule, backwards over the nodes of an expression.

SymPy's derivative of a long expression is a far longer one: it takes minutes to write down. A tape costs about four
evaluations for all partial derivatives together, and encloses them: each step back is a product with an enclosure of
one node's own derivative.
"""

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import flint
import sympy as sp

from bridge.lowering import balls
from numeric.balls import Arb

Values = Sequence[Arb]


def _product(values: Values) -> Arb:
    return reduce(lambda a, b: a * b, values)


def _sum(values: Values) -> Arb:
    return reduce(lambda a, b: a + b, values)


def _others(values: Values) -> list[Arb]:
    """For each factor the product of all the others."""
    before, after = [flint.arb(1)], [flint.arb(1)]
    for value in values[:-1]:
        before.append(before[-1] * value)
    for value in reversed(values[1:]):
        after.append(after[-1] * value)
    return [a * b for a, b in zip(before, reversed(after), strict=True)]


def _erf_slope(x: Arb) -> Arb:
    return 2 / flint.arb.pi().sqrt() * (-balls.int_power(x, 2)).exp()


# Of one argument: its value and its derivative on balls. Each is analytic where both are finite.
FUNCTIONS: dict[type, tuple[Callable[[Arb], Arb], Callable[[Arb], Arb]]] = {
    sp.exp: (lambda x: x.exp(), lambda x: x.exp()),
    sp.log: (lambda x: x.log(), lambda x: 1 / x),
    sp.sin: (lambda x: x.sin(), lambda x: x.cos()),
    sp.cos: (lambda x: x.cos(), lambda x: -x.sin()),
    sp.tan: (lambda x: x.tan(), lambda x: 1 + balls.int_power(x.tan(), 2)),
    sp.atan: (lambda x: x.atan(), lambda x: 1 / (1 + balls.int_power(x, 2))),
    sp.tanh: (lambda x: x.tanh(), lambda x: 1 - balls.int_power(x.tanh(), 2)),
    sp.sinh: (lambda x: x.sinh(), lambda x: x.cosh()),
    sp.cosh: (lambda x: x.cosh(), lambda x: x.sinh()),
    sp.erf: (lambda x: x.erf(), _erf_slope),
    sp.erfc: (lambda x: x.erfc(), lambda x: -_erf_slope(x)),
    sp.gamma: (lambda x: x.gamma(), lambda x: x.gamma() * x.digamma()),
}


class UnknownNodeError(TypeError):
    """The expression has a node that a tape does not support."""


KINKED = (sp.Abs, sp.Max, sp.Min)


class Tape:
    """The nodes of an expression, in the order of evaluation. Raises UnknownNodeError for one that it cannot take.

    `gradient(at)`, at one ball for each of `symbols`, gives an enclosure of every partial derivative on that box.
    """

    def __init__(self, expression: sp.Expr, symbols: Sequence[sp.Symbol]) -> None:
        self.places: dict[sp.Basic, int] = {symbol: i for i, symbol in enumerate(symbols)}
        self.count = len(symbols)
        self.nodes: list[tuple[int, sp.Basic, tuple[int, ...]]] = []  # place, node, places of its arguments
        self.constants: dict[int, sp.Basic] = {}
        self.last = self._place(expression)

    def _place(self, node: sp.Basic) -> int:
        if node in self.places:
            return self.places[node]
        if not node.free_symbols:
            place = self._new(node)
            self.constants[place] = node
            return place
        known = node.is_Add or node.is_Mul or (node.is_Pow and node.exp.is_Rational)
        if not (known or type(node) in FUNCTIONS or isinstance(node, KINKED)):
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

    def _forwards(self, at: Sequence[Arb]) -> list[Arb]:
        values: list[Arb] = [*at, *([flint.arb(0)] * (len(self.places) - self.count))]
        for place, constant in self.constants.items():
            values[place] = _constant(constant)
        for place, node, arguments in self.nodes:
            given = [values[i] for i in arguments]
            if node.is_Add:
                values[place] = _sum(given)
            elif node.is_Mul:
                values[place] = _product(given)
            elif node.is_Pow:
                values[place] = _power(given[0], node.exp)
            elif isinstance(node, KINKED):
                values[place] = _kinked(node, given)
            else:
                values[place] = FUNCTIONS[type(node)][0](given[0])
        return values

    def derivatives(self, at: Sequence[Arb]) -> list[Arb]:
        """Of every node, in each of its arguments."""
        values = self._forwards(at)
        partials = (_partials(node, [values[i] for i in arguments]) for _, node, arguments in self.nodes)
        return [partial for each in partials for partial in each if partial is not None]

    def gradient(self, at: Sequence[Arb]) -> list[Arb]:
        values = self._forwards(at)
        zero = flint.arb(0)
        slopes: list[Arb | None] = [None] * len(values)
        slopes[self.last] = flint.arb(1)
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
        return [_constant(node.exp) * _power(given[0], node.exp - 1)]
    return [FUNCTIONS[type(node)][1](given[0])]


def _kinked(node: sp.Basic, given: list[Arb]) -> Arb:
    if isinstance(node, sp.Abs):
        return balls.absolute(given[0])
    return reduce(lambda a, b: a.max(b) if isinstance(node, sp.Max) else a.min(b), given)


# Clarke: a Lipschitz function's differences are those slopes that it has nearby, and what lies between them. Max has
# the slope of an argument that is the largest somewhere: between 0 and 1 in each.
def _kinked_slopes(node: sp.Basic, given: list[Arb]) -> list[Arb]:
    one, zero = flint.arb(1), flint.arb(0)
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


def _power(base: Arb, exponent: sp.Rational) -> Arb:
    if exponent.is_Integer:
        return balls.int_power(base, int(exponent))
    return balls.rational_power(base, int(exponent.p), int(exponent.q))


def _constant(node: Any) -> Arb:
    if node.is_Rational:
        return flint.arb(flint.fmpq(int(node.p), int(node.q)))
    from bridge.lowering.ball_values import evaluate_ball

    return evaluate_ball(node, {})
