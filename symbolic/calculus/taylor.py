"""Rule 1 for smooth functions: Taylor's formula to every order that is known, and the least of its bounds."""

from collections.abc import Iterator, Mapping
from typing import Any

import sympy as sp

from symbolic.calculus.sums import norm_of_ones
from symbolic.derivation import Approximated, DerivationError, as_expr, rule_step
from symbolic.obligations import Obligation, RangeObligation, nonnegative, positive
from symbolic.operations import Apply, unnamed


# With d = x_hat - x in one coordinate, Taylor's formula with Lagrange's remainder gives, for each order k,
#   |f(x + d) - f(x)| <= sum_{0 < i < k} |f^(i)(x)| |d|^i / i! + sup |f^(k)| |d|^k / k!,
# the supremum being over an interval that holds x and x_hat. The vector of the |d_j|^i has in each p-norm at most the
# norm ||d||^i, since (sum |d_j|^(ip))^(1/p) = ||d||_(ip)^i <= ||d||_p^i. So each order bounds the norm of
# f(x_hat) - f(x) with e in the place of |d|, and so does the least of them; f_hat adds eps in each coordinate.
# Equality at order k: f a polynomial of degree k around x with coefficients >= 0, one coordinate (or the sup norm),
# d > 0, f_hat = f + eps.
def taylor(
    x: Approximated,
    name: str,
    *,
    size: Any,
    suprema: Mapping[int, Any],
    derivatives: Mapping[int, Any] | None = None,
    eps: Any = 0,
    radius: Any = sp.oo,
    reason: str = "",
    function: str = "",
    beside: tuple[str, ...] = (),
) -> Approximated:
    """f_hat(x_hat) against f(x), where |f_hat - f| <= eps and |f^(k)| <= suprema[k] on [-radius, radius], k = 1, 2, ...

    `derivatives[i]` bounds |f^(i)| at the exact x alone, where that is known to be less than the supremum. `size`
    bounds ||f(x)|| in x's norm. Obligation: the argument lies in the domain, ||x|| + error <= radius. Raises
    DerivationError where no order is known: order k asks for the supremum of f^(k) and bounds on all f^(i), i < k.
    `function` is the handle of f and f_hat, `beside` those of further arguments, which are exact.
    """
    eps, size, radius = as_expr(eps), as_expr(size), as_expr(radius)
    above, here = _by_order(name, suprema), _by_order(name, derivatives or {})
    obligations: tuple[Obligation, ...] = nonnegative(
        "taylor",
        name,
        eps=eps,
        size=size,
        **{f"supremum of order {order}": bound for order, bound in above.items()},
        **{f"derivative of order {order}": bound for order, bound in here.items()},
    )
    if radius != sp.oo:
        obligations += positive("taylor", name, radius=radius)
        obligations += (RangeObligation.of(name, x.size + x.error, radius),)
    moves = tuple(_of_each_order(name, above, {**above, **here}))
    powers = [sp.Add(*(c * x.error_symbol**k for k, c in enumerate(each, start=1))) for each in moves]
    step = rule_step(
        name,
        x.norm,
        "Taylor's formula",
        eps * norm_of_ones(x.norm, x.dim) + sp.Min(*powers),
        premises=(x.name,),
        reason=reason or "|f(x + d) - f(x)| <= sum |f^(i)(x)| |d|^i / i! + sup |f^(k)| |d|^k / k!, the least over k",
        obligations=obligations,
        operation=Apply(function, beside, eps, moves) if function else unnamed("function"),
    )
    return x.follows(step, dim=x.dim, size=size)


def _by_order(name: str, bounds: Mapping[int, Any]) -> dict[int, sp.Expr]:
    for order in bounds:
        if order < 1:
            raise DerivationError(f"taylor: '{name}' has a bound on a derivative of order {order!r}; give 1, 2, ...")
    return {order: as_expr(bounds[order]) for order in sorted(bounds)}


def _of_each_order(
    name: str, above: Mapping[int, sp.Expr], here: Mapping[int, sp.Expr]
) -> Iterator[tuple[sp.Expr, ...]]:
    """The coefficients of |d|, |d|^2, ... at each order whose derivatives are all known."""
    known = [order for order in above if all(lower in here for lower in range(1, order))]
    if not known:
        raise DerivationError(
            f"taylor: no order of '{name}' is known; give suprema[1], or suprema[k] with all derivatives below k"
        )
    for order in known:
        yield (*(here[i] / sp.factorial(i) for i in range(1, order)), above[order] / sp.factorial(order))
