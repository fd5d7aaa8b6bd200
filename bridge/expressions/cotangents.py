"""What each kind of node computes, as a formula, and what it passes back: the derivative of the loss by its parts.

The cotangent of a value is the derivative of the loss by it, an array of its shape. A node y = f(x) passes the adjoint
of its differential to x: dL = <y_bar, dy> = <x_bar, dx>, with <A, B> the sum over all entries of A * B. Tokens are the
rows of a matrix.
"""

from functools import singledispatch

import sympy as sp

from bridge.expressions.attention import Attend, ConcatenatedParts, CutSoftmaxOf, HardMaxOf, Mean, SoftmaxOf
from bridge.expressions.expression import Expression, Sum
from bridge.expressions.functions import Applied, shown, t
from bridge.expressions.grids import Quantised
from bridge.expressions.inputs import Input, TokenOfLayer
from bridge.expressions.matrices import Matrix, MatrixImage
from bridge.expressions.products import Entrywise, InnerProduct, Pairs
from bridge.expressions.sinks import AttendBesideSink
from symbolic.gradients.row_terms import Coordinates, Joined, RowFunction
from symbolic.gradients.terms import (
    DotProduct,
    FunctionOf,
    Lettered,
    NumberTimes,
    OnesVector,
    Term,
    UnitVector,
    combination,
    entrywise,
    outer,
    times,
    transposed,
)
from symbolic.words.errors import UsageError

Passed = list[tuple[Expression | Matrix, Term]]
ONE = sp.S.One
KEPT = sp.Symbol("kept")  # below a softmax over the keys of a mask


def axes_of(node: Expression) -> int:
    return 1 if node.count is None else 2


def value_of(node: Expression) -> Lettered:
    return Lettered("value", node, axes_of(node))


def cotangent_of(node: Expression) -> Lettered:
    return Lettered("cotangent", node, axes_of(node))


def matrix_of(matrix: Matrix) -> Lettered:
    return Lettered("matrix", matrix, 2)


@singledispatch
def formula(node: Expression, approximate: bool) -> Term:
    """Its value by those of its parts."""
    raise NotImplementedError(f"no formula for {type(node).__name__}")


@singledispatch
def passed(node: Expression, approximate: bool) -> Passed:
    """What it adds to the cotangents of its parts, and of a matrix. Raises UsageError where it has no derivative."""
    raise UsageError(f"gradient: {node.label} is a {type(node).__name__}, which has no derivative here")


# y = A x: <y_bar, dA x + A dx>, so that x_bar = A^T y_bar and A_bar = y_bar x^T; of tokens, Y = X A^T, their sum.
@formula.register
def _(node: MatrixImage, approximate: bool) -> Term:
    x, matrix = value_of(node.parts[0]), matrix_of(node.matrix)
    return times(matrix, x) if x.axes == 1 else times(x, transposed(matrix))


@passed.register
def _(node: MatrixImage, approximate: bool) -> Passed:
    x, matrix, bar = value_of(node.parts[0]), matrix_of(node.matrix), cotangent_of(node)
    if x.axes == 1:
        return [(node.parts[0], times(transposed(matrix), bar)), (node.matrix, outer(bar, x))]
    return [(node.parts[0], times(bar, matrix)), (node.matrix, times(transposed(bar), x))]


# y = f(x), entry by entry: dy = f'(x) * dx.
@formula.register
def _(node: Applied, approximate: bool) -> Term:
    return FunctionOf(*_side(node, approximate), t, value_of(node.parts[0]))


@passed.register
def _(node: Applied, approximate: bool) -> Passed:
    name, expr = _side(node, approximate)
    slope = FunctionOf(name, derivative(name, expr), t, value_of(node.parts[0]), slope=True)
    return [(node.parts[0], entrywise(slope, cotangent_of(node)))]


def _side(node: Applied, approximate: bool) -> tuple[str, sp.Expr]:
    function = node.function
    near = approximate and function.approximate is not None
    return f"{function.name}_hat" if near else function.name, function.side(approximate)


