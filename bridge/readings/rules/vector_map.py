"""F_hat(x_hat) against F(x), F a function of vectors."""

from collections.abc import Iterator

from bridge.readings.arrays import NORMS, Array, rounding
from bridge.readings.enclosed import LEFT, AtHand, Enclosed, beyond, enclosed, exactly, is_of_the_step
from bridge.readings.errors import Error
from bridge.readings.numbers import Number, is_known, largest_entry, numbers
from bridge.readings.operands import Emulated, Operands
from bridge.readings.values import is_emulated, value
from symbolic.calculus.perturbations import VectorMap
from symbolic.derivations.derivation import Norm, Step


@value.register
def _value(operation: VectorMap, x: list[Array], operands: Operands, emulated: bool) -> Array:
    function = operands.function(operation.function)
    return (function.emulated if emulated else function.exact)(x[0])


# ||F_hat(x + E) - F(x)|| <= eps + L ||E||.
@enclosed.register
def _enclosed(operation: VectorMap, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    (before,) = x
    exact, number = exactly(operation, x, at), at.operands.number
    moved = number(operation.lipschitz) * before.error.norm(Norm(operation.source)) + number(operation.eps)
    holds = at.operands.function(operation.function).reaches(before.exact, before.error.absolute)
    return Enclosed(exact, Error.within(step.norm, moved.unsqueeze(-1), exact), holds=holds)


# ||F_hat(x_hat) - F(x_hat)|| <= eps and ||F(x_hat) - F(x)|| <= L ||x_hat - x||.
@numbers.register
def _numbers(operation: VectorMap, step: Step, x: list[Emulated], at: Operands) -> Iterator[Number]:
    function, norm, (value,) = at.function(operation.function), NORMS[step.norm], x
    here, there = function.exact(value.exact), function.exact(value.emulated)
    size = rounding(norm(here)) + rounding(norm(there))
    if is_known(operation.eps, at):
        deviation, name = largest_entry(norm(function.deviates(value.emulated))), operation.function
        yield Number(f"the deviation of '{name}'", at.number(operation.eps), deviation, rounded=largest_entry(size))
    if is_known(operation.lipschitz, at):
        source, lipschitz = NORMS[Norm(operation.source)], at.number(operation.lipschitz)
        errors, moves = source(value.emulated - value.exact).reshape(-1), norm(there - here).reshape(-1)
        sizes = (size + lipschitz * rounding(source(value.exact) + source(value.emulated))).reshape(-1)
        for place in range(len(errors)):
            what = f"the distance of two values of '{operation.function}'"
            yield Number(what, lipschitz * errors[place], moves[place], rounded=sizes[place])


@is_of_the_step.register
def _is_of_the_step(operation: VectorMap) -> bool:
    return True


@beyond.register
def _beyond(operation: VectorMap) -> str:
    return LEFT


@is_emulated.register
def _is_emulated(operation: VectorMap, step: Step, operands: Operands) -> bool:
    return bool(operands.function(operation.function).approximate is not None or operation.eps == 0)
