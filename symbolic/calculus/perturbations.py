"""Rule 11: perturbed parameters and functions, a correction map, and the largest perturbation that is still safe."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from symbolic.calculus.functions import APPROXIMANT
from symbolic.calculus.inversion import limit_at_infinity, monotonicity, solutions
from symbolic.calculus.knobs import Knob
from symbolic.calculus.sums import Combination, Restated, add
from symbolic.derivations.derivation import (
    Approximated,
    DerivationError,
    NormName,
    Obligation,
    as_expr,
    as_norm,
    error_symbol,
    rule_step,
)
from symbolic.derivations.obligations import for_all, nonnegative, real, reopened, whole
from symbolic.derivations.operations import Handle, Operation, unnamed
from symbolic.derivations.signs import is_continuous, is_nonnegative


@dataclass(frozen=True)
class PerturbedLinear(Operation):
    """A_hat x_hat against A x: A is a matrix, or a pair (exact, perturbed).

    In the norms from `source` to the step's, ||A|| <= `norm`, and the perturbed matrix is within `perturbation` of A.
    """

    matrix: Handle
    norm: sp.Expr
    perturbation: sp.Expr
    source: str


@dataclass(frozen=True)
class VectorMap(Operation):
    """F_hat(x_hat) against F(x), token by token; F is a function of vectors.

    ||F_hat - F|| <= `eps`, and F is Lipschitz with the constant `lipschitz` from the norm `source` to the step's.
    """

    function: Handle
    eps: sp.Expr
    lipschitz: sp.Expr
    source: str


@dataclass(frozen=True)
class Correction(Operation):
    """The exact value, as long as the error is at most `sigma`."""

    sigma: sp.Expr


PARTS = "by the error of the argument under the perturbed map, and the change of the map at the exact argument"


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
    target: NormName | None = None,
    perturbed_norm: Any = None,
    pooled: bool = False,
    reason: str = "",
    matrix: str = "",
) -> Approximated:
    """A_hat x_hat against A x, with ||A|| <= operator_norm and ||A_hat - A|| <= perturbation, in operator norms.

    `perturbed_norm` bounds ||A_hat||, where it is known (None: operator_norm + perturbation at most). `pooled`: the
    perturbation and x's error are per unit of one perturbation of all parameters, in the 2-norm, and x does not depend
    on A; this needs `perturbed_norm`. `matrix` is the handle of A, or of A and A_hat.
    """
    norm, spread, dim = as_norm(target or x.norm), as_expr(operator_norm), as_expr(dim)
    numbers = {"operator_norm": spread, "perturbation": as_expr(perturbation)}
    if perturbed_norm is not None:
        numbers["perturbed_norm"] = as_expr(perturbed_norm)
    elif pooled:
        raise DerivationError(f"perturbed_map: '{name}' is pooled; give perturbed_norm, a bound on ||A_hat||")
    if pooled:
        require_per_unit("perturbed_map", x)
    through = numbers.get("perturbed_norm", spread + numbers["perturbation"]) * x.error_symbol
    direct = numbers["perturbation"] * x.size_symbol
    step = rule_step(
        name,
        norm,
        "perturbed linear map",
        sp.sqrt(through**2 + direct**2) if pooled else through + direct,
        obligations=(
            *nonnegative("perturbed_map", name, **numbers),
            *whole("perturbed_map", name, least=1, dimension=dim),
        ),
        reason=reason or PARTS + ("; by Cauchy-Schwarz" if pooled else ""),
        per_unit=True,
        pooled=pooled,
        operation=PerturbedLinear(matrix, spread, numbers["perturbation"], x.norm) if matrix else unnamed("matrix"),
    )
    return x.follows(step, dim=dim, size=spread * x.size_symbol)


# If value i moves by at most e_i t_i, where sum t_i^2 <= 1 (each is moved by parameters of its own, the squares of the
# perturbations adding up), the sum moves by sum e_i t_i <= sqrt(sum e_i^2). Equality: t_i proportional to e_i.
def pooled_sum(*values: Approximated, name: str, reason: str = "") -> Approximated:
    """The sum of values that depend on different parameters; errors are per unit of a joint perturbation of all.

    Each given and each perturbed map has its own parameters. Raises DerivationError for values whose errors share a
    source (use `add`, or `pool` by groups), or grow more slowly than the perturbation (as for softmax).
    """
    _require_independent(name, values)
    for value in values:
        require_per_unit("pooled_sum", value)
    total = add(*values, name=name)
    step = rule_step(
        name,
        total.norm,
        "pooled sum",
        sp.sqrt(sp.Add(*(value.error_symbol**2 for value in values))),
        reason=reason or "by Cauchy-Schwarz over disjoint groups of parameters",
        pooled=True,
        operation=Combination((sp.Integer(1),) * len(values)),
    )
    return values[0].follows(step, *values[1:], dim=total.dim, size=total.size)


def _require_independent(name: str, values: Sequence[Approximated]) -> None:
    """Each given of a derivation has its own parameters; a given with an error may enter one value only."""
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


# A perturbation of size t <= 1 has to move the value by at most t times its error. So it is if the error is convex in t
# and 0 at t = 0; here: a polynomial in t with coefficients >= 0 and without a constant, or of degree 1 under roots.
# What a step adds by itself (an eps, an offset) does not shrink with t, unless it is `per_unit`.
def require_per_unit(rule: str, value: Approximated) -> None:
    """Raises DerivationError where a smaller perturbation may move the value by more than its share of the error."""
    for step in value.derivation.steps:
        if step.per_unit or value.derivation.bound(step.name) == 0:
            continue
        t = sp.Dummy("t", positive=True)
        scaled = step.local.subs({error_symbol(name): t * error_symbol(name) for name in step.premises})
        if sp.simplify(scaled - t * step.local) == 0 or _grows_from_zero(scaled, t):
            continue
        raise DerivationError(
            f"{rule}: '{value.name}' is not stated per unit of a perturbation: step '{step.name}' ({step.rule}) with "
            f"{sp.sstr(step.local)} does not shrink with it; use add"
        )


def _grows_from_zero(scaled: sp.Expr, t: sp.Symbol) -> bool:
    if not scaled.is_polynomial(t):
        return False
    *others, constant = sp.Poly(scaled, t).all_coeffs()
    return bool(constant == 0) and all(is_nonnegative(each) for each in others)


# Groups of parameters that are moved by t_1, t_2, ... with sum t_k^2 <= r^2 (disjoint groups, and r the 2-norm of the
# whole perturbation): an error of at most sum c_k t_k is at most r sqrt(sum c_k^2), which is Cauchy-Schwarz.
# Unlike `pooled_sum` this is for values that depend on common groups. Equality: t_k proportional to c_k.
def pool(x: Approximated, name: str, *, groups: Sequence[sp.Symbol], total: Any, reason: str = "") -> Approximated:
    """x, whose error is a linear form in the symbols `groups`, per their joint 2-norm: at most `total`.

    Raises DerivationError for an error that is not linear in the groups, or that has a part without any of them.
    """
    if len(set(groups)) < len(groups) or any(e is not None and e.has(*groups) for e in (x.size, x.radius, x.dim)):
        raise DerivationError(
            f"pool: the groups {', '.join(g.name for g in groups)} must be different and must not occur in the "
            f"size, radius or dimension of '{x.name}'"
        )
    total, slopes = as_expr(total), [sp.factor_terms(sp.diff(x.error, group)) for group in groups]
    jumps = not all(is_continuous(x.error, group) for group in groups)
    if jumps or x.error.subs(dict.fromkeys(groups, 0)) != 0 or any(slope.has(*groups) for slope in slopes):
        names = ", ".join(group.name for group in groups)
        raise DerivationError(f"pool: the error of '{x.name}' is not a linear form in {names}")
    numbers = {group.name: slope for group, slope in zip(groups, slopes, strict=True)}
    step = rule_step(
        name,
        x.norm,
        "pooled perturbation",
        total * sp.sqrt(sp.Add(*(slope**2 for slope in slopes))),
        obligations=nonnegative("pool", name, total=total, **numbers),
        reason=reason or "by Cauchy-Schwarz over disjoint groups of parameters that are moved together",
        operation=Restated(),
    )

    def of_all(owed: Obligation) -> Obligation:
        """For every perturbation of the groups up to `total`."""
        for group in groups:
            where = f"for every {group.name} up to {sp.sstr(total)}"
            owed = for_all(reopened(owed, group), group, sp.Integer(0), total, where)
        return owed

    return x.with_obligations(of_all).follows(step, dim=x.dim, size=x.size_symbol, radius=x.own_radius)


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
    target: NormName | None = None,
    reason: str = "",
    function: str = "",
) -> Approximated:
    """F_hat(x_hat) against F(x): ||F_hat - F|| <= eps and F is Lipschitz, from x's norm to `target` (x's own).

    `function` is the handle of F and F_hat, from (..., x.dim) to (..., dim).
    """
    numbers = {"lipschitz": as_expr(lipschitz), "eps": as_expr(eps), "size": as_expr(size)}
    dim = x.dim if dim is None else as_expr(dim)
    step = rule_step(
        name,
        as_norm(target or x.norm),
        "Lipschitz map",
        numbers["eps"] + numbers["lipschitz"] * x.error_symbol,
        obligations=(
            *nonnegative("perturbed_function", name, **numbers),
            *whole("perturbed_function", name, least=1, dimension=dim),
        ),
        reason=reason or APPROXIMANT,
        operation=VectorMap(function, numbers["eps"], numbers["lipschitz"], x.norm)
        if function
        else unnamed("function"),
    )
    return x.follows(step, dim=dim, size=numbers["size"])


# A correction map C is constant, equal to x, on the ball of radius sigma around each exact value x: if e <= sigma then
# C(x_hat) = x. Equality: the error of the conclusion is 0; that of the condition: beyond sigma nothing is promised.
def correct(x: Approximated, name: str, *, sigma: Any, reason: str = "") -> Approximated:
    """C(x_hat), where C undoes every error of at most sigma. Obligation: x's error is at most sigma."""
    sigma = as_expr(sigma)
    real("correct", name, sigma=sigma)
    covered = Obligation(f"the error of '{x.name}' is at most {sp.sstr(sigma)}", sp.Le(x.error, sigma))
    step = rule_step(
        name,
        x.norm,
        "correction",
        sp.Integer(0),
        obligations=(covered,),
        reason=reason or f"since errors of at most `{sp.sstr(sigma)}` are undone",
        operation=Correction(sigma),
    )
    return x.follows(step, dim=x.dim, size=x.size_symbol, radius=x.own_radius)


