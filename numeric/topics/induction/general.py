"""Singular functions of a similarity (wang2024, eq. (15), Definition A.7): how steep they are."""

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float64

NODES, POINTS = 240, 4001  # of the quadrature, and of the grid on which slopes are taken


def steepness(
    g: Callable[[Any, Any], Any], low: float, high: float, count: int
) -> tuple[Float64[np.ndarray, " count"], Float64[np.ndarray, " count"]]:
    """Singular values of g on [low, high]^2, and the larger Lipschitz constant of phi_k and psi_k, of the first ones.

    By quadrature at Gauss-Legendre nodes, in floats. Functions of singular values that floats do not tell from 0 are
    none: their constant is nan.
    """
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    nodes, roots = (low + high) / 2 + (high - low) / 2 * nodes, np.sqrt((high - low) / 2 * weights)
    left, sizes, right = np.linalg.svd(roots[:, None] * g(nodes[:, None], nodes) * roots)
    kept = min(count, int((sizes > NODES * np.finfo(float).eps * sizes[0]).sum()))
    points = np.linspace(low, high, POINTS)
    # phi_k(u) = int g(u, v) psi_k(v) dv / sigma_k, and likewise psi_k.
    phi = g(points[:, None], nodes) @ (roots[:, None] * right[:kept].T) / sizes[:kept]
    psi = g(nodes, points[:, None]) @ (roots[:, None] * left[:, :kept]) / sizes[:kept]
    slopes = [abs(np.diff(each, axis=0)).max(0) / (points[1] - points[0]) for each in (phi, psi)]
    found = np.full(count, np.nan)
    found[:kept] = np.maximum(*slopes)
    return sizes[:count], found
