"""Theorem 1 (li2025) as a statement: printed and derived risk of the transformer, and of the exact iterates."""

import sympy as sp

from symbolic.derivations.derivation import Approximated
from symbolic.derivations.provenance import Provenance
from symbolic.statements.result import Formula, Hypothesis, Kind, Parameter, Printed, Quantifier, Quantity, Result
from symbolic.topics.universal import objects, risk_weight
from symbolic.topics.universal import risk_derivation as risk
from symbolic.topics.universal.features import (
    DRAW,
    at_zero,
    bumps,
    covered,
    d,
    delta,
    eps,
    mass,
    members,
    slope,
    tau,
    width,
)
from symbolic.topics.universal.lasso import EXAMPLES, F, U, eps_dis, eps_opt
from symbolic.topics.universal.risk_derivation import NOISE, WORST, A, constant, e_y, moved, nu, rivals, sigma
from symbolic.topics.universal.transformer_derivation import B, L, N, R, S, bits, blocks, lam, n, tau_1, tau_2
from symbolic.words.citations import LI2025, Citation

c = sp.Symbol("c", positive=True)  # of the paper's <~
C_F, cover = sp.symbols("C_F cover", positive=True)  # the paper's letters
_RATE = sp.sqrt(sp.log(N) / N)
_COVER = C_F**2 * sp.log(cover) / n
_PRINTED = c * ((_RATE + n / L) * C_F * (C_F + sigma) + _COVER)
_BEFORE = c * (_RATE * C_F * (C_F + sigma) + C_F**2 * (eps + n / L) + _COVER)  # (66)
_DOMAIN = "a single `f` of the class, chosen before the draw, and `x` in the unit ball"


def _quantity(name: str, latex: str, meaning: str, derived: Approximated, **more: object) -> Quantity:
    fields = {
        "norm": "mean square", "domain": _DOMAIN, "kind": Kind.UPPER, "quantifier": Quantifier.PROBABILITY,
        "scopes": (), "worst_case": WORST, "randomness": f"{DRAW}; {EXAMPLES}", "step": derived.name, **more,
    }  # fmt: skip
    return Quantity(name, latex, meaning, derivation=derived.derivation, **fields)  # type: ignore[arg-type]  # above


def _printed(formula: sp.Expr, label: str, equation: str) -> Printed:
    bound = formula.xreplace({C_F: constant, cover: covered()})
    return Printed(bound, Citation(LI2025, label, equation), in_letters=formula, unspecified=(c,))


def _quantities() -> tuple[Quantity, ...]:
    whole = risk.derive_risk()
    return (
        _quantity(
            "risk", r"E (\hat y_{N+1} - f(x_{N+1}))^2", "risk of the transformer over the query", whole, trivial=F**2,
            printed=_printed(_PRINTED, "Theorem 1", "eq. (24)"),
        ),
        _quantity(
            "risk.iterate", r"E (\phi_{N+1}^\top \rho_T - f(x_{N+1}))^2", "risk of `T` exact steps",
            risk.derive_iterate(), trivial=F**2, printed=_printed(_BEFORE, "Section 4", "eq. (66)"),
        ),
        _quantity(
            "emulation", r"|\hat y_{N+1} - \phi_{N+1}^\top \rho_T|", "transformer against `T` exact steps",
            risk.derive_emulation(), norm="absolute value", randomness=EXAMPLES,
            printed=_printed(c * sp.sqrt(_RATE) * C_F, "Lemma 4", "eq. (59b)"),
        ),
        _quantity(
            "prompt", r"\text{risk}/\text{bound at the prompt}", "risk of the transformer over its bound at the prompt",
            risk.derive_ratio(), norm="ratio", randomness=EXAMPLES, outside=True,
            remark="for the features at hand; that bound knows the noise level, 1-norms and the duality gap",
        ),
        _quantity(
            "risk.outside", r"E (\hat y_{N+1} - g(x_{N+1}))^2", "risk for a random deep network `g`",
            whole, trivial=F**2, domain="a function that is not in the class", outside=True,
        ),
        Quantity(
            "gap", r"\ell(\rho_T) - \ell(\rho^\star)", "objective of `T` exact steps above that of `rho*`",
            "absolute value", "every prompt", Kind.UPPER, Quantifier.FOR_ALL, scopes=(),
            derive=lambda: risk.derive_gap().error.xreplace(WORST), obtained=Provenance.RULES,
            printed=risk_weight.PRINTED_GAP,
        ),
        *risk_weight.QUANTITIES,
    )  # fmt: skip