# A bound that grows with the perturbation is at most `margin` up to the solution of bound = margin, and above it from
# there on. A solution exists if the bound at 0 is at most the margin and the bound exceeds it somewhere.
def largest_safe(bound: Any, perturbation: sp.Symbol, margin: Any) -> Knob:
    """The largest perturbation at which `bound`, which grows with it, is still at most `margin`; oo if all are.

    Raises DerivationError unless the sign of the derivative shows that the bound grows. `condition` of the answer: the
    bound without perturbation is at most the margin (else no perturbation is safe).
    """
    bound, margin = as_expr(bound), as_expr(margin)
    free = sp.Dummy(perturbation.name, nonnegative=True)
    smooth = bound.subs(perturbation, free)
    if monotonicity(smooth, free) != 1:
        raise DerivationError(f"largest_safe: cannot show that {sp.sstr(bound)} grows with {perturbation}")
    at_zero = smooth.subs(free, 0)
    real("largest_safe", str(perturbation), bound=at_zero)
    condition = sp.Le(at_zero, margin)
    if condition == sp.false:
        raise DerivationError(
            f"largest_safe: no {perturbation} is safe: the bound at 0 is {at_zero}, above the margin {margin}"
        )
    # The bound grows from its value at 0: what keeps it below the margin for good is a limit that is not above it.
    highest = limit_at_infinity(smooth, free)
    if highest is None:
        raise DerivationError(f"largest_safe: no limit of {sp.sstr(bound)} in {perturbation} is known; use bs.solve")
    all_are_safe = sp.Le(highest, margin)
    if all_are_safe == sp.true:
        return Knob(perturbation, sp.oo, highest, condition)
    found = [value for value in solutions(smooth, free, margin) or () if not value.is_negative]
    if len(found) != 1 or found[0].is_extended_real is False:
        raise DerivationError(f"largest_safe: {sp.sstr(bound)} = {margin} has no closed solution; use bs.solve")
    reached = sp.simplify(smooth.subs(free, found[0]))
    value = sp.Piecewise((sp.oo, all_are_safe), (found[0], True))
    return Knob(perturbation, value, sp.Piecewise((highest, all_are_safe), (reached, True)), condition)