def derivative(name: str, expr: sp.Expr) -> sp.Expr:
    """f'(t), but at single points. Raises UsageError for a formula with parts that jump."""
    found = expr.diff(t)
    if found.has(sp.Derivative, sp.Subs, sp.DiracDelta) or expr.has(sp.floor, sp.ceiling):
        raise UsageError(
            f"gradient: {name} has no derivative, a part of {shown(expr)} jumps; write a continuous function by Max, "
            f"Min and Abs"
        )
    return found


@formula.register
def _(node: Sum, approximate: bool) -> Term:
    return combination([(factor, value_of(part)) for factor, part in node.terms])


@passed.register
def _(node: Sum, approximate: bool) -> Passed:
    return [(part, combination([(factor, cotangent_of(node))])) for factor, part in node.terms]


@formula.register
def _(node: Entrywise, approximate: bool) -> Term:
    return entrywise(*map(value_of, node.parts))


@passed.register
def _(node: Entrywise, approximate: bool) -> Passed:
    x, y = node.parts
    return [(x, entrywise(value_of(y), cotangent_of(node))), (y, entrywise(value_of(x), cotangent_of(node)))]


@formula.register
def _(node: InnerProduct, approximate: bool) -> Term:
    return DotProduct.simplest(*map(value_of, node.parts))


@passed.register
def _(node: InnerProduct, approximate: bool) -> Passed:
    x, y = node.parts
    return [
        (x, NumberTimes.simplest(cotangent_of(node), value_of(y))),
        (y, NumberTimes.simplest(cotangent_of(node), value_of(x))),
    ]


# s = K q: q_bar = K^T s_bar, K_bar = s_bar q^T. Of tokens, S = Q K^T: Q_bar = S_bar K, K_bar = S_bar^T Q.
@formula.register
def _(node: Pairs, approximate: bool) -> Term:
    queries, keys = map(value_of, node.parts)
    return times(keys, queries) if queries.axes == 1 else times(queries, transposed(keys))


@passed.register
def _(node: Pairs, approximate: bool) -> Passed:
    (queries, keys), bar = map(value_of, node.parts), cotangent_of(node)
    if queries.axes == 1:
        return [(node.parts[0], times(transposed(keys), bar)), (node.parts[1], outer(bar, queries))]
    return [(node.parts[0], times(bar, keys)), (node.parts[1], times(transposed(bar), queries))]


# a = softmax(s): da_i = a_i (ds_i - sum_j a_j ds_j), a symmetric map: s_bar = a * (a_bar - (a^T a_bar) 1). Over some
# keys only, which are the same for all scores near these, a is 0 elsewhere, and the formula is the same.
@formula.register
def _(node: SoftmaxOf, approximate: bool) -> Term:
    return RowFunction("softmax", value_of(node.parts[0]))


@formula.register
def _(node: CutSoftmaxOf, approximate: bool) -> Term:
    keys = KEPT if node.most is None else node.most
    return RowFunction("softmax", value_of(node.parts[0]), keys if approximate else None)


@passed.register
def _(node: SoftmaxOf | CutSoftmaxOf, approximate: bool) -> Passed:
    return [(node.parts[0], _through_softmax(node))]


def _through_softmax(node: Expression) -> Term:
    a, bar = value_of(node), cotangent_of(node)
    ones = OnesVector(a)
    if a.axes == 1:
        mean: Term = NumberTimes(DotProduct(a, bar), ones)
    else:
        mean = outer(times(entrywise(a, bar), ones), ones)
    return entrywise(a, combination([(ONE, bar), (-ONE, mean)]))


@formula.register
def _(node: HardMaxOf, approximate: bool) -> Term:
    scores = value_of(node.parts[0])
    if node.beta is None or not approximate:
        return RowFunction("hardmax", scores)
    return RowFunction("softmax", combination([(node.beta, scores)]))


