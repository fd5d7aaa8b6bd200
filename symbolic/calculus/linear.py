"""Rule 2: a linear map, in norms that the caller names."""

from typing import Any

import sympy as sp

from symbolic.derivation import Approximated, Norm, Step, as_expr, not_negative


# A x_hat - A x = A (x_hat - x), and ||A v||_target <= ||A||_{source -> target} ||v||_source by definition of the
# operator norm. Equality: v a maximiser of the operator norm. For reference, for A with entries a_ij:
#   inf -> inf: largest row sum of |a_ij|        1 -> 1: largest column sum of |a_ij|     2 -> 2: spectral norm
#   1 -> inf: largest |a_ij|                     inf -> 1: max over signs s, t of s^T A t <= sum of |a_ij|
def linear_map(
    x: Approximated,
    name: str,
    *,
    operator_norm: Any,
    dim: Any,
    target: Norm | None = None,
    bias: Any = 0,
    radius: Any = None,
    reason: str = "",
) -> Approximated:
    """A x + b. `operator_norm` bounds ||A|| from x's norm to the norm `target` (x's own by default); `bias` ||b||."""
    operator_norm = as_expr(operator_norm)
    norm = target or x.norm
    if radius is None and x.radius is not None:
        radius = operator_norm * x.radius
    step = Step(
        name,
        norm,
        "linear map",
        operator_norm * x.error_symbol,
        premises=(x.name,),
        obligations=not_negative("linear_map", name, operator_norm=operator_norm),
        reason=reason or f"||A v||_{norm} <= ||A||_({x.norm} -> {norm}) ||v||_{x.norm}",
    )
    size = operator_norm * x.size + as_expr(bias)
    return x.follows(step, dim=as_expr(dim), size=size, radius=None if radius is None else sp.sympify(radius))
