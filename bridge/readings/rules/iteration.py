"""Steps that multiply the error by a matrix, around a fixed point."""

from collections.abc import Callable, Iterator

import sympy as sp
import torch

from bridge.readings.arrays import Array, applied, is_number, largest, one_norm, spectral
from bridge.readings.enclosed import AtHand, Enclosed, NoEnclosure, enclosed, is_of_the_step
from bridge.readings.errors import Error
from bridge.readings.numbers import Number, norm_number, numbers
from bridge.readings.operands import Emulated, Operands
from bridge.readings.values import computes, emulated_value, is_emulated, value
from symbolic.calculus.iterations import Iteration
from symbolic.derivations.derivation import Norm, Step


@value.register
def _value(operation: Iteration, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return x[0]  # the exact value is a fixed point


# A step multiplies the error by A; what it adds within `offset` is not known, and 0 here.
@emulated_value.register
def _emulated_value(operation: Iteration, premises: list[Emulated], operands: Operands) -> Array:
    (start,) = premises
    error = start.emulated - start.exact
    for _ in operands.layers(operation.depth):
        error = applied(operands.square(operation.matrix), error)
    return start.exact + error


# e_(l+1) = A e_l + v, ||v|| <= offset: e_L = A^L e_0 + sum_l A^l v_l.
@enclosed.register
def _enclosed(operation: Iteration, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    (start,) = x
    if operation.depth == sp.oo:
        raise NoEnclosure(f"'{step.rule}' has no enclosure: it is a limit; give a finite depth=")
    matrix, layers = at.operands.square(operation.matrix), at.operands.layers(operation.depth)
    if is_number(matrix):
        error, norm = start.error.scaled(matrix ** len(layers)), abs(matrix)
    else:
        error, norm = (
            start.error.mapped(torch.linalg.matrix_power(matrix, len(layers))),
            _OPERATOR_NORMS[step.norm](matrix),
        )
    if operation.offset != 0:
        total = norm * 0
        for _ in layers:
            total = norm * total + at.operands.number(operation.offset)
        error = error.plus(Error.within(step.norm, total, start.exact))
    return Enclosed(start.exact, error)


_OPERATOR_NORMS: dict[Norm, Callable[[Array], Array]] = {
    Norm.INF: lambda matrix: largest(one_norm(matrix)),
    Norm.ONE: lambda matrix: largest(one_norm(matrix.mT)),
    Norm.TWO: spectral,
}


@numbers.register
def _numbers(operation: Iteration, step: Step, x: list[Emulated], at: Operands) -> Iterator[Number]:
    matrix = at.array(operation.matrix)
    yield from norm_number(f"the norm of '{operation.matrix}'", operation.factor, step.norm, matrix, step, at)


@is_of_the_step.register
def _is_of_the_step(operation: Iteration) -> bool:
    return True


@is_emulated.register
def _is_emulated(operation: Iteration, step: Step, operands: Operands) -> bool:
    return bool(operation.offset == 0)


@computes.register
def _computes(operation: Iteration) -> bool:
    return operation.depth != sp.oo
