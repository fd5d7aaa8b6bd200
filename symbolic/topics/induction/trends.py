"""The bounds (23) to (29) of C.2 (wang2024) as printed, what is proved of them; letters as in `signs`."""

from functools import partial

import sympy as sp

from symbolic.statements.result import Formula, Hypothesis, Kind, Parameter, Printed, Quantifier, Quantity, Result
from symbolic.topics.induction import objects
from symbolic.topics.induction.setting import HYPOTHESES, PARAMETERS
from symbolic.topics.induction.signs import (
    ETA_BELOW,
    LEAST,
    RATE_ABOVE,
    SIGMA_STAR,
    TAU,
    TIME_TO_HALF,
    TIME_TO_OPTIMUM,
    overshoot,
    sigma_star,
    speed,
)
from symbolic.topics.induction.training import NOTATION, L, alpha, h_star, sigma_init, v_star, w_star
from symbolic.topics.induction.trend_errata import GROWTH_BELOW, HALF_TIME, SIMPLE_TIME, SMALL_FACTOR
from symbolic.topics.induction.turning import R_CURVE, R_TURN, SHARE, W_TURN
from symbolic.words.citations import WANG2024, Citation

# ---- As printed

PLATEAU = sp.sqrt((1 - LEAST**4 * w_star**4) / (1 - w_star**4))
H_RAMP = (  # (24), over h*
    PLATEAU - (PLATEAU - (1 + alpha) * sigma_init) * sp.exp(-TAU / sp.sqrt(1 - LEAST * w_star**4))
)
T_1_FIRST = sp.sqrt(1 - LEAST * w_star**4) * (L - 2) * sp.log(1 / (1 - 1 / PLATEAU))  # (25)
T_1_SECOND = 2 * (L - 2) * (1 - w_star**4 / 2)
OVERSHOOT = 1 + sp.Rational(4375, 100_000) * w_star  # (26), over h*
LOG_W_PRINTED_ABOVE = 4 * w_star**2 * (1 - 4 * w_star**4) ** sp.Rational(3, 2) * TAU / (1 + alpha)  # (27)
T_HALF_FIRST = (L - 2) * (  # (28)
    (1 + alpha) ** 2 * sp.log(w_star / (2 * sigma_init)) / (4 * w_star**2 * (1 - 4 * w_star**4) ** sp.Rational(3, 2))
    - sp.log(1 - sp.sqrt(1 - w_star**4))
)
T_HALF_SECOND = (L - 2) * (1 + alpha) ** 2 / (16 * w_star**2) * sp.log(1 / sigma_init)
LOG_W_PRINTED_BELOW = w_star**2 * TAU / (1 + alpha) ** 2  # (29)
RATE_PRINTED_BELOW = sp.expand(LOG_W_PRINTED_BELOW / TAU)

# ---- The result

_C2 = "Appendix C.2"
_FROM = "along the flow (12) or the paper's from `w = h = sigma_init`"
SMALL_ENOUGH = "where `sigma_init <= sigma_star`"
_ALONG = f"{_FROM}, {SMALL_ENOUGH}"
_START = f"{_ALONG}, for `0 < t <= T_1/2^w`, the time of `w = w*/2`"
SMALL_W_STAR = "`w* < c` for some `c > 0`"
_SMALL_START = "`sigma_init << w*`, `alpha* > 1` and `w* = O(1)`"


_claim = partial(Quantity, norm="absolute value", quantifier=Quantifier.FOR_ALL, scopes=())


def _printed(bound: sp.Expr, place: str, under: str = "") -> Printed:
    return Printed(bound, Citation(WANG2024, _C2, place), under=under)


