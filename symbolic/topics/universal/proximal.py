"""Inexact proximal gradient on the Lasso (li2025, Lemma 3, (38)-(42), (97)): the objective gap, the iterates' norm.

ell(rho) = mean (y_i - phi_i^T rho)^2 + lam ||rho||_1 with phi_i in [0, 1]^(n + 1), the last entry of which is 1.
"""

from functools import cache, partial

import sympy as sp

from symbolic.calculus import Norm, bounded_iterates, given, proximal_gradient, soft_threshold
from symbolic.derivations.derivation import Approximated
from symbolic.derivations.provenance import Provenance
from symbolic.statements.errata import Erratum, Weight
from symbolic.statements.result import Hypothesis, Kind, Parameter, Printed, Quantifier, Quantity, Result
from symbolic.topics.universal import objects
from symbolic.words.citations import LI2025, Citation

n, N, L = sp.symbols("n N L", integer=True, positive=True)
T = sp.Symbol("T", integer=True, positive=True)
eta, lam, C, B_y = sp.symbols("eta lam C B_y", positive=True)
eps, eps_threshold = sp.symbols("eps eps_threshold", nonnegative=True)
U = sp.Symbol("U", nonnegative=True)  # ||rho*||_2
e, e_threshold = sp.symbols("e e_threshold", nonnegative=True)  # the errors of a prompt
mean_y, mean_square = sp.symbols("mean_y mean_square", nonnegative=True)  # of |y_i|, of y_i^2
r = sp.Symbol("r", nonnegative=True)
old, new, moved = sp.symbols("old new moved", nonnegative=True)
largest, sigma, c_1, c_2 = sp.symbols("rho_max sigma c_1 c_2", positive=True)

# The Hessian of the loss is 2 mean phi phi^T, of trace at most 2 (n + 1).
SMOOTHNESS = 2 * (n + 1)
# |d loss/d rho_j| = |2 mean phi_j (phi^T rho - y)| <= 2 (||rho||_1 + mean |y|), and lam for a subgradient of the norm.
STEEPNESS = 2 * (r + mean_y) + lam
STEPS = {"lipschitz": STEEPNESS, "radius": r, "step": eta, "smoothness": SMOOTHNESS, "steps": T}


@cache
def derive_update() -> Approximated:
    """One step (38b) whose gradient step errs by e in the 1-norm and whose threshold errs by e_threshold: e_t."""
    before = given("gradient step", dim=n + 1, norm=Norm.ONE, size=0, error=e, reason="`e_t` before the threshold")
    return soft_threshold(before, "update", threshold_error=e_threshold)


# ell(rho) >= lam ||rho||_1, and ell(0) = mean y^2.
@cache
def derive_iterates() -> Approximated:
    """||rho_t||_1 for every t <= T."""
    return bounded_iterates(derive_update(), "iterates", start=mean_square, penalty=lam, **STEPS)


@cache
def derive_gap() -> Approximated:
    """ell(rho_T) - ell(rho*) from rho_0 = 0."""
    start = given("start", dim=n + 1, norm=Norm.TWO, size=U, error=U, reason="`rho_0 = 0` against `rho*`")
    return proximal_gradient(start, "gap", update=derive_update(), iterates=derive_iterates(), **STEPS)


# At u - w in the kernel of the Hessian, p - w along its largest eigenvector and ||.||_1 linear between, an equality:
# (*) of symbolic/calculus/proximal.py with eta = 1/(2n) and L = 2 (n + 1).
def repaired_decrease() -> sp.Expr:
    """(97b) for the smoothness 2 (n + 1)."""
    step = 1 / (2 * n)
    return sp.expand(sp.simplify((old - new + (step * SMOOTHNESS - 1) * moved) / (2 * step)))


# (*) at u = w: -(2 - eta L) ||p - w||^2/(2 eta), which is -(n - 1) ||p - w||^2.
def repaired_descent() -> sp.Expr:
    """(97a) with what is left of it."""
    step = 1 / (2 * n)
    return sp.simplify(-(2 - step * SMOOTHNESS) * moved / (2 * step))


_appendix = partial(Citation, LI2025, "Appendix A.3")

