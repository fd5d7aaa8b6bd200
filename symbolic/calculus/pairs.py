"""Rule 1 for two arguments: an approximated function of a query and a key, for each pair of them."""

from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from symbolic.calculus.functions import APPROXIMANT, EXACT
from symbolic.derivations.derivation import Approximated, DerivationError, Norm, as_expr, rule_step
from symbolic.derivations.obligations import Obligation, RangeObligation, nonnegative, positive, whole
from symbolic.derivations.operations import Handle, Operation, unnamed


@dataclass(frozen=True)
class PairwiseFunction(Operation):
    """f(x_i, y_j) of queries x (..., m) and keys y (n, k), which are clipped to [-radius, radius]: (..., n).

    f_hat errs by at most `eps` there, where f moves by at most a ||dx|| + b ||dy||, (a, b) the `slopes`, in the norms
    of the `sources`.
    """

    function: Handle
    eps: sp.Expr
    slopes: tuple[sp.Expr, sp.Expr]
    sources: tuple[str, str]
    radius: sp.Expr = field(compare=False)


# Let c clip each coordinate to [-R, R]. It keeps the exact x and y, which lie in the box, and moves no two vectors
# apart, in any p-norm: ||c(x_hat) - x|| <= ||x_hat - x||. With f_hat(x_hat, y_hat) = f_hat(c(x_hat), c(y_hat)),
#   f_hat(x_hat, y_hat) - f(x, y) = (f_hat - f)(c(x_hat), c(y_hat)) + f(c(x_hat), c(y_hat)) - f(x, y)
# is at most eps + a e_x + b e_y, and only the exact arguments have to lie in the box. Equality: f(x, y) = a phi(x) +
# b psi(y) with phi and psi of the dual norm 1, f_hat = f + eps, errors along both.
def apply_to_pairs(
    x: Approximated,
    y: Approximated,
    name: str,
    *,
    count: Any,
    slopes: tuple[Any, Any],
    size: Any,
    eps: Any = 0,
    radius: Any = sp.oo,
    deviation: Approximated | None = None,
    reason: str = "",
    function: str = "",
) -> Approximated:
    """f_hat(x_hat_i, y_hat_j) against f(x_i, y_j) for queries x and `count` keys y, in the sup norm over the keys.

    |f_hat - f| <= eps on the box [-radius, radius] of all coordinates, and there f moves by at most a ||dx|| + b ||dy||
    with (a, b) = `slopes`, in the norms of x and y; approximate arguments are clipped to the box. `size` bounds |f|.
    Obligation: the exact arguments lie in the box, ||x|| <= radius and ||y|| <= radius (each norm bounds every
    coordinate). `function` is the handle of f and f_hat.

    `deviation` is one number, of size 0, whose error bounds what f_hat errs by beyond eps at all pairs of the box at
    once, such as what its random weights deviate by: the conclusion then rests on the events of this bound.
    """
    count, eps, size, radius = as_expr(count), as_expr(eps), as_expr(size), as_expr(radius)
    of_x, of_y = (as_expr(each) for each in slopes)
    numbers = {"eps": eps, "first slope": of_x, "second slope": of_y, "size": size}
    obligations: tuple[Obligation, ...] = nonnegative("apply_to_pairs", name, **numbers)
    obligations += whole("apply_to_pairs", name, least=1, count=count)
    if radius != sp.oo:
        obligations += positive("apply_to_pairs", name, radius=radius)
        obligations += tuple(RangeObligation.of(name, each.size, radius) for each in (x, y))
    if deviation is not None and (deviation.dim != 1 or deviation.size != 0):
        raise DerivationError(
            f"apply_to_pairs: the deviation '{deviation.name}' has the dimension {sp.sstr(deviation.dim)} and the size "
            f"{sp.sstr(deviation.size)}; give the error of one number whose exact value is 0"
        )
    of_x, of_y = (sp.S.Zero if each.error == 0 else slope for each, slope in ((x, of_x), (y, of_y)))  # it stays
    eps = eps if deviation is None else eps + deviation.error_symbol
    operation = PairwiseFunction(function, eps, (of_x, of_y), (x.norm, y.norm), radius)
    step = rule_step(
        name,
        Norm.INF,
        "function of pairs",
        eps + of_x * x.error_symbol + of_y * y.error_symbol,
        obligations=obligations,
        reason=reason or _reason(eps, radius),
        operation=operation if function and deviation is None else unnamed("function"),
    )
    return x.follows(step, y, *([] if deviation is None else [deviation]), dim=count, size=size)


def _reason(eps: sp.Expr, radius: sp.Expr) -> str:
    clipped = "" if radius == sp.oo else "; arguments are clipped, which moves no two of them apart"
    return f"{EXACT if eps == 0 else APPROXIMANT} in each argument{clipped}"
