"""Linear maps: value, error at a prompt, norm of a network, and the norm that the rule was given."""

from collections.abc import Iterator

from bridge.readings.arrays import Array, applied, is_number
from bridge.readings.enclosed import AtHand, Enclosed, Image, enclosed, exactly
from bridge.readings.errors import Error
from bridge.readings.network import Bounded, MatrixNorms, NormsAtHand, bounded, least
from bridge.readings.numbers import Number, norm_number, numbers
from bridge.readings.operands import Emulated, Operands
from bridge.readings.values import value
from symbolic.calculus.linear import Linear
from symbolic.derivations.derivation import Norm, Step
from symbolic.words.errors import UsageError


@value.register
def _value(operation: Linear, x: list[Array], operands: Operands, emulated: bool) -> Array:
    matrix = operands.matrix(operation)
    found = applied(matrix, x[0])
    if found.ndim == 0:
        raise UsageError(
            f"step '{operands.step}': a vector for '{operation.matrix}' gives one number for each token, but the value "
            f"has no tokens; give a matrix of one row"
        )
    if not is_number(matrix) and matrix.ndim == 1 and operands.norm not in (None, Norm.INF):
        raise UsageError(
            f"step '{operands.step}': a vector for '{operation.matrix}' maps tokens to coordinates, each of which has "
            f"the bound of its token; state the step in the sup norm, target=Norm.INF"
        )
    return _beside(found, operands.array(operation.bias)) if operation.bias else found


def _beside(value: Array, bias: Array) -> Array:
    """Their sum. Raises ValueError for a bias of other coordinates, or of tokens that the value does not have."""
    if bias.ndim and (bias.shape[-1] != value.shape[-1] or bias.ndim > value.ndim):
        raise ValueError(f"a bias of shape {tuple(bias.shape)} beside a value of shape {tuple(value.shape)}")
    return value + bias


# A (c + u) = A c + A u, and |A u| is at most |A| r, ||A_i||_2 ||u||_2 and max_k |A_ik| ||u||_1 in row i.
@enclosed.register
def _enclosed(operation: Linear, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    (before,) = x
    matrix, error = at.operands.matrix(operation), before.error
    exact = exactly(operation, x, at)
    if error.is_none:
        return Enclosed(exact, Error.none(exact))
    if is_number(matrix):
        return Enclosed(exact, error.scaled(matrix))
    if matrix.ndim == 1:  # the tokens become the coordinates
        of_tokens = error.mapped(matrix.unsqueeze(0))
        centre = None if error.is_centred else of_tokens.centre[..., 0]
        return Enclosed(exact, Error(centre, None if error.is_known else of_tokens.radius[..., 0], like=exact))
    return Enclosed(exact, error.mapped(matrix), Image(matrix, lambda: error.two))


@bounded.register
def _bounded(operation: Linear, step: Step, x: list[Bounded], known: NormsAtHand) -> Bounded | None:
    (before,) = x
    if operation.bias:
        return None
    matrix = known.operand(step, operation.matrix, MatrixNorms, "MatrixNorms.of(matrix, bits)")
    if operation.transposed:
        matrix = matrix.transposed
    if matrix.columns != before.dim:
        raise UsageError(
            f"step '{step.name}': '{operation.matrix}' has {matrix.columns} columns, and '{step.premises[0]}' "
            f"{before.dim} coordinates"
        )
    norm = matrix.norm(before.norm, step.norm, step.name)
    size, emulated, error = (norm * each for each in (before.size, before.emulated, before.error))
    widest = least(
        [matrix.norm(before.norm, each) for each in (step.norm, Norm.INF) if matrix.knows(before.norm, each)]
    )
    reach, emulated_reach = widest * before.size, widest * before.emulated
    return Bounded(step.norm, matrix.rows, size, emulated, error, reach, emulated_reach)


@numbers.register
def _numbers(operation: Linear, step: Step, x: list[Emulated], at: Operands) -> Iterator[Number]:
    matrix = at.matrix(operation)
    if is_number(matrix) or matrix.ndim == 2:
        yield from norm_number(f"the norm of '{operation.matrix}'", operation.norm, operation.source, matrix, step, at)