DECREASE = Erratum(
    Weight.PROOF,
    _appendix("eq. (97b), (104)"),
    sentence="`ell(rho*_{t+1}) - ell(rho*) <= n (||rho_t - rho*||_2^2 - ||rho*_{t+1} - rho*||_2^2)` for `eta = "
    "1/(2n)`, since the sum of `||phi_i||_2^2` is at most `N n`",
    reading="`phi_i` of (33) has `n + 1` entries, the last of which is 1; features with `t_i <= -1 - 1/(2 tau)` "
    "are 1 on the ball, so that the sum may be `N (n + 1)`, and `1/(2n)` exceeds `1/smoothness`; `f = 1` "
    "without noise, `rho* = (0, ..., 0, 1)` as in (35), `t = 1`",
    repair=(
        "`eta = 1/(2 (n + 1))`; or the further term `||rho*_{t+1} - rho_t||_2^2`, which (97a) pays for where `n >= 2`"
    ),
    survives="yes: (41) and (42) hold with other constants for `n >= 2`, or for every `n` with the repaired step; "
    "at `n = 1` with a feature that is 1 the iterates alternate for ever, and (41) fails as `L` grows; "
    "for any features of (33), that is: those that Lemma 1 draws are all 1 with a small probability, so "
    "that the claim can hold with high probability over the draw",
)

_DOMAIN = (
    "`rho_0 = 0`, features in `[0, 1]`, mean of `y_i^2` at most `B_y^2`, `||rho*||_1 <= C`, every sequence of errors"
)
_quantity = partial(Quantity, norm="absolute value", domain=_DOMAIN, kind=Kind.UPPER, quantifier=Quantifier.FOR_ALL)
_WITNESS = "the step `1/(2n)` in the place of `eta`; all features 1, all `y_i = 1`"
WORST = {U: C, mean_y: B_y, mean_square: B_y**2, T: (L - 1) / 2, e: eps, e_threshold: eps_threshold}
EXACT = eps + (n + 1) * eps_threshold  # eps_approx
QUANTITIES = (
    _quantity(
        "gap", r"\ell(\rho_T) - \ell(\rho^\star)", "objective gap after `T` steps", derivation=derive_gap().derivation,
        worst_case=WORST, trivial=B_y**2,
        printed=Printed(
            c_1 * n * C**2 / L + c_1 * (L + n) * EXACT * (C + sigma + largest + lam),
            Citation(LI2025, "Lemma 3", "eq. (41)"), unspecified=(c_1, sigma, largest),
        ),
        remark="(41) needs the norms of all iterates, which the derived bound has by induction",
    ),
    _quantity(
        "iterates", r"\|\rho_T\|_1", "1-norm of the last iterate", derivation=derive_iterates().derivation,
        norm="1-norm", worst_case=WORST, trivial=B_y**2 / lam,
        printed=Printed(
            c_2 * (C + 2 * n * C**2 / ((L - 1) * lam) + (sp.sqrt(N) + largest / lam) * ((L - 1) / 2 + n) * EXACT),
            Citation(LI2025, "Lemma 3", "eq. (42)"), unspecified=(c_2, largest),
        ),
        remark=
            "(42) bounds the norm at `t` by a multiple of the norms up to `t` itself: a bound only where `(t + n) "
            "eps` is small against `lambda`",
    ),
    _quantity(
        "decrease", r"\ell(\rho^\star_{t+1}) - \ell(\rho^\star)", "objective after one exact step from `rho_t`",
        scopes=(), derive=repaired_decrease, obtained=Provenance.ALGEBRA, domain=_WITNESS,
        printed=Printed(n * (old - new), DECREASE.citation), erratum=DECREASE,
    ),
    _quantity(
        "descent", r"\ell(\rho^\star_{t+1}) - \ell(\rho_t)", "what one exact step changes the objective by", scopes=(),
        derive=repaired_descent, obtained=Provenance.ALGEBRA, domain=_WITNESS,
        printed=Printed(sp.Integer(0), _appendix("eq. (97a)")),
    ),
)  # fmt: skip

