"""Softmax weights beside a sink, scaled up, and how far they are from linear ones.

Letters as in `symbolic.calculus.heads`: n keys of scores s_j beside a sink of score C, u = n e^(-C).
"""

from collections.abc import Callable

import sympy as sp
import torch

from bridge.readings.arrays import Array
from bridge.readings.enclosed import AtHand, Enclosed, enclosed, exactly
from bridge.readings.errors import Error
from bridge.readings.operands import Operands
from bridge.readings.values import value
from bridge.readings.weights import sum_of_others
from symbolic.calculus.heads import Second, SinkSoftmax
from symbolic.derivations.derivation import Step


@value.register
def _value(operation: SinkSoftmax, x: list[Array], operands: Operands, emulated: bool) -> Array:
    if emulated:
        return HEADS[operation.second](x[0], x[0], operands.number(sp.exp(-operation.sink)))
    return 1 + x[0] if operation.second is Second.NONE else x[0]


# The weight of each key at its score s_j = `own`, where the other keys have the scores `others`; `lost` is e^(-C). With
# v = e^(-C) sum_i e^(s_i), and v' that of -s, differences that would cancel are avoided:
#   e^s / (1 + v) - 1 / (1 + u) = (e^s - 1 - e^(-C) sum_i (e^(s_i) - 1) / (1 + u)) / (1 + v),
#   (e^s / (1 + v) - e^(-s) / (1 + v')) / 2 = (sinh s + e^(-C) sum_i sinh(s - s_i)) / ((1 + v) (1 + v')).
def _alone(own: Array, others: Array, lost: Array) -> Array:
    return torch.exp(own) / (1 + lost * _total(torch.exp, own, others))


def _less_constant(own: Array, others: Array, lost: Array) -> Array:
    whole = 1 + lost * own.shape[-1]
    gained = torch.expm1(own) - lost * _total(torch.expm1, own, others) / whole
    return gained / (1 + lost * _total(torch.exp, own, others))


def _less_opposite(own: Array, others: Array, lost: Array) -> Array:
    apart = torch.sinh(own) * sum_of_others(torch.cosh(others)) - torch.cosh(own) * sum_of_others(torch.sinh(others))
    up, down = (1 + lost * _total(torch.exp, sign * own, sign * others) for sign in (1, -1))
    return (torch.sinh(own) + lost * apart) / (up * down)


def _total(function: Callable[[Array], Array], own: Array, others: Array) -> Array:
    """f(s_j) + sum over i != j of f(s_i)."""
    return function(own) + sum_of_others(function(others))


HEADS = {Second.NONE: _alone, Second.CONSTANT: _less_constant, Second.OPPOSITE: _less_opposite}


# Each weight grows with its own score and falls with every other.
@enclosed.register
def _enclosed(operation: SinkSoftmax, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    exact, (scores,) = exactly(operation, x, at), x
    weights, lost = HEADS[operation.second], at.operands.number(sp.exp(-operation.sink))
    middle, radius = scores.error.after(scores.exact), scores.error.radius
    found = weights(middle, middle, lost)
    most = weights(middle + radius, middle - radius, lost) - found
    least = found - weights(middle - radius, middle + radius, lost)
    return Enclosed(exact, Error(found - exact, torch.relu(torch.maximum(most, least))))
