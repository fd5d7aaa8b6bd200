"""The exact and the emulated value of each step: the reference, and what the taps of a network must equal.

One function for each operation. It takes the values of the premises and the operands of one side: the exact one, or
the emulated one, where approximants stand in the place of functions.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import singledispatch
from typing import TypeGuard, TypeVar

import sympy as sp
import torch

from bridge.limits.beyond_float64 import REFUSALS
from bridge.readings.arrays import Array, applied, is_number, token_mean, unit_vector
from bridge.readings.operands import Emulated, Operands
from numeric.balls import BallsError, ShapesDiffer
from numeric.balls.limits import TooLargeForExact
from symbolic.calculus.repetition import Repetition
from symbolic.derivations import operations as op
from symbolic.derivations.derivation import Derivation, Norm, Step
from symbolic.words.errors import UsageError

Values = TypeVar("Values")


def read(derivation: Derivation, operands: Operands, wanted: Iterable[str] = ()) -> dict[str, Emulated]:
    """The exact and the emulated values of the steps, or of those that lead to the `wanted` ones, as far as known."""
    found: dict[str, Emulated] = {}
    for step, operation in _known(derivation, wanted):
        premises, here = [found[name] for name in step.premises], operands.within(step)
        with _fitting(step, operation, premises, here):
            found[step.name] = both(operation, premises, here)
        _require_dim(step, operation, premises, found[step.name].exact, here)
    return found


def read_exact(derivation: Derivation, operands: Operands, wanted: Iterable[str] = ()) -> dict[str, Array]:
    """The exact values alone."""
    found: dict[str, Array] = {}
    for step, operation in _known(derivation, wanted):
        found[step.name] = value(operation, [found[name] for name in step.premises], operands.within(step), False)
    return found


def _known(derivation: Derivation, wanted: Iterable[str]) -> list[tuple[Step, op.Operation]]:
    """The steps that compute something, from steps that do."""
    known: dict[str, tuple[Step, op.Operation]] = {}
    for step in derivation.leading_to(*wanted):
        if has_value(step.operation) and all(name in known for name in step.premises):
            known[step.name] = step, step.operation
    return list(known.values())


def has_value(operation: op.Operation | None) -> TypeGuard[op.Operation]:
    """Whether it is known what the operation computes: not the limit of an iteration, nor an unnamed map in a layer."""
    if isinstance(operation, Repetition):
        layer = operation.layer.derivation.leading_to(operation.layer.name)
        return all(has_value(step.operation) for step in layer if step.name != operation.premise)
    limit = isinstance(operation, op.Iteration) and operation.depth == sp.oo
    return operation is not None and not (limit or isinstance(operation, op.Unread))


def both(operation: op.Operation, premises: list[Emulated], operands: Operands) -> Emulated:
    """What the operation computes: exactly, and with approximants in the place of functions."""
    if isinstance(operation, Repetition):
        return _through_layers(operation, premises[0], operands, both)
    exact = value(operation, [each.exact for each in premises], operands, False)
    return Emulated(exact, emulated_value(operation, premises, operands))


@contextmanager
def _fitting(step: Step, operation: op.Operation, premises: list[Emulated], operands: Operands) -> Iterator[None]:
    """Raises UsageError for operands whose shapes do not fit."""
    try:
        yield
    except (RuntimeError, IndexError, ValueError) as error:
        if isinstance(error, (*REFUSALS, BallsError, TooLargeForExact)) and not isinstance(error, ShapesDiffer):
            raise
        shapes, cause = _shapes(operation, step, premises, operands), str(error).partition("\n")[0]
        raise UsageError(f"step '{step.name}': {shapes} do not fit: {cause}") from error


def _shapes(operation: op.Operation, step: Step, premises: list[Emulated], known: Operands) -> str:
    """The operands and premises with their shapes, in words."""
    operands = [(name, known.operand(name)) for name in operation.handles]
    values = [(name, each.exact) for name, each in zip(step.premises, premises, strict=False)]
    shaped = [(name, tuple(each.shape)) for name, each in [*operands, *values] if hasattr(each, "shape")]
    return " and ".join(f"'{name}' of shape {shape}" for name, shape in shaped)


def _require_dim(step: Step, operation: op.Operation, premises: list[Emulated], array: Array, known: Operands) -> None:
    """Raises UsageError for a value without entries, or with another length than the step has coordinates."""
    expected = known.whole(step.dim) if step.dim is not None else None
    if 0 in array.shape:
        raise UsageError(f"step '{step.name}': no tokens in an array of shape {tuple(array.shape)}; give at least one")
    if array.ndim == 0 or (expected is not None and array.shape[-1] != expected):
        last = step.dim if expected in (None, step.dim) else f"{step.dim} = {expected}"
        of = "" if isinstance(operation, op.Given) else f" from {_shapes(operation, step, premises, known)}"
        raise UsageError(
            f"step '{step.name}': expected an array whose last axis has length {last}, got the shape "
            f"{tuple(array.shape)}{of}"
        )


def emulates(steps: Iterable[Step], operands: Operands) -> bool:
    """Whether the emulated values of these steps are known: no error of theirs is known by its bound alone."""
    return all(_emulates(step, operands.within(step)) for step in steps)


def _emulates(step: Step, operands: Operands) -> bool:
    operation = step.operation
    if isinstance(operation, op.Given):
        return step.local == 0 or isinstance(operands.operand(operation.name), Emulated)
    if isinstance(operation, op.Apply):
        function = operands.function(operation.function)
        return function.approximate is not None or operation.eps == 0
    if isinstance(operation, op.PerturbedLinear):
        return operation.perturbation == 0 or isinstance(operands.operand(operation.matrix), Emulated)
    if isinstance(operation, op.VectorMap):
        return operands.function(operation.function).approximate is not None or operation.eps == 0
    if isinstance(operation, op.Iteration):
        return operation.offset == 0
    if isinstance(operation, op.SoftThreshold):
        return operation.error == 0 or isinstance(operands.operand(operation.threshold), Emulated)
    if isinstance(operation, Repetition):
        steps = operation.layer.derivation.leading_to(operation.layer.name)
        inside, layers = (
            [each for each in steps if each.name != operation.premise],
            operands.layers(operation.depth),
        )
        return all(emulates(inside, operands.in_layer(place, operation.index)) for place in layers)
    return has_value(operation)


@singledispatch
def value(operation: op.Operation, x: list[Array], operands: Operands, emulated: bool) -> Array:
    """What the operation computes from the values of the premises."""
    raise NotImplementedError(f"the value of {type(operation).__name__}")


@singledispatch
def emulated_value(operation: op.Operation, premises: list[Emulated], operands: Operands) -> Array:
    """The same of the emulated values, for an operation that looks at the exact ones as well."""
    return value(operation, [each.emulated for each in premises], operands, True)


@value.register
def _given(operation: op.Given, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return operands.side(operation.name, emulated)


@value.register
def _linear(operation: op.Linear, x: list[Array], operands: Operands, emulated: bool) -> Array:
    matrix = operands.matrix(operation)
    found = applied(matrix, x[0])
    if found.ndim == 0:
        raise UsageError(
            f"step '{operands.step}': a vector for '{operation.matrix}' gives one number for each token, but the value "
            f"has no tokens; give a matrix of one row"
        )
    if not is_number(matrix) and matrix.ndim == 1 and operands.norm not in (None, Norm.INF):
        raise UsageError(
            f"step '{operands.step}': a vector for '{operation.matrix}' maps tokens to coordinates, each of which has "
            f"the bound of its token; state the step in the sup norm, target=Norm.INF"
        )
    return _beside(found, operands.array(operation.bias)) if operation.bias else found


def _beside(value: Array, bias: Array) -> Array:
    """Their sum. Raises ValueError for a bias of other coordinates, or of tokens that the value does not have."""
    if bias.ndim and (bias.shape[-1] != value.shape[-1] or bias.ndim > value.ndim):
        raise ValueError(f"a bias of shape {tuple(bias.shape)} beside a value of shape {tuple(value.shape)}")
    return value + bias


@value.register
def _apply(operation: op.Apply, x: list[Array], operands: Operands, emulated: bool) -> Array:
    function = operands.function(operation.function)
    return (function.emulated if emulated else function.exact)(x[0], *map(operands.array, operation.beside))


@value.register
def _product(operation: op.Product, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return PRODUCTS[operation.kind](*x)


def mean_of_outer(x: Array, y: Array) -> Array:
    """(1/n) sum_i y_i x_i^T, row by row; a value without tokens counts as one token."""
    x, y = (torch.atleast_2d(each) for each in (x, y))
    return (y.mT @ x).flatten(-2) / x.shape[-2]


PRODUCTS: Mapping[op.ProductKind, Callable[[Array, Array], Array]] = {
    op.ProductKind.ENTRYWISE: lambda x, y: x * y,
    op.ProductKind.INNER: lambda x, y: (x * y).sum(-1, keepdim=True),
    op.ProductKind.MEAN_OUTER: mean_of_outer,
}


@value.register
def _combination(operation: op.Combination, x: list[Array], operands: Operands, emulated: bool) -> Array:
    if len(lengths := sorted({each.shape[-1] for each in x})) > 1:
        raise ValueError(f"summands of {' and '.join(map(str, lengths))} coordinates")
    first, *others = (operands.number(c) * each for c, each in zip(operation.coefficients, x, strict=True))
    for other in others:
        first = first + other
    return first


@value.register
def _token_mean(operation: op.TokenMean, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return token_mean(x[0])


@value.register
def _concatenation(operation: op.Concatenation, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return torch.cat(x, -1)


@value.register
def _restated(operation: op.Restated, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return x[0]


@value.register
def _clip(operation: op.Clip, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return clipped(x[0], operands.array(operation.low), operands.array(operation.high))


def clipped(x: Array, low: Array, high: Array) -> Array:
    return torch.minimum(torch.maximum(x, low), high)


@value.register
def _soft_threshold(operation: op.SoftThreshold, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return shrunk(x[0], operands.side(operation.threshold, emulated))


def shrunk(x: Array, threshold: Array) -> Array:
    """sign(x) max(|x| - t, 0), also for an approximate t < 0."""
    held = torch.relu(threshold)
    return torch.relu(x - held) - torch.relu(-x - held) + torch.sign(x) * torch.relu(-threshold)


@value.register
def _softmax_of(operation: op.Softmax, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return torch.softmax(x[0], -1)


@value.register
def _linear_softmax(operation: op.LinearSoftmax, x: list[Array], operands: Operands, emulated: bool) -> Array:
    scores = x[0]
    if emulated:
        return torch.softmax(scores, -1)
    return (1 + scores - scores.mean(-1, keepdim=True)) / scores.shape[-1]


@value.register
def _hard_max(operation: op.HardMax, x: list[Array], operands: Operands, emulated: bool) -> Array:
    if emulated and operation.inverse_temperature != sp.oo:
        return torch.softmax(operands.number(operation.inverse_temperature) * x[0], -1)
    return unit_vector(x[0])


@value.register
def _concentration(operation: op.Concentration, x: list[Array], operands: Operands, emulated: bool) -> Array:
    scores = operands.array(operation.scores)
    return torch.softmax(scores, -1) if emulated else unit_vector(scores)


@value.register
def _attention(operation: op.Attention, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return attended(*x)


def attended(weights: Array, values: Array) -> Array:
    """(..., n) and (..., n, m) to (..., m)."""
    return (weights.unsqueeze(-2) @ values).squeeze(-2) if weights.ndim == values.ndim - 1 else weights @ values


@value.register
def _cases(operation: op.Cases, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return x[0] if operands.holds(operation.when) else x[1]


@value.register
def _iteration(operation: op.Iteration, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return x[0]  # the exact value is a fixed point


# A step multiplies the error by A; what it adds within `offset` is not known, and 0 here.
@emulated_value.register
def _iterated(operation: op.Iteration, premises: list[Emulated], operands: Operands) -> Array:
    (start,) = premises
    error = start.emulated - start.exact
    for _ in operands.layers(operation.depth):
        error = applied(operands.square(operation.matrix), error)
    return start.exact + error


@value.register
def _repetition(operation: Repetition, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return _through_layers(operation, x[0], operands, lambda each, x, here: value(each, x, here, emulated))


# Within a layer only the given's operand differs from that of the derivation: the value after the layers before.
def _through_layers(
    operation: Repetition,
    start: Values,
    operands: Operands,
    run: Callable[[op.Operation, list[Values], Operands], Values],
) -> Values:
    found, layer = start, operation.layer
    for place in operands.layers(operation.depth):
        known, inner = {operation.premise: found}, operands.in_layer(place, operation.index)
        for step in layer.derivation.leading_to(layer.name):
            if step.name not in known:
                assert step.operation is not None  # `has_value`
                known[step.name] = run(step.operation, [known[name] for name in step.premises], inner.within(step))
        found = known[layer.name]
    return found