PROXIMAL = Result(
    id="universal.proximal",
    title="Inexact proximal gradient on the Lasso",
    citation=Citation(LI2025, "Lemma 3", "eq. (38)-(42), (97)"),
    claim=r"\ell(\rho_T) \le \ell(\rho^\star) + \frac{c_1 n C_{\mathcal F}^2}{L} + c_1 (L + n) "
    r"\varepsilon_{\mathrm{approx}} \Big(C_{\mathcal F} + \sigma + \max_k \|\rho_k\|_1 + \lambda\Big)",
    parameters=(
        Parameter("L", L, "number of layers, `2T + 1`", 41, integer=True),
        Parameter("n", n, "number of features", 8, integer=True),
        Parameter("N", N, "number of examples", 16, integer=True),
        Parameter("lam", lam, "weight of the 1-norm", 0.25),
        Parameter("eta", eta, "step size; `1/(2 (n + 1))` if it is not given", 1 / 18, in_words="step size"),
        Parameter("C", C, "bound on `||rho*||_1`, of the order of `C_F`", 1.0, in_words="bound on `||rho*||_1`"),
        Parameter("B_y", B_y, "bound on the root mean square of the labels", 1.0),
        Parameter("eps", eps, "bound on the 1-norm of the error of a gradient step", 1e-6),
        Parameter("eps_threshold", eps_threshold, "bound on the error of a threshold", 1e-8),
    ),
    hypotheses=(
        Hypothesis("L", sp.Eq(sp.Mod(L, 2), 1), "`L = 2T + 1` is odd: one layer, and two for each of `T` steps"),
        Hypothesis("L", sp.Ge(L, 3, evaluate=False), "at least one step"),
        Hypothesis("N", sp.Ge(N, 1, evaluate=False), "an empty prompt has no mean"),
        Hypothesis("n", sp.Ge(n, 1, evaluate=False), "a number"),
        Hypothesis("eta", sp.Gt(eta, 0, evaluate=False), "a step size is positive"),
        Hypothesis("eta", sp.Le(eta * SMOOTHNESS, 1), "a step is at most `1/smoothness`, `1/(2 (n + 1))`"),
        Hypothesis("lam", sp.Gt(lam, 0, evaluate=False), "without the 1-norm the iterates need not stay bounded"),
        Hypothesis("C", sp.Gt(C, 0, evaluate=False), "a norm"),
        Hypothesis("B_y", sp.Gt(B_y, 0, evaluate=False), "a norm"),
        *(Hypothesis(str(each), sp.Ge(each, 0, evaluate=False), "an error") for each in (eps, eps_threshold)),
    ),
    objects=objects.PROXIMAL,
    quantities=QUANTITIES,
    notation={
        eta: r"\eta", lam: r"\lambda", eps: r"\varepsilon", eps_threshold: r"\varepsilon_\lambda",
        largest: r"\max_k \|\rho_k\|_1", sigma: r"\sigma", mean_y: r"\overline{|y|}", mean_square: r"\overline{y^2}",
        moved: r"\|\rho^\star_{t+1} - \rho_t\|_2^2", old: r"\|\rho_t - \rho^\star\|_2^2",
        new: r"\|\rho^\star_{t+1} - \rho^\star\|_2^2",
    },
    symbols={
        U: "`||rho*||_2`",
        e: "largest error of a gradient step",
        e_threshold: "largest error of a threshold", mean_y: "mean of `|y_i|`",
        mean_square: "mean of `y_i^2`", T: "steps, `(L - 1)/2`",
        largest: "largest 1-norm of an iterate", sigma: "noise level",
        c_1: "unspecified in the paper", c_2: "unspecified in the paper", r: "1-norm of an iterate",
        old: "squared distance before the step", new: "squared distance after it", moved: "its squared length",
    },
    remarks=(
        "Probability enters Lemma 3 by mean `|y|` alone; here mean `y^2` is given, and the bounds hold for all inputs.",
        "(99) has an equality between the 2-norm and the 1-norm of `rho*`, read as `<=`. The gradient of `g` at "
        "`rho_t` is printed at `rho` in the proof of (97). (38) counts `T + 1` steps, Lemma 3 has `T`.",
        "At `t = 1` the proof of (42) sums over `n` of the `n + 1` coordinates; the constant changes by `(n + 1)/n`.",
    ),
)  # fmt: skip
