"""Rule 1 for smooth functions: Taylor's formula to every order that is known, and the least of its bounds."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import sympy as sp

from symbolic.calculus.functions import Apply
from symbolic.calculus.sums import norm_of_ones
from symbolic.derivations.derivation import Approximated, DerivationError, as_expr, rule_step
from symbolic.derivations.obligations import Obligation, RangeObligation, nonnegative, positive, real
from symbolic.derivations.operations import unnamed

MOST_ORDER = 1000  # of a derivative: its factorial is written out


# With d = x_hat - x in one coordinate, Taylor's formula with Lagrange's remainder gives, for each order k,
#   |f(x + d) - f(x)| <= sum_{0 < i < k} |f^(i)(x)| |d|^i / i! + sup |f^(k)| |d|^k / k!,
# the supremum being over an interval that holds x and x_hat. The vector of the |d_j|^i has in each p-norm at most the
# norm ||d||^i, since (sum |d_j|^(ip))^(1/p) = ||d||_(ip)^i <= ||d||_p^i. So each order bounds the norm of
# f(x_hat) - f(x) with e in the place of |d|, and so does the least of them; f_hat adds eps in each coordinate.
# Equality at order k: f a polynomial of degree k around x with coefficients >= 0, one coordinate (or the sup norm),
# d > 0, f_hat = f + eps; in the 1-norm, one of n coordinates may take all of d. In the 2-norm of n > 1 coordinates
# eps sqrt(n) asks for all of them, d^k for one: for k = 2 and f'(x) = 0 the largest known ratio is 1.35 for n = 100. It
# is below sqrt(2) for all n, as d in one coordinate attains the root of the sum of the squares.
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
    powers = [sp.Add(*(c * x.error_symbol**k for k, c in enumerate(each, start=1))) for each in _least(moves)]
    step = rule_step(
        name,
        x.norm,
        "Taylor's formula",
        eps * norm_of_ones(x.norm, x.dim) + sp.Min(*powers, evaluate=False),  # else SymPy compares them by their roots
        reason=reason
        or "`|f(x + d) - f(x)| <= sum |f^(i)(x)| |d|^i / i! + sup |f^(k)| |d|^k / k!`, the least over `k`",
        obligations=obligations,
        operation=Apply(function, beside, eps, moves) if function else unnamed("function"),
    )
    return x.follows(step, dim=x.dim, size=size)


def _least(moves: Sequence[tuple[sp.Expr, ...]]) -> list[tuple[sp.Expr, ...]]:
    """Without those whose coefficients are at least those of another, all of them: the error is not negative."""
    kept: list[tuple[sp.Expr, ...]] = []
    for each in moves:
        if not any(_at_most(other, each) for other in kept):
            kept = [*(other for other in kept if not _at_most(each, other)), each]
    return kept


def _at_most(less: tuple[sp.Expr, ...], more: tuple[sp.Expr, ...]) -> bool:
    return all((b - a).is_nonnegative is True for a, b in zip_longest(less, more, fillvalue=sp.Integer(0)))


# With f'' = ... = f^(k-1) = 0 at 0, Taylor's formula around 0 gives |f(z) - f(0) - f'(0) z| <= sup |f^(k)| |z|^k / k!
# in each coordinate. The vector of the |z_j|^k has at most the norm ||z||^k, as above, and ||x_hat|| <= ||x|| + e. The
# line itself moves by |f'(0)| e. Equality: f a polynomial of degree k, one coordinate (or the sup norm), x and d > 0.
def line_at_zero(
    x: Approximated,
    name: str,
    *,
    slope: Any,
    order: int,
    supremum: Any,
    value: Any = 0,
    reason: str = "",
) -> Approximated:
    """f(x_hat), a smooth function, against its line at 0, f(0) + f'(0) x, coordinate by coordinate.

    `value` is f(0) and `slope` f'(0). The derivatives of f above the first and below `order` are 0 at 0, and `supremum`
    bounds that of this order between 0 and x_hat. For the sigmoid 1/(1 + exp(-z)): value 1/2, slope 1/4, order 3,
    supremum 1/8.
    """
    if not 2 <= order <= MOST_ORDER:
        raise DerivationError(
            f"line_at_zero: '{name}' has the order {order!r}; give 2, or 3 where f''(0) = 0, ..., at most {MOST_ORDER}"
        )
    value, slope, supremum = as_expr(value), as_expr(slope), as_expr(supremum)
    real("line_at_zero", name, value=value, slope=slope)
    step = rule_step(
        name,
        x.norm,
        "line at 0",
        abs(slope) * x.error_symbol + supremum * (x.size_symbol + x.error_symbol) ** order / sp.factorial(order),
        reason=reason or f"`|f(z) - f(0) - f'(0) z| <= sup |f^({order})| |z|^{order} / {order}!`",
        obligations=nonnegative("line_at_zero", name, supremum=supremum),
    )
    size = abs(value) * norm_of_ones(x.norm, x.dim) + abs(slope) * x.size_symbol
    return x.follows(step, dim=x.dim, size=size)


def _by_order(name: str, bounds: Mapping[int, Any]) -> dict[int, sp.Expr]:
    for order in bounds:
        if not 1 <= order <= MOST_ORDER:
            raise DerivationError(
                f"taylor: '{name}' has a bound on a derivative of order {order!r}; give 1, 2, ..., {MOST_ORDER}"
            )
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
