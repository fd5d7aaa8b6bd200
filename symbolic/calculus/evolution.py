"""Rule 7 in continuous time: the error along a flow whose rate is not exact (Groenwall's lemma)."""

from typing import Any

import sympy as sp

from symbolic.calculus.differential_inequalities import LinearComparison
from symbolic.derivations.derivation import Approximated, as_expr, rule_step
from symbolic.derivations.obligations import nonnegative, real
from symbolic.derivations.operations import Unread


# x' = f(x) and x_hat' = f(x_hat) + r with ||r|| <= offset. After a short time h the error e has become at most
#   ||(x_hat + h f(x_hat)) - (x + h f(x))|| + h offset + o(h) <= (1 + h rate) e + h offset + o(h),
# so that its upper right derivative is at most rate e + offset, and `LinearComparison` bounds it. Equality: f(x) = rate
# x and r along the error.
def evolve(
    x: Approximated, name: str, *, rate: Any, offset: Any, time: Any, size: Any, reason: str = ""
) -> Approximated:
    """x after `time` along x' = f(x), the approximate one along the same with an error of at most `offset` in its rate.

    `rate`, of any sign, is a one-sided Lipschitz constant of f in the norm of x: ||y + h f(y) - z - h f(z)|| is at most
    (1 + h rate) ||y - z|| + o(h). A Lipschitz constant is one; for f = -grad of an m-strongly convex loss and the
    2-norm, -m is one. `size` bounds the exact value at that time.
    """
    rate, offset, time, size = map(as_expr, (rate, offset, time, size))
    real("evolve", name, rate=rate)
    obligations = nonnegative("evolve", name, offset=offset, time=time, size=size)
    comparison = LinearComparison(x.error_symbol, rate, offset)
    step = rule_step(
        name,
        x.norm,
        "comparison",
        comparison.after(time),
        obligations=obligations,
        reason=reason or rf"\dot e \le {sp.latex(rate)}\,e + {sp.latex(offset)}",
        operation=Unread("its value solves a differential equation, of which no operand says the right side"),
    )
    return x.follows(step, dim=x.dim, size=size)