_ONE = sp.Integer(1)
QUANTITIES = (
    _claim(
        "h.optimum", r"\inf_{t>T_1^h} h/h^\star", "smallest `h/h*` after `h` has reached `h*`", domain=_ALONG,
        kind=Kind.LOWER, printed=_printed(_ONE, "(P1.1)"), derive=lambda: overshoot("true").low / h_star,
    ),
    _claim(
        "w.optimum", r"\sup_t w/w^\star", "largest `w/w*`", domain=_ALONG, kind=Kind.UPPER,
        printed=_printed(_ONE, "(P1.2)"), derive=lambda: sp.sqrt(overshoot("true").ends[1] / v_star),
    ),
    _claim(
        "w.growth", r"\inf_t \dot w/w", "smallest growth rate of `w`, `(dw/dt)/w`", domain=_ALONG, kind=Kind.LOWER,
        printed=_printed(sp.Integer(0), "(P1.2)"), derive=sp.Integer(0),
    ),
    _claim(
        "h.turns", r"\#\{t: \dot h = 0\}", "number of turning points of `h` (one: its maximum)", domain=_ALONG,
        kind=Kind.EXACT, printed=_printed(_ONE, "(P1.3)"), derive=_ONE,
    ),
    _claim(
        "w.turn", r"w(T_2^h)", "`w` at the turning point of `h`", domain=_ALONG, kind=Kind.LOWER,
        printed=_printed(W_TURN, "(23)"), derive=W_TURN,
    ),
    _claim(
        "w.turn.half", r"w(T_2^h)/w^\star", "`w/w*` at the turning point of `h`", domain=_ALONG, kind=Kind.LOWER,
        printed=_printed(sp.Rational(1, 2), "(23)"), derive=sp.sqrt(SHARE.subs(v_star, 0)),
        remark="derived: `1/sqrt(3)`, the limit of `w_turn/w*` as `w* -> 0`",
    ),
    _claim(
        "h.turn", r"h(T_2^h)/h^\star", "`h/h*` at the turning point of `h`, its maximum", domain=_ALONG,
        kind=Kind.UPPER, printed=_printed(R_TURN, "the bound `R(w*)`"), derive=R_TURN,
    ),
    _claim(
        "h.overshoot", r"\sup_{t\ge T_1^h} h/h^\star", "largest `h/h*` after `h` has reached `h*`", domain=_ALONG,
        kind=Kind.UPPER, printed=_printed(OVERSHOOT, "(26)", SMALL_W_STAR), derive=R_TURN,
    ),
    _claim(
        "h.ramp", r"\inf_t h/h_{(24)}", "smallest ratio of `h` to the right side of (24)",
        domain="while `w <= 0.01 w*` and `h` is below its printed plateau", kind=Kind.LOWER,
        printed=_printed(_ONE, "(24)"), erratum=SMALL_FACTOR,
    ),
    _claim(
        "h.ramp.repaired", r"\inf_t h/h_{\text{repaired}}",
        "smallest ratio of `h` to (24) repaired, `h* psi(v*) - (h* psi(v*) - sigma_init) e^-tau`",
        domain=f"{_FROM}, while `w <= w*/sqrt(2)` and `t <= T_1^h`", kind=Kind.LOWER, derive=_ONE,
    ),
    _claim(
        "T_1", r"T_1^h", "time at which `h = h*` (first bound of (25))", domain=_ALONG, kind=Kind.UPPER,
        printed=_printed(T_1_FIRST, "(25), first bound"), derive=TIME_TO_OPTIMUM, erratum=SMALL_FACTOR,
    ),
    _claim(
        "T_1.simple", r"T_1^h", "time at which `h = h*` (second bound of (25))", domain=_ALONG, kind=Kind.UPPER,
        printed=_printed(T_1_SECOND, "(25), second bound"), erratum=SIMPLE_TIME,
    ),
    _claim(
        "w.rate.above", r"\sup_t \log(w/\sigma)/\tau",
        "largest mean growth rate `log(w/sigma_init) (L-2)/t` until `w = w*/2`", domain=_START, kind=Kind.UPPER,
        printed=_printed(sp.expand(LOG_W_PRINTED_ABOVE / TAU), "(27)"), derive=RATE_ABOVE,
        remark="the line before (27) gives `(1 + alpha*)^2`; (27) lacks the square",
    ),
    _claim(
        "T_half", r"T_{1/2}^w", "time at which `w = w*/2` (first bound of (28))", domain=_ALONG, kind=Kind.LOWER,
        printed=_printed(T_HALF_FIRST, "(28), first bound"), derive=TIME_TO_HALF, erratum=HALF_TIME,
    ),
    _claim(
        "T_half.simple", r"T_{1/2}^w", "time at which `w = w*/2` (second bound of (28))", domain=_FROM, kind=Kind.LOWER,
        printed=_printed(T_HALF_SECOND, "(28), second bound", _SMALL_START),
    ),
    _claim(
        "w.rate.below", r"\inf_t \log(w/\sigma)/\tau",
        "smallest mean growth rate `log(w/sigma_init) (L-2)/t` until `w = w*/2`", domain=_START, kind=Kind.LOWER,
        printed=_printed(RATE_PRINTED_BELOW, "(29)"), erratum=GROWTH_BELOW,
    ),
)  # fmt: skip

