"""Coordinates kept between two ends."""

from collections.abc import Callable
from dataclasses import replace

import sympy as sp
import torch

from bridge.lowering.ball_values import evaluate_ball
from bridge.readings.arrays import Array, between
from bridge.readings.enclosed import AtHand, Enclosed, enclosed
from bridge.readings.errors import Error
from bridge.readings.network import Bounded, NormsAtHand, bounded, joined_norm
from bridge.readings.operands import Operands
from bridge.readings.values import value
from symbolic.calculus.nonexpansive import Clip
from symbolic.calculus.sums import norm_of_ones
from symbolic.derivations.derivation import Norm, Step


@value.register
def _value(operation: Clip, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return clipped(x[0], operands.array(operation.low), operands.array(operation.high))


def clipped(x: Array, low: Array, high: Array) -> Array:
    return torch.minimum(torch.maximum(x, low), high)


# clip and S_t do not decrease in any coordinate: the emulated value lies between those of x + c - r and x + c + r.
# They are 1-Lipschitz coordinate by coordinate, so that the radii in both norms stay.
@enclosed.register
def _enclosed(operation: Clip, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    low, high = (at.operands.array(name) for name in (operation.low, operation.high))
    return _monotone(x[0], lambda each: clipped(each, low, high))


def _monotone(x: Enclosed, function: Callable[[Array], Array]) -> Enclosed:
    exact, (at_centre, radius) = function(x.exact), between(function, x.error.after(x.exact), x.error.radius)
    return Enclosed(exact, Error(at_centre - exact, radius, one=lambda: x.error.one, two=lambda: x.error.two))


# Each coordinate of the result is between those of low and high, so that its p-th power is at most the sum of theirs;
# none exceeds the reach. The projection does not expand. Equality: low and high apart in their coordinates, or of one
# absolute value in all.
@bounded.register
def _bounded(operation: Clip, step: Step, x: list[Bounded], known: NormsAtHand) -> Bounded | None:
    (before,) = x
    ends = (known.operands.get(handle) for handle in (operation.low, operation.high))
    found = [_repeated(each, before.dim).in_norm(step.norm) for each in ends if isinstance(each, Bounded)]
    if step.norm is not before.norm or len(found) < 2:
        return None
    low, high = found
    reach = low.reach.max(high.reach)
    of_reach = evaluate_ball(norm_of_ones(step.norm, sp.Integer(before.dim)), {}) * reach
    size = joined_norm(step.norm, [low.size, high.size]).min(of_reach)
    return Bounded(step.norm, before.dim, size, size, before.error, reach, reach)


def _repeated(number: Bounded, dim: int) -> Bounded:
    """A number in the place of a vector, as the vector of equal entries that it stands for."""
    return replace(number, norm=Norm.INF, dim=dim) if number.dim == 1 else number
