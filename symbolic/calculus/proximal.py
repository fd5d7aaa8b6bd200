"""Rules 5, 10 and 12 for inexact proximal gradient steps on F = g + h: the iterates' norm, and the objective gap.

g is convex and smooth, h convex. A step is w_{k+1} = p_{k+1} + e_{k+1}, p_{k+1} = prox_{eta h}(w_k - eta grad g(w_k)).
The error of `update` bounds every e_k, in the 1-norm or in the 2-norm; dual norms are the sup norm and the 2-norm.

    start = given("w_0", dim=d, norm=Norm.TWO, size=U, error=U)  # w_0 = 0 against u, ||u|| <= U
    update = given("step", dim=d, norm=Norm.ONE, size=P, error=e)
    iterates = bounded_iterates(update, "iterates", start=F_0, penalty=lam, lipschitz=a + b * r, radius=r, ...)
    proximal_gradient(start, "gap", update=update, iterates=iterates, lipschitz=a + b * r, radius=r, step=eta, ...)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from symbolic.calculus.invariants import MonotoneRecursion
from symbolic.calculus.recursions import latex
from symbolic.derivations.derivation import Approximated, DerivationError, Norm, as_expr, require_norm, rule_step
from symbolic.derivations.obligations import Obligation, nonnegative, positive, whole

BOUNDED = "bounded iterates"
_VALUE = sp.Symbol("V", positive=True)  # F at an iterate, above its floor


# With p = prox_{eta h}(w - eta grad g(w)), (w - p)/eta - grad g(w) is a subgradient of h at p. For all u
#   h(p) - h(u) <= <(w - p)/eta - grad g(w), p - u>,  g(p) - g(u) <= <grad g(w), p - u> + L/2 ||p - w||_2^2, so
#   F(p) - F(u) <= (||w - u||_2^2 - ||p - u||_2^2 - (1 - eta L) ||p - w||_2^2)/(2 eta).                           (*)
# At u = w it says F(p) <= F(w) - (2 - eta L) ||p - w||_2^2/(2 eta), which is at most F(w) for eta L <= 2.
#
# Let G(r) bound the dual norm of a subgradient of F at every point of norm <= r, and ||w|| <= (F(w) - floor)/penalty
# for all w. Suppose F(w_k) - floor <= V_k. Then ||p_{k+1}|| <= V_k/penalty, ||w_{k+1}|| <= V_k/penalty + e, and
#   F(w_{k+1}) - floor <= F(p_{k+1}) - floor + G(||w_{k+1}||) e <= V_k + G(V_k/penalty + e) e = V_{k+1}:
# a joint induction over the objective and the norm, in which no iterate is assumed to be bounded. The V_k do not fall.
# Equality: F(w) = |w| and errors away from 0, as eta -> 0; at any eta for one step from w_0 = 0.
def bounded_iterates(
    update: Approximated,
    name: str,
    *,
    start: Any,
    penalty: Any,
    lipschitz: Any,
    radius: sp.Symbol,
    step: Any,
    smoothness: Any,
    steps: Any,
    reason: str = "",
) -> Approximated:
    """The iterates w_0, ..., w_steps against 0: the conclusion's error bounds the norm (that of `update`) of each.

    `start` >= F(w_0) - floor, where F(w) >= floor + penalty ||w|| for all w. `lipschitz`, affine in the letter
    `radius`, bounds the dual norm of a subgradient of F at each point of at most that norm. Obligation: step
    smoothness <= 2.
    """
    require_norm("bounded_iterates", update, Norm.ONE, Norm.TWO)
    start, penalty, lipschitz, steps = map(as_expr, (start, penalty, lipschitz, steps))
    error = update.error_symbol
    owed = (
        *_steps("bounded_iterates", name, step, smoothness, most=2),
        *positive("bounded_iterates", name, penalty=penalty),
        *nonnegative("bounded_iterates", name, lipschitz=lipschitz.subs(radius, 0), growth=sp.diff(lipschitz, radius)),
        *whole("bounded_iterates", name, least=1, steps=steps),
    )
    values = MonotoneRecursion(start, _VALUE + error * _at(lipschitz, radius, _VALUE / penalty + error), _VALUE)
    linear = values.linear({})
    last = linear.closed(steps - 1)
    conclusion = rule_step(
        name,
        update.norm,
        BOUNDED,
        last / penalty + error,
        about=(as_expr(step), as_expr(smoothness), steps),
        obligations=(*owed, *values.obligations, *linear.obligations),
        reason=reason or "by joint induction over the objective and the norm of the iterates",
    )
    return update.follows(conclusion, dim=update.dim, size=sp.Integer(0))


def _at(lipschitz: sp.Expr, radius: sp.Symbol, value: sp.Expr) -> sp.Expr:
    """The constant for that norm. Raises DerivationError unless it is affine in the radius."""
    if sp.diff(lipschitz, radius, 2) != 0:
        raise DerivationError(
            f"bounded_iterates: the constant {sp.sstr(lipschitz)} is not affine in {radius}; give a + b {radius}"
        )
    return lipschitz.subs(radius, value)


def _steps(rule: str, name: str, step: Any, smoothness: Any, *, most: int) -> tuple[Obligation, ...]:
    """Raises DerivationError for a step that is not positive, or longer than most/smoothness."""
    step, smoothness = as_expr(step), as_expr(smoothness)
    numbers, reach = (
        (*positive(rule, name, step=step), *nonnegative(rule, name, smoothness=smoothness)),
        step * smoothness,
    )
    short = Obligation(f"the steps of '{name}' are short: `{sp.sstr(reach)} <= {most}`", sp.Le(reach, most))
    return numbers if short.condition == sp.true else (short, *numbers)


# (*) with eta L <= 1, and ||w_k - u||_2^2 <= ||p_k - u||_2^2 + 2 <e_k, w_k - u> - ||e_k||_2^2, telescope from w_0:
#   sum_{k=1}^T (F(p_k) - F(u)) <= D^2/(2 eta) + sum_{k=1}^{T-1} e_k R_k/eta,  D = ||w_0 - u||_2, R_k >= ||w_k - u||_*.
# F(p_{k+1}) <= F(w_k) <= F(p_k) + G_k e_k, where G_k bounds a subgradient at w_k, makes F(p_T) at most F(p_k) plus the
# later G_j e_j. Summed over k this is T F(p_T) <= sum_k F(p_k) + sum_{k<T} k G_k e_k; and F(w_T) <= F(p_T) + G_T e_T:
#   F(w_T) - F(u) <= (D^2/(2 eta) + sum_{k<T} (R_k/eta + k G_k) e_k)/T + G_T e_T.
# Equality: w_0 = u minimises F, T = 1 and e_1 along a steepest subgradient of F, for F a norm around u. Not attained
# otherwise: without errors the largest known ratio is 2, for F linear (g = 0) with the slope D/(2 T eta).
@dataclass(frozen=True)
class ProximalSteps:
    """The gap F(w_T) - F(u) after T inexact proximal gradient steps of the length `step` <= 1/smoothness."""

    step: sp.Expr

    def closed(self, distance: Any, error: Any, reach: Any, lipschitz: Any, steps: Any) -> sp.Expr:
        """Errors of at most `error`, `reach` >= ||w_k - u||_*, and a subgradient of at most `lipschitz` at w_k."""
        distance, error, reach, lipschitz, steps = map(as_expr, (distance, error, reach, lipschitz, steps))
        before = (steps - 1) / steps * reach / self.step + (steps + 1) / 2 * lipschitz
        return distance**2 / (2 * self.step * steps) + error * before

    def run(
        self, distance: Any, errors: Sequence[Any], reaches: Sequence[Any], slopes: Sequence[Any], step: Any
    ) -> list[Any]:
        """The bounds after 1, 2, ... steps with each step's own numbers (floats, balls, tensors)."""
        total, bounds = distance * distance / (2 * step), []
        for k, (error, reach, slope) in enumerate(zip(errors, reaches, slopes, strict=True), start=1):
            bounds.append(total / k + slope * error)
            total = total + (reach / step + k * slope) * error
        return bounds

    def latex(self, names: Mapping[sp.Symbol, str] | None = None) -> str:
        eta = latex(self.step, names)
        summed = rf"\sum_{{k<T}} \Big(\frac{{R_k}}{{{eta}}} + k\,G_k\Big) e_k"
        return rf"F(w_T) - F(u) \le \frac1T \Big(\frac{{D^2}}{{2\,{eta}}} + {summed}\Big) + G_T\,e_T"

    def words(self) -> str:
        """The same in plain text."""
        eta = sp.sstr(self.step)
        return f"F(w_T) - F(u) <= (D^2/(2*{eta}) + sum_(k<T) (R_k/{eta} + k*G_k)*e_k)/T + G_T*e_T"


