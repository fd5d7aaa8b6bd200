"""Activations and losses (symbolic/calculus/activations.py) on tensors and balls, and their certified suprema."""

from typing import Any

import flint
import sympy as sp

from bridge.lowering.difference_quotients import enclosed_derivative
from bridge.lowering.enclosures import supremum
from bridge.lowering.formula import ArrayFunction
from numeric.balls import BallArray, float_above
from symbolic.calculus import activations
from symbolic.calculus.activations import Activation, Loss, Piece


def activation_formula(activation: Any, order: int = 0) -> ArrayFunction:
    """r^(order), a function of t; `activation` is an `Activation` or a name. Raises UsageError for an unknown name."""
    chosen = activation if isinstance(activation, Activation) else activations.activation(activation)
    return ArrayFunction(chosen.derivative(order), chosen.t)


def loss_formula(loss: Any, order: int = 0) -> ArrayFunction:
    """d^order ell / dt^order of one coordinate, a function of t and y; `loss` is a `Loss` or a name.

    Raises UsageError for an unknown name.
    """
    chosen = loss if isinstance(loss, Loss) else activations.loss(loss)
    return ArrayFunction(chosen.derivative(order), chosen.t, chosen.y)


# Suprema, as balls that lie above them.


def activation_supremum(activation: Activation, order: int, radius: float) -> flint.arb:
    """sup |r^(order)| over [-radius, radius]. Raises UsageError as `supremum` and `Activation.derivative`."""
    return supremum(activation.derivative(order), activation.t, -radius, radius)


def loss_supremum(loss: Loss, order: int, radius_t: float, radius_y: float) -> flint.arb:
    """At least sup |d^order u / dt^order| over |t| <= radius_t, |y| <= radius_y, u = d ell / dt: piece by piece.

    Raises UsageError as `supremum` and `Loss.pieces`.
    """
    suprema = (piece_supremum(loss, piece, order, radius_t, radius_y) for piece in loss.pieces())
    return sum(suprema, start=flint.arb(0))


def piece_supremum(loss: Loss, piece: Piece, order: int, radius_t: float, radius_y: float) -> flint.arb:
    """The same of one piece of u alone: 0 for a derivative of what does not depend on t."""
    if order > 0 and not piece.argument.has(loss.t):
        return flint.arb(0)
    radius = argument_radius(loss, piece, radius_t, radius_y)
    return supremum(sp.diff(piece.function, piece.variable, order), piece.variable, -radius, radius)


def argument_radius(loss: Loss, piece: Piece, radius_t: float, radius_y: float) -> float:
    """The largest |t|, |y| or |t - y|, as the piece takes it, over |t| <= radius_t, |y| <= radius_y; rounded up."""
    of_difference = float_above(flint.arb(radius_t) + flint.arb(radius_y))
    return {loss.t: radius_t, loss.y: radius_y, loss.t - loss.y: of_difference}[piece.argument]


# Slopes that no formula of a derivative enters: a reference for what is derived.


def slope_quotient(activation: Any, z: BallArray) -> BallArray:
    """r'(z) enclosed by a difference quotient of r; where r has no three derivatives, by r' itself."""
    chosen = activation if isinstance(activation, Activation) else activations.activation(activation)
    if chosen.smoothness < 3:
        found: BallArray = activation_formula(chosen, 1)(z)
        return found
    return enclosed_derivative(activation_formula(chosen), activation_formula(chosen, 3), z)


def loss_quotient(loss: Any, p: BallArray, y: BallArray) -> BallArray:
    """d ell / dt at (p, y) enclosed by a difference quotient of the loss."""
    ell, third = loss_formula(loss), loss_formula(loss, 3)
    return enclosed_derivative(lambda t: ell(t, y), lambda t: third(t, y), p)
