"""Softmax of scores that are known, in the place of the unit vector of the largest."""

from collections.abc import Iterator

import torch

from bridge.readings.arrays import Array, unit_vector
from bridge.readings.enclosed import AtHand, Enclosed, enclosed, is_of_the_step
from bridge.readings.errors import Error
from bridge.readings.numbers import Number, is_known, largest_entry, numbers
from bridge.readings.operands import Emulated, Operands
from bridge.readings.values import value
from bridge.readings.weights import root_two_times, sum_of_others
from symbolic.calculus.softmax import Concentration
from symbolic.derivations.derivation import Step


@value.register
def _value(operation: Concentration, x: list[Array], operands: Operands, emulated: bool) -> Array:
    scores = operands.array(operation.scores)
    return torch.softmax(scores, -1) if emulated else unit_vector(scores)


@enclosed.register
def _enclosed(operation: Concentration, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    scores = at.operands.array(operation.scores)
    exact = unit_vector(scores)
    known = Error.known(torch.softmax(scores, -1) - exact)
    if at.local is True or step.local.free_symbols - set(at.operands.letters):
        return Enclosed(exact, known)
    within = _of_lost_weight(at.operands.number(operation.lost), exact)
    return Enclosed(exact, within if at.local is False else Error.where(at.local, known, within))


# What the winner loses, at most `lost`, the others gain: twice that in the 1-norm, sqrt(2) times in the 2-norm.
def _of_lost_weight(lost: Array, like: Array) -> Error:
    radius = torch.zeros_like(like) + lost
    return Error(None, radius, one=lambda: 2 * radius[..., 0], two=lambda: root_two_times(radius[..., 0]))


@numbers.register
def _numbers(operation: Concentration, step: Step, x: list[Emulated], at: Operands) -> Iterator[Number]:
    if is_known(operation.lost, at):
        weights = torch.softmax(at.array(operation.scores), -1)
        what = f"the weight beside the largest of '{operation.scores}'"
        beside = torch.amin(sum_of_others(weights), -1)  # 1 - max would cancel
        yield Number(what, at.number(operation.lost), largest_entry(beside))


@is_of_the_step.register
def _is_of_the_step(operation: Concentration) -> bool:
    return True
