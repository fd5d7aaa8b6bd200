"""Near-optimal Lasso solutions (li2025, Lemma 2 and 6): their 1-norm and risk, with every constant and a budget.

y_i = f(x_i) + z_i, r = f - phi^T rho* with |r| <= eps_dis, phi in [0, 1]^(n + 1); U = ||rho*||_1. A solution has
ell(rho) <= ell(rho*) + eps_opt. The examples are independent, the noise is sigma-sub-Gaussian given the inputs.
"""

from functools import cache

import sympy as sp

from symbolic.calculus import Event, Norm, add, best_shares, given, linear_map, sample_mean, within_budget
from symbolic.derivations.derivation import Approximated, Step
from symbolic.derivations.obligations import Obligation
from symbolic.statements.result import Formula, Hypothesis, Kind, Parameter, Printed, Quantifier, Quantity, Result
from symbolic.topics.universal import objects
from symbolic.words.citations import LI2025, Citation

n, N, d = sp.symbols("n N d", integer=True, positive=True)
lam, delta, B, tau, width = sp.symbols("lam delta B tau width", positive=True)
sigma, eps_opt, eps_dis, U, A, F = sp.symbols("sigma eps_opt eps_dis U A F", nonnegative=True)
c_1, c_2, c_3, c_4 = sp.symbols("c_1 c_2 c_3 c_4", positive=True)

EXAMPLES = "the examples"
SHARES = {
    "noise": sp.Rational(1, 2),
    "Gram": sp.Rational(1, 4),
    "cross": sp.Rational(1, 8),
    "square": sp.Rational(1, 8),
}
ACROSS = "`|phi_j| <= 1`"
FREE = ", in (83)"


def _event(name: str, budget: sp.Expr | None) -> Event:
    return Event(name, over=EXAMPLES, share=None if budget is None else SHARES[name] * budget)


# Each coordinate of z_i phi_i is a sub-Gaussian number times one in [0, 1], of mean 0 given x_i.
@cache
def derive_noise(budget: sp.Expr | None = delta) -> Approximated:
    """||(2/N) sum z_i phi_i||_inf, with a share of the budget of probability, or with one that is free."""
    where = FREE if budget is None else ""
    one = given("z phi", dim=n + 1, size=0, reason=ACROSS)
    mean = sample_mean(one, f"mean z phi{where}", count=N, event=_event("noise", budget), sub_gaussian=sigma)
    return linear_map(mean, f"noise{where}", operator_norm=2, dim=n + 1)


@cache
def derive_moments(
    letter: str, size: sp.Expr, budget: sp.Expr | None
) -> tuple[Approximated, Approximated, Approximated]:
    """Means of phi phi^T, of phi r and of r^2 over the examples, against their expectations; |r| <= size."""
    half, where = sp.Rational(1, 2), FREE if budget is None else ""
    gram = given("phi phi^T", dim=(n + 1) ** 2, size=1, radius=half, reason="entries in `[0, 1]`")
    cross = given(f"phi {letter}", dim=n + 1, size=size, reason=f"`|{letter}| <= {size}`")
    square = given(f"{letter}^2", dim=1, size=size**2, radius=half * size**2, reason=f"`|{letter}| <= {size}`")
    named = {"Gram": gram, "cross": cross, "square": square}
    means = [sample_mean(x, f"mean {x.name}{where}", count=N, event=_event(key, budget)) for key, x in named.items()]
    return means[0], means[1], means[2]


