"""Perturbed maps, corrections and foreign keys: their values, and how far these are from the exact ones.

Letters as in bridge/readings/enclosing.py.
"""

import torch

from bridge.readings.arrays import NORMS, Array, all_hold, applied, is_number
from bridge.readings.enclosed import AtHand, Enclosed, Image, enclosed, exactly
from bridge.readings.errors import Error
from bridge.readings.operands import Emulated, Operands
from bridge.readings.values import emulated_value, value
from symbolic.derivations import operations as op
from symbolic.derivations.derivation import Norm, Step

# --- A_hat x_hat against A x ------------------------------------------------------------------------------------------


@value.register
def _perturbed_linear(operation: op.PerturbedLinear, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return applied(operands.matrix_side(operation.matrix, emulated), x[0])


# A_hat (x + c + u) - A x = (A_hat c + (A_hat - A) x) + A_hat u; of A alone, (A_hat - A)(x + c + u) is within the
# perturbation times the norm of x + c + u.
@enclosed.register
def _perturbed(operation: op.PerturbedLinear, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    (before,) = x
    exact, error, found = exactly(operation, x, at), before.error, at.operands.operand(operation.matrix)
    if isinstance(found, Emulated):
        near = _through(found.emulated, error)
        centre = near.centre + applied(found.emulated - found.exact, before.exact)
        image = None if is_number(found.emulated) else Image(found.emulated, lambda: error.two)
        return Enclosed(exact, Error(centre, near.radius, one=lambda: near.one, two=lambda: near.two), image)
    reach = NORMS[Norm(operation.source)](before.exact + error.centre) + error.spread(Norm(operation.source))
    moved = at.operands.number(operation.perturbation) * reach.unsqueeze(-1)
    return Enclosed(exact, _through(found, error).plus(Error.within(step.norm, moved, exact)))


def _through(matrix: Array, error: Error) -> Error:
    return error.scaled(matrix) if is_number(matrix) else error.mapped(matrix)


# --- F_hat(x_hat) against F(x), F a function of vectors ---------------------------------------------------------------


@value.register
def _vector_map(operation: op.VectorMap, x: list[Array], operands: Operands, emulated: bool) -> Array:
    function = operands.function(operation.function)
    return (function.emulated if emulated else function.exact)(x[0])


# ||F_hat(x + E) - F(x)|| <= eps + L ||E||.
@enclosed.register
def _vector_mapped(operation: op.VectorMap, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    (before,) = x
    exact, number = exactly(operation, x, at), at.operands.number
    moved = number(operation.lipschitz) * before.error.norm(Norm(operation.source)) + number(operation.eps)
    holds = at.operands.function(operation.function).reaches(before.exact, before.error.absolute)
    return Enclosed(exact, Error.within(step.norm, moved.unsqueeze(-1), exact), holds=holds)


# --- an average that sees a foreign key -------------------------------------------------------------------------------


@value.register
def _exclusion(operation: op.Exclusion, x: list[Array], operands: Operands, emulated: bool) -> Array:
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
def _excluded(operation: op.Exclusion, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    (before,) = x
    weight = foreign_weight(at.operands.array(operation.leads))  # (..., 1)
    kept, foreign = 1 - weight, at.operands.array(operation.foreign)
    error, share = before.error, kept.squeeze(-1)
    centre = kept * error.centre + weight * (foreign - before.exact)
    one, two = lambda: share * error.one, lambda: share * error.two
    return Enclosed(before.exact, Error(centre, kept * error.radius, one=one, two=two))


# --- a correction map -------------------------------------------------------------------------------------------------


@value.register
def _correction(operation: op.Correction, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return x[0]


# Beyond sigma nothing is known of what the map makes of x_hat: nan there.
@emulated_value.register
def _corrected(operation: op.Correction, premises: list[Emulated], operands: Operands) -> Array:
    (x,) = premises
    assert operands.norm is not None  # that of the step
    error = NORMS[operands.norm](x.emulated - x.exact).unsqueeze(-1)
    return torch.where(error <= operands.number(operation.sigma), x.exact, torch.nan)


@enclosed.register
def _undone(operation: op.Correction, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    (before,) = x
    holds = all_hold(before.error.norm(step.norm) <= at.operands.number(operation.sigma))
    return Enclosed(before.exact, Error.none(before.exact), holds=holds)
