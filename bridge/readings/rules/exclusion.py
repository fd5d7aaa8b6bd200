"""An average that sees a foreign key."""

from collections.abc import Iterator

import torch

from bridge.readings.arrays import NORMS, Array, rounding
from bridge.readings.enclosed import AtHand, Enclosed, enclosed
from bridge.readings.errors import Error
from bridge.readings.numbers import Number, is_known, largest_entry, numbers
from bridge.readings.operands import Emulated, Operands
from bridge.readings.values import value
from symbolic.calculus.softmax import Exclusion
from symbolic.derivations.derivation import Step


@value.register
def _value(operation: Exclusion, x: list[Array], operands: Operands, emulated: bool) -> Array:
    if not emulated:
        return x[0]
    weight = foreign_weight(operands.array(operation.leads))
    return x[0] + weight * (operands.array(operation.foreign) - x[0])


def foreign_weight(leads: Array) -> Array:
    """1 / (1 + sum_i e^(l_i)), (..., n) to (..., 1)."""
    zero = torch.zeros_like(leads[..., :1])
    return torch.softmax(torch.cat([zero, leads], -1), -1)[..., :1]


# (1 - w)(x + c + u) + w v - x = (1 - w)(c + u) + w (v - x).
@enclosed.register
def _enclosed(operation: Exclusion, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    (before,) = x
    weight = foreign_weight(at.operands.array(operation.leads))  # (..., 1)
    kept, foreign = 1 - weight, at.operands.array(operation.foreign)
    error, share = before.error, kept.squeeze(-1)
    centre = kept * error.centre + weight * (foreign - before.exact)
    one, two = lambda: share * error.one, lambda: share * error.two
    return Enclosed(before.exact, Error(centre, kept * error.radius, one=one, two=two))


@numbers.register
def _numbers(operation: Exclusion, step: Step, x: list[Emulated], at: Operands) -> Iterator[Number]:
    if is_known(operation.leak, at):
        weight = foreign_weight(at.array(operation.leads))
        yield Number(f"the weight of '{operation.foreign}'", at.number(operation.leak), largest_entry(weight))
    if is_known(operation.diameter, at):
        foreign, average, norm = at.array(operation.foreign), x[0].emulated, NORMS[step.norm]
        what = f"the distance of '{operation.foreign}' from the average of the other keys"
        rounded = largest_entry(rounding(norm(foreign)) + rounding(norm(average) + norm(x[0].exact)))
        apart = largest_entry(norm(foreign - average))
        yield Number(what, at.number(operation.diameter), apart, of_run=True, rounded=rounded)
