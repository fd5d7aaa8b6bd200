"""Values that an instance binds: an array, or a pair of an exact and an emulated one."""

from bridge.readings.arrays import Array
from bridge.readings.enclosed import AtHand, Enclosed, enclosed, is_of_the_step
from bridge.readings.errors import Error
from bridge.readings.network import Bounded, NormsAtHand, bounded
from bridge.readings.operands import Emulated, Operands
from bridge.readings.values import is_emulated, value
from symbolic.derivations.derivation import Step
from symbolic.derivations.operations import Given


@value.register
def _value(operation: Given, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return operands.side(operation.name, emulated)


@enclosed.register
def _enclosed(operation: Given, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    found = at.operands.operand(operation.name)
    if isinstance(found, Emulated):
        return Enclosed(found.exact, Error.known(found.emulated - found.exact))
    if step.local == 0:
        return Enclosed(found, Error.none(found))
    return Enclosed(found, Error.within(step.norm, at.operands.number(step.local), found))


@bounded.register
def _bounded(operation: Given, step: Step, x: list[Bounded], known: NormsAtHand) -> Bounded | None:
    if operation.name not in known.operands:
        return None
    found: Bounded = known.operand(step, operation.name, Bounded, "a Bounded(...)")
    return found.in_norm(step.norm)


@is_of_the_step.register
def _is_of_the_step(operation: Given) -> bool:
    return True


@is_emulated.register
def _is_emulated(operation: Given, step: Step, operands: Operands) -> bool:
    return bool(step.local == 0 or isinstance(operands.operand(operation.name), Emulated))
