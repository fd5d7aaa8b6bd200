"""Theorem 1 (li2025) with every constant: features, Lasso, proximal gradient and transformer, joined.

One of the n features is 0 on the ball (t_n = 2). The other n - 1 are drawn; rho* holds their coefficients (35). Then
the squares of the entries of phi_i add up to at most n, and the printed step 1/(2n) is as short as (97b) needs
(universal.proximal); no weight of the printed network changes. The budget delta is spent as delta/2 on the draw of
Lambda, delta/4 on the Lasso, delta/4 on the largest label.
"""

from functools import cache

import sympy as sp

from symbolic.calculus import (
    Event,
    Norm,
    add,
    given,
    linear_map,
    proximal_gradient,
    sample_mean,
    union_bound,
    within_budget,
)
from symbolic.derivations.derivation import Approximated, Step
from symbolic.derivations.obligations import Obligation
from symbolic.topics.universal import lasso, proximal
from symbolic.topics.universal import transformer_derivation as transformer
from symbolic.topics.universal.features import at_zero, delta, derive_lemma_1, mass
from symbolic.topics.universal.features import one_norm as norm_of_weights
from symbolic.topics.universal.lasso import EXAMPLES, F, U, eps_dis, eps_opt, lam, sigma
from symbolic.topics.universal.transformer_derivation import B, N, R, S, blocks, n

nu, moved = sp.symbols("nu moved", nonnegative=True)  # largest |2/N sum z_i phi_ij| of a prompt; ||rho_T - rho*||_1
A, e_y = sp.symbols("A e_y", nonnegative=True)  # ||rho_T||_1; error of y_hat against phi^T rho_T
rivals = sp.Symbol("rivals", integer=True, positive=True)  # vectors in the place of rho*

constant = at_zero + mass  # C_F
OF_LASSO, OF_LABELS = delta / 4, delta / 4


# Lemma 1, with n - 1 features.
def derive_features() -> Approximated:
    """|f - phi^T rho*|, on the ball and for all functions."""
    return derive_lemma_1(n - 1, delta / 2)


# sub-Gaussian: |z_i| <= sigma sqrt(2 log(2/share)), a mean of one draw.
@cache
def derive_labels() -> Approximated:
    """max |z_i|."""
    one = given("z", dim=1, size=0, reason="noise")
    event = Event("largest noise", over=EXAMPLES, share=OF_LABELS / N)
    return union_bound(sample_mean(one, "|z|", count=1, event=event, sub_gaussian=sigma), "largest |z|", members=N)


# Lemma 3 without errors, ||rho*||_2 <= ||rho*||_1 = U: the transformer is compared with exact iterates below. Where all
# errors are 0, neither the norms of the iterates nor the slopes of the objective matter.
@cache
def derive_gap() -> Approximated:
    """ell(rho_T) - ell(rho*)."""
    vector = {"dim": n + 1}
    start = given("zero against rho*", norm=Norm.TWO, size=U, error=U, reason="`rho_0 = 0`", **vector)
    update = given("exact step", norm=Norm.ONE, size=0, **vector)
    iterates = given("iterates", norm=Norm.ONE, size=0, error=R, reason="`lam ||rho_t||_1 <= mean y_i^2`", **vector)
    return proximal_gradient(
        start, "gap", update=update, iterates=iterates, lipschitz=2 * (proximal.r + B) + lam, radius=proximal.r,
        step=transformer.eta, smoothness=2 * n, steps=blocks,
    )  # fmt: skip


# Lemma 4 is about labels of at most B; these are at most F + max |z_i|.
@cache
def derive_emulation() -> Approximated:
    """|y_hat - phi^T rho_T|, at every query."""
    path, labels = transformer.derive_y_hat(), derive_labels()
    step = Step("emulation", Norm.INF, "Lemma 4", path.error_symbol, (path.name, labels.name), "`|y_i| <= B`")
    return path.follows(step, labels, dim=sp.Integer(1), size=sp.Integer(0))


# Lemma 2 for rho_T: eps_dis is the error of Lemma 1, eps_opt the gap.
@cache
def derive_norm() -> Approximated:
    """||rho_T||_1."""
    noise, features, gap = lasso.derive_noise(OF_LASSO), derive_features(), derive_gap()
    bound = lasso.norm_bound(noise.error_symbol).xreplace(_joined())
    owed = Obligation("`lambda` is above the noise level", sp.Gt(lam, noise.error))
    premises, reason = (
        (noise.name, features.name, gap.name),
        "the loss of `rho_T` is at most that of `rho*` and the gap",
    )
    step = Step("norm", Norm.ONE, "Lemma 2", bound, premises, reason, obligations=(owed,))
    return noise.follows(step, features, gap, dim=n + 1, size=sp.Integer(0))


def _joined() -> dict[sp.Symbol, sp.Symbol]:
    return {eps_dis: derive_features().error_symbol, eps_opt: derive_gap().error_symbol}


