"""Theorem 5.5 (wang2024) as a Result: the printed orders of the phase times beside the formulas of `phases`."""

from collections.abc import Callable
from functools import partial

import sympy as sp

from symbolic.citations import WANG2024, Citation
from symbolic.errata import Erratum
from symbolic.induction import letters, objects
from symbolic.induction.phase_errata import FIRST_PHASE
from symbolic.induction.phases_derivation import (
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
from symbolic.induction.setting import HYPOTHESES, PARAMETERS
from symbolic.induction.training import KEPT, LEARNT, NOTATION, L, M, h, h_star, t, v, v_star, w
from symbolic.provenance import Derived, Provenance
from symbolic.statements import Formula, Kind, Order, Printed, Quantifier, Quantity, Result


def _printed(bound: sp.Expr, order: Order = Order.NONE) -> Printed:
    return Printed(bound, Citation(WANG2024, "Theorem 5.5"), order=order)


def _rate(
    name: str,
    latex: str,
    meaning: str,
    bound: sp.Expr,
    domain: str,
    order: Order,
    derive: Callable[[], sp.Expr | Derived],
    *,
    printed: Printed | None = None,
    erratum: Erratum | None = None,
) -> Quantity:
    return Quantity(
        name=name,
        latex_symbol=latex,
        meaning=meaning,
        norm="leading term",
        domain=domain,
        kind=Kind.RATE,
        quantifier=Quantifier.FOR_ALL,
        printed=printed or _printed(bound, order),
        scopes=(),
        derive=derive,
        erratum=erratum,
    )


_SMALL = "`w* = O(1)`, `alpha* = Omega(1)`, `sigma_init << 1`, `L >> 1`"

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
    Formula(r"\lambda", lambda: growth_rate("true"), f"rate of `log w` per `tau` at the saddle {_SADDLE}, by (12)"),
    Formula(r"\lambda_{\text{printed}}", lambda: growth_rate("printed"), "the same by the flow as printed"),
    Formula(
        r"\rho = 1 - \mathcal{L}_{\rm IH_2}|_{h = h^\star \psi(v^\star)}/\mathcal{L}_{\rm IH_2}|_{h = h^\star}",
        overshoot_share_by_psi,
        "share of the loss at `T_o = T_1^h` that the overshoot of `h` alone takes (`w = 0`); above `0.01 T_II` is "
        "`Theta(L)`",
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
        r"S", lambda: approach("true")[0], "sum of the two rates at which `(v, h)` nears `(v*, h*)`, per `tau`, by (12)"
    ),
    Formula(r"P", lambda: sp.factor(approach("true")[1]), "their product"),
    Formula(r"\mu", lambda: smaller_root(*sp.symbols("S P", positive=True)), "the slower of the two"),
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
            sp.Integer(1),
            _SMALL,
            Order.O,
            gram_time,
        ),
        Quantity(
            name="M.inverse",
            latex_symbol=r"1/M(p)",
            meaning="`1/M(p)` in the rate of `g`, at `p = sigma_init`",
            norm="absolute value",
            domain="`p > 0`, `L >= 4`",
            kind=Kind.EXACT,
            quantifier=Quantifier.FOR_ALL,
            printed=Printed(M_INVERSE_PRINTED, Citation(WANG2024, "Appendix C.1 Part I", "`1/M(p)`, before (20)")),
            scopes=(),
            derive=lambda: M_INVERSE,
            erratum=FIRST_PHASE,
        ),
        _rate(
            "T_1g",
            r"T_1^g",
            "first time at which `g` exceeds `g*`",
            sp.Integer(1),
            _SMALL,
            Order.O,
            gram_time,
            printed=Printed(sp.Integer(1), Citation(WANG2024, "Appendix C.1 Part I", "eq. (20)"), order=Order.O),
            erratum=FIRST_PHASE,
        ),
        Quantity(
            name="T_I.head",
            latex_symbol=r"\mathcal{L}_{\rm IH_2}(T_{\rm I}) / \mathcal{L}_{\rm IH_2}(0)",
            meaning="what is left of `L_IH2` at `T_I`",
            norm="a share",
            domain=_SMALL,
            kind=Kind.LOWER,
            quantifier=Quantifier.FOR_ALL,
            printed=_printed(KEPT),
            scopes=(),
            obtained=Provenance.HAND,
        ),
        _rate(
            "T_o",
            r"T_o",
            "`T_1^h`, first time at which `h` exceeds `h*`",
            L,
            _SMALL,
            Order.THETA,
            lambda: of_ramp((L - 2) * ramp_of_h().passage(h_star).time),
            printed=Printed(L, Citation(WANG2024, "Theorem 5.5", "`T_o := T_1^h` of C.3"), order=Order.THETA),
        ),
        *(
            _rate(
                name,
                symbol,
                f"first time after `T_o` with `L_IH2` at most {share} of `L_IH2(T_o)`",
                THETA,
                _SMALL,
                Order.THETA,
                lambda: (L - 2) * head_time("true"),
            )
            for name, symbol, share in (("T_II", r"T_{\rm II}", "0.99"), ("T_III", r"T_{\rm III}", "0.01"))
        ),
        _rate(
            "growth",
            r"\log(w_{KQ}/\sigma_{\rm init})",
            "exponent of the growth of `w`",
            EXPONENT,
            "phases II and III, `T_o < t < T_III`",
            Order.THETA,
            lambda: of_ramp(growth_exponent("true")),
        ),
        _rate("gram_rate", r"\mathcal{L}_{\rm G_4}", "`L_G4` after `T_III`", 1 / t, "`t > T_III`", Order.O, gram_tail),
        _rate(
            "head_rate",
            r"-\log \mathcal{L}_{\rm IH_2}",
            "exponent by which `L_IH2` falls after `T_III`",
            EXPONENT,
            "`t > T_III`",
            Order.OMEGA,
            lambda: 2 * mu * tau,
        ),
    ),
    notation={**NOTATION, t: "t", tau: r"\tau", kappa: r"\kappa", reach: "C", mu: r"\mu", rho: r"\rho"},
    symbols={
        t: "time of the gradient flow",
        tau: "`t/(L-2)`",
        kappa: "`log(w/w*)` at the loss asked for, plus the integral of `lambda - d log w/d tau` on the orbit out of "
        "the saddle up to there; for `T_I` and `T_1^g` so for `p` and the orbit out of `(p, g) = (0, 0)`, at "
        "rate `g*`",
        reach: "what the flow makes of `(L-2) sigma_init` while `p` is of order `1/L`: `C(X) ~ X` as `X -> oo`, "
        "`C(0) > 0`",
        mu: "the slower rate at `(v*, h*)`, per `tau`",
    },
    formulas=FORMULAS,
)
