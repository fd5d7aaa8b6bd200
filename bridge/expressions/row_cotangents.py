"""What nodes pass back that act on each token by itself: normalisations, gains, losses over classes."""

from bridge.expressions.cotangents import ONE, Passed, axes_of, cotangent_of, formula, passed, value_of
from bridge.expressions.expression import Expression
from bridge.expressions.losses import CrossEntropyOf, LogSoftmaxOf
from bridge.expressions.normalisation import Normalised, OfEachToken
from symbolic.gradients.row_terms import AsColumn, EachRow, RootMeanSquare, RowFunction
from symbolic.gradients.terms import (
    ClassVector,
    Divided,
    DotProduct,
    Lettered,
    NumberTimes,
    OnesVector,
    RowsTimes,
    Term,
    combination,
    entrywise,
    times,
    transposed,
)


def divisor_of(node: Normalised) -> Lettered:
    """The root mean square of the argument."""
    return Lettered("divisor", node, 1)


# y = c(x) / r with r^2 = ||c(x)||^2 / d + shift, c the identity or that less the mean: dr = c(x)^T dx / (d r), so that
# dy = (c(dx) - y y^T dx / d) / r, a symmetric map.
@formula.register
def _(node: Normalised, approximate: bool) -> Term:
    return Divided(_centred(node, value_of(node.parts[0])), divisor_of(node))


def _centred(node: Normalised, x: Term) -> Term:
    return RowFunction("centred", x) if node.less_mean else x


def divisor(node: Normalised) -> Term:
    """The formula of r."""
    return RootMeanSquare(_centred(node, value_of(node.parts[0])), node.dim, node.shift)


@passed.register
def _(node: Normalised, approximate: bool) -> Passed:
    y, bar = value_of(node), cotangent_of(node)
    if y.axes == 1:
        along: Term = NumberTimes(DotProduct(y, bar), y)
    else:
        along = RowsTimes(times(entrywise(y, bar), OnesVector(y)), y)
    moved = combination([(ONE, _centred(node, bar)), (-1 / node.dim, along)])
    return [(node.parts[0], Divided.simplest(moved, divisor_of(node)))]


# Y = 1 v^T: v_bar = Y_bar^T 1.
@formula.register
def _(node: OfEachToken, approximate: bool) -> Term:
    return EachRow(value_of(node.parts[0]))


@passed.register
def _(node: OfEachToken, approximate: bool) -> Passed:
    bar = cotangent_of(node)
    return [(node.parts[0], times(transposed(bar), OnesVector(bar, axis=0)))]


# y = log softmax(s): dy = ds - (a^T ds) 1 with a = softmax(s), so that s_bar = y_bar - (1^T y_bar) a.
@formula.register
def _(node: LogSoftmaxOf, approximate: bool) -> Term:
    return RowFunction("logsoftmax", value_of(node.parts[0]))


@passed.register
def _(node: LogSoftmaxOf, approximate: bool) -> Passed:
    bar = cotangent_of(node)
    return [(node.parts[0], combination([(ONE, bar), (-ONE, _weighted(bar, _softmax(node)))]))]


def _softmax(node: Expression) -> Term:
    return RowFunction("softmax", value_of(node.parts[0]))


def _weighted(by: Term, rows: Term) -> Term:
    """Each row times the sum of the entries of a row of `by`."""
    ones = OnesVector(_lettered_in(by))
    if rows.axes == 1:
        return NumberTimes.simplest(DotProduct.simplest(ones, by), rows)
    return RowsTimes.simplest(times(by, ones), rows)


def _lettered_in(term: Term) -> Lettered:
    return next(iter(term.leaves()))


# y = -c^T log softmax(s): s_bar = y_bar ((1^T c) a - c) and c_bar = -y_bar log softmax(s). The entries of e_k add up to
# 1. Of tokens Y = -(C * log softmax(S)) 1, and Y = -log softmax(S) c if all have one label: then C = 1 c^T.
@formula.register
def _(node: CrossEntropyOf, approximate: bool) -> Term:
    scores, label = value_of(node.parts[0]), _label(node)
    surprise = RowFunction("logsoftmax", scores)
    if scores.axes == 1:
        found = DotProduct.simplest(label, surprise)
    elif isinstance(label, EachRow):
        found = times(surprise, AsColumn(label.of))
    else:
        found = times(entrywise(label, surprise), AsColumn(OnesVector(scores)))
    return combination([(-ONE, found)])


def _label(node: CrossEntropyOf) -> Term:
    scores = value_of(node.parts[0])
    label: Term = ClassVector(scores, index=node.index) if node.index is not None else value_of(node.parts[1])
    return label if label.axes == scores.axes else EachRow(label)


@passed.register
def _(node: CrossEntropyOf, approximate: bool) -> Passed:
    scores, bar, label = value_of(node.parts[0]), cotangent_of(node), _label(node)
    weights = _softmax(node) if node.index is not None else _weighted_by_label(node)
    surprise = RowFunction("logsoftmax", scores)
    found: Passed = [(node.parts[0], _of_number(bar, combination([(ONE, weights), (-ONE, label)])))]
    if node.index is None:
        own = node.parts[1]
        if scores.axes == axes_of(own):
            found.append((own, combination([(-ONE, _of_number(bar, surprise))])))
        else:
            found.append((own, combination([(-ONE, times(transposed(surprise), _numbers(bar)))])))
    return found


def _weighted_by_label(node: CrossEntropyOf) -> Term:
    scores, own = value_of(node.parts[0]), value_of(node.parts[1])
    if own.axes == scores.axes:
        return _weighted(own, _softmax(node))
    return NumberTimes.simplest(DotProduct.simplest(OnesVector(own), own), _softmax(node))


def _of_number(bar: Lettered, rows: Term) -> Term:
    """The number of each token times its row; `bar` is a vector in R^1, or tokens of it."""
    return NumberTimes.simplest(bar, rows) if bar.axes == 1 else RowsTimes.simplest(_numbers(bar), rows)


def _numbers(bar: Lettered) -> Term:
    """Tokens in R^1 as a vector."""
    return times(bar, OnesVector(bar))
