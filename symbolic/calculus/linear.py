"""Rule 2: a linear map, in norms that the caller names."""

from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from symbolic.derivations.derivation import Approximated, Norm, NormName, as_expr, as_norm, rule_step
from symbolic.derivations.obligations import nonnegative, whole
from symbolic.derivations.operations import Handle, Operation, unnamed


@dataclass(frozen=True)
class Linear(Operation):
    """A x + b, or A^T x + b. A number in the place of A scales. Its norm from `source` to the step's is at most `norm`.

    A vector in the place of A gives its inner product with each token, as one vector over the tokens.
    """

    matrix: Handle
    norm: sp.Expr = field(compare=False)
    source: str = field(compare=False)
    transposed: bool = False
    bias: Handle = ""


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
    target: NormName | None = None,
    bias: Any = 0,
    radius: Any = None,
    reason: str = "",
    matrix: str = "",
    transposed: bool = False,
    bias_vector: str = "",
) -> Approximated:
    """A x + b. `operator_norm` bounds ||A|| from x's norm to the norm `target` (x's own by default); `bias` ||b||.

    `matrix` is the handle of A, or of A^T if `transposed`, and `bias_vector` that of b.
    """
    operator_norm, bias, dim = as_expr(operator_norm), as_expr(bias), as_expr(dim)
    norm = as_norm(target or x.norm)
    if radius is not None:
        radius = as_expr(radius)
    elif x.radius is not None:
        radius = operator_norm * x.radius_symbol
    numbers = {"operator_norm": operator_norm, "bias": bias}
    if radius is not None:
        numbers["radius"] = x.closed(radius)
    step = rule_step(
        name,
        norm,
        "linear map",
        operator_norm * x.error_symbol,
        obligations=(*nonnegative("linear_map", name, **numbers), *whole("linear_map", name, least=1, dimension=dim)),
        reason=reason or _by_the_norm(x.norm, norm),
        operation=Linear(matrix, operator_norm, x.norm, transposed, bias_vector) if matrix else unnamed("matrix"),
    )
    return x.follows(step, dim=dim, size=operator_norm * x.size_symbol + bias, radius=radius)


def _by_the_norm(source: Norm, target: Norm) -> str:
    if source is target:
        return "by the operator norm of the map"
    names = ("sup norm" if norm is Norm.INF else f"{norm}-norm" for norm in (source, target))
    return f"by the operator norm of the map from the {' to the '.join(names)}"