# With D = rho - rho* and r = f - phi^T rho*, f - phi^T rho = r - phi^T D, whose square has the parts D^T phi phi^T D,
# -2 D^T phi r and r^2. The noise adds 2 mean z (r - phi^T D).
@cache
def derive_lemma_6() -> Approximated:
    """(83) for all rho with ||rho - rho*||_1 <= B."""
    gram, cross, square = derive_moments("r", eps_dis, None)
    one = given("z r", dim=1, size=0, reason="`|r| <= eps_dis`, (93)")
    along = sample_mean(
        one, "mean z r", count=N, event=Event("residual noise", over=EXAMPLES), sub_gaussian=sigma * eps_dis
    )
    parts = [
        linear_map(gram, "quadratic part", operator_norm=B**2, dim=1, reason="`|D^T M D| <= ||D||_1^2 max |M_ij|`"),
        linear_map(cross, "linear part", operator_norm=2 * B, dim=1, reason="`|D^T v| <= ||D||_1 ||v||_inf`"),
        linear_map(derive_noise(None), "noise part", operator_norm=B, dim=1),
    ]
    total = add(*parts, square, along, name="sum of the parts", coefficients=(1, 1, 1, 1, 2))
    at = {n: 64, N: 1024, sigma: sp.Rational(1, 10), eps_dis: sp.Rational(1, 4), B: 1}
    best = best_shares(total, delta=sp.Rational(1, 20), at=at)
    weights = {name: sp.floor(100 * weight) / 100 for name, weight in best.items()}
    return within_budget(total, "deviation", delta=delta, weights=weights)


# (84): mean (y - phi^T rho)^2 - mean (y - phi^T rho*)^2 = mean r^2 of rho - mean r^2 of rho* - 2 mean z phi^T D.
@cache
def derive_excess() -> Approximated:
    """How far the mean square of any rho with ||rho - rho*||_1 <= B is below that of rho*."""
    noise = derive_noise()
    step = Step(
        "excess", Norm.INF, "Lemma 6", eps_dis**2 + noise.error_symbol * B, ("noise",),
        "mean `r^2` of `rho*` is at most `eps_dis^2`, that of `rho` at least 0",
    )  # fmt: skip
    return noise.follows(step, dim=sp.Integer(1), size=sp.Integer(0))


# ell(rho) <= ell(rho*) + eps_opt says, with r^ the residual of rho, D = rho - rho*, and nu the noise,
#   mean r^2 of rho + lam ||rho||_1 <= mean r^2 of rho* + 2 mean z phi^T D + lam U + eps_opt
#                                   <= eps_dis^2 + nu (||rho||_1 + U) + lam U + eps_opt,
# so that, with S = eps_opt + eps_dis^2 + (lam + nu) U,
#   mean r^2 of rho <= S - (lam - nu) ||rho||_1,     and     ||rho||_1 <= S/(lam - nu)     for lam > nu.
# Equality in the second: r = 0 at rho, and signs as the noise has them.
def budgeted(noise: sp.Expr) -> sp.Expr:
    """S."""
    return eps_opt + eps_dis**2 + (lam + noise) * U


def norm_bound(noise: sp.Expr) -> sp.Expr:
    return budgeted(noise) / (lam - noise)


# (f - phi^T rho)^2 has the parts rho^T phi phi^T rho, -2 rho^T phi f and f^2: no rho* is needed, and with |f| <= F its
# mean deviates by less than (83) says, as F <= U + eps_dis.
MOMENTS = derive_moments("f", F, delta)


def deviation(norm: sp.Expr) -> sp.Expr:
    """|mean - E| of (f - phi^T rho)^2 for all rho of at most that 1-norm, in the errors of the means."""
    gram, cross, square = (each.error_symbol for each in MOMENTS)
    return norm**2 * gram + 2 * norm * cross + square


def risk_at(norm: sp.Expr, noise: sp.Expr) -> sp.Expr:
    """The risk of a solution of that 1-norm."""
    return budgeted(noise) - (lam - noise) * norm + deviation(norm)


@cache
def derive_norm() -> Approximated:
    """(37)."""
    noise = derive_noise()
    owed = Obligation("`lambda` is above the noise level", sp.Gt(lam, noise.error))
    reason = "the loss of `rho` is at most that of `rho*` and `eps_opt`"
    step = Step("norm", Norm.ONE, "Lemma 2", norm_bound(noise.error_symbol), ("noise",), reason, obligations=(owed,))
    return noise.follows(step, dim=n + 1, size=sp.Integer(0))


