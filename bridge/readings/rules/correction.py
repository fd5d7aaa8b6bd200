"""A correction map, which undoes errors up to a size."""

import torch

from bridge.readings.arrays import NORMS, Array, all_hold
from bridge.readings.enclosed import AtHand, Enclosed, beyond, enclosed, is_of_the_step
from bridge.readings.errors import Error
from bridge.readings.operands import Emulated, Operands
from bridge.readings.values import emulated_value, value
from symbolic.calculus.perturbations import Correction
from symbolic.derivations.derivation import Step

ABOVE = "the error may be above what the correction undoes"


@value.register
def _value(operation: Correction, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return x[0]


# Beyond sigma nothing is known of what the map makes of x_hat: nan there.
@emulated_value.register
def _emulated_value(operation: Correction, premises: list[Emulated], operands: Operands) -> Array:
    (x,) = premises
    assert operands.norm is not None  # that of the step
    error = NORMS[operands.norm](x.emulated - x.exact).unsqueeze(-1)
    return torch.where(error <= operands.number(operation.sigma), x.exact, torch.nan)


@enclosed.register
def _enclosed(operation: Correction, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    (before,) = x
    holds = all_hold(before.error.norm(step.norm) <= at.operands.number(operation.sigma))
    return Enclosed(before.exact, Error.none(before.exact), holds=holds)


@is_of_the_step.register
def _is_of_the_step(operation: Correction) -> bool:
    return True


@beyond.register
def _beyond(operation: Correction) -> str:
    return ABOVE