FLOW = Parameter(
    "flow",
    None,
    "true: the flow (12) of `w_Q`, `w_K` and `h`; printed: the paper's flow of `w` and `h`",
    ("true", "printed"),
)

LARGEST_START = Formula(
    r"\sigma^\star", lambda: SIGMA_STAR, "largest `sigma_init` for which the bounds are proved", defines=sigma_star
)
NAMES = {sigma_star: r"\sigma^\star", speed: "k"}  # the LaTeX of the letters of SIGMA_STAR, and what they mean:
NAMED = {
    sigma_star: "largest `sigma_init` for which the bounds are proved",
    speed: "1 on the flow (12) of `w_Q = w_K = w` and `h` for the loss (22), 2 on the paper's, the gradient flow of "
    "(22) in `(w, h)`",
}
FORMULAS = (
    Formula(r"r(w)", lambda: R_CURVE, "`h/h*` where `dh/dt = 0`, as a function of `v = w^2`"),
    Formula(r"h(t)/h^\star", lambda: ETA_BELOW, "(24) repaired, while `w <= w*/sqrt(2)` and `t <= T_1^h`", Kind.LOWER),
    LARGEST_START,
)

TRENDS = Result(
    id="induction.trends",
    title="Trends and bounds of the induction head's `w` and `h` under gradient flow",
    citation=Citation(WANG2024, _C2, "(P1.1)-(P1.3), (23)-(29)"),
    claim=r"h^\star \le h(t) \le (1 + 0.04375\,w^\star)\,h^\star \text{ for } t \ge T_1^h; \quad w(t) \uparrow w^\star",
    parameters=(*PARAMETERS.values(), FLOW),
    hypotheses=(
        *HYPOTHESES,
        Hypothesis(
            "sigma_init",
            sp.Lt(2 * sigma_init, w_star, evaluate=False),
            "`w < w*/2` at the start, so that `T_1/2^w > 0`",
        ),
        Hypothesis(
            "sigma_init",
            sp.Lt(sigma_init * (1 + alpha), 1, evaluate=False),
            "`h < h*` at the start, so that `T_1^h > 0`",
        ),
    ),
    objects=objects.TRENDS,
    quantities=QUANTITIES,
    notation={**NOTATION, **NAMES},
    symbols=NAMED,
    formulas=FORMULAS,
    remarks=(
        "The paper asks for a 'sufficiently small' start; (P1.1) to (P1.3) and (23) are proved here for every "
        "`sigma_init <= sigma_star`, `sigma_star = min(h*, w*/sqrt(2) e^-s)` with `s = speed h*^2 phi(3v*/2) "
        "log(psi/(psi-1))` and `psi = psi(v*)`, speed 1 (true flow) or 2 (printed), by the signs of the flow on its "
        "nullclines.",
        "`L` enters only through the unit of time, `L - 2`.",
        "On the printed flow `w` grows twice as fast as on (12); (29) has half of its rate at the plateau.",
    ),
)