@passed.register
def _(node: HardMaxOf, approximate: bool) -> Passed:
    if node.beta is None or not approximate:
        raise UsageError(
            f"gradient: {node.label} is a hard max, which has no derivative by its scores; write bs.softmax(beta * "
            f"scores) in its place, or take hard_max(...).by_softmax(beta) and gradient(..., approximate=True)"
        )
    return [(node.parts[0], combination([(node.beta, _through_softmax(node))]))]


# o = V^T a: a_bar = V o_bar, V_bar = a o_bar^T. Of several, O = A V: A_bar = O_bar V^T, V_bar = A^T O_bar.
@formula.register
def _(node: Attend, approximate: bool) -> Term:
    weights, values = map(value_of, node.parts)
    return times(transposed(values), weights) if weights.axes == 1 else times(weights, values)


@passed.register
def _(node: Attend, approximate: bool) -> Passed:
    (weights, values), bar = map(value_of, node.parts), cotangent_of(node)
    if weights.axes == 1:
        return [(node.parts[0], times(values, bar)), (node.parts[1], outer(weights, bar))]
    return [(node.parts[0], times(bar, transposed(values))), (node.parts[1], times(transposed(weights), bar))]


# y = X^T 1 / n: X_bar = 1 y_bar^T / n.
@formula.register
def _(node: Mean, approximate: bool) -> Term:
    x = value_of(node.parts[0])
    return combination([(1 / _count(node), times(transposed(x), OnesVector(x, axis=0)))])


@passed.register
def _(node: Mean, approximate: bool) -> Passed:
    ones = OnesVector(value_of(node.parts[0]), axis=0)
    return [(node.parts[0], combination([(1 / _count(node), outer(ones, cotangent_of(node)))]))]


def _count(node: Mean) -> sp.Expr:
    count = node.parts[0].count
    assert count is not None  # a mean is over tokens
    return count


@formula.register
def _(node: ConcatenatedParts, approximate: bool) -> Term:
    return Joined(tuple(map(value_of, node.parts)))


@passed.register
def _(node: ConcatenatedParts, approximate: bool) -> Passed:
    own = [(value_of(part), part.dim) for part in node.parts]
    bar = cotangent_of(node)
    return [(part, Coordinates(bar, tuple(own[:place]), own[place])) for place, part in enumerate(node.parts)]


@formula.register
def _(node: Quantised, approximate: bool) -> Term:
    x = value_of(node.parts[0])
    return FunctionOf("grid", node.rounding, t, x) if approximate else x


@passed.register
def _(node: Quantised, approximate: bool) -> Passed:
    if approximate:
        raise UsageError(
            f"gradient: {node.label} is on a grid, which has no derivative; leave approximate=True out, for the "
            f"gradient of the exact network"
        )
    return [(node.parts[0], cotangent_of(node))]


# The exact average sees no sink.
@formula.register
def _(node: AttendBesideSink, approximate: bool) -> Term:
    _require_exact(node, approximate)
    return value_of(node.parts[0])


@passed.register
def _(node: AttendBesideSink, approximate: bool) -> Passed:
    _require_exact(node, approximate)
    return [(node.parts[0], cotangent_of(node))]


def _require_exact(node: AttendBesideSink, approximate: bool) -> None:
    if approximate:
        raise UsageError(
            f"gradient: {node.label} has no formula in the network; leave approximate=True out, for the gradient of "
            f"the exact one"
        )


# The token of layer l passes its cotangent to row l.
@passed.register
def _(node: TokenOfLayer, approximate: bool) -> Passed:
    row = UnitVector(Lettered("value", node.of, 2), loop=node.number.argument)
    return [(node.of, outer(row, cotangent_of(node)))]


def is_leaf(node: Expression) -> bool:
    """Whether it has a letter of its own, and no formula."""
    return isinstance(node, Input | TokenOfLayer) or not node.parts
