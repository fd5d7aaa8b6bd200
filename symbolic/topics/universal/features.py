"""Random features for a whole class (li2025, Lemma 1), with every constant: bias, deviation, cover, 1-norm."""

from dataclasses import replace
from functools import cache

import sympy as sp

from symbolic.calculus import Event, cover, sample_mean, within_budget
from symbolic.derivations.derivation import Approximated
from symbolic.derivations.provenance import Provenance
from symbolic.statements.result import Formula, Hypothesis, Kind, Parameter, Printed, Quantifier, Quantity, Result
from symbolic.topics.universal import objects
from symbolic.topics.universal.covering import product_cover
from symbolic.topics.universal.sigmoid import derive_lemma_5, mass, ridges, tau
from symbolic.words.citations import LI2025, Citation
from symbolic.words.prose import prose

n = sp.Symbol("n", integer=True, positive=True)
d = sp.Symbol("d", integer=True, positive=True)
members = sp.Symbol("members", integer=True, positive=True)  # functions of the class, which is finite
bumps = sp.Symbol("bumps", integer=True, positive=True)
eps, delta, width, slope = sp.symbols("eps delta width slope", positive=True)
at_zero = sp.Symbol("at_zero", nonnegative=True)  # sup |f(0)|
c_0 = sp.Symbol("c_0", positive=True)  # the constant that Lemma 1 leaves open

DRAW = prose("the draw of `Lambda`")
RHO = 3 * mass  # |rho_f| <= Gamma_F = 3 mass: t has a range of length 3, and |gamma| <= 1
constant = at_zero + mass  # C_F


def covered() -> sp.Expr:
    """|N_eps| for a finite class."""
    return product_cover(members, d, eps)


# One draw is rho_f(t, omega) phi(...), in [-3 mass, 3 mass], so 3 mass-sub-Gaussian; its expectation f^approx(x) is off
# f(x) - f(0) as Lemma 5 says. The mean moves by at most 3 mass tau per distance of x, f by at most mass.
@cache
def derive_lemma_1(count: sp.Expr = n, budget: sp.Expr = delta) -> Approximated:
    """(27) for all functions and all x at once with `count` features, but with a probability of `budget`."""
    bias = derive_lemma_5()
    at_one = sample_mean(
        bias, "one function, one x", count=count, event=Event("the mean of the features", over=DRAW), sub_gaussian=RHO,
        reason="Hoeffding, `|rho phi| <= 3` mass",
    )  # fmt: skip
    everywhere = cover(
        at_one, "class and ball", members=covered(), radius=eps, lipschitz=RHO * tau, exact_lipschitz=mass,
        reason="the cover (23), `f^` chosen by `f` alone",
    )  # fmt: skip
    return within_budget(_with_a_member(everywhere), "features", delta=budget)


def _with_a_member(value: Approximated) -> Approximated:
    """The same: a cover has at least one member, as the class has one and 1 + 2/eps > 1."""
    owed = sp.Le(1, covered())
    return replace(value, derivation=value.derivation.under([owed]))


# Each |rho_i| is at most 3 mass, whatever is drawn: no probability is needed for (28).
def one_norm() -> sp.Expr:
    return at_zero + RHO


_LEMMA_1 = Citation(LI2025, "Lemma 1", "eq. (27)")
QUANTITIES = (
    Quantity(
        "features", r"\sup_{f, x} |f(x) - f(0) - \frac1n \sum_i \rho_{f,i} \phi_i(x)|",
        "largest error over the class and the ball", "sup norm", "`f` in the class, `|x| <= 1`", Kind.UPPER,
        Quantifier.PROBABILITY, derive_lemma_1().derivation, worst_case={}, scopes=(), trivial=mass,
        randomness=DRAW, remark="measured at points of the ball",
        printed=Printed(
            c_0 * constant * (1 / tau + tau * eps + sp.sqrt(sp.log(covered()) / n)), _LEMMA_1, unspecified=(c_0,)
        ),
    ),
    Quantity(
        "one_norm", r"|f(0)| + \frac1n \sum_i |\rho_{f,i}|", "1-norm of the weights, with `f(0)`", "1-norm",
        "`f` in the class, every draw", Kind.UPPER, Quantifier.FOR_ALL, scopes=(), derive=one_norm,
        obtained=Provenance.HAND,
        printed=Printed(4 * constant, Citation(LI2025, "Lemma 1", "eq. (28)"), strict=True),
        remark="holds for every draw; the paper uses Hoeffding's inequality and `n >= c_1 log |N_eps|`",
    ),
)  # fmt: skip

FEATURES = Result(
    id="universal.features",
    title="Random features represent a whole class",
    citation=Citation(LI2025, "Lemma 1"),
    claim=r"\Big|f(x) - f(0) - \frac1n \sum_{i=1}^n \rho_{f,i} \phi_i(x)\Big| \lesssim C_{\mathcal F}\Big("
    r"\frac1\tau + \tau \varepsilon + \sqrt{\frac{\log |\mathcal N_\varepsilon|}{n}}\Big)",
    parameters=(
        Parameter("n", n, "number of features", (256, 1024), integer=True),
        Parameter("tau", tau, "slope of the ramps", 64.0),
        Parameter("eps", eps, "radius of the cover", 1e-4),
        Parameter("delta", delta, "probability of failure", 0.5),
        Parameter("d", d, "dimension of `x`", 2, integer=True, in_words="dimension of the inputs"),
        Parameter("family", None, "the class: bumps, or union (with logistic ridges and linear functions)", "bumps"),
        Parameter("bumps", bumps, "number of bumps", 8, integer=True, setting=True),
        Parameter("width", width, "width of the bumps", 1.0, setting=True),
        Parameter("slope", slope, "slope of the logistic ridges", 4.0, setting=True),
    ),
    hypotheses=(
        Hypothesis("tau", tau > 4, "Lemma 1 is for `tau > 4`"),
        Hypothesis("eps", sp.Ge(eps, sp.Rational(1, 2**52)), "a finer cover tells apart what float64 does not"),
        Hypothesis("eps", eps < 1, "one point covers the ball"),
        Hypothesis("delta", sp.Gt(delta, 0, evaluate=False), "a budget of probability"),
        Hypothesis("delta", delta <= 1, "a budget of probability"),
        *(Hypothesis(str(each), sp.Ge(each, 1, evaluate=False), "a number") for each in (n, d, bumps)),
        *(Hypothesis(str(each), sp.Gt(each, 0, evaluate=False), "a scale") for each in (width, slope)),
    ),
    objects=objects.FEATURES,
    assumptions=("the class of functions is finite, with `C_F` finite and above `sup |f(0)|`",),
    quantities=QUANTITIES,
    notation={
        at_zero: r"\sup_f |f(0)|",
        members: r"|\mathcal F|",
        tau: r"\tau",
        eps: r"\varepsilon",
        delta: r"\delta",
        mass: r"\tilde C_{\mathcal F}",
        c_0: "C",
    },
    symbols={
        mass: "`C_F - sup |f(0)|`",
        at_zero: "supremum of `|f(0)|` over the class",
        members: "number of functions of the class",
        ridges: "atoms of the spectrum",
        c_0: "unspecified in the paper",
    },
    formulas=(Formula(r"|\mathcal N_\varepsilon|", covered, "size of the cover", Kind.UPPER),),
)