# risk_at is convex in the norm, between 0 and its bound: it is largest at one of both ends.
@cache
def derive_risk() -> Approximated:
    """(36)."""
    norm = derive_norm()
    noise, largest = derive_noise().error_symbol, norm.error_symbol
    step = Step(
        "risk", Norm.INF, "Lemma 2", sp.Max(risk_at(sp.Integer(0), noise), deviation(largest)),
        ("norm", "noise", *(each.name for each in MOMENTS)), "the norm 0, or the largest: the risk is convex in it",
    )  # fmt: skip
    return norm.follows(step, *MOMENTS, dim=sp.Integer(1), size=sp.Integer(0))


NOISE = derive_noise().error


# lam >= 2 nu makes (lam + nu)/(lam - nu) <= 3 and 1/(lam - nu) <= 2/lam.
def sufficient_constant() -> sp.Expr:
    """c_lambda: with lam >= c_lambda sqrt(log N / N) sigma, ||rho||_1 <= 3 U + 2 (eps_opt + eps_dis^2)/lam."""
    return sp.simplify(2 * NOISE / (sigma * sp.sqrt(sp.log(N) / N)))


def _quantity(name: str, latex: str, meaning: str, derived: Approximated, **more: object) -> Quantity:
    fields = {
        "norm": "absolute value", "domain": _DOMAIN, "kind": Kind.UPPER, "quantifier": Quantifier.PROBABILITY,
        "scopes": (), "worst_case": {}, "randomness": EXAMPLES, **more,
    }  # fmt: skip
    return Quantity(name, latex, meaning, derivation=derived.derivation, **fields)  # type: ignore[arg-type]  # above


_DOMAIN = "`|r| <= eps_dis`, `phi in [0, 1]`"
_RATE = sp.sqrt(sp.log(N) / N)
_SOLUTIONS = "every `rho^` with `ell(rho^) <= ell(rho*) + eps_opt`"
_NEAR = "all `rho` with `||rho - rho*||_1 <= B`"
QUANTITIES = (
    _quantity("noise", r"\|\tfrac2N \sum_i z_i \phi_i\|_\infty", "noise level of the examples", derive_noise()),
    _quantity(
        "deviation", r"|\tfrac1N \sum_i [(y_i - \phi_i^\top \rho)^2 - z_i^2] - E (f - \phi^\top \rho)^2|",
        "largest deviation of the mean square", derive_lemma_6(), domain=_NEAR,
        printed=Printed(
            c_1 * _RATE * (eps_dis**2 + B**2 + sigma * (eps_dis + B)), Citation(LI2025, "Lemma 6", "eq. (83)"),
            unspecified=(c_1,),
        ),
    ),
    _quantity(
        "excess", r"\tfrac1N \sum_i [(y_i - \phi_i^\top \rho^\star)^2 - (y_i - \phi_i^\top \rho)^2]",
        "mean square of `rho*` above that of `rho`", derive_excess(), domain=_NEAR,
        printed=Printed(
            c_2 * (eps_dis**2 + _RATE * sigma * B), Citation(LI2025, "Lemma 6", "eq. (84)"), unspecified=(c_2,)
        ),
    ),
    _quantity(
        "norm", r"\|\hat\rho\|_1", "1-norm of the solution", derive_norm(), norm="1-norm", domain=_SOLUTIONS,
        printed=Printed(c_3 * (U + eps_opt / lam), Citation(LI2025, "Lemma 2", "eq. (37)"), unspecified=(c_3,)),
    ),
    _quantity(
        "risk", r"E (\phi^\top \hat\rho - f)^2", "risk of the solution", derive_risk(), domain=_SOLUTIONS,
        remark="holds for every vector in the place of `rho*`, with its own `U` and `eps_dis`",
        printed=Printed(
            c_4 * (_RATE * (U**2 + eps_opt**2 / lam**2 + sigma * eps_dis) + eps_dis**2 + lam * U + eps_opt),
            Citation(LI2025, "Lemma 2", "eq. (36)"), unspecified=(c_4,),
        ),
        trivial=F**2,
    ),
)  # fmt: skip