@cache
def derive_iterate() -> Approximated:
    """E (phi^T rho_T - f)^2: the norm is 0, or the largest one, as in Lemma 2."""
    norm, moments = derive_norm(), lasso.derive_moments("f", F, OF_LASSO)
    noise = lasso.derive_noise(OF_LASSO)
    least, square = lasso.budgeted(noise.error_symbol).xreplace(_joined()), moments[-1].error_symbol
    step = Step(
        "risk.iterate", Norm.INF, "Lemma 2", sp.Max(least, lasso.deviation(norm.error_symbol) - square) + square,
        (norm.name, noise.name, *(each.name for each in moments)), "the risk is convex in the norm",
    )  # fmt: skip
    return norm.follows(step, *moments, dim=sp.Integer(1), size=sp.Integer(0))


# sqrt(E (a + b)^2) <= sqrt(E a^2) + sup |b|, where the paper has 2 E a^2 + 2 E b^2. Equality: a = b constant.
def squared_sum(risk: sp.Expr, error: sp.Expr) -> sp.Expr:
    return (sp.sqrt(risk) + error) ** 2


@cache
def derive_risk() -> Approximated:
    """(24): E (y_hat - f)^2 over the query."""
    iterate, emulation = derive_iterate(), derive_emulation()
    bound = squared_sum(iterate.error_symbol, emulation.error_symbol)
    step = Step("risk", Norm.INF, "Theorem 1", bound, (iterate.name, emulation.name), "Minkowski's inequality")
    return iterate.follows(step, emulation, dim=sp.Integer(1), size=sp.Integer(0))


LARGEST_LABEL = F + derive_labels().error
WORST = {
    U: norm_of_weights(),
    B: LARGEST_LABEL,
    R: LARGEST_LABEL**2 / lam,  # lam ||rho_t||_1 <= mean y_i^2
    S: 2 * LARGEST_LABEL**2 / lam,
}
NOISE = lasso.derive_noise(OF_LASSO).error


# At a prompt. With D = rho_T - rho*, ||D||_1 = moved, and its own noise level nu,
#   mean (f - phi^T rho_T)^2 <= eps_dis^2 + nu moved + lam (U - ||rho_T||_1) + eps_opt
# as in Lemma 2, and the mean deviates from the expectation by the parts of (83), of which those with r depend on rho*:
# a union over `rivals` of it, vectors that do not depend on the examples, any of which may then be taken.
@cache
def derive_at_prompt() -> Approximated:
    """The risk by what a prompt has: its noise, the norms, the gap, the error of y_hat; of the best of the rivals."""
    gram, *of_rival = lasso.derive_moments("r", eps_dis, None)
    cross, square = (union_bound(each, f"{each.name}, rivals", members=rivals) for each in of_rival)
    parts = (
        linear_map(gram, "quadratic part", operator_norm=moved**2, dim=1, reason="`|D^T M D| <= ||D||_1^2 max |M_ij|`"),
        linear_map(cross, "linear part", operator_norm=2 * moved, dim=1, reason="`|D^T v| <= ||D||_1 ||v||_inf`"),
    )
    apart = within_budget(add(*parts, square, name="sum of the parts"), "deviation", delta=delta)
    mean = eps_dis**2 + nu * moved + lam * (U - A) + eps_opt
    bound = squared_sum(sp.Max(0, mean + apart.error_symbol), e_y)
    step = Step("at a prompt", Norm.INF, "Theorem 1", bound, (apart.name,), "Lemma 2 at the prompt, and Minkowski")
    return apart.follows(step, dim=sp.Integer(1), size=sp.Integer(0))


def derive_ratio() -> Approximated:
    """The risk over this bound is at most 1, where no score leaves [-S, S]: otherwise a prompt has no e_y."""
    bound, scores = derive_at_prompt(), derive_emulation().derivation.step("y_hat").obligations
    step = Step(
        "prompt", Norm.INF, "Theorem 1", sp.Integer(1), (bound.name,), "the bound at the prompt", obligations=scores
    )
    return bound.follows(step, dim=sp.Integer(1), size=sp.Integer(0))


# With eps = eps_dis^2 + eps_opt and x = lam - noise, the bound of risk.iterate is the larger of S = eps + (x + 2 noise)
# U, which grows with x, and gram (S/x)^2 + 2 cross S/x, which falls: least where they meet, x^2 = gram S + 2 cross x.
@cache
def best_weight() -> sp.Expr:
    """The lam that minimises the derived bound of risk.iterate, in place of (58a)."""
    gram, cross = (each.error for each in lasso.derive_moments("f", F, OF_LASSO)[:2])
    slope, level = gram * U + 2 * cross, gram * (eps_dis**2 + eps_opt + 2 * NOISE * U)
    return NOISE + (slope + sp.sqrt(slope**2 + 4 * level)) / 2
