"""Rule 11: perturbed parameters and functions, a correction map, and the largest perturbation that is still safe."""

from collections.abc import Sequence
from typing import Any

import sympy as sp

from symbolic.calculus.inversion import falls_or_rises, limit_at_infinity, solutions
from symbolic.calculus.knobs import Knob
from symbolic.calculus.sums import add
from symbolic.derivation import Approximated, DerivationError, Norm, Obligation, Step, as_expr
from symbolic.obligations import nonnegative, real, whole


# With dA = A_hat - A and dx = x_hat - x, the same difference can be split in two ways:
#   A_hat x_hat - A x = A dx + dA x_hat       at most ||A|| e + a (X + e)      (only A is known to be bounded)
#                     = A_hat dx + dA x       at most ||A_hat|| e + a X        (A_hat is bounded too: it lies in a ball)
# Equality in both: numbers of one sign, dA and dx of that sign.
# Pooled: if A is moved by a t and x by at most e u, where t^2 + u^2 <= 1 (parameters that are moved together, the
# squares of the perturbations adding up), then ||A_hat|| e u + a X t <= sqrt((||A_hat|| e)^2 + (a X)^2), which is
# Cauchy-Schwarz. Equality: t : u = a X : ||A_hat|| e.
def perturbed_map(
    x: Approximated,
    name: str,
    *,
    operator_norm: Any,
    perturbation: Any,
    dim: Any,
    target: Norm | None = None,
    perturbed_norm: Any = None,
    pooled: bool = False,
    reason: str = "",
) -> Approximated:
    """A_hat x_hat against A x, with ||A|| <= operator_norm and ||A_hat - A|| <= perturbation, in operator norms.

    `perturbed_norm` bounds ||A_hat||, where it is known (None: operator_norm + perturbation at most). `pooled`: the
    perturbation and x's error are per unit of one perturbation of all parameters, in the 2-norm, and x does not depend
    on A; it wants `perturbed_norm`.
    """
    norm, spread, dim = target or x.norm, as_expr(operator_norm), as_expr(dim)
    numbers = {"operator_norm": spread, "perturbation": as_expr(perturbation)}
    if perturbed_norm is not None:
        numbers["perturbed_norm"] = as_expr(perturbed_norm)
    elif pooled:
        raise DerivationError(f"perturbed_map: '{name}' is pooled; give perturbed_norm, a bound on ||A_hat||")
    through = numbers.get("perturbed_norm", spread + numbers["perturbation"]) * x.error_symbol
    direct = numbers["perturbation"] * x.size
    step = Step(
        name,
        norm,
        "perturbed linear map",
        sp.sqrt(through**2 + direct**2) if pooled else through + direct,
        premises=(x.name,),
        obligations=(
            *nonnegative("perturbed_map", name, **numbers),
            *whole("perturbed_map", name, least=1, dimension=dim),
        ),
        reason=reason or "A_hat x_hat - A x = A_hat dx + dA x" + (", Cauchy-Schwarz" if pooled else ""),
    )
    return x.follows(step, dim=dim, size=spread * x.size)


# If value i moves by at most e_i t_i, where sum t_i^2 <= 1 (each is moved by parameters of its own, the squares of the
# perturbations adding up), the sum moves by sum e_i t_i <= sqrt(sum e_i^2). Equality: t_i proportional to e_i.
def pooled_sum(*values: Approximated, name: str, reason: str = "") -> Approximated:
    """The sum of values that depend on different parameters; errors per unit of one perturbation of all of them.

    Raises DerivationError for values whose errors have a source in common: `add` them, or `pool` by groups.
    """
    _require_independent(name, values)
    total = add(*values, name=name)
    step = Step(
        name,
        total.norm,
        "pooled sum",
        sp.sqrt(sp.Add(*(value.error_symbol**2 for value in values))),
        premises=tuple(value.name for value in values),
        reason=reason or "Cauchy-Schwarz over disjoint groups of parameters",
    )
    return values[0].follows(step, *values[1:], dim=total.dim, size=total.size)


def _require_independent(name: str, values: Sequence[Approximated]) -> None:
    """Each given of a derivation stands for parameters of its own; one that errs may be behind one value only."""
    behind: dict[str, str] = {}
    for value in values:
        for step in value.derivation.steps:
            if value.derivation.bound(step.name) == 0:
                continue
            if behind.setdefault(step.name, value.name) != value.name or [v.name for v in values].count(value.name) > 1:
                raise DerivationError(
                    f"pooled_sum: the parts of '{name}' are not independent: '{behind[step.name]}' and '{value.name}' "
                    f"both carry the error of '{step.name}'; use add, or pool by groups of parameters"
                )


