"""What the attention of li2025, A.4, does to a number, as operands of the derivation: 2 tau tanh(z/(2 tau)) for z."""

from typing import Any

import sympy as sp
import torch

from bridge.readings import Smooth
from numeric.balls import BallArray
from symbolic.topics.universal import transformer_derivation as theory

LEVELS = (17, 15, 13, 11, 9, 7, 5, 3)  # of a continued fraction


# tanh u = u/(1 + x) with x = u^2/(3 + u^2/(5 + ...)): u - tanh u = u x/(1 + x) does not cancel. Its derivative is
# tanh^2 u, so that autograd need not follow the fraction.
def gap(u: Any) -> Any:
    """u - tanh u; on tensors to their precision, also near 0."""
    if isinstance(u, BallArray):
        return u - u.tanh()
    at = u.detach()
    near, tail, tanh = at.clamp(-1, 1) ** 2, float(LEVELS[0]), torch.tanh(at)
    for odd in LEVELS[1:]:
        tail = odd + near / tail
    x = near / tail
    return torch.where(at.abs() < 1, at * x / (1 + x), at - tanh) + tanh**2 * (u - at)


def shortfall(z: Any, tau: float, count: int) -> Any:
    """count tau tanh(z/(count tau)) - z, with factors that are exact on balls."""
    return -1 * count * (tau * gap(z / tau / count))


def functions_of(name: str, radius: float, labels: float, tau_1: float, tau_2: float, n: int) -> dict[str, Smooth]:
    """The handles of a block or a path: its labels of that size, its predictions and its query within the radius."""
    count = int((2 / theory.eta).subs(theory.n, n))
    known = {theory.tau_1: sp.Rational(tau_1), theory.tau_2: sp.Rational(tau_2), theory.n: n}

    def slope(size: sp.Expr, tau: sp.Symbol) -> float:
        return float(theory.logistic_slope(size, tau).subs(known))

    def of_gradient(size: float) -> float:
        return slope(theory.eta * sp.Rational(size), theory.tau_1)

    def of_label(z: Any) -> Any:
        return shortfall(z, tau_1, count)

    def of_prediction(z: Any) -> Any:
        return shortfall(z, tau_2, 2)

    # tanh a - tanh b = sinh(a - b)/(cosh a cosh b), a of y_hat = 2 tau_2 tanh c and b of the score itself, |a| <= |b|:
    # the derivative, sech^2 a (1 - tanh^2 c) - sech^2 b, lies between -tanh^2 c and tanh^2 b.
    def of_query(z: Any) -> Any:
        moved, at = of_prediction(z) / tau_1 / count, z / tau_1 / count
        return count * (tau_1 * torch.sinh(moved) / torch.cosh(at) / torch.cosh(at + moved))

    def deviation(hat: Any, size: float, slope_error: float) -> Smooth:
        return Smooth(lambda z: 0 * z, hat, slope_error=slope_error, radius=size)

    of_read = slope(sp.Rational(radius), theory.tau_2)
    return {
        f"{name}_labels": deviation(of_label, labels, of_gradient(labels)),
        f"{name}_predictions": deviation(of_label, radius, of_gradient(radius)),
        f"{name}_query": deviation(of_query, radius, max(of_gradient(radius), of_read)),
        f"{name}_read": Smooth(
            lambda z: z, lambda z: z + of_prediction(z), [lambda z: 1 + 0 * z], {2: 0},
            slope_error=of_read, deviation=of_prediction, radius=radius,
        ),
    }  # fmt: skip
