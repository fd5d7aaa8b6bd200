"""The activations and losses of wu2024, as formulas that run on tensors and on arrays of balls."""

from typing import Any

from bridge.formula import ArrayFunction
from symbolic import activations
from symbolic.activations import Activation, Loss


def activation_formula(activation: Any, order: int = 0) -> ArrayFunction:
    """r^(order), a function of t. Raises UsageError for an unknown name."""
    chosen = activation if isinstance(activation, Activation) else activations.activation(activation)
    return ArrayFunction(chosen.derivative(order), chosen.t)


def loss_formula(loss: Any, order: int = 0) -> ArrayFunction:
    """d^order ell / dt^order of one coordinate, a function of t and y. Raises UsageError for an unknown name."""
    chosen = loss if isinstance(loss, Loss) else activations.loss(loss)
    return ArrayFunction(chosen.derivative(order), chosen.t, chosen.y)
