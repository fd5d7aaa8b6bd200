"""Rule 3: a product of two approximated values."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import sympy as sp

from symbolic.derivations.derivation import Approximated, NormName, as_expr, as_norm, rule_step
from symbolic.derivations.obligations import nonnegative, whole
from symbolic.derivations.operations import Operation, unnamed
from symbolic.words.names import approximate_symbol


class ProductKind(StrEnum):
    """Which bilinear map: of two vectors, or of tokens: a mean of outer products, each with each, a sum."""

    ENTRYWISE = "entrywise"
    INNER = "inner"
    MEAN_OUTER = "mean of outer products"
    PAIRS = "inner products of all pairs"
    WEIGHTED = "weighted sums of tokens"


@dataclass(frozen=True)
class Product(Operation):
    """B(x, y). An outer product is flattened row by row: entry (i, k) is y_i x_k.

    Of all pairs of tokens, entry j of token i is the inner product of x_i and y_j. A weighted sum is sum_j x_ij y_j.
    """

    kind: ProductKind


# For B bilinear with ||B(u, v)|| <= c ||u|| ||v||:
#   B(x_hat, y_hat) - B(x, y) = B(dx, y) + B(x, dy) + B(dx, dy),   dx = x_hat - x, dy = y_hat - y,
# so the error is at most c (e_x Y + X e_y + e_x e_y). Equality: numbers of one sign, dx and dy of that sign too.
# If a bound ||x_hat|| <= X_hat is known separately, B(dx, y) + B(x_hat, dy) gives c (e_x Y + X_hat e_y), sharper as
# soon as X_hat < X + e_x. Equality: the same with x_hat = X_hat.
def bilinear(
    x: Approximated,
    y: Approximated,
    name: str,
    *,
    constant: Any = 1,
    norm: NormName | None = None,
    dim: Any = None,
    approximate_size: Any = None,
    reason: str = "",
    product: str = "",
) -> Approximated:
    """B(x, y) with ||B(u, v)||_norm <= constant ||u|| ||v||; u and v are measured in the norms of x and y.

    With constant 1: the entry-wise product in the norm of x with y in the sup norm; the inner product with x in the
    1-norm and y in the sup norm, or both in the 2-norm; a sum of the tokens y with weights x of any sign, x in the
    1-norm and y in any; a matrix in an operator norm times a vector.
    `approximate_size` bounds ||x_hat|| if a better bound than size + error is known (for instance if x_hat is clipped).
    `product` says which map B is: "entrywise", "inner", "mean of outer products" over the tokens, "weighted sums of
    tokens", or "inner products of all pairs" of tokens, in the sup norm over those of y, whose number is `dim`.
    """
    constant, dim = as_expr(constant), x.dim if dim is None else as_expr(dim)
    known = {} if approximate_size is None else {"approximate_size": as_expr(approximate_size)}
    approximate = approximate_symbol(x.name) if known else x.size_symbol + x.error_symbol
    step = rule_step(
        name,
        as_norm(norm or x.norm),
        "product",
        constant * (y.size_symbol * x.error_symbol + sp.expand(approximate * y.error_symbol)),
        obligations=(
            *nonnegative("bilinear", name, constant=constant, **known),
            *whole("bilinear", name, least=1, dimension=dim),
        ),
        reason=reason or _expansion(bool(known)),
        operation=Product(ProductKind(product)) if product else unnamed("product"),
    )
    size, bounds = (
        constant * x.size_symbol * y.size_symbol,
        {approximate_symbol(x.name): each for each in known.values()},
    )
    return x.follows(step, y, dim=dim, size=size, known=bounds)


def _expansion(asymmetric: bool) -> str:
    if asymmetric:
        return "by bilinearity: the error of each factor times the other, one exact and one approximate"
    return "by bilinearity: the error of each factor times the other factor, and the errors times one another"
