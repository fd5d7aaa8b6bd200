"""Log-softmax, and cross-entropy: its mean under weights over the classes."""

from collections.abc import Iterator

import torch

from bridge.readings.arrays import Array, rounding
from bridge.readings.enclosed import AtHand, Enclosed, enclosed, exactly
from bridge.readings.errors import Error
from bridge.readings.numbers import Number, is_known, largest_entry, numbers
from bridge.readings.operands import Emulated, Operands
from bridge.readings.values import value
from bridge.readings.weights import WIDEST, most_apart, sum_of_others
from symbolic.calculus.log_softmax import CrossEntropy, LogSoftmax
from symbolic.derivations.derivation import Step


@value.register
def _value_of_log_softmax(operation: LogSoftmax, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return torch.log_softmax(x[0], -1)


# Of scores s + c + u: log softmax(s + c) - log softmax(s) is known, and what u adds is within the radii.
@enclosed.register
def _enclosed_of_log_softmax(operation: LogSoftmax, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    exact, error = exactly(operation, x, at), x[0].error
    moved = torch.log_softmax(error.after(x[0].exact), -1)
    centre = None if error.is_centred else moved - exact
    radius = None if error.is_known else _radius(torch.exp(moved), error)
    return Enclosed(exact, Error(centre, radius, like=exact))


# With weights p and |u| <= r entry i moves by at most log(1 + sum_(j != i) p_j (e^(r_i + r_j) - 1)), where
# e^(r_i + r_j) - 1 = e^(r_i) (e^(r_j) - 1) + (e^(r_i) - 1); by rule `log_softmax` also by at most
# log(1 + (1 - p_i) (e^w - 1)) <= w, w the most by which two scores move against each other. |u| <= w too.
def _radius(weights: Array, error: Error) -> Array:
    apart, rest = most_apart(error).unsqueeze(-1), sum_of_others(weights)
    held, held_apart = (torch.clamp(each, max=WIDEST) for each in (error.radius, apart))
    by_entries = torch.exp(held) * sum_of_others(weights * torch.expm1(held)) + torch.expm1(held) * rest
    sharp = torch.log1p(torch.minimum(by_entries, rest * torch.expm1(held_apart)))
    return torch.where(apart <= WIDEST, sharp, apart)


@value.register
def _value_of_cross_entropy(operation: CrossEntropy, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return -(operands.array(operation.label) * torch.log_softmax(x[0], -1)).sum(-1, keepdim=True)


@enclosed.register
def _enclosed_of_cross_entropy(operation: CrossEntropy, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    logs, label = _enclosed_of_log_softmax(LogSoftmax(), step, x, at).error, at.operands.array(operation.label)
    exact = exactly(operation, x, at)
    centre = None if logs.is_centred else -(label * logs.centre).sum(-1, keepdim=True)
    radius = None if logs.is_known else (label * logs.radius).sum(-1, keepdim=True)
    return Enclosed(exact, Error(centre, radius, like=exact))


@numbers.register
def _numbers(operation: CrossEntropy, step: Step, x: list[Emulated], at: Operands) -> Iterator[Number]:
    if is_known(operation.others, at):
        weights = torch.softmax(x[0].exact, -1)
        others = (weights * (1 - at.array(operation.label))).sum(-1)
        computed = largest_entry(rounding(torch.ones_like(weights)))
        what = "the weight of classes other than the label"
        yield Number(what, at.number(operation.others), largest_entry(others), computed=computed)
