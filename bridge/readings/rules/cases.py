"""One of two values, by a condition on letters."""

from bridge.readings.arrays import Array
from bridge.readings.enclosed import AtHand, Enclosed, enclosed
from bridge.readings.operands import Operands
from bridge.readings.values import value
from symbolic.calculus.cases import Cases
from symbolic.derivations.derivation import Step


@value.register
def _value(operation: Cases, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return x[0] if operands.holds(operation.when) else x[1]


@enclosed.register
def _enclosed(operation: Cases, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    return x[0] if at.operands.holds(operation.when) else x[1]
