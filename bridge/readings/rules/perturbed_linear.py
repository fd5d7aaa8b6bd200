"""A_hat x_hat against A x."""

from collections.abc import Iterator

from bridge.readings.arrays import NORMS, Array, applied, is_number, rounding
from bridge.readings.enclosed import AtHand, Enclosed, Image, enclosed, exactly, is_of_the_step
from bridge.readings.errors import Error
from bridge.readings.numbers import Number, norm_number, numbers
from bridge.readings.operands import Emulated, Operands
from bridge.readings.values import is_emulated, value
from symbolic.calculus.perturbations import PerturbedLinear
from symbolic.derivations.derivation import Norm, Step, as_expr


@value.register
def _value(operation: PerturbedLinear, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return applied(operands.matrix_side(operation.matrix, emulated), x[0])


def _through(matrix: Array, error: Error) -> Error:
    return error.scaled(matrix) if is_number(matrix) else error.mapped(matrix)


# A_hat (x + c + u) - A x = (A_hat c + (A_hat - A) x) + A_hat u; of A alone, (A_hat - A)(x + c + u) is within the
# perturbation times the norm of x + c + u, and in each coordinate within h ||x + c + u||_1 where all entries of
# |A_hat - A| are at most h.
@enclosed.register
def _enclosed(operation: PerturbedLinear, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    (before,) = x
    exact, error, found = exactly(operation, x, at), before.error, at.operands.operand(operation.matrix)
    if isinstance(found, Emulated) and not (at.every and found.within is not None):
        near = _through(found.emulated, error)
        centre = near.centre + applied(found.emulated - found.exact, before.exact)
        image = None if is_number(found.emulated) else Image(found.emulated, lambda: error.two)
        return Enclosed(exact, Error(centre, near.radius, one=lambda: near.one, two=lambda: near.two), image)
    distance, source, target = operation.perturbation, Norm(operation.source), step.norm
    if isinstance(found, Emulated):
        found, within = found.exact, as_expr(found.within)
        if within.is_infinite is not True:
            distance, source, target = within, Norm.ONE, Norm.INF
    reach = NORMS[source](before.exact + error.centre) + error.spread(source)
    moved = at.operands.number(distance) * reach.unsqueeze(-1)
    return Enclosed(exact, _through(found, error).plus(Error.within(target, moved, exact)))


@numbers.register
def _numbers(operation: PerturbedLinear, step: Step, x: list[Emulated], at: Operands) -> Iterator[Number]:
    name, found = operation.matrix, at.operand(operation.matrix)
    exact = found.exact if isinstance(found, Emulated) else found
    yield from norm_number(f"the norm of '{name}'", operation.norm, operation.source, exact, step, at)
    if isinstance(found, Emulated):
        moved, what = found.emulated - found.exact, f"the norm of the perturbation of '{name}'"
        rounded = rounding(abs(found.emulated).sum() + abs(found.exact).sum())  # at least the rounding of the norm
        yield from norm_number(what, operation.perturbation, operation.source, moved, step, at, rounded)


@is_of_the_step.register
def _is_of_the_step(operation: PerturbedLinear) -> bool:
    return True


@is_emulated.register
def _is_emulated(operation: PerturbedLinear, step: Step, operands: Operands) -> bool:
    return bool(operation.perturbation == 0 or isinstance(operands.operand(operation.matrix), Emulated))
