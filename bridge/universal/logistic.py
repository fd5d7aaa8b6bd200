"""What the attention of li2025, A.4, does to a number, as operands of the derivation: 2 tau tanh(z/(2 tau)) for z."""

from typing import Any

import sympy as sp
import torch

from bridge.readings import Smooth
from numeric.balls import BallArray
from symbolic.universal import transformer as theory

LEVELS = (17, 15, 13, 11, 9, 7, 5, 3)  # of a continued fraction


# tanh u = u/(1 + x) with x = u^2/(3 + u^2/(5 + ...)): u - tanh u = u x/(1 + x) does not cancel.
def gap(u: Any) -> Any:
    """u - tanh u; on tensors to their precision, also near 0."""
    direct: Any = u - torch.tanh(u)
    if isinstance(u, BallArray):
        return direct
    near, tail = u.clamp(-1, 1) ** 2, torch.full_like(u, float(LEVELS[0]))
    for odd in LEVELS[1:]:
        tail = odd + near / tail
    return torch.where(u.abs() < 1, u * (near / tail) / (1 + near / tail), direct)


def shortfall(z: Any, tau: float, count: int) -> Any:
    """count tau tanh(z/(count tau)) - z, with factors that are exact on balls."""
    return -1 * count * (tau * gap(z / tau / count))


def functions_of(name: str, radius: float, labels: float, tau_1: float, tau_2: float, n: int) -> dict[str, Smooth]:
    """The handles of a block or a path: its labels of that size, its predictions and its query within the radius."""
    count = int((2 / theory.eta).subs(theory.n, n))
    gradient, prediction = theory.logistic_slope(theory.eta * theory.S, tau_1), theory.logistic_slope(theory.S, tau_2)

    def slope(formula: sp.Expr, size: float) -> float:
        return float(formula.subs({theory.S: sp.Rational(size), theory.n: n}))

    def of_label(z: Any) -> Any:
        return shortfall(z, tau_1, count)

    def of_prediction(z: Any) -> Any:
        return shortfall(z, tau_2, 2)

    # tanh a - tanh b = sinh(a - b)/(cosh a cosh b). |a| <= |b| for the arguments of (the query, the prediction): the
    # derivative is sech^2 a (1 - tanh^2 c) - sech^2 b, between -tanh^2 c and tanh^2 b.
    def of_query(z: Any) -> Any:
        moved, at = of_prediction(z) / tau_1 / count, z / tau_1 / count
        return count * (tau_1 * torch.sinh(moved) / torch.cosh(at) / torch.cosh(at + moved))

    def deviation(hat: Any, size: float, slope_error: float) -> Smooth:
        return Smooth(lambda z: 0 * z, hat, slope_error=slope_error, radius=size)

    at_radius = slope(gradient, radius), slope(prediction, radius)
    return {
        f"{name}_labels": deviation(of_label, labels, slope(gradient, labels)),
        f"{name}_predictions": deviation(of_label, radius, at_radius[0]),
        f"{name}_query": deviation(of_query, radius, max(at_radius)),
        f"{name}_read": Smooth(
            lambda z: z, lambda z: z + of_prediction(z), [lambda z: 1 + 0 * z], {2: 0},
            slope_error=at_radius[1], deviation=of_prediction, radius=radius,
        ),
    }  # fmt: skip
