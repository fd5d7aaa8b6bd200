"""Theorem 5.5 (wang2024) as a Result: the printed orders of the phase times beside the formulas of `phases`."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import sympy as sp

from symbolic.derivations.provenance import Derived, Provenance
from symbolic.statements.result import Formula, Kind, Order, Printed, Quantifier, Quantity, Result
from symbolic.topics.induction import letters, objects
from symbolic.topics.induction.phase_errata import FIRST_PHASE
from symbolic.topics.induction.phases_derivation import (
    EXPONENT,
    FINITE_START,
    FLOW,
    THETA,
    approach,
    g,
    gram_tail,
    gram_time,
    growth_exponent,
    growth_rate,
    head_time,
    kappa,
    mu,
    overshoot_time,
    p,
    plateau,
    ramp,
    ramp_of_h,
    reach,
    smaller_root,
    squares_fall_to,
    tau,
)
from symbolic.topics.induction.setting import HYPOTHESES, PARAMETERS
from symbolic.topics.induction.training import KEPT, LEARNT, NOTATION, L, M, h, h_star, t, v, v_star, w
from symbolic.words.citations import WANG2024, Citation


def _printed(bound: sp.Expr, order: Order = Order.NONE) -> Printed:
    return Printed(bound, Citation(WANG2024, "Theorem 5.5"), order=order)


_quantity = partial(Quantity, quantifier=Quantifier.FOR_ALL, scopes=())
_rate = partial(_quantity, norm="leading term", kind=Kind.RATE)

_SMALL = "fixed `alpha*` and `w*`, `sigma_init -> 0` and `L -> oo`"

# kappa of `phases_derivation`, one for each time.
KAPPAS = {name: sp.Symbol(f"kappa_{name}", real=True) for name in ("T_I", "T_1g", "T_II", "T_III")}
_OUT_OF_ORIGIN = "`log z + g* T` for the time `T` that the flow of `(p, g)` as `L -> oo` takes from `p = g = z` to"
_OUT_OF_SADDLE = (
    "`log(w/w*)` at the end of the orbit of (12) out of the saddle `(w, h) = (0, h* psi(v*))`, plus the integral of "
    "`lambda - d log w/d tau` along it; it ends where `L_IH2` is"
)
lam, S, P = sp.symbols("lambda S P", positive=True)


def of_time(name: str, formula: Callable[[], sp.Expr]) -> Callable[[], sp.Expr]:
    """A formula of a time with its own kappa."""
    return lambda: formula().subs(kappa, KAPPAS[name])


M_INVERSE_PRINTED = M(p)  # C.1 inverts it
M_INVERSE = 1 / M(p)

_SADDLE = "`(w, h) = (0, h* psi(v*))`"
rho = sp.Symbol("rho", positive=True)


def overshoot_share_by_psi() -> sp.Expr:
    """`overshoot_share` in psi."""
    still = letters.head_loss().subs(v, 0).subs(letters.psi(0), 1)
    before, after = (still.subs(h, value * h_star) for value in (sp.Integer(1), letters.psi(v_star)))
    return sp.factor(1 - after / before)


def least_observation() -> sp.Expr:
    """T_o/(L-2) from which on h alone takes less than 1 % of L_IH2(T_o), as sigma_init -> 0.

    With w = 0 the loss is that at the plateau plus (h - plateau)^2/2 (over L-2), and plateau - h = plateau e^-tau.
    """
    still = letters.head_loss().subs(v, 0).subs(letters.psi(0), 1)
    rest = letters.psi(v_star) * h_star
    at_rest, distance = still.subs(h, rest), rest**2 / 2
    (found,) = sp.solve(LEARNT * (at_rest + distance * rho) - distance * rho, rho)  # rho for e^(-2 tau)
    return sp.simplify(squares_fall_to(found))


def of_ramp(formula: sp.Expr) -> Derived:
    return Derived(formula, ramp_of_h().provenance)


FORMULAS = (
    Formula(r"\dot p", lambda: letters.gram_flow().rate(p), "rate of `p` by (19); `M` = sum of `e^-kp`, `m = -M'`"),
    Formula(r"\dot g", lambda: letters.gram_flow().rate(g), "rate of `g` by (19)"),
    *(
        Formula(
            rf"(L-2)\,\dot{{{x}}}",
            letters.rate_of(partial(letters.head_flow, "true"), x),
            f"rate of `{x}` by (12) and (22); `psi(x) = (1 - x^2)^(-1/2)`, `phi = psi'`",
        )
        for x in (w, h)
    ),
    Formula(r"h", plateau, "where `h` rests while `w = 0`"),
    Formula(r"h(t)", ramp, "before `w` grows"),
    Formula(
        r"\lambda",
        lambda: growth_rate("true"),
        f"rate of `log w` per `tau` at the saddle {_SADDLE}, by (12)",
        defines=lam,
    ),
    Formula(r"\lambda_{\text{printed}}", lambda: growth_rate("printed"), "the same by the flow as printed"),
    Formula(
        r"\rho = 1 - \mathcal{L}_{\rm IH_2}|_{h = h^\star \psi(v^\star)}/\mathcal{L}_{\rm IH_2}|_{h = h^\star}",
        overshoot_share_by_psi,
        "share of the loss at `T_o = T_1^h` that the overshoot of `h` alone takes (`w = 0`); where it is above 0.01, "
        "`T_II` is `Theta(L)`",
        defines=rho,
    ),
    Formula(
        r"T_o/(L-2)", least_observation, "`T_II` has its order for every `T_o = c (L-2)` with a larger `c`", Kind.LOWER
    ),
    Formula(
        r"T_{\rm II}",
        lambda: (L - 2) * overshoot_time(rho),
        "where `rho > 0.01`; else `T_II` is as `T_III` is",
        Kind.RATE,
    ),
    Formula(
        r"S",
        lambda: approach("true")[0],
        "sum of the two rates at which `(v, h)` nears `(v*, h*)`, per `tau`, by (12)",
        defines=S,
    ),
    Formula(r"P", lambda: sp.factor(approach("true")[1]), "product of the two rates", defines=P),
    Formula(r"\mu", lambda: smaller_root(S, P), "the slower of the two", defines=mu),
)

PHASES = Result(
    id="induction.phases",
    title="Learning transition and 4-phase dynamics",
    citation=Citation(WANG2024, "Theorem 5.5", "eq. (20)-(29)"),
    claim=r"T_{\rm I} = \mathcal{O}(1), \quad T_o = \Theta(L), \quad T_{\rm II},\ T_{\rm III} = \Theta\left("
    r"\frac{(\alpha^\star + 1)^2 L \log(1/\sigma_{\rm init})}{{w^\star}^2}\right)",
    parameters=(*PARAMETERS.values(), FLOW),
    hypotheses=(*HYPOTHESES, FINITE_START),
    objects=objects.PHASES,
    quantities=(
        _rate(
            "T_I",
            r"T_{\rm I}",
            "first time at which `L_G4` is at most 0.01 of its start",
            domain=_SMALL,
            printed=replace(_printed(sp.Integer(1), Order.O), under="a fixed `sigma_init`"),
            derive=of_time("T_I", gram_time),
        ),
        _quantity(
            "M.inverse",
            r"1/M(p)",
            "`1/M(p)`, a factor of the rate of `g`",
            remark="the row has it at `p = sigma_init`",
            norm="absolute value",
            domain="`p > 0`, `L >= 4`",
            kind=Kind.EXACT,
            printed=Printed(M_INVERSE_PRINTED, Citation(WANG2024, "Appendix C.1 Part I", "`1/M(p)`, before (20)")),
            derive=lambda: M_INVERSE,
            erratum=FIRST_PHASE,
        ),
        _rate(
            "T_1g",
            r"T_1^g",
            "first time at which `g` exceeds `g*`",
            domain=_SMALL,
            derive=of_time("T_1g", gram_time),
            printed=Printed(sp.Integer(1), Citation(WANG2024, "Appendix C.1 Part I", "eq. (20)"), order=Order.O),
            erratum=FIRST_PHASE,
        ),
        _quantity(
            "T_I.head",
            r"\mathcal{L}_{\rm IH_2}(T_{\rm I}) / \mathcal{L}_{\rm IH_2}(0)",
            "what is left of `L_IH2` at `T_I`",
            norm="a share",
            domain=_SMALL,
            kind=Kind.LOWER,
            printed=replace(_printed(KEPT), under="`L = Omega(1/sigma_init)`"),
            obtained=Provenance.HAND,
        ),
        _rate(
            "T_o",
            r"T_o",
            "`T_1^h`, first time at which `h` exceeds `h*`",
            domain=_SMALL,
            derive=lambda: of_ramp((L - 2) * ramp_of_h().passage(h_star).time),
            printed=Printed(L, Citation(WANG2024, "Theorem 5.5", "`T_o := T_1^h` of C.3"), order=Order.THETA),
        ),
        *(
            _rate(
                name,
                symbol,
                f"first time after `T_o` with `L_IH2` at most {share} of `L_IH2(T_o)`",
                domain=domain,
                printed=_printed(THETA, Order.THETA),
                derive=of_time(name, lambda: (L - 2) * head_time("true")),
            )
            for name, symbol, share, domain in (
                ("T_II", r"T_{\rm II}", "0.99", f"{_SMALL}, along (12), where `rho < 0.01`"),
                ("T_III", r"T_{\rm III}", "0.01", f"{_SMALL}, along (12)"),
            )
        ),
        _rate(
            "growth",
            r"\log(w_{KQ}/\sigma_{\rm init})",
            "exponent of the growth of `w`",
            domain=f"phases II and III along (12), `T_o < t < T_III`, {_SMALL}",
            printed=_printed(EXPONENT, Order.THETA),
            derive=lambda: of_ramp(growth_exponent("true")),
        ),
        _rate(
            "gram_rate",
            r"\mathcal{L}_{\rm G_4}",
            "`L_G4` after `T_III`",
            domain="`t > T_III`, `t -> oo`",
            printed=_printed(1 / t, Order.O),
            derive=gram_tail,
        ),
        _rate(
            "head_rate",
            r"-\log \mathcal{L}_{\rm IH_2}",
            "exponent by which `L_IH2` falls after `T_III`",
            domain="`t > T_III`, `t -> oo`, along (12) from a small enough `sigma_init`",
            printed=_printed(EXPONENT, Order.OMEGA),
            derive=lambda: 2 * mu * tau,
        ),
    ),
    notation={
        **NOTATION,
        t: "t",
        tau: r"\tau",
        KAPPAS["T_I"]: r"\kappa_{\rm I}",
        KAPPAS["T_1g"]: r"\kappa_g",
        KAPPAS["T_II"]: r"\kappa_{\rm II}",
        KAPPAS["T_III"]: r"\kappa_{\rm III}",
        reach: "C",
        mu: r"\mu",
        rho: r"\rho",
        lam: r"\lambda",
    },
    symbols={
        t: "time of the gradient flow",
        tau: "`t/(L-2)`",
        KAPPAS["T_I"]: f"{_OUT_OF_ORIGIN} where `L_G4` is 0.01 of its value at 0, in the limit `z -> 0`",
        KAPPAS["T_1g"]: f"{_OUT_OF_ORIGIN} `g = g*`, in the limit `z -> 0`",
        KAPPAS["T_II"]: f"{_OUT_OF_SADDLE} 0.99 of its value at `(0, h*)`",
        KAPPAS["T_III"]: f"{_OUT_OF_SADDLE} 0.01 of its value at `(0, h*)`",
        reach: "the function `C(X)` at `X = (L-2) sigma_init`: the limit of `(L-2) p(t) e^(-g* t)` from `p = g = "
        "X/(L-2)`, first as `L -> oo`, then as `t -> oo`; `C(X) ~ X` as `X -> oo`, `C(0) > 0`",
        mu: "the slower of the two rates at which `(v, h)` nears `(v*, h*)` by (12), per `tau`",
        S: "sum of the two rates",
        P: "product of the two rates",
        rho: "share of `L_IH2` at `(w, h) = (0, h*)` that is gone at `(0, h* psi(v*))`",
        lam: "rate of `log w` per `tau` at the saddle, by (12)",
    },
    formulas=FORMULAS,
)