# Groups of parameters that are moved by t_1, t_2, ... with sum t_k^2 <= r^2 (disjoint groups, and r the 2-norm of the
# whole perturbation): an error of at most sum c_k t_k is at most r sqrt(sum c_k^2), which is Cauchy-Schwarz.
# Unlike `pooled_sum` this is for values that depend on common groups. Equality: t_k proportional to c_k.
def pool(x: Approximated, name: str, *, groups: Sequence[sp.Symbol], total: Any, reason: str = "") -> Approximated:
    """x, whose error is a linear form in the symbols `groups`, per their joint 2-norm: at most `total`.

    Raises DerivationError for an error that is not linear in the groups, or that has a part without any of them.
    """
    if len(set(groups)) < len(groups) or any(e is not None and e.has(*groups) for e in (x.size, x.radius, x.dim)):
        raise DerivationError(
            f"pool: the groups {', '.join(map(str, groups))} have to be different, and none may stand in the size, "
            f"radius or dimension of '{x.name}'"
        )
    total, slopes = as_expr(total), [sp.factor_terms(sp.diff(x.error, group)) for group in groups]
    if x.error.subs(dict.fromkeys(groups, 0)) != 0 or any(slope.has(*groups) for slope in slopes):
        raise DerivationError(f"pool: the error of '{x.name}' is no linear form in {', '.join(map(str, groups))}")
    step = Step(
        name,
        x.norm,
        "pooled perturbation",
        total * sp.sqrt(sp.Add(*(slope**2 for slope in slopes))),
        premises=(x.name,),
        obligations=nonnegative("pool", name, total=total, **dict(zip(map(str, groups), slopes, strict=True))),
        reason=reason or "Cauchy-Schwarz over disjoint groups of parameters that are moved together",
    )
    return x.follows(step, dim=x.dim, size=x.size, radius=x.radius)


# F_hat(x_hat) - F(x) = (F_hat - F)(x_hat) + (F(x_hat) - F(x)), at most eps + L e. Unlike `apply_function` this is about
# maps between vectors, eps and L in norms. Equality: F(x) = L x, F_hat = F + eps in the direction of dx.
def perturbed_function(
    x: Approximated,
    name: str,
    *,
    lipschitz: Any,
    size: Any,
    eps: Any = 0,
    dim: Any = None,
    target: Norm | None = None,
    reason: str = "",
) -> Approximated:
    """F_hat(x_hat) against F(x): ||F_hat - F|| <= eps and F is Lipschitz, from x's norm to `target` (x's own)."""
    numbers = {"lipschitz": as_expr(lipschitz), "eps": as_expr(eps), "size": as_expr(size)}
    dim = x.dim if dim is None else as_expr(dim)
    step = Step(
        name,
        target or x.norm,
        "Lipschitz map",
        numbers["eps"] + numbers["lipschitz"] * x.error_symbol,
        premises=(x.name,),
        obligations=(
            *nonnegative("perturbed_function", name, **numbers),
            *whole("perturbed_function", name, least=1, dimension=dim),
        ),
        reason=reason or "||F_hat(x_hat) - F(x)|| <= eps + L ||x_hat - x||",
    )
    return x.follows(step, dim=dim, size=numbers["size"])


# A correction map C is constant, equal to x, on the ball of radius sigma around each exact value x: if e <= sigma then
# C(x_hat) = x. Equality: the error of the conclusion is 0; that of the condition: beyond sigma nothing is promised.
def correct(x: Approximated, name: str, *, sigma: Any, reason: str = "") -> Approximated:
    """C(x_hat), where C undoes every error of at most sigma. Obligation: x's error is at most sigma."""
    sigma = as_expr(sigma)
    real("correct", name, sigma=sigma)
    covered = Obligation(f"the error of '{x.name}' is at most {sp.sstr(sigma)}", sp.Le(x.error, sigma))
    step = Step(
        name,
        x.norm,
        "correction",
        sp.Integer(0),
        premises=(x.name,),
        obligations=(covered,),
        reason=reason or "errors of at most sigma are undone",
    )
    return x.follows(step, dim=x.dim, size=x.size, radius=x.radius)


# A bound that grows with the perturbation is at most `margin` up to the solution of bound = margin, and above it from
# there on. A solution exists if the bound at 0 is at most the margin and the bound exceeds it somewhere.
def largest_safe(bound: Any, perturbation: sp.Symbol, margin: Any) -> Knob:
    """The largest perturbation at which `bound`, which grows with it, is still at most `margin`; oo if all are.

    Growth is shown by the sign of the derivative, else DerivationError. `condition` of the answer: the bound without
    perturbation is at most the margin, else none is safe.
    """
    bound, margin = as_expr(bound), as_expr(margin)
    free = sp.Dummy(perturbation.name, nonnegative=True)
    smooth = bound.subs(perturbation, free)
    if falls_or_rises(smooth, free) != 1:
        raise DerivationError(f"largest_safe: cannot show that {sp.sstr(bound)} grows with {perturbation}")
    at_zero = smooth.subs(free, 0)
    condition = sp.Le(at_zero, margin)
    if condition == sp.false:
        raise DerivationError(
            f"largest_safe: no {perturbation} is safe: at 0 the bound is {at_zero} > {margin} already"
        )
    # The bound grows from its value at 0: what keeps it below the margin for good is a limit that is not above it.
    highest = limit_at_infinity(smooth, free)
    if highest is not None and sp.Le(highest, margin) == sp.true:
        return Knob(perturbation, sp.oo, highest, condition)
    found = [value for value in solutions(smooth, free, margin) or () if not value.is_negative]
    if len(found) != 1:
        raise DerivationError(f"largest_safe: {sp.sstr(smooth)} = {margin} has no closed solution; use bridge.solve")
    return Knob(perturbation, found[0], sp.simplify(smooth.subs(free, found[0])), condition)
