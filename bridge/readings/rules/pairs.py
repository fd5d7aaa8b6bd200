"""A function of a query and a key, for each pair of them."""

from collections.abc import Iterator

import torch

from bridge.readings.arrays import NORMS, Array, rounding
from bridge.readings.enclosed import AtHand, Enclosed, enclosed, exactly
from bridge.readings.errors import Error
from bridge.readings.numbers import Number, is_known, largest_entry, numbers
from bridge.readings.operands import Emulated, Operands
from bridge.readings.values import is_emulated, value
from symbolic.calculus.pairs import PairwiseFunction
from symbolic.derivations.derivation import Norm, Step


@value.register
def _value(operation: PairwiseFunction, x: list[Array], operands: Operands, emulated: bool) -> Array:
    function = operands.function(operation.function)
    return (function.emulated if emulated else function.exact)(*x)


# |f_hat(x + E, y + F) - f(x, y)| <= eps + a ||E|| + b ||F|| for each pair; known errors give it exactly.
@enclosed.register
def _enclosed(operation: PairwiseFunction, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    number, exact = at.operands.number, exactly(operation, x, at)
    of_x, of_y = (
        number(slope) * each.error.norm(Norm(norm))
        for slope, each, norm in zip(operation.slopes, x, operation.sources, strict=True)
    )
    coarse = Error(None, torch.zeros_like(exact) + (of_x.unsqueeze(-1) + of_y + number(operation.eps)))
    if at.local is False or not all(each.error.is_known for each in x):
        return Enclosed(exact, coarse)
    emulated = at.operands.function(operation.function).emulated(*(each.error.after(each.exact) for each in x))
    known = Error.known(emulated - exact)
    return Enclosed(exact, known if at.local is True else Error.where(at.local, known, coarse))


@numbers.register
def _numbers(operation: PairwiseFunction, step: Step, x: list[Emulated], at: Operands) -> Iterator[Number]:
    function, name = at.function(operation.function), operation.function
    here, there = function.exact(*(each.exact for each in x)), function.exact(*(each.emulated for each in x))
    size = rounding(abs(here)) + rounding(abs(there))
    if function.approximate is not None and is_known(operation.eps, at):
        deviation = largest_entry(function.deviates(*(each.emulated for each in x)))
        yield Number(f"the deviation of '{name}'", at.number(operation.eps), deviation, rounded=largest_entry(size))
    if all(is_known(each, at) for each in operation.slopes):
        of_x, of_y = (
            at.number(slope) * _both_norms(each, Norm(norm))
            for slope, each, norm in zip(operation.slopes, x, operation.sources, strict=True)
        )
        moves, rounded = of_x[0].unsqueeze(-1) + of_y[0], of_x[1].unsqueeze(-1) + of_y[1] + size
        excess = torch.amax((abs(there - here) - moves).reshape(-1), 0)  # over all pairs
        what = f"what '{name}' moves by beyond its slopes"
        yield Number(what, 0.0, excess, rounded=largest_entry(rounded))


def _both_norms(x: Emulated, norm: Norm) -> Array:
    """Of the error of each token, and of what rounding may take it from: (2, ...)."""
    size = rounding(NORMS[norm](x.exact) + NORMS[norm](x.emulated))
    return torch.stack([NORMS[norm](x.emulated - x.exact), size])


@is_emulated.register
def _is_emulated(operation: PairwiseFunction, step: Step, operands: Operands) -> bool:
    return bool(operands.function(operation.function).approximate is not None or operation.eps == 0)
