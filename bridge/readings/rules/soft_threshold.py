"""Soft thresholds, exact and approximate ones."""

import torch

from bridge.readings.arrays import Array, between, one_norm, rounding, two_norm
from bridge.readings.enclosed import AtHand, Enclosed, enclosed, exactly
from bridge.readings.errors import Error
from bridge.readings.operands import Emulated, Operands
from bridge.readings.values import is_emulated, value
from symbolic.calculus.nonexpansive import SoftThreshold
from symbolic.derivations.derivation import Step


@value.register
def _value(operation: SoftThreshold, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return shrunk(x[0], operands.side(operation.threshold, emulated))


def shrunk(x: Array, threshold: Array) -> Array:
    """sign(x) max(|x| - t, 0), also for an approximate t < 0."""
    held = torch.relu(threshold)
    return torch.relu(x - held) - torch.relu(-x - held) + torch.sign(x) * torch.relu(-threshold)


# An approximate t < 0 makes S_t jump at 0, by 2 |t|. What rounding may take across 0 is enclosed on both sides; where
# larger numbers cancel, it is that of the operands.
@enclosed.register
def _enclosed(operation: SoftThreshold, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    threshold, found = (at.operands.side(operation.threshold, emulated) for emulated in (False, True))
    exact, error, moved = exactly(operation, x, at), x[0].error, x[0].error.after(x[0].exact)
    slack, zero = rounding(abs(x[0].exact) + abs(error.centre)), torch.zeros_like(exact)
    if found is not threshold and at.operands.bits is None:
        slack = slack + rounding(at.operands.scale)
    jump = torch.where(abs(moved) <= error.radius + slack, 2 * torch.relu(-found) + zero, zero)
    reach = error.radius + torch.where(jump > 0, slack, zero)
    at_centre, radius = between(lambda each: shrunk(each, found), moved, reach)
    if found is threshold and operation.error != 0:  # S_t moves by the error of t at most
        jump = jump + at.operands.number(operation.error)
        radius = radius + jump
    one, two = lambda: error.one + one_norm(jump), lambda: error.two + two_norm(jump)
    return Enclosed(exact, Error(at_centre - exact, radius, one=one, two=two))


@is_emulated.register
def _is_emulated(operation: SoftThreshold, step: Step, operands: Operands) -> bool:
    return bool(operation.error == 0 or isinstance(operands.operand(operation.threshold), Emulated))
