"""Rule 5 for rotations: pairs of coordinates turned by exact angles."""

from dataclasses import dataclass

import sympy as sp

from symbolic.derivations.derivation import Approximated, Norm, rule_step
from symbolic.derivations.obligations import whole
from symbolic.derivations.operations import Handle, Operation, unnamed


@dataclass(frozen=True)
class Rotation(Operation):
    """Coordinates 2 k and 2 k + 1 turned by the k-th angle; angles (..., d/2), of each token or of all."""

    angles: Handle


# At most as much longer in each norm: |cos a| + |sin a|, the sum of a row and of a column, is at most sqrt(2).
STRETCH = {Norm.TWO: sp.Integer(1), Norm.INF: sp.sqrt(2), Norm.ONE: sp.sqrt(2)}


# In each plane the map is [[cos a, -sin a], [sin a, cos a]], the same for x and x_hat: it keeps the 2-norm, and its
# norm from the sup norm to itself, and from the 1-norm to itself, is the largest |cos a| + |sin a| <= sqrt(2).
# Equality: any, in the 2-norm; a = pi/4, of (1, 1) in the sup norm and (1, 0) in the
# 1-norm, the other planes 0.
def rotate(x: Approximated, name: str, *, angles: str = "", reason: str = "") -> Approximated:
    """x with each pair of coordinates turned by an exact angle: rotary positions, an isometry of the 2-norm.

    In the sup norm and the 1-norm, errors and sizes count sqrt(2) times. `angles` is the handle of the angles, (...,
    d/2) for x in R^d. Obligation: d is even.
    """
    stretch = STRETCH[x.norm]
    step = rule_step(
        name,
        x.norm,
        "rotation",
        stretch * x.error_symbol,
        obligations=whole("rotate", name, least=0, **{"half dimension": x.dim / 2}),
        reason=reason or _by_planes(x.norm),
        operation=Rotation(angles) if angles else unnamed("angles"),
    )
    return x.follows(step, dim=x.dim, size=stretch * x.size_symbol)


def _by_planes(norm: Norm) -> str:
    if norm is Norm.TWO:
        return "since rotations keep lengths"
    return "since `abs(cos(a)) + abs(sin(a)) <= sqrt(2)` in each plane"
