"""The curve r(w) of C.2 (wang2024), on which h stands still, and the w at which it turns; letters as in `signs`."""

import sympy as sp

from symbolic.topics.induction.training import OPTIMA, psi, v, v_star, w_star


def at_optimum(expression: sp.Expr) -> sp.Expr:
    """h* and v* written out by alpha* and w*."""
    return expression.subs(OPTIMA, simultaneous=True)


# The curves of C.2.
R_CURVE = psi(v + v_star) / psi(2 * v)  # r(w): where dh/dt = 0, over h*
# The printed condition for a sign change of dh/dt is TURNING < 0 (its two sides multiplied out).
TURNING = sp.expand((1 - 4 * v**2) * (v + v_star) - 4 * v * (1 - (v + v_star) ** 2))
# Printed in (23):
W_TURN = sp.sqrt((3 - 4 * w_star**4 - sp.sqrt((4 * w_star**4 - 3) ** 2 - 16 * w_star**4)) / (8 * w_star**2))
# The same without 0/0 at w* = 0: w_turn^2 = share v*, where share lies between 1/3 and 1.
SHARE = 2 / (3 - 4 * v_star**2 + sp.sqrt((3 - 4 * v_star**2) ** 2 - 16 * v_star**2))
R_TURN = at_optimum(R_CURVE.subs(v, SHARE * v_star))  # R(w*) = r(w_turn)
