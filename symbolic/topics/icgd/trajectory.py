"""L steps of inexact projected gradient descent (wu2024, Corollary 1.1 and Lemma 14): how far, and how well.

    w^{l+1} = Proj_W(w^l - eta grad f(w^l) + e^l),  ||e^l||_2 <= eta eps,      w_GD the same without e, from one start

(0 in the paper). f = L_n has an L_f-Lipschitz gradient on the convex set W (smoothness.py derives one).
"""

from dataclasses import replace
from functools import cache
from typing import Any

import sympy as sp

from symbolic.calculus import (
    Descent,
    LinearRecursion,
    Norm,
    add,
    descent_lemma,
    given,
    gradient_descent,
    perturbed_function,
    project,
)
from symbolic.calculus.layers import iterate, recursion_from
from symbolic.derivations.derivation import Approximated, Derivation, Step
from symbolic.statements.result import Hypothesis, Kind, Parameter, Printed, Quantifier, Quantity, Result
from symbolic.topics.icgd import chain, errata, objects
from symbolic.topics.icgd.step import STEP_HYPOTHESES, STEP_PARAMETERS
from symbolic.topics.icgd.symbols import NOTATION as LETTERS
from symbolic.topics.icgd.symbols import P_0, B_v, B_x, L, b_l, b_r, b_r1, d, d_y, eps, eta, n, neurons, rho, rho_N
from symbolic.words.citations import WU2024, Citation
from symbolic.words.errors import UsageError

L_f = sp.Symbol("L_f", positive=True)  # Lipschitz constant of grad f on W
gap = sp.Symbol("gap", nonnegative=True)  # f(w^0) - inf of f over W; the paper starts at w^0 = 0

# What a network is at w = 0: |r(0)|, |r'(0)| and the supremum of |u(r(0), y)| over |y| <= B_y.
r_0, r1_0, u_0 = (sp.Symbol(name, nonnegative=True) for name in ("r_0", "r1_0", "u_0"))

_D = sp.Symbol("D", integer=True, positive=True)  # the number of weights
_B_w = sp.Symbol("B_w", nonnegative=True)  # a bound on ||w|| over W; no bound below depends on it
_B_g = sp.Symbol("B_g", nonnegative=True)  # the same for the gradient

NOTATION = {**LETTERS, r1_0: "r'_0", L_f: "L_f", gap: r"(f(w^0) - \inf_W f)"}
SYMBOLS = {
    L_f: "Lipschitz constant, above 0, of the gradient of `f` on `W`",
    gap: "`f(w^0)` minus the infimum of `f` over `W`",
    r_0: "`|r(0)|`",
    r1_0: "`|r'(0)|`",
    u_0: "sup of `|u(r(0), y)|` over `|y| <= B_y`",
}


# One step of both iterations, from points that are e apart. The gradient is known up to eps (e^l = eta times its error)
# and moves by at most L_f e; the projection does not expand: e + eta (L_f e + eps) = (1 + eta L_f) e + eta eps.
@cache
def step_recursion() -> LinearRecursion:
    """The distance of the two iterations, step by step."""
    distance = sp.Dummy("e", nonnegative=True)
    w = given("w", dim=_D, norm=Norm.TWO, size=_B_w, error=distance)
    gradient = perturbed_function(
        w, "gradient", lipschitz=L_f, eps=eps, size=_B_g, reason="`grad f` is `L_f`-Lipschitz"
    )
    moved = add(w, gradient, name="w - eta gradient", coefficients=(1, -eta))
    return recursion_from(w, project(moved, "w+", size=_B_w))


# Equality: f(w) = -L_f w^2 / 2 and W large, where w_GD stays at 0 and w^l, pushed by eps in one direction, runs away.
@cache
def derive_path(steps: Any = L) -> Approximated:
    """w^steps against w_GD^steps, for symbolic steps: ((1 + eta L_f)^steps - 1) eps / L_f."""
    start = given("start", dim=_D, norm=Norm.TWO, size=_B_w, reason="both start at the same point")
    return iterate(start, "path", step_recursion(), sp.sympify(steps), size=_B_w)


@cache
def derive_gradient_mapping(steps: Any = L) -> Approximated:
    """The mean of ||G(w^l)||^2 over l = 0 .. steps - 1, at least the least of them: 2 gap/(eta steps) + eps^2."""
    start = given("f(w^0) - inf f", dim=1, size=0, error=gap, reason="the gap at the start")
    return gradient_descent(start, "gradient_mapping", step=eta, smoothness=L_f, accuracy=eps, steps=steps)


@cache
def one_descent() -> Descent:
    """One step of it, for an instance that knows the accuracy of each."""
    return descent_lemma("gradient_mapping", step=eta, smoothness=L_f, accuracy=eps)


def path_printed(steps: Any = L) -> sp.Expr:
    """Corollary 1.1 and Lemma 14 as printed, with n in the place of the step size."""
    return (1 + n * L_f) ** sp.sympify(steps) * eps / L_f


def path_with_step_size(steps: Any = L) -> sp.Expr:
    """The same with eta for n, which is what the unrolled recursion can give."""
    return path_printed(steps).subs(n, eta)


def gradient_mapping_printed(steps: Any = L) -> sp.Expr:
    return 8 * gap / (eta * sp.sympify(steps)) + 10 * eps**2


KNOWN = {L_f: L_f, eps: eps}  # what an instance knows better
_COROLLARY = Citation(WU2024, "Corollary 1.1", "Lemma 14")
_LEMMA = Citation(WU2024, "Lemma 14")
_PATH = "`w^0` in the closed convex set `W`, onto which both project; errors of a step with `||e^l||_2 <= eta eps`"
_SHORT = f"{_PATH}; `eta L_f <= 1`"


