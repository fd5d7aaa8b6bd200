"""Rule 3: a product of two approximated values."""

from typing import Any

from symbolic.derivation import Approximated, Norm, Step, as_expr, not_negative


# For B bilinear with ||B(u, v)|| <= c ||u|| ||v||:
#   B(x_hat, y_hat) - B(x, y) = B(dx, y) + B(x, dy) + B(dx, dy),   dx = x_hat - x, dy = y_hat - y,
# so the error is at most c (e_x Y + X e_y + e_x e_y). Equality: numbers of one sign, dx and dy of that sign too.
def bilinear(
    x: Approximated,
    y: Approximated,
    name: str,
    *,
    constant: Any = 1,
    norm: Norm | None = None,
    dim: Any = None,
    reason: str = "",
) -> Approximated:
    """B(x, y) with ||B(u, v)||_norm <= constant ||u|| ||v||, the factors in the norms x and y are stated in.

    With constant 1: the entry-wise product in the norm of x with y in the sup norm; the inner product with x in the
    1-norm and y in the sup norm, or both in the 2-norm; a matrix in an operator norm times a vector.
    """
    constant = as_expr(constant)
    step = Step(
        name,
        norm or x.norm,
        "product",
        constant * (y.size * x.error_symbol + x.size * y.error_symbol + x.error_symbol * y.error_symbol),
        premises=(x.name, y.name),
        obligations=not_negative("bilinear", name, constant=constant),
        reason=reason or "B(x_hat, y_hat) - B(x, y) = B(dx, y) + B(x, dy) + B(dx, dy)",
    )
    return x.follows(step, y, dim=x.dim if dim is None else as_expr(dim), size=constant * x.size * y.size)
