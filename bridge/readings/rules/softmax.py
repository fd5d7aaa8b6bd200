"""Softmax weights, and softmax in the place of its linear part."""

from collections.abc import Iterator

import torch

from bridge.readings.arrays import Array, rounding
from bridge.readings.enclosed import AtHand, Enclosed, enclosed, exactly
from bridge.readings.numbers import Number, is_known, largest_entry, numbers
from bridge.readings.operands import Emulated, Operands
from bridge.readings.values import value
from bridge.readings.weights import moves, weights_within
from symbolic.calculus.linear_softmax import LinearSoftmax
from symbolic.calculus.softmax import Softmax
from symbolic.derivations.derivation import Step


@value.register
def _value_of_softmax(operation: Softmax, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return torch.softmax(x[0], -1)


@enclosed.register
def _enclosed_of_softmax(operation: Softmax, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    exact, error = exactly(operation, x, at), x[0].error
    if error.is_centred and not error.is_known:
        return Enclosed(exact, moves(exact, error))
    return weights_within(exact, error.after(x[0].exact), error)


@value.register
def _value_of_linear_softmax(operation: LinearSoftmax, x: list[Array], operands: Operands, emulated: bool) -> Array:
    scores = x[0]
    if emulated:
        return torch.softmax(scores, -1)
    return (1 + scores - scores.mean(-1, keepdim=True)) / scores.shape[-1]


@enclosed.register
def _enclosed_of_linear_softmax(operation: LinearSoftmax, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    return weights_within(exactly(operation, x, at), x[0].error.after(x[0].exact), x[0].error)


@numbers.register
def _numbers_of_linear_softmax(
    operation: LinearSoftmax, step: Step, x: list[Emulated], at: Operands
) -> Iterator[Number]:
    if is_known(operation.half_range, at):
        scores = x[0].exact
        found = (torch.amax(scores, -1) - torch.amin(scores, -1)) / 2
        computed = largest_entry(rounding(abs(scores)))
        yield Number(
            "half the range of the scores", at.number(operation.half_range), largest_entry(found), computed=computed
        )
