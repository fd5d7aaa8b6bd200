"""Rule 1: apply an approximated function, coordinate by coordinate."""

from dataclasses import dataclass
from typing import Any

import sympy as sp

from symbolic.calculus.sums import norm_of_ones
from symbolic.derivations.derivation import Approximated, as_expr, rule_step
from symbolic.derivations.obligations import Obligation, RangeObligation, nonnegative, positive
from symbolic.derivations.operations import Handle, Handles, Operation, unnamed
from symbolic.derivations.sizes import closed_with
from symbolic.words.names import approximate_symbol


@dataclass(frozen=True)
class Apply(Operation):
    """f(x, ...) coordinate by coordinate; `beside` are exact arrays of the shape of x.

    f_hat errs by at most `eps` on the domain of the rule, where f moves by at most c_1 |d| + c_2 |d|^2 + ... if its
    argument moves by d, for each c of `moves`: of one number, a Lipschitz constant.
    """

    function: Handle
    beside: Handles
    eps: sp.Expr
    moves: tuple[tuple[sp.Expr, ...], ...]


APPROXIMANT = "by the error of the approximant at the approximate argument, and the Lipschitz constant of the function"
EXACT = "by the Lipschitz constant of the function"


# f_hat(x_hat) - f(x) = (f_hat - f)(x_hat) + (f(x_hat) - f(x)): each coordinate of the first part is at most eps, if
# x_hat lies where eps holds, so its norm is at most eps ||(1, ..., 1)||; the second is at most L |x_hat - x| in each
# coordinate, if both points lie where L holds, so its norm is at most L e. Both points lie in [-R, R] if
# size + error <= R, or if both norms are at most R whatever the error is: the obligation.
# Equality: f(x) = L x, f_hat = f + eps, x_hat = x + e (1, ..., 1).
def apply_function(
    x: Approximated,
    name: str,
    *,
    eps: Any,
    lipschitz: Any,
    size: Any,
    radius: Any = sp.oo,
    approximate_size: Any = None,
    reason: str = "",
    function: str = "",
    beside: tuple[str, ...] = (),
) -> Approximated:
    """f_hat(x_hat) against f(x), where |f_hat - f| <= eps and |f'| <= lipschitz on [-radius, radius].

    `eps` and `lipschitz` may depend on `radius` (Taylor remainders). `size` bounds ||f(x)|| in x's norm. Obligation:
    the argument lies in the domain, ||x|| + error <= radius (each norm bounds every coordinate). `approximate_size`
    bounds ||x_hat|| whatever the error is; then it is max(||x||, ||x_hat||) <= radius.
    `function` is the handle of f and f_hat, `beside` those of further arguments, which are exact.
    """
    eps, lipschitz, size, radius = as_expr(eps), as_expr(lipschitz), as_expr(size), as_expr(radius)
    bounded = {} if approximate_size is None else {"approximate_size": as_expr(approximate_size)}
    known = {approximate_symbol(x.name): each for each in bounded.values()}
    slope, largest, reach = (closed_with((x,), each, known) for each in (lipschitz, size, radius))
    obligations: tuple[Obligation, ...] = nonnegative(
        "apply_function", name, eps=eps, lipschitz=slope, size=largest, **bounded
    )
    if reach != sp.oo:
        obligations += positive("apply_function", name, radius=reach)
        both = sp.Max(x.size, *known.values()) if known else x.size + x.error
        obligations += () if both == reach else (RangeObligation.of(name, both, reach),)
    step = rule_step(
        name,
        x.norm,
        "apply a function",
        eps * norm_of_ones(x.norm, x.dim) + lipschitz * x.error_symbol,
        reason=reason or (EXACT if eps == 0 else APPROXIMANT),
        obligations=obligations,
        operation=Apply(function, beside, eps, ((slope,),)) if function else unnamed("function"),
    )
    return x.follows(step, dim=x.dim, size=size, known=known)
