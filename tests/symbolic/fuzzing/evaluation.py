"""Bounds evaluated on arrays, node by node: sums and products over layers are run as loops, nothing is simplified."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import sympy as sp

Values = Mapping[sp.Symbol, Any]


def evaluate(expression: Any, at: Values) -> Any:
    """The expression at numbers or arrays of one shape. Raises TypeError for a node it does not know."""
    if expression.is_Symbol:
        return at[expression]
    if expression is sp.zoo:  # SymPy writes 0^(-l) as zoo^l, which is 1 at l = 0
        return math.inf
    if expression.is_Number or expression.is_NumberSymbol:
        return float(expression)
    rule = _NODES.get(expression.func)
    if rule is None:
        raise TypeError(f"evaluate: no rule for {expression.func.__name__} in {sp.sstr(expression)}")
    return rule(expression, at)


def _arguments(expression: sp.Expr, at: Values) -> list[Any]:
    return [evaluate(argument, at) for argument in expression.args]


def _sum(expression: sp.Expr, at: Values) -> Any:
    return sum(_arguments(expression, at))


def _product(expression: sp.Expr, at: Values) -> Any:
    return math.prod(_arguments(expression, at))


def _power(expression: sp.Expr, at: Values) -> Any:
    base, exponent = _arguments(expression, at)
    return base**exponent


def _by(function: Callable[..., Any]) -> Callable[[sp.Expr, Values], Any]:
    return lambda expression, at: function(*_arguments(expression, at))


def _extreme(pair: Callable[[Any, Any], Any]) -> Callable[[sp.Expr, Values], Any]:
    def over(expression: sp.Expr, at: Values) -> Any:
        first, *others = _arguments(expression, at)
        for other in others:
            first = pair(first, other)
        return first

    return over


def _cases(expression: sp.Expr, at: Values) -> Any:
    for value, condition in expression.args:
        if condition == sp.true or (condition != sp.false and _holds(condition, at)):
            return evaluate(value, at)
    raise TypeError(f"evaluate: no case of {sp.sstr(expression)} applies")


def _holds(condition: Any, at: Values) -> bool:
    left, right = (evaluate(side, at) for side in condition.args)
    return bool(_RELATIONS[condition.func](left, right))


def satisfied(condition: Any, at: Values) -> bool:
    """Whether the relation holds at the values, up to rounding."""
    if condition in (sp.true, sp.false):
        return bool(condition)
    if isinstance(condition, sp.And | sp.Or):
        return (all if isinstance(condition, sp.And) else any)([satisfied(part, at) for part in condition.args])
    left, right = (evaluate(side, at) for side in condition.args)
    close = bool(np.all(np.isclose(left, right, rtol=1e-9, atol=1e-12)))
    return close or bool(np.all(_RELATIONS[condition.func](left, right)))


def _layers(combine: Callable[[list[Any]], Any]) -> Callable[[sp.Expr, Values], Any]:
    def over(expression: sp.Expr, at: Values) -> Any:
        summand, (index, first, last) = expression.args
        ends = (round(float(evaluate(end, at))) for end in (first, last))
        start, stop = ends
        return combine([evaluate(summand, {**at, index: float(layer)}) for layer in range(start, stop + 1)])

    return over


_RELATIONS = {
    sp.Eq: np.equal,
    sp.Ne: np.not_equal,
    sp.Le: np.less_equal,
    sp.Lt: np.less,
    sp.Ge: np.greater_equal,
    sp.Gt: np.greater,
}
_NODES: dict[Any, Callable[[Any, Values], Any]] = {
    sp.Add: _sum,
    sp.Mul: _product,
    sp.Pow: _power,
    sp.exp: _by(np.exp),
    sp.log: _by(np.log),
    sp.tanh: _by(np.tanh),
    sp.sinh: _by(np.sinh),
    sp.cosh: _by(np.cosh),
    sp.floor: _by(np.floor),
    sp.Abs: _by(np.abs),
    sp.Max: _extreme(np.maximum),
    sp.Min: _extreme(np.minimum),
    sp.Piecewise: _cases,
    sp.Sum: _layers(sum),
    sp.Product: _layers(math.prod),
}
