"""A ridge cosine g(z) = (cos(omega z + theta) - cos(theta))/omega as an integral of clipped ramps (li2025, (26), (82)).

Tensors or arrays of balls. Shapes: K ridges, Q nodes of a quadrature on [-1, 1].
"""

import itertools
import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

NODES = 48  # integrate a cosine of 32 radians to 10^-16


def ramp(x: Any) -> Any:
    """phi of (26): the ramp from 0 at -1/2 to 1 at 1/2."""
    return (x + 0.5).clamp(0, 1)


# cos a - cos b = -2 sin((a - b)/2) sin((a + b)/2): nothing cancels for small omega.
def ridge(omega: Any, theta: Any, z: Any) -> Any:
    """g(z), (K)."""
    half = omega * z / 2
    return -2 * torch.sin(half) * torch.sin(half + theta) / omega


def ramp_integral(tau: Any, omega: Any, theta: Any, z: Any, nodes: Any) -> Any:
    """int gamma(t) phi(tau (z - t)) dt for gamma of (82), (K); `nodes` (2, Q) are those of `gauss_nodes`."""
    at_left = ridge(omega, theta, -1 + 0 * z)
    outside = torch.sign(at_left) * _ramps(tau, z, lambda t: 1 + 0 * t, -1 - torch.abs(at_left), -1 + 0 * z, nodes)

    def slope(t: Any) -> Any:
        return -torch.sin(omega.unsqueeze(-1) * t + theta.unsqueeze(-1))

    return outside + _ramps(tau, z, slope, -1 + 0 * z, 1 + 0 * z, nodes)


# Beyond z + 1/(2 tau) the ramp is 0; at both cuts it has a kink.
def _ramps(tau: Any, z: Any, gamma: Any, low: Any, high: Any, nodes: Any) -> Any:
    """int_low^high gamma(t) phi(tau (z - t)) dt, (K), cut where the ramp has its kinks."""
    half = 1 / (2 * tau)
    cuts = [low, *(_between(z + side * half, low, high) for side in (-1, 1))]
    total = 0 * z
    for start, end in itertools.pairwise(cuts):
        half_width = ((end - start) / 2).unsqueeze(-1)  # (K, 1)
        t = ((end + start) / 2).unsqueeze(-1) + half_width * nodes[0]  # (K, Q)
        total = total + (half_width * nodes[1] * gamma(t) * ramp(tau * (z.unsqueeze(-1) - t))).sum(-1)
    return total


def _between(x: Any, low: Any, high: Any) -> Any:
    return torch.minimum(torch.maximum(x, low), high)


def gauss_nodes(count: int = NODES) -> Tensor:
    """Nodes and weights of Gauss-Legendre quadrature on [-1, 1], (2, Q)."""
    return torch.tensor(np.stack(np.polynomial.legendre.leggauss(count)), dtype=torch.float64, device="cpu")


def bits_of_window(tau: float) -> int:
    """The bits that numbers near 1 need for 10 digits of a distance of 1/(2 tau)."""
    return math.ceil(math.log2(2 * tau)) + 34