def proximal_gradient(
    start: Approximated,
    name: str,
    *,
    update: Approximated,
    iterates: Approximated,
    lipschitz: Any,
    radius: sp.Symbol,
    step: Any,
    smoothness: Any,
    steps: Any,
    reason: str = "",
) -> Approximated:
    """The objective gap F(w_T) - F(u) after T = `steps` inexact proximal gradient steps, for any fixed u.

    `start` is w_0 against u in the 2-norm: its error bounds ||w_0 - u||_2, its size ||u||_2. The error of `iterates`
    bounds the norm of each w_k (`bounded_iterates` of the same steps, or a hypothesis); `lipschitz`, for that `radius`,
    the dual norm of a subgradient of F at each. The conclusion is a number. Obligation: step smoothness <= 1.
    """
    require_norm("proximal_gradient", start, Norm.TWO)
    require_norm("proximal_gradient", update, Norm.ONE, Norm.TWO)
    require_norm("proximal_gradient", iterates, update.norm)
    step, lipschitz, steps = map(as_expr, (step, lipschitz, steps))
    if not start.dim == update.dim == iterates.dim:
        raise DerivationError(
            f"proximal_gradient: '{start.name}', '{update.name}' and '{iterates.name}' have the dimensions "
            f"{sp.sstr(start.dim)}, {sp.sstr(update.dim)} and {sp.sstr(iterates.dim)}; give vectors of one dimension"
        )
    _require_of_these_steps(iterates, name, update, (step, as_expr(smoothness), steps))
    largest, rule = iterates.error_symbol, ProximalSteps(step)
    lipschitz = lipschitz.subs(radius, largest)
    conclusion = rule_step(
        name,
        Norm.INF,
        "proximal gradient",
        rule.closed(start.error_symbol, update.error_symbol, largest + start.size_symbol, lipschitz, steps),
        obligations=(
            *_steps("proximal_gradient", name, step, smoothness, most=1),
            *nonnegative("proximal_gradient", name, lipschitz=lipschitz),
            *whole("proximal_gradient", name, least=1, steps=steps),
        ),
        reason=reason,
        recursion=None if reason else rule,
    )
    return start.follows(conclusion, update, iterates, dim=sp.Integer(1), size=sp.Integer(0))


def _require_of_these_steps(
    iterates: Approximated, name: str, update: Approximated, steps: tuple[sp.Expr, ...]
) -> None:
    """Raises DerivationError for a bound that was derived for other steps."""
    bound = iterates.derivation.step(iterates.name)
    if bound.rule == BOUNDED and (bound.premises, bound.about) != ((update.name,), steps):
        raise DerivationError(
            f"proximal_gradient: '{iterates.name}' bounds the iterates of other steps than those of '{name}'; give "
            f"both rules the same update, step, smoothness and number of steps"
        )
