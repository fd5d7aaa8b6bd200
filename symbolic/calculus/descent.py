"""Rule 12 for gradient steps: what one step lowers a smooth function by, and the mean of the gradients over steps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from symbolic.calculus.recursions import latex
from symbolic.derivations.derivation import Approximated, DerivationError, Norm, as_expr, rule_step
from symbolic.derivations.obligations import Obligation, nonnegative, positive, whole
from symbolic.derivations.operations import Unread


# Summed over l = 0 .. n - 1, f(w^{l+1}) <= f(w^l) - c_l g_l + d_l telescopes:
#   sum c_l g_l <= f(w^0) - f(w^n) + sum d_l.
# So the mean of the g_l, weighted by the c_l, and a fortiori the least of them, is at most the right side over sum c_l.
# Equality: every step an equality.
@dataclass(frozen=True)
class Descent:
    """f(w+) <= f(w) - decrease ||G(w)||^2 + offset in each step, decrease > 0, under `obligations`."""

    decrease: sp.Expr
    offset: sp.Expr
    obligations: tuple[Obligation, ...] = ()

    def closed(self, fall: Any, steps: Any) -> sp.Expr:
        """The mean of ||G(w^l)||^2 over `steps` steps in which f falls by at most `fall` altogether."""
        return as_expr(fall) / (self.decrease * as_expr(steps)) + self.offset / self.decrease

    def run(self, decreases: Sequence[Any], offsets: Sequence[Any], fall: Any) -> Any:
        """The same with each step's own coefficients (numbers of any kind: floats, balls, tensors).

        The mean is weighted by the decreases. `fall` is f(w^0) - f(w^n), or a bound above it.
        """
        for offset in offsets:
            fall = fall + offset
        return fall / sum(decreases)

    def latex(self, names: Mapping[sp.Symbol, str] | None = None) -> str:
        decrease, offset = (latex(each, names) for each in (self.decrease, self.offset))
        return rf"f(w^+) \le f(w) - {decrease}\,\|G(w)\|^2 + {offset}"

    def words(self) -> str:
        """The same in plain text."""
        return f"f(w+) <= f(w) - {sp.sstr(self.decrease)}*||G(w)||**2 + {sp.sstr(self.offset)}"


# Let u = w - eta grad f(w), w_bar = Proj u, G = (w - w_bar)/eta and w+ = Proj(u + e), ||e|| <= eta eps, W convex, and
# grad f L-Lipschitz on W; without a projection W is everything and G = grad f(w). With D = w+ - w_bar:
#   <w_bar - u, w - w_bar> >= 0                    (w_bar projects u, w lies in W)
#   <u + e - w+, w_bar - w+> <= 0                  (w+ projects u + e, w_bar lies in W), so
#   <w_bar - u, D> <= <e, D> - ||D||^2             and ||D|| <= ||e||.
# With grad f(w) = (w - u)/eta and w+ - w = D - eta G they turn f(w+) <= f(w) + <grad f, w+ - w> + L/2 ||w+ - w||^2 into
#   f(w+) - f(w) <= -eta ||G||^2 + <G, D> + (<e, D> - ||D||^2)/eta + L/2 ||D - eta G||^2.
# Exact gradients, e = D = 0: -eta (1 - eta L/2) ||G||^2, a descent for eta L < 2.
# Inexact ones, eta L <= 1: L/2 <= 1/(2 eta) leaves -eta/2 ||G||^2 + (<e, D> - ||D||^2/2)/eta, and <e, D> - ||D||^2/2
# is at most ||e||^2/2: -eta/2 ||G||^2 + eta/2 eps^2.
# Equality: f(w) = L ||w||^2/2 on everything, with L = 1/eta and any e for inexact gradients.
def descent_lemma(name: str, *, step: Any, smoothness: Any, accuracy: Any = 0) -> Descent:
    """One step w+ = Proj_W(w - step (grad f(w) + e)), ||e||_2 <= accuracy, where grad f is `smoothness`-Lipschitz on W.

    W is convex and closed, and w lies in it; G(w) = (w - Proj_W(w - step grad f(w)))/step is the gradient mapping, the
    gradient itself if W is everything. Obligation: step smoothness <= 1, or < 2 for exact gradients.
    """
    step, smoothness, accuracy = as_expr(step), as_expr(smoothness), as_expr(accuracy)
    numbers = positive("descent_lemma", name, step=step)
    numbers += nonnegative("descent_lemma", name, smoothness=smoothness, accuracy=accuracy)
    reach = step * smoothness
    if accuracy.is_zero:
        short = Obligation(f"the steps of '{name}' are short: `{sp.sstr(reach)} < 2`", sp.Lt(reach, 2))
        return Descent(step * (1 - reach / 2), sp.Integer(0), _required(short, *numbers))
    short = Obligation(f"the steps of '{name}' are short: `{sp.sstr(reach)} <= 1`", sp.Le(reach, 1))
    return Descent(step / 2, step * accuracy**2 / 2, _required(short, *numbers))


def _required(*obligations: Obligation) -> tuple[Obligation, ...]:
    for obligation in obligations:
        if obligation.condition == sp.false:
            raise DerivationError(f"descent_lemma: hypothesis violated: {obligation.statement}")
    return obligations


def gradient_descent(
    gap: Approximated, name: str, *, step: Any, smoothness: Any, accuracy: Any = 0, steps: Any, reason: str = ""
) -> Approximated:
    """The mean of ||G(w^l)||_2^2 over `steps` steps of projected gradient descent: `descent_lemma`, telescoped.

    `gap` is a number whose error bounds f(w^0) - inf f over W. The conclusion's error bounds the mean (and the least).
    """
    if gap.norm is not Norm.INF or gap.dim != 1:
        raise DerivationError(f"gradient_descent: '{gap.name}' must be a number (dim 1, sup norm): f(w^0) - inf f")
    lemma, steps = descent_lemma(name, step=step, smoothness=smoothness, accuracy=accuracy), as_expr(steps)
    conclusion = rule_step(
        name,
        gap.norm,
        "gradient descent",
        lemma.closed(gap.error_symbol, steps),
        obligations=(*lemma.obligations, *whole("gradient_descent", name, least=1, steps=steps)),
        reason=reason,
        recursion=None if reason else lemma,
        operation=Unread("its value is a mean over all steps, which no operand gives"),
    )
    return gap.follows(conclusion, dim=sp.Integer(1), size=sp.Integer(0))
