"""Softmax over some keys in the place of softmax over all of them."""

from collections.abc import Iterator

import torch

from bridge.readings.arrays import Array, cut_weights, largest_places, rounding
from bridge.readings.enclosed import AtHand, Enclosed, enclosed, exactly
from bridge.readings.errors import Error
from bridge.readings.numbers import Number, is_known, largest_entry, numbers
from bridge.readings.operands import Emulated, Operands
from bridge.readings.values import value
from bridge.readings.weights import moves
from symbolic.calculus.cut_softmax import CutSoftmax
from symbolic.derivations.derivation import Step


def kept_keys(operation: CutSoftmax, scores: Array, operands: Operands) -> Array:
    """1 for a key that is kept at these scores, 0 for another."""
    if operation.most is None:
        return operands.array(operation.kept)
    return largest_places(scores, operands.count(operation.most))


@value.register
def _value(operation: CutSoftmax, x: list[Array], operands: Operands, emulated: bool) -> Array:
    weights = torch.softmax(x[0], -1)
    return cut_weights(weights, kept_keys(operation, x[0], operands)) if emulated else weights


# At scores s + c + u the weights of the kept keys are a softmax of their own scores, so that `moves` bounds how far
# they are from those at s + c; the others stay 0. Which keys are the largest is the same for all |u| <= r if each that
# is kept leads each other one by more than both their errors; else a weight may be anything between 0 and 1.
@enclosed.register
def _enclosed(operation: CutSoftmax, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    exact, error = exactly(operation, x, at), x[0].error
    scores = error.after(x[0].exact)
    kept = kept_keys(operation, scores, at.operands)
    weights = cut_weights(torch.softmax(scores, -1), kept)
    difference = weights - exact
    if error.is_known:
        return Enclosed(exact, Error.known(difference))
    moved = moves(weights, error)
    if operation.most is None:
        return Enclosed(exact, Error.known(difference).plus(moved))
    radius = abs(difference) + moved.radius
    stay = _stay(scores, error.radius, kept).unsqueeze(-1)
    return Enclosed(exact, Error(None, torch.where(stay, radius, torch.ones_like(radius))))


def _stay(scores: Array, radius: Array, kept: Array) -> Array:
    """Whether errors of that radius leave the same keys the largest, for each token."""
    chosen, far = kept > 0.5, torch.amax(abs(scores) + radius, -1, keepdim=True) + 1
    least = torch.amin(torch.where(chosen, scores - radius, far + 0 * scores), -1)
    most = torch.amax(torch.where(chosen, 0 * scores - far, scores + radius), -1)
    return least > most


@numbers.register
def _numbers(operation: CutSoftmax, step: Step, x: list[Emulated], at: Operands) -> Iterator[Number]:
    if is_known(operation.lost, at):
        weights = torch.softmax(x[0].emulated, -1)
        left = (weights * (1 - kept_keys(operation, x[0].emulated, at))).sum(-1)
        computed = largest_entry(rounding(torch.ones_like(weights)))
        what = "the weight of the keys left out"
        yield Number(what, at.number(operation.lost), largest_entry(left), of_run=True, computed=computed)
