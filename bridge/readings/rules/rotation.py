"""Pairs of coordinates turned by angles."""

import sympy as sp
import torch

from bridge.lowering.ball_values import evaluate_ball
from bridge.readings.arrays import Array, turned
from bridge.readings.enclosed import AtHand, Enclosed, enclosed, exactly
from bridge.readings.errors import Error
from bridge.readings.network import Bounded, NormsAtHand, bounded
from bridge.readings.operands import Operands
from bridge.readings.values import value
from symbolic.calculus.rotations import STRETCH, Rotation
from symbolic.derivations.derivation import Norm, Step


@value.register
def _value(operation: Rotation, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return turned(x[0], operands.array(operation.angles))


# c + u is turned as c and u are: |cos a| r + |sin a| s bounds the first coordinate of u in a plane, and ||u||_2 each.
@enclosed.register
def _enclosed(operation: Rotation, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    (before,) = x
    exact, error, angles = exactly(operation, x, at), before.error, at.operands.array(operation.angles)
    centre = None if error.is_centred else turned(error.centre, angles)
    if error.is_known:
        return Enclosed(exact, Error(centre, None, like=exact))
    cos, sin = abs(torch.cos(angles)), abs(torch.sin(angles))
    first, second = error.radius[..., 0::2], error.radius[..., 1::2]
    radius = torch.stack([cos * first + sin * second, sin * first + cos * second], -1).flatten(-2)
    radius = torch.minimum(radius, error.two.unsqueeze(-1))
    one = (lambda: at.operands.number(sp.sqrt(2)) * error.one) if error.has_one else None
    return Enclosed(exact, Error(centre, radius, one=one, two=lambda: error.two))


@bounded.register
def _bounded(operation: Rotation, step: Step, x: list[Bounded], known: NormsAtHand) -> Bounded:
    (before,) = x
    stretch, widest = (evaluate_ball(STRETCH[each], {}) for each in (step.norm, Norm.INF))
    size, emulated, error = (stretch * each for each in (before.size, before.emulated, before.error))
    reach, emulated_reach = (widest * each for each in (before.reach, before.emulated_reach))
    return Bounded(step.norm, before.dim, size, emulated, error, reach, emulated_reach)