def path_quantity(steps: Any = L, *, name: str = "path[L]") -> Quantity:
    """||w^l - w_GD^l||_2 after l = `steps` steps, printed and derived; `name` as in path[3]."""
    at, printed = sp.latex(sp.sympify(steps)), Printed(path_printed(steps), _COROLLARY)
    meaning = "distance of the transformer's iterate from that of projected gradient descent"
    derived = (derive_path(steps).derivation, "path", KNOWN)
    return Quantity(
        name,
        rf"\|w^{{{at}}} - w_{{\mathrm{{GD}}}}^{{{at}}}\|_2",
        *(meaning, "2-norm", _PATH, Kind.UPPER, Quantifier.FOR_ALL, *derived, printed, "icgd"),
        scopes=("network",),
        trivial=2 * sp.sqrt(neurons(d)) * B_v,  # the diameter of the box
        remark="`L_f` is read as in Lemma 14: the Lipschitz constant of the gradient",
        erratum=errata.EXAMPLES,
    )


def gradient_mapping_quantity(steps: Any = L) -> Quantity:
    """The mean over the steps of the squared gradient mapping, printed and derived."""
    at, printed = sp.latex(sp.sympify(steps)), Printed(gradient_mapping_printed(steps), _LEMMA)
    meaning = "mean of the squared gradient mapping over `l = 0 .. L - 1`, and so the least of them"
    derived = (derive_gradient_mapping(steps).derivation, "gradient_mapping", KNOWN)
    return Quantity(
        "gradient_mapping",
        rf"\frac{{1}}{{{at}}} \sum_{{l=0}}^{{{at} - 1}} \|G(w^l)\|_2^2",
        *(meaning, "squared 2-norm", _SHORT, Kind.UPPER, Quantifier.FOR_ALL, *derived, printed, "icgd"),
        scopes=("network",),
        remark="judged for `eta <= 1/L_f` and by the mean over `l = 0 .. L - 1`",
        erratum=errata.STEP_SIZE,
    )


_AT_ZERO = r"\|\nabla L_n(0)\|_2"


# At w = 0 all weights have norm 0, and r, r' and u are what they are at the argument 0.
_NETWORK_AT_ZERO = {rho: 0, rho_N: 0, b_r: r_0, b_r1: r1_0, b_l: u_0, P_0: B_x, d_y: d}


def zero_quantity() -> Quantity:
    """||grad L_n(0)||_2 at the start of Corollary 1.1: 0 for r(0) = 0 and N >= 2, so that descent never moves."""
    bound = chain.derive_blocks().size.subs(_NETWORK_AT_ZERO, simultaneous=True).doit() / 2
    reason = "the size of the blocks `A(j) = s(j) p(j-1)^T` where every `V_j` is 0"
    derivation = Derivation((Step("start.zero", Norm.TWO, "size", bound, reason=reason, latex=_AT_ZERO),))
    meaning, domain = (
        "gradient of the risk at `w = 0`, where the paper starts",
        "`w = 0`, `||x|| <= B_x`, `||y|| <= B_y`",
    )
    stated = (meaning, "2-norm", domain, Kind.UPPER, Quantifier.FOR_ALL, derivation)
    return Quantity("start.zero", _AT_ZERO, *stated, worst_case={}, scopes=())


def quantities_for(steps: int) -> tuple[Quantity, ...]:
    """path[1], ..., path[steps] and gradient_mapping for a number of steps. Raises UsageError."""
    if steps < 1:
        raise UsageError(f"icgd.trajectory: steps = {steps}: give at least one step (L >= 1).")
    path = (path_quantity(step, name=f"path[{step}]") for step in range(1, steps + 1))
    return (*path, gradient_mapping_quantity(steps))


_L = Parameter("L", L, "number of steps of gradient descent", 4, integer=True)
_DEFAULTS = {"N": 2, "eta": 0.05}  # with eta L_f <= 1
_SHOWN = ("eta", "eps")  # the others select the risk that is minimised
_OF_A_STEP = (
    replace(p, default=_DEFAULTS.get(p.name, p.default), setting=p.name not in _SHOWN) for p in STEP_PARAMETERS
)

TRAJECTORY = Result(
    id="icgd.trajectory",
    title="`L` steps of in-context gradient descent against exact projected gradient descent",
    citation=_COROLLARY,
    claim=r"\|w^l - w_{\mathrm{GD}}^l\|_2 \le L_f^{-1} (1 + n L_f)^l \epsilon,\qquad "
    r"\min_l \|G(w^l)\|_2^2 \le \frac{8 (f(0) - \inf_W f)}{\eta L} + 10 \epsilon^2",
    parameters=(_L, *_OF_A_STEP),
    hypotheses=(Hypothesis("L", sp.Ge(L, 1, evaluate=False), "a path has at least one step"), *STEP_HYPOTHESES),
    objects=objects.TRAJECTORY,
    quantities=(path_quantity(), gradient_mapping_quantity()),
    notation=NOTATION,
    symbols=SYMBOLS,
    remarks=(
        "The printed column has `(1 + n L_f)^l` as it stands, with `n` the number of examples; with `eta` for `n` "
        "the printed form is close to the derived one, which is attained, and lacks its -1.",
        "The constants 2 and 1 of the derived gradient mapping are attained; 8 and 10 are printed.",
        "`L_f` and `f(w^0) - inf f` are values of the problem: bounded from certified suprema on `W`. The paper "
        "starts at `w = 0`, where a network of two layers or more with `r(0) = 0` has gradient 0 and never moves; "
        "here `w^0` is any point of `W`, and printed bounds are read with `f(w^0)` for `f(0)`.",
    ),
)
