"""Lyapunov functions: the decay of a candidate along a flow as an inequality, and quadratic candidates in closed form.

A `Decay` is the inequality dG/dt <= -c s G^k in a region, for a candidate G, a scale s, a power k and a constant
c > 0. By comparison G(t) <= G(0) exp(-c s t) for k = 1 and G(t) <= 1 / (1/G(0) + c s t) for k = 2; `integrated`
covers every k.
"""

from dataclasses import dataclass
from typing import Any

import sympy as sp

from symbolic.derivations.derivation import DerivationError, as_expr
from symbolic.dynamics import Flow, decayed
from symbolic.words.shown import brief


@dataclass(frozen=True)
class Decay:
    """dG/dt <= -c s G^k: `candidate` G, `scale` s (free of the state), `power` k >= 1; `gap` takes c."""

    flow: Flow
    candidate: sp.Expr
    scale: sp.Expr = sp.S.One
    power: int = 1

    __repr__ = brief

    def __post_init__(self) -> None:
        if self.scale.free_symbols & set(self.flow.state):
            raise DerivationError("decay: the scale depends on the state; give a scale that does not")
        if self.power < 1:
            raise DerivationError(f"decay: the power is {self.power}; it must be at least 1")

    @property
    def derivative(self) -> sp.Expr:
        """dG/dt along the flow."""
        return self.flow.along(self.candidate)

    @property
    def largest_constant(self) -> sp.Expr:
        """-dG/dt / (s G^k): the largest constant is the infimum of this over the region."""
        return -self.derivative / (self.scale * self.candidate**self.power)

    def gap(self, constant: Any) -> sp.Expr:
        """-dG/dt - c s G^k, which has to be >= 0."""
        return -self.derivative - as_expr(constant) * self.scale * self.candidate**self.power

    def integrated(self, constant: Any, start: sp.Expr, time: sp.Expr) -> sp.Expr:
        """The bound on G after `time` in the region, from G = `start`."""
        return decayed(start, as_expr(constant) * self.scale, self.power, time)


def quadratic(matrix: sp.Matrix, displacement: sp.Matrix) -> sp.Expr:
    """y^T P y / 2."""
    return sp.expand((displacement.T * matrix * displacement)[0, 0]) / 2


def lyapunov_matrix(linear_part: sp.Matrix, decrease: sp.Matrix) -> sp.Matrix:
    """The symmetric P with A^T P + P A = -Q: then y^T P y / 2 has the derivative -y^T Q y / 2 along y' = A y.

    Raises DerivationError where the equation has no unique solution (two eigenvalues that add up to 0).
    """
    size = linear_part.rows
    entries = {(i, j): sp.Dummy(f"P_{i}{j}") for i in range(size) for j in range(i, size)}
    P = sp.Matrix(size, size, lambda i, j: entries[min(i, j), max(i, j)])
    equations = linear_part.T * P + P * linear_part + decrease
    solutions = sp.linsolve([equations[i, j] for i, j in entries], *entries.values())
    found = next(iter(solutions), None)
    if found is None or any(set(entries.values()) & value.free_symbols for value in found):
        raise DerivationError("lyapunov_matrix: A^T P + P A = -Q has no unique solution for this A")
    return P.subs(dict(zip(entries.values(), found, strict=True)), simultaneous=True)


# With left eigenvectors l_i A = -m_i l_i the modes a_i = l_i y obey a_i' = -m_i a_i, so that V = sum of a_i^2 / 2 has
# V' = -sum m_i a_i^2 <= -2 min m_i V: no quadratic function decays faster along the linear flow.
def modal_matrix(linear_part: sp.Matrix) -> tuple[sp.Matrix, sp.Expr]:
    """The P of V = y^T P y / 2 that decays at the largest rate there is along y' = A y, and that rate, 2 min m_i.

    For a 2 x 2 matrix with real eigenvalues -m_1, -m_2 < 0 and an entry A_21 that is not 0. Raises DerivationError for
    another size.
    """
    if linear_part.shape != (2, 2) or linear_part[1, 0] == 0:
        raise DerivationError("modal_matrix: expected a 2 x 2 matrix whose lower left entry is not 0")
    trace, determinant = linear_part.trace(), linear_part.det()
    root = sp.sqrt(trace**2 / 4 - determinant)
    P = sp.zeros(2, 2)
    for eigenvalue in (trace / 2 + root, trace / 2 - root):
        # l (A - e) = 0 with l = (1, x): 1 (A_11 - e) + x A_21 = 0. Each mode is normalised by its own size in e_1.
        mode = sp.Matrix([[1, (eigenvalue - linear_part[0, 0]) / linear_part[1, 0]]])
        P += mode.T * mode
    return P, -2 * (trace / 2 + root)


# With d A symmetric for d = diag(A_21/A_12, 1), A is self-adjoint in that inner product: <y, A y> <= -min m_i <y, y>.
def metric_matrix(linear_part: sp.Matrix) -> sp.Matrix:
    """The diagonal P in whose inner product a 2 x 2 A is self-adjoint: it too decays at 2 min m_i along y' = A y.

    It is the metric of a gradient flow in other coordinates. Raises DerivationError unless A_12 A_21 > 0.
    """
    if linear_part.shape != (2, 2) or not (linear_part[0, 1] * linear_part[1, 0]).is_positive:
        raise DerivationError("metric_matrix: expected a 2 x 2 matrix with A_12 A_21 > 0")
    return sp.diag(sp.cancel(linear_part[1, 0] / linear_part[0, 1]), 1)
