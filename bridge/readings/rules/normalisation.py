"""Vectors over their root mean square, centred before or not."""

from collections.abc import Iterator

import flint
import sympy as sp
import torch

from bridge.readings.arrays import Array, joint, rounding, two_norm
from bridge.readings.enclosed import AtHand, Enclosed, enclosed, exactly
from bridge.readings.errors import Error
from bridge.readings.network import Ball, Bounded, NormsAtHand, bounded
from bridge.readings.numbers import Number, is_known, numbers
from bridge.readings.operands import Emulated, Operands
from bridge.readings.values import value
from symbolic.calculus.normalisation import RmsNormalisation
from symbolic.derivations.derivation import Norm, Step


@value.register
def _value(operation: RmsNormalisation, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return normalised(_argument(x[0], operation), operation, operands)


def _argument(x: Array, operation: RmsNormalisation) -> Array:
    """What is divided by its root mean square."""
    return x - x.mean(-1, keepdim=True) if operation.centred else x


def normalised(x: Array, operation: RmsNormalisation, operands: Operands) -> Array:
    return x / _divisor(two_norm(x), x.shape[-1], operation, operands).unsqueeze(-1)


def _divisor(length: Array, dim: int, operation: RmsNormalisation, operands: Operands) -> Array:
    """sqrt(length^2 / d + shift), with the gradient 0 where it is 0."""
    root = torch.sqrt(torch.zeros_like(length) + operands.number(operation.shift))
    return joint([length / _root(dim, operands), root])


def _root(dim: int, operands: Operands) -> Array:
    return operands.number(sp.sqrt(sp.Integer(dim)))


# g(x + c + u) - g(x) = (g(x + c) - g(x)) + rest. Neither x + c nor x + c + u is shorter than the m that the radii, or
# the 2-norm of u, leave to x + c: ||rest||_2 <= ||u||_2 / D for the divisor D at m. It is at most 2 sqrt(d), as both
# values are at most sqrt(d). What the rule was told of their lengths is not used.
@enclosed.register
def _enclosed(operation: RmsNormalisation, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    (before,) = x
    exact, error = exactly(operation, x, at), _error(before.error, operation, at.operands)
    moved, dim = error.after(_argument(before.exact, operation)), exact.shape[-1]
    centre = Error.none(exact) if error.is_centred else Error.known(normalised(moved, operation, at.operands) - exact)
    if error.is_known:
        return Enclosed(exact, centre)
    by_radius = two_norm(torch.relu(abs(moved) - error.radius))
    length = torch.maximum(by_radius, torch.relu(two_norm(moved) - error.two))
    widest = 2 * _root(dim, at.operands)
    divisor = torch.maximum(_divisor(length, dim, operation, at.operands), error.two / widest)
    rest = Error.within(Norm.TWO, (error.two / divisor).unsqueeze(-1), exact)
    return Enclosed(exact, centre.plus(rest))


# (u - mean(u))_i = ((d - 1) u_i - sum_(j != i) u_j) / d is at most ((d - 2) r_i + sum_j r_j) / d and, by Cauchy and
# Schwarz, sqrt(1 - 1/d) ||u||_2. As a projection it does not lengthen u.
def _error(error: Error, operation: RmsNormalisation, operands: Operands) -> Error:
    """That of the argument."""
    if not operation.centred or error.is_none:
        return error
    centre = None if error.is_centred else _argument(error.centre, operation)
    if error.is_known:
        return Error.known(centre)
    radius, dim = error.radius, error.radius.shape[-1]
    by_radius = ((dim - 2) * radius + radius.sum(-1, keepdim=True)) / dim
    by_two = operands.number(sp.sqrt(1 - sp.Rational(1, dim))) * error.two
    return Error(centre, torch.minimum(by_radius, by_two.unsqueeze(-1)), two=lambda: error.two)


# h(r) = r / sqrt(r^2/d + c) grows with r and |x_i| / sqrt(||x||_2^2/d + c) <= h(|x_i|). Norms give no least length: the
# error counts 1/sqrt(c) times.
@bounded.register
def _bounded(operation: RmsNormalisation, step: Step, x: list[Bounded], known: NormsAtHand) -> Bounded:
    (before,) = x
    shift, most = known.number(step, operation.shift), known.number(step, sp.sqrt(sp.Integer(before.dim)))

    def after(length: Ball) -> Ball:
        return length / (length * length / before.dim + shift).sqrt() if shift > 0 else most

    # |x_i - mean(x)| <= 2 (1 - 1/d) ||x||_inf
    widest = flint.arb(2 * (before.dim - 1)) / before.dim if operation.centred else flint.arb(1)
    reaches = (widest * each for each in (before.reach, before.emulated_reach))
    lengths = (before.size, before.emulated, *reaches)
    size, emulated, reach, emulated_reach = (after(each).min(most) for each in lengths)
    error = size + emulated
    error = (before.error / shift.sqrt()).min(error) if shift > 0 else error
    return Bounded(step.norm, before.dim, size, emulated, error, reach, emulated_reach)


# The bound of the rule is that of arguments which are long enough, the approximate one too.
@numbers.register
def _numbers(operation: RmsNormalisation, step: Step, x: list[Emulated], at: Operands) -> Iterator[Number]:
    (before,) = x
    exact_least = operation.exact_least if is_known(operation.exact_least, at) else operation.least
    for side, argument, least in (
        ("exact", before.exact, exact_least),
        ("approximate", before.emulated, operation.least),
    ):
        if operation.least != 0 and is_known(least, at):
            found = torch.amin(two_norm(_argument(argument, operation)).reshape(-1), 0)
            centred = ", centred," if operation.centred else ""
            what, of_run = f"the 2-norm of the {side} argument{centred}", side == "approximate"
            yield Number(what, at.number(least), found, at_least=True, of_run=of_run, computed=rounding(found))