RISK = Result(
    id="universal.risk",
    title="Risk of a transformer in context",
    citation=Citation(LI2025, "Theorem 1", "eq. (24), (25)"),
    claim=r"E (\hat y_{N+1} - f(x_{N+1}))^2 \lesssim \Big(\sqrt{\frac{\log N}{N}} + \frac nL\Big) C_{\mathcal F} "
    r"(C_{\mathcal F} + \sigma) + \frac{C_{\mathcal F}^2 \log |\mathcal N_\varepsilon|}{n}",
    parameters=(
        Parameter("N", N, "number of examples", 256, integer=True),
        Parameter("n", n, "number of features, one of which is 0 on the ball", 32, integer=True),
        Parameter(
            "L", L, "number of attention layers, `2T + 1` for `T` blocks", 41, integer=True,
            in_words="number of attention layers, two a block and one more",
        ),
        Parameter("sigma", sigma, "sub-Gaussian parameter of the noise", 0.1),
        Parameter("delta", delta, "probability of failure", 0.05),
        Parameter("lam", lam, "weight of the 1-norm (twice the noise level, if it is not given)", 0.1,
            in_words="weight of the 1-norm"),
        Parameter("tau", tau, "slope of the ramps", 16.0),
        Parameter("eps", eps, "radius of the cover", 1e-4),
        Parameter("d", d, "dimension of `x`", 2, integer=True, in_words="dimension of the inputs"),
        Parameter("family", None, "the class: bumps, or union (with logistic ridges and linear functions)", "bumps"),
        Parameter("bumps", bumps, "number of bumps", 1, integer=True, setting=True),
        Parameter("width", width, "width of the bumps", 1.0, setting=True),
        Parameter("slope", slope, "slope of the logistic ridges", 4.0, setting=True),
        Parameter("bits", bits, "bits of the format for which `tau_1` and `tau_2` are chosen", 53, integer=True,
                  setting=True),
        Parameter("tau_1", tau_1, "temperature of Attn1 (from `n`, `N` and bits, if it is not given)", 1.0,
            in_words="temperature of the first attention of a block"),
        Parameter("tau_2", tau_2, "temperature of Attn2 (likewise)", 1.0,
            in_words="temperature of the second attention of a block"),
    ),
    hypotheses=(
        Hypothesis("N", sp.Ge(N, 1, evaluate=False), "an empty prompt has no mean"),
        Hypothesis("n", sp.Ge(n, 2, evaluate=False), "a feature beside the one that is 0"),
        Hypothesis("L", sp.Eq(blocks, sp.floor(blocks)), "`L = 2T + 1` is odd: Attn0 FF0 and `T` blocks of two layers"),
        Hypothesis("L", sp.Ge(L, 3, evaluate=False), "a block"),
        Hypothesis("sigma", sp.Ge(sigma, 0, evaluate=False), "a bound"),
        Hypothesis("delta", sp.Gt(delta, 0, evaluate=False), "a budget of probability"),
        Hypothesis("delta", delta <= 1, "a budget of probability"),
        Hypothesis("lam", sp.Gt(lam, 0, evaluate=False), "the weight of a norm"),
        Hypothesis("lam", lam > NOISE, "`lambda` exceeds the noise level, the largest `|2/N sum z_i phi_ij|`"),
        Hypothesis("tau", tau > 4, "Lemma 1 is for `tau > 4`"),
        Hypothesis("eps", sp.Ge(eps, sp.Rational(1, 2**52)), "a finer cover tells apart what float64 does not"),
        Hypothesis("eps", eps < 1, "one point covers the ball"),
        *(Hypothesis(str(each), sp.Ge(each, 1, evaluate=False), "a number") for each in (d, bumps)),
        *(Hypothesis(str(x), sp.Gt(x, 0, evaluate=False), "a scale") for x in (width, slope, tau_1, tau_2)),
        Hypothesis("bits", sp.Ge(bits, 2, evaluate=False), "a format"),
    ),
    objects={**objects.RISK, **risk_weight.OBJECTS},
    assumptions=(objects.SAMPLED, "the class of functions is finite, with `C_F` finite and above `sup |f(0)|`"),
    quantities=_quantities(),
    notation={
        C_F: "C_F", cover: r"|\mathcal N_\varepsilon|", at_zero: r"\sup_f |f(0)|",
        members: r"|\mathcal F|", lam: r"\lambda", sigma: r"\sigma", delta: r"\delta", tau: r"\tau",
        eps: r"\varepsilon", tau_1: r"\tau_1",
        tau_2: r"\tau_2", mass: r"\tilde C_{\mathcal F}", nu: r"\nu", moved: r"\|\rho_T - \rho^\star\|_1",
        A: r"\|\rho_T\|_1", U: r"\|\rho^\star\|_1", e_y: r"e_{\hat y}", eps_dis: r"\varepsilon_{\mathrm{dis}}",
        eps_opt: r"\varepsilon_{\mathrm{opt}}",
    },
    symbols={
        mass: "`C_F - sup |f(0)|`", at_zero: "supremum of `|f(0)|` over the class",
        members: "number of functions of the class", F: "`sup |f|` over the ball", U: "1-norm of `rho*`",
        B: "largest `|y_i|`", R: "largest 1-norm of the exact iterates",
        S: "largest `|phi_i^T rho|` over the iterates of the network and the exact ones",
        nu: "noise level of a prompt", moved: "1-norm of `rho_T - rho*`", A: "1-norm of `rho_T`",
        e_y: "`|y_hat - phi^T rho_T|`",
        eps_dis: "`sup |f - phi^T rho*|`", eps_opt: "duality gap of `rho_T`", rivals: "vectors in the place of `rho*`",
        C_F: objects.CONSTANT, cover: "size of the cover",
        c: "unspecified in the paper: the constant of its `<~`",
    },
    formulas=(
        Formula(
            r"\lambda", risk.best_weight,
            "minimises the derived bound on the risk of `T` exact steps, for these `eps_dis`, `eps_opt` and "
            "`||rho*||_1`",
        ),
    ),
    remarks=(
        "(25) is (24) with each of its terms of the order `eps_pred`; boundsmith inverts the derived bound instead.",
        "`log N` of the paper is a logarithm of `n` over `delta` in the union bounds: the same for `n` polynomial in "
        "`N`, and `delta = N^-10`, up to constants.",
        "The probability is over the draw of `Lambda` too: the paper fixes features that are good, which exist.",
    ),
)  # fmt: skip