LASSO = Result(
    id="universal.lasso",
    title="Near-optimal Lasso solutions",
    citation=Citation(LI2025, "Lemma 2, Lemma 6"),
    claim=r"\|\hat\rho\|_1 \lesssim C_{\mathcal F} + \lambda^{-1} \varepsilon_{\mathrm{opt}}",
    parameters=(
        Parameter("N", N, "number of examples", 1024, integer=True),
        Parameter("n", n, "number of features", 32, integer=True),
        Parameter("lam", lam, "weight of the 1-norm", 0.05),
        Parameter("sigma", sigma, "sub-Gaussian parameter of the noise", 0.1),
        Parameter("eps_opt", eps_opt, "bound on the objective of the solution above that of `rho*`", 1e-4),
        Parameter("delta", delta, "probability of failure", 0.05),
        Parameter("B", B, "bound on `||rho - rho*||_1` in Lemma 6", 1.0),
        Parameter("d", d, "dimension of `x`", 2, integer=True, in_words="dimension of the inputs"),
        Parameter("tau", tau, "slope of the ramps", 16.0, setting=True),
        Parameter("width", width, "width of the bump `f`", 1.0, setting=True),
    ),
    hypotheses=(
        Hypothesis("N", sp.Ge(N, 1, evaluate=False), "an empty prompt has no mean"),
        *(Hypothesis(str(each), sp.Ge(each, 1, evaluate=False), "a number") for each in (n, d)),
        *(Hypothesis(str(each), sp.Ge(each, 0, evaluate=False), "a bound") for each in (sigma, eps_opt)),
        Hypothesis("delta", sp.Gt(delta, 0, evaluate=False), "a budget of probability"),
        Hypothesis("delta", delta <= 1, "a budget of probability"),
        Hypothesis("lam", sp.Gt(lam, 0, evaluate=False), "the weight of a norm"),
        Hypothesis("lam", lam > NOISE, "`lambda` exceeds the noise level, the largest `|2/N sum z_i phi_ij|`"),
        Hypothesis("B", sp.Gt(B, 0, evaluate=False), "a scale", only=("deviation", "excess")),
        Hypothesis("width", sp.Gt(width, 0, evaluate=False), "a scale"),
        Hypothesis("tau", tau > 4, "Lemma 1 is for `tau > 4`"),
    ),
    objects=objects.LASSO,
    assumptions=(objects.SAMPLED,),
    quantities=QUANTITIES,
    notation={
        lam: r"\lambda", sigma: r"\sigma", delta: r"\delta", eps_opt: r"\varepsilon_{\mathrm{opt}}",
        eps_dis: r"\varepsilon_{\mathrm{dis}}", U: r"\|\rho^\star\|_1",
    },
    symbols={
        eps_dis: "`sup |f - phi^T rho*|` over the ball", U: "1-norm of `rho*`",
        F: "`sup |f|` over the ball", A: "1-norm of the solution",
        **dict.fromkeys((c_1, c_2, c_3, c_4), "unspecified in the paper"),
    },
    formulas=(
        Formula(
            r"c_\lambda", sufficient_constant,
            "what suffices: `lambda >= c_lambda sqrt(log N / N) sigma` is then twice the noise level",
            Kind.LOWER,
        ),
    ),
    remarks=(
        "The paper has `log N` where the union over `n + 1` features, and over `(n + 1)^2` products, gives "
        "`log (n + 1)/delta`: the same up to constants for `n` polynomial in `N`, which the text does not say.",
        "`C_F^-1 eps_dis^2` in the condition on `lambda` is not needed: `eps_dis^2/lambda` enters the norm instead.",
        "(91) has the noise term without its `1/N`.",
    ),
)  # fmt: skip
