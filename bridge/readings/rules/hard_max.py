"""The unit vector of the largest score, and softmax at an inverse temperature in its place."""

from collections.abc import Iterator

import sympy as sp
import torch

from bridge.readings.arrays import Array, largest, rounding, unit_vector
from bridge.readings.enclosed import AtHand, Enclosed, enclosed, exactly
from bridge.readings.errors import Error
from bridge.readings.numbers import Number, is_known, largest_entry, numbers
from bridge.readings.operands import Emulated, Operands
from bridge.readings.values import value
from bridge.readings.weights import root_two_times, weights_within
from symbolic.calculus.softmax import HardMax
from symbolic.derivations.derivation import Step


@value.register
def _value(operation: HardMax, x: list[Array], operands: Operands, emulated: bool) -> Array:
    if emulated and operation.inverse_temperature != sp.oo:
        return torch.softmax(operands.number(operation.inverse_temperature) * x[0], -1)
    return unit_vector(x[0])


# The winner stays if it leads by more than the two errors; else one unit vector may take the place of another.
@enclosed.register
def _enclosed(operation: HardMax, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    exact, error = exactly(operation, x, at), x[0].error
    scores = error.after(x[0].exact)
    if operation.inverse_temperature != sp.oo:
        beta = at.operands.number(operation.inverse_temperature)
        return weights_within(exact, beta * scores, error.scaled(beta))
    radius = error.radius
    winner = exact > 0.5
    lead = ((scores - radius) * exact).sum(-1, keepdim=True)
    behind = torch.where(winner, lead - 1, scores + radius)
    lost = torch.where(lead > torch.amax(behind, -1, keepdim=True), torch.zeros_like(exact), torch.ones_like(exact))
    one, two = lambda: 2 * largest(lost), lambda: root_two_times(largest(lost))
    return Enclosed(exact, Error(None, lost, one=one, two=two))


@numbers.register
def _numbers(operation: HardMax, step: Step, x: list[Emulated], at: Operands) -> Iterator[Number]:
    if is_known(operation.margin, at) and x[0].exact.shape[-1] > 1:
        scores = x[0].exact
        lead, lowest = torch.amax(scores, -1, keepdim=True), torch.amin(scores, -1, keepdim=True)
        behind = torch.where(unit_vector(scores) > 0.5, lowest, scores)
        margin, computed = lead.squeeze(-1) - torch.amax(behind, -1), largest_entry(rounding(abs(scores)))
        least = torch.amin(margin.reshape(-1), 0)
        yield Number("the margin of the scores", at.number(operation.margin), least, True, computed=computed)
