"""L steps of inexact projected gradient descent (wu2024, Corollary 1.1 and Lemma 14): how far, and how well.

    w^{l+1} = Proj_W(w^l - eta grad f(w^l) + e^l),  ||e^l||_2 <= eta eps,      w_GD the same without e, both from 0.

f = L_n has an L_f-Lipschitz gradient on the convex set W (symbolic/icgd/smoothness.py derives an L_f).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import sympy as sp

from symbolic.calculus import (
    LinearRecursion,
    Norm,
    Obligation,
    add,
    descend,
    given,
    perturbed_function,
    project,
)
from symbolic.calculus.layers import iterate, recursion_from
from symbolic.citations import WU2024, Citation
from symbolic.derivation import Approximated, Step
from symbolic.icgd.symbols import L, eps, eta, n
from symbolic.statements import (
    Hypothesis,
    Kind,
    Parameter,
    Printed,
    Quantifier,
    Quantity,
    Result,
    UsageError,
)

L_f = sp.Symbol("L_f", positive=True)  # Lipschitz constant of grad f on W
gap = sp.Symbol("gap", nonnegative=True)  # f(0) - inf of f over W

_D = sp.Symbol("D", integer=True, positive=True)  # the number of weights
_B_w = sp.Symbol("B_w", nonnegative=True)  # a bound on ||w|| over W; no bound below depends on it
_B_g = sp.Symbol("B_g", nonnegative=True)  # the same for the gradient

NOTATION = {eta: r"\eta", eps: r"\epsilon", L_f: "L_f", gap: r"(f(0) - \inf_W f)"}
SYMBOLS = {L_f: "Lipschitz constant of the gradient of L_n on W", gap: "f(0) minus the infimum of f over W"}


# One step of both iterations, from points that are e apart. The gradient is known up to eps (e^l = eta times its error)
# and moves by at most L_f e; the projection does not expand: e + eta (L_f e + eps) = (1 + eta L_f) e + eta eps.
def step_recursion() -> LinearRecursion:
    """The distance of the two iterations, step by step."""
    distance = sp.Symbol("e", nonnegative=True)
    w = given("w", dim=_D, norm=Norm.TWO, size=_B_w, error=distance)
    gradient = perturbed_function(w, "gradient", lipschitz=L_f, eps=eps, size=_B_g, reason="grad f is L_f-Lipschitz")
    moved = add(w, gradient, name="w - eta gradient", coefficients=(1, -eta))
    return recursion_from(w, project(moved, "w+", size=_B_w))


# Equality: f(w) = -L_f w^2 / 2 and W large, where w_GD stays at 0 and w^l, pushed by eps in one direction, runs away.
@cache
def derive_path(steps: Any = L) -> Approximated:
    """w^steps against w_GD^steps, for symbolic steps: ((1 + eta L_f)^steps - 1) eps / L_f."""
    start = given("start", dim=_D, norm=Norm.TWO, size=_B_w, reason="both start at 0")
    return iterate(start, "path", step_recursion(), sp.sympify(steps), dim=_D, size=_B_w)


# One step with eta L_f <= 1. Let u = w - eta grad f(w), w_bar = Proj u, G = (w - w_bar)/eta, w+ = Proj(u + e).
#   f(z) <= f(w) + <grad f(w), z - w> + ||z - w||^2/(2 eta) = f(w) + (||z - u||^2 - ||w - u||^2)/(2 eta)   for z in W.
#   ||w - u||^2 >= ||w_bar - u||^2 + ||w - w_bar||^2                     (w_bar projects u, w lies in W)
#   ||w_bar - u - e||^2 >= ||w+ - u - e||^2 + ||w+ - w_bar||^2           (w+ projects u + e, w_bar lies in W)
# The last, with D = w+ - w_bar, says ||w+ - u||^2 - ||w_bar - u||^2 <= 2 <e, D> - ||D||^2 <= ||e||^2 <= eta^2 eps^2.
# Together, at z = w+: f(w+) <= f(w) - (eta/2) ||G||^2 + (eta/2) eps^2. Equality: f(w) = ||w||^2/(2 eta), W everything.
@cache
def derive_gradient_mapping(steps: Any = L) -> Approximated:
    """The mean of ||G(w^l)||^2 over l = 0 .. steps - 1, at least the least of them: 2 gap/(eta steps) + eps^2."""
    start = given("f(0) - inf f", dim=1, size=0, error=gap, reason="the gap at the start")
    small = Obligation("the step is short: eta L_f <= 1", sp.Le(eta * L_f, 1))
    first = Step(
        "short steps",
        Norm.INF,
        "descent lemma",
        start.error_symbol,
        premises=(start.name,),
        reason="f(w+) <= f(w) - (eta/2) ||G||^2 + (eta/2) eps^2",
        obligations=(small,),
    )
    short = start.follows(first, dim=start.dim, size=start.size)
    return descend(short, "gradient_mapping", decrease=eta / 2, offset=eta * eps**2 / 2, steps=steps)


def path_printed(steps: Any = L) -> sp.Expr:
    """Corollary 1.1 and Lemma 14 as printed, with n in the place of the step size."""
    return (1 + n * L_f) ** sp.sympify(steps) * eps / L_f


def path_with_step_size(steps: Any = L) -> sp.Expr:
    """The same with eta for n, which is what the unrolled recursion can give."""
    return path_printed(steps).subs(n, eta)


def gradient_mapping_printed(steps: Any = L) -> sp.Expr:
    return 8 * gap / (eta * sp.sympify(steps)) + 10 * eps**2


_COROLLARY = Citation(WU2024, "Corollary 1.1", "Lemma 14")
_LEMMA = Citation(WU2024, "Lemma 14")
_PATH = "w^l and w_GD^l in W, both projected, from w = 0; errors of a step at most eta eps"
_SHORT = "the same, eta L_f <= 1"


def path_quantity(steps: Any = L, *, name: str = "path") -> Quantity:
    """||w^l - w_GD^l||_2 after l = `steps` steps, printed and derived; `name` as in path[3]."""
    return Quantity(
        name,
        rf"\|w^{{{sp.latex(sp.sympify(steps))}}} - w_{{\mathrm{{GD}}}}^{{{sp.latex(sp.sympify(steps))}}}\|_2",
        "the transformer's iterate against projected gradient descent",
        "2-norm",
        _PATH,
        Kind.UPPER,
        Quantifier.FOR_ALL,
        derive_path(steps).derivation,
        "path",
        {},
        Printed(path_printed(steps), _COROLLARY),
        scopes=("network",),
        remark="printed with n, the number of examples, in the place of the step size eta; L_f is read as the "
        "Lipschitz constant of the gradient (Lemma 14), not of the risk (Corollary 1.1)",
    )


def gradient_mapping_quantity(steps: Any = L) -> Quantity:
    """The mean over the steps of the squared gradient mapping, printed and derived."""
    return Quantity(
        "gradient_mapping",
        rf"\frac{{1}}{{{sp.latex(sp.sympify(steps))}}} \sum_l \|G(w^l)\|_2^2",
        "mean of the squared gradient mapping over l = 0 .. L - 1, and so the least of them",
        "squared 2-norm",
        _SHORT,
        Kind.UPPER,
        Quantifier.FOR_ALL,
        derive_gradient_mapping(steps).derivation,
        "gradient_mapping",
        {},
        Printed(gradient_mapping_printed(steps), _LEMMA),
        scopes=("network",),
        remark="printed under eta <= L_f and with the sum over l = 1 .. L - 1; it needs eta <= 1/L_f, and the least of "
        "L - 1 numbers is at most their mean, the sum over L - 1, not over L",
    )


def quantities_for(steps: int) -> tuple[Quantity, ...]:
    """path[1], ..., path[steps] and gradient_mapping, for a given number of steps."""
    if steps < 1:
        raise UsageError(f"icgd.trajectory: steps = {steps}: give at least one step (L >= 1).")
    paths = (path_quantity(l, name=f"path[{l}]") for l in range(1, steps + 1))  # noqa: E741 - the paper's letter
    return (*paths, gradient_mapping_quantity(steps))


# --- What the printed statements do not cover: one-dimensional witnesses, computed exactly ---------------------------


@dataclass(frozen=True)
class Line:
    """f on the interval [-width, width]: f(w) = curvature (w - centre)^2/2 + slope w, a Lipschitz gradient |curvature|.

    Everything is a rational number, so that a run is exact.
    """

    curvature: sp.Rational
    width: sp.Rational
    centre: sp.Rational = sp.Integer(0)  # noqa: RUF009 - numbers are immutable
    slope: sp.Rational = sp.Integer(0)  # noqa: RUF009

    def value(self, w: sp.Expr) -> sp.Expr:
        return self.curvature * (w - self.centre) ** 2 / 2 + self.slope * w

    def gradient(self, w: sp.Expr) -> sp.Expr:
        return self.curvature * (w - self.centre) + self.slope

    def project(self, w: sp.Expr) -> sp.Expr:
        return sp.Max(-self.width, sp.Min(self.width, w))

    def descend(self, step: sp.Expr, errors: Sequence[sp.Expr], *, projected: bool = True) -> list[sp.Expr]:
        """w^0 = 0, w^1, ...: one step for each error e^l, projected or not."""
        points: list[sp.Expr] = [sp.Integer(0)]
        for error in errors:
            moved = points[-1] - step * self.gradient(points[-1]) + error
            points.append(self.project(moved) if projected else moved)
        return points

    def gradient_mapping(self, w: sp.Expr, step: sp.Expr) -> sp.Expr:
        return (w - self.project(w - step * self.gradient(w))) / step

    def infimum(self) -> sp.Expr:
        """Over the interval: at its ends or where the gradient vanishes."""
        ends = [self.value(-self.width), self.value(self.width)]
        if self.curvature > 0:
            ends.append(self.value(self.project(self.centre - self.slope / self.curvature)))
        return sp.Min(*ends)

    def steepest(self) -> sp.Expr:
        """The Lipschitz constant of f itself."""
        return sp.Max(abs(self.gradient(-self.width)), abs(self.gradient(self.width)))


@dataclass(frozen=True)
class Witness:
    """An exact run in which a statement as printed fails, beside what a run under the repaired statement attains."""

    slip: str
    printed: sp.Expr
    attained: sp.Expr
    repaired: sp.Expr
    repaired_attained: sp.Expr

    @property
    def refutes(self) -> bool:
        """Whether the printed statement fails and the repaired one does not."""
        return bool(self.attained > self.printed) and bool(self.repaired_attained <= self.repaired)


def _distance(line: Line, step: sp.Expr, accuracy: sp.Expr, steps: int, *, projected: bool = True) -> sp.Expr:
    """|w^steps - w_GD^steps|; `projected` is about w_GD, the other one always is."""
    near = line.descend(step, [step * accuracy] * steps)
    return abs(near[-1] - line.descend(step, [sp.Integer(0)] * steps, projected=projected)[-1])


def _derived_path(steps: int, step: sp.Expr, accuracy: sp.Expr, smooth: sp.Expr) -> sp.Expr:
    return derive_path(steps).error.subs({eta: step, eps: accuracy, L_f: smooth})


def examples_for_step_size() -> Witness:
    """n = 1 example and a step eta = 10: one step of f = -w^2/2 goes 10 eps away, 2 eps is printed."""
    line, step, accuracy = Line(sp.Integer(-1), sp.Integer(1)), sp.Integer(10), sp.Rational(1, 100)
    printed = path_printed(1).subs({n: 1, L_f: 1, eps: accuracy})
    attained = _distance(line, step, accuracy, 1)
    repaired = _derived_path(1, step, accuracy, sp.Integer(1))
    return Witness("n in the place of eta", printed, attained, repaired, attained)


def constant_of_the_risk() -> Witness:
    """f = -5 w^2 on [-1/10, 1/10] is 1-Lipschitz, its gradient 10-Lipschitz: 12 eps after two steps of 1, not 4 eps."""
    line, step, accuracy = Line(sp.Integer(-10), sp.Rational(1, 10)), sp.Integer(1), sp.Rational(1, 1000)
    printed = path_with_step_size(2).subs({eta: step, L_f: line.steepest(), eps: accuracy})
    attained = _distance(line, step, accuracy, 2)
    repaired = _derived_path(2, step, accuracy, sp.Integer(10))
    return Witness("L_f of the risk itself", printed, attained, repaired, attained)


def descent_without_projection() -> Witness:
    """f = -w on [-1, 1]: the projected iterate stops at 1, w_GD of the main text runs on. L_f = 1 is admissible."""
    line, step, accuracy = Line(sp.Integer(0), sp.Integer(1), slope=sp.Integer(-1)), sp.Integer(1), sp.Rational(1, 1000)
    printed = path_with_step_size(4).subs({eta: step, L_f: 1, eps: accuracy})
    attained = _distance(line, step, accuracy, 4, projected=False)
    repaired = _derived_path(4, step, accuracy, sp.Integer(1))
    return Witness("w_GD without the projection", printed, attained, repaired, _distance(line, step, accuracy, 4))


def _mappings(line: Line, step: sp.Expr, accuracy: sp.Expr, steps: int) -> list[sp.Expr]:
    """||G(w^l)||^2 for l = 0 .. steps - 1."""
    points = line.descend(step, [step * accuracy] * steps)[:-1]
    return [line.gradient_mapping(w, step) ** 2 for w in points]


def steps_up_to_the_constant() -> Witness:
    """eta = L_f = 2, so eta L_f = 4: descent on (w - 1/10)^2 in [-1, 1] jumps between the ends for ever.

    Repaired: eta = 1/L_f = 1/2 on the same function, the mean over all steps.
    """
    line, accuracy, steps = Line(sp.Integer(2), sp.Integer(1), centre=sp.Rational(1, 10)), sp.Rational(1, 1000), 20
    start = line.value(sp.Integer(0)) - line.infimum()
    printed = gradient_mapping_printed(steps).subs({eta: 2, eps: accuracy, gap: start})
    attained = min(_mappings(line, sp.Integer(2), accuracy, steps)[1:])
    short = sp.Rational(1, 2)
    repaired = derive_gradient_mapping(steps).error.subs({eta: short, eps: accuracy, gap: start})
    return Witness("eta <= L_f", printed, attained, repaired, sp.Add(*_mappings(line, short, accuracy, steps)) / steps)


def least_against_the_sum() -> Witness:
    """f = -w on [-10, 10], eta = 1, L = 4: all |G| = 1, and the least of them exceeds (1/L) times the sum of L - 1."""
    line, steps = Line(sp.Integer(0), sp.Integer(10), slope=sp.Integer(-1)), 4
    squares = _mappings(line, sp.Integer(1), sp.Integer(0), steps)
    printed, repaired = (sp.Add(*some) / steps for some in (squares[1:], squares))
    return Witness("min <= (1/L) sum over l = 1 .. L-1", printed, min(squares[1:]), repaired, min(squares))


WITNESSES: tuple[Callable[[], Witness], ...] = (
    examples_for_step_size,
    constant_of_the_risk,
    descent_without_projection,
    steps_up_to_the_constant,
    least_against_the_sum,
)


TRAJECTORY = Result(
    id="icgd.trajectory",
    title="L steps of in-context gradient descent against exact projected gradient descent",
    citation=_COROLLARY,
    claim=r"\|w^l - w_{\mathrm{GD}}^l\|_2 \le L_f^{-1} (1 + n L_f)^l \epsilon,\qquad "
    r"\min_l \|G(w^l)\|_2^2 \le \frac{8 (f(0) - \inf_W f)}{\eta L} + 10 \epsilon^2",
    parameters=(
        Parameter("L", L, "number of steps of gradient descent", (1, 4), integer=True),
        Parameter("n", n, "number of examples; the printed bound has it in the place of eta", 4, integer=True),
        Parameter("eta", eta, "step size", 0.1),
        Parameter("eps", eps, "accuracy of the gradient at each step", 0.01),
        Parameter("L_f", L_f, "Lipschitz constant of the gradient of the risk on W", 1.0),
        Parameter("gap", gap, "f(0) minus the infimum of f over W", 1.0),
    ),
    hypotheses=(
        Hypothesis("L", sp.Ge(L, 1, evaluate=False), "there has to be a step"),
        Hypothesis("n", sp.Ge(n, 1, evaluate=False), "there has to be an example"),
        Hypothesis("eta", sp.Gt(eta, 0, evaluate=False), "the step size is positive"),
        Hypothesis("eps", sp.Gt(eps, 0, evaluate=False), "as in Theorem 1"),
        Hypothesis("L_f", sp.Gt(L_f, 0, evaluate=False), "the bound divides by it"),
        Hypothesis("gap", sp.Ge(gap, 0, evaluate=False), "0 lies in W"),
    ),
    quantities=(path_quantity(), gradient_mapping_quantity()),
    notation=NOTATION,
    symbols=SYMBOLS,
    remarks=(
        "Printed has (1 + n L_f)^l, n the number of examples: the recursion has eta. The printed bound fails for "
        "eta > n and is far above the derived one for eta < n.",
        "Derived: ((1 + eta L_f)^l - 1) eps / L_f, which is attained; the printed form drops the -1.",
        "Corollary 1.1 calls L_f the Lipschitz constant of the risk; its proof needs that of the gradient (Lemma 14).",
        "The main text defines w_GD without the projection; then the two part even for eps = 0, once w_GD leaves W.",
        "Lemma 14 asks for eta <= L_f, which allows eta L_f > 2, where descent need not converge; eta <= 1/L_f is "
        "enough, with the constants 2 and 1 for 8 and 10, both attained.",
        "Lemma 14 bounds the least of l = 1 .. L-1 by (1/L) times their sum, which fails where all are equal; the mean "
        "over l = 0 .. L-1 is meant.",
    ),
)
