"""The bounds (23) to (29) of C.2 (wang2024) as printed, what is proved of them; letters as in `signs`."""

from dataclasses import dataclass

import sympy as sp

from symbolic.citations import WANG2024, Citation
from symbolic.errata import Erratum
from symbolic.induction.setting import HYPOTHESES, PARAMETERS
from symbolic.induction.signs import (
    ETA_ABOVE,
    ETA_BELOW,
    LEAST,
    LOG_W_ABOVE,
    R_CURVE,
    R_TURN,
    RATE_ABOVE,
    SHARE,
    SIGMA_STAR,
    TAU,
    TIME_TO_HALF,
    TIME_TO_OPTIMUM,
    W_TURN,
    eta,
    speed,
)
from symbolic.induction.training import NOTATION, L, alpha, sigma_init, v_star, w_star
from symbolic.induction.trend_errata import GROWTH_BELOW, HALF_TIME, OVERSHOOT_FACTOR, SIMPLE_TIME, SMALL_FACTOR
from symbolic.inequalities import Inequality
from symbolic.statements import Formula, Hypothesis, Kind, Parameter, Printed, Quantifier, Quantity, Result

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

# ---- Thresholds in w*: where a printed bound holds

_HALF_CIRCLE = {v_star: w_star**2}


def room_below_line(slope: sp.Rational, share: sp.Expr) -> sp.Expr:
    """>= 0 iff r(v) <= 1 + slope w* at v = share v*: r^2 = (1 - 4 share^2 v*^2)/(1 - (1 + share)^2 v*^2) squared out.

    Both sides are 1 at w* = 0, so a factor w* is divided out.
    """
    s = share.subs(_HALF_CIRCLE) if isinstance(share, sp.Basic) else sp.Integer(share)
    gain = slope * (2 + slope * w_star) * (1 - (1 + s) ** 2 * w_star**4)
    return gain - w_star**3 * ((1 + s) ** 2 - 4 * s**2)


def room_below(top: sp.Rational, share: sp.Expr) -> sp.Expr:
    """>= 0 iff r(v) <= top at v = share v*."""
    s = share.subs(_HALF_CIRCLE)
    return top**2 * (1 - (1 + s) ** 2 * w_star**4) - (1 - 4 * s**2 * w_star**4)


SLOPE_R, SLOPE_26, TOP = sp.Rational(4, 100), sp.Rational(4375, 100_000), sp.Rational(102, 100)
AT_TURN, AT_PLATEAU = SHARE, sp.Integer(0)
# What has to be positive for the claim: at the turn, which bounds h; and at the plateau psi(v*), which h comes near to
# from a small enough start.
CLAIMS = {
    "h.overshoot.line": (room_below_line(SLOPE_26, AT_TURN), room_below_line(SLOPE_26, AT_PLATEAU)),
    "h.turn.line": (room_below_line(SLOPE_R, AT_TURN), room_below_line(SLOPE_R, AT_TURN)),
    "h.overshoot.constant": (room_below(TOP, AT_TURN), room_below(TOP, AT_PLATEAU)),
    # (27) on the paper's flow, both sides over 4 v* h*: it follows from (27) repaired if h* (1 - 4 v*^2)^(-3/2) is at
    # most (1 - 4 v*^2)^(3/2), and fails in the end if the rate 2 h*^2 v*/(1 - v*^2)^2 at the plateau is above it. A
    # larger alpha* lowers h* = 1/2, so that the first is for every alpha* >= 1.
    "w.rate.above.range": (
        (1 - 4 * w_star**4) ** 3 - sp.Rational(1, 2),
        4 * (1 - 4 * w_star**4) ** sp.Rational(3, 2) * (1 - w_star**4) ** 2 - 1,
    ),
}
W_TOP = sp.Rational(7, 10)  # just below 1/sqrt(2), where (22) ends


def stated_inequalities(holds: sp.Rational, fails: sp.Rational, claim: str) -> tuple[Inequality, Inequality]:
    """The claim for all w* <= holds, and its opposite for all w* from fails to W_TOP."""
    kept, broken = CLAIMS[claim]
    return (
        Inequality(f"{claim}.holds", kept, {w_star: (sp.Integer(0), holds)}, meaning=f"{claim} up to w* = {holds}"),
        Inequality(f"{claim}.fails", -broken, {w_star: (fails, W_TOP)}, strict=True, meaning=f"not from w* = {fails}"),
    )


def growth_inequality() -> Inequality:
    """eta (phi(v+v*) - eta phi(2v)) <= phi(2v*) for v = share v* and eta <= 3/2, divided by v*: (27) repaired."""
    share = sp.Symbol("share", nonnegative=True)
    cubed = sp.Rational(-3, 2)
    top = 2 * (1 - 4 * v_star**2) ** cubed
    pull = eta * (1 + share) * (1 - ((1 + share) * v_star) ** 2) ** cubed
    push = 2 * eta**2 * share * (1 - (2 * share * v_star) ** 2) ** cubed
    box = {
        v_star: (sp.Integer(0), sp.Rational(49, 100)),
        share: (sp.Integer(0), sp.Integer(1)),
        eta: (sp.Integer(0), sp.Rational(3, 2)),
    }
    return Inequality("w.rate.above", top - pull + push, box, meaning="growth of log w at most speed h*^2 phi(2v*)")


def late_growth_inequality() -> Inequality:
    """2 eta (phi(v+v*) - eta phi(2v)) >= v* for v <= v*/4 and 1 <= eta <= 3/2, divided by v*: (29) repaired."""
    share = sp.Symbol("share", nonnegative=True)
    cubed = sp.Rational(-3, 2)
    pull = 2 * eta * (1 + share) * (1 - ((1 + share) * v_star) ** 2) ** cubed
    push = 4 * eta**2 * share * (1 - (2 * share * v_star) ** 2) ** cubed
    box = {
        v_star: (sp.Integer(0), sp.Rational(49, 100)),
        share: (sp.Integer(0), sp.Rational(1, 4)),
        eta: (sp.Integer(1), sp.Rational(3, 2)),
    }
    return Inequality("w.rate.below", pull - push - 1, box, meaning="growth of log w at least h*^2 v* from T_1^h on")


# ---- Refuted from a small start


@dataclass(frozen=True)
class Limit:
    """A printed bound that fails from a small start: `side`, a proved bound of what is claimed, lies beyond `printed`.

    It is one while STILL_SMALL > 0. `kind` is that of the printed bound, `time` the time of the comparison.
    """

    of: str
    kind: Kind
    printed: sp.Expr
    side: sp.Expr
    params: dict[str, int | float | str]
    time: sp.Expr

    @property
    def name(self) -> str:
        return f"{self.of}.limit"

    @property
    def excess(self) -> sp.Expr:
        return self.side - self.printed if self.kind is Kind.UPPER else self.printed - self.side


def _start(
    sigma_init: float, flow: str = "true", *, alpha: float = 1.0, w_star: float = 0.49
) -> dict[str, int | float | str]:
    return {"L": 1000, "alpha": alpha, "w_star": w_star, "sigma_init": sigma_init, "flow": flow}


def _after(units: sp.Rational | int) -> sp.Expr:
    return units * (L - 2)


LIMITS = (
    Limit("h.ramp", Kind.LOWER, H_RAMP, ETA_ABOVE, _start(2.0**-20), _after(1)),
    # the claim: h/h* is at least 1 by the time printed
    Limit("T_1", Kind.LOWER, sp.Integer(1), ETA_ABOVE, _start(2.0**-20), T_1_FIRST),
    Limit("T_1.simple", Kind.LOWER, sp.Integer(1), ETA_ABOVE, _start(2.0**-20), T_1_SECOND),
    Limit(
        "w.rate.below",
        Kind.LOWER,
        LOG_W_PRINTED_BELOW,
        LOG_W_ABOVE,
        _start(2.0**-20, "printed"),
        _after(1),
    ),
)

# ---- The result

_C2 = "Appendix C.2"
_ALONG = "along the flow from w = h = sigma_init"
_BELOW_C = f"{_ALONG}, w* < c for some c > 0"
_START = "0 < t <= T_1/2^w, the time of w = w*/2"


def _claim(
    name: str,
    latex: str,
    meaning: str,
    kind: Kind,
    printed: sp.Expr,
    place: str,
    domain: str,
    remark: str = "",
    erratum: Erratum | None = None,
) -> Quantity:
    return Quantity(
        name,
        latex,
        meaning,
        "absolute value",
        domain,
        kind,
        Quantifier.FOR_ALL,
        printed=Printed(printed, Citation(WANG2024, _C2, place)),
        scopes=(),
        remark=remark,
        derive=lambda: DERIVED.get(name),
        erratum=erratum,
    )


_ONE = sp.Integer(1)
QUANTITIES = (
    _claim(
        "h.optimum",
        r"\inf_{t>T_1^h} h/h^\star",
        "smallest h/h* after h has reached h*",
        Kind.LOWER,
        _ONE,
        "(P1.1)",
        _ALONG,
    ),
    _claim("w.optimum", r"\sup_t w/w^\star", "largest w/w*", Kind.UPPER, _ONE, "(P1.2)", _ALONG),
    _claim(
        "w.growth",
        r"\inf_t \dot w/w",
        "smallest growth rate of w, (dw/dt)/w",
        Kind.LOWER,
        sp.Integer(0),
        "(P1.2)",
        _ALONG,
    ),
    _claim(
        "h.turns",
        r"\#\{t: \dot h = 0\}",
        "number of turning points of h (one: its maximum)",
        Kind.EXACT,
        _ONE,
        "(P1.3)",
        _ALONG,
    ),
    _claim("w.turn", r"w(T_2^h)", "w at the turning point of h", Kind.LOWER, W_TURN, "(23)", _ALONG),
    _claim(
        "w.turn.half",
        r"w(T_2^h)/w^\star",
        "w/w* at the turning point of h",
        Kind.LOWER,
        sp.Rational(1, 2),
        "(23)",
        _ALONG,
        "derived: 1/sqrt(3), the limit of w_turn/w* as w* -> 0",
    ),
    _claim(
        "h.turn",
        r"h(T_2^h)/h^\star",
        "h/h* at the turning point of h, its maximum",
        Kind.UPPER,
        R_TURN,
        "R(w*)",
        _ALONG,
    ),
    _claim(
        "h.overshoot",
        r"\sup_{t\ge T_1^h} h/h^\star",
        "largest h/h* after h has reached h*",
        Kind.UPPER,
        OVERSHOOT,
        "(26)",
        _BELOW_C,
    ),
    _claim(
        "h.ramp",
        r"\inf_t h/h_{(24)}",
        "smallest ratio of h to the right side of (24)",
        Kind.LOWER,
        _ONE,
        "(24)",
        "while w <= 0.01 w* and h is below its printed plateau",
        erratum=SMALL_FACTOR,
    ),
    Quantity(
        "h.ramp.repaired",
        r"\inf_t h/h_{\text{repaired}}",
        "smallest ratio of h to (24) repaired, h* psi(v*) - (h* psi(v*) - sigma_init) e^-tau",
        "absolute value",
        "while w <= w*/sqrt(2) and t <= T_1^h",
        Kind.LOWER,
        Quantifier.FOR_ALL,
        scopes=(),
    ),
    _claim(
        "T_1",
        r"T_1^h",
        "time at which h = h* (first bound of (25))",
        Kind.UPPER,
        T_1_FIRST,
        "(25), first bound",
        _ALONG,
        erratum=SMALL_FACTOR,
    ),
    _claim(
        "T_1.simple",
        r"T_1^h",
        "time at which h = h* (second bound of (25))",
        Kind.UPPER,
        T_1_SECOND,
        "(25), second bound",
        _ALONG,
        erratum=SIMPLE_TIME,
    ),
    _claim(
        "w.rate.above",
        r"\sup_t \log(w/\sigma)/\tau",
        "largest mean growth rate log(w/sigma_init) (L-2)/t until w = w*/2",
        Kind.UPPER,
        sp.expand(LOG_W_PRINTED_ABOVE / TAU),
        "(27)",
        _START,
        "the line before (27) gives (1 + alpha*)^2; (27) lacks the square",
    ),
    _claim(
        "T_half",
        r"T_{1/2}^w",
        "time at which w = w*/2 (first bound of (28))",
        Kind.LOWER,
        T_HALF_FIRST,
        "(28), first bound",
        _ALONG,
        erratum=HALF_TIME,
    ),
    _claim(
        "T_half.simple",
        r"T_{1/2}^w",
        "time at which w = w*/2 (second bound of (28))",
        Kind.LOWER,
        T_HALF_SECOND,
        "(28), second bound",
        _ALONG,
    ),
    _claim(
        "w.rate.below",
        r"\inf_t \log(w/\sigma)/\tau",
        "smallest mean growth rate log(w/sigma_init) (L-2)/t until w = w*/2",
        Kind.LOWER,
        sp.expand(LOG_W_PRINTED_BELOW / TAU),
        "(29)",
        _START,
        erratum=GROWTH_BELOW,
    ),
)

# What the signs give for each, from a start of at most sigma_star.
DERIVED: dict[str, sp.Expr] = {
    "h.optimum": _ONE,
    "w.optimum": _ONE,
    "w.growth": sp.Integer(0),
    "h.turns": _ONE,
    "w.turn": W_TURN,
    "w.turn.half": sp.sqrt(SHARE.subs(v_star, 0)),
    "h.turn": R_TURN,
    "h.overshoot": R_TURN,
    "T_1": TIME_TO_OPTIMUM,
    "w.rate.above": RATE_ABOVE,
    "T_half": TIME_TO_HALF,
    "h.ramp.repaired": _ONE,
}


# For which w* the bounds hold: printed is the domain where the paper uses them, if it gives a number.
_BETWEEN = "proved for w* up to the value in column derived, false from that in column measured on"
_FAILS = (
    "the bound fails from small starts for every w* >= {found}; printed: it holds for all v* <= 0.3 (in w*: {printed})"
)
_THRESHOLDS: dict[str, tuple[str, sp.Expr | None, str, str, Erratum | None]] = {
    "h.turn.line": (
        "largest w* with R(w*) <= 1 + 0.04 w*",
        None,
        "before (26)",
        "printed: 'if w* = O(1)', read as w* < c; this is the largest c",
        None,
    ),
    "h.overshoot.line": (
        "largest w* with h <= (1 + 0.04375 w*) h* from every small start",
        None,
        "(26)",
        "between derived and measured the answer depends on alpha* and the flow; Figure 2 has w* = 0.49",
        None,
    ),
    "h.overshoot.constant": (
        "largest w* with h <= 1.02 h* from every small start",
        sp.sqrt(sp.Rational(3, 10)),
        "Step II.2, v* <= 0.3",
        "",
        OVERSHOOT_FACTOR,
    ),
    "w.rate.above.range": (
        "largest w* with (27) from every small start for all alpha* >= 1",
        None,
        "(27)",
        "on the paper's flow; false at alpha* = 1 for w* at and above the measured number; Figure 2 has w* = 0.49",
        None,
    ),
}


def threshold_quantity(claim: str) -> Quantity:
    """The claim of that threshold, as a quantity; measured is the least w* from which on it is false."""
    meaning, printed, place, remark, erratum = _THRESHOLDS[claim]
    return Quantity(
        claim,
        r"w^\star_{\max}",
        f"{meaning}; {_BETWEEN}",
        "w*",
        "0 < w* < 1/sqrt(2), sigma_init small enough",
        Kind.EXACT,
        Quantifier.FOR_ALL,
        printed=None if printed is None else Printed(printed, Citation(WANG2024, _C2, place)),
        scopes=(),
        remark=remark,
        erratum=erratum,
        finding="" if printed is None else _FAILS,
    )


def scaling_quantity() -> Quantity:
    return Quantity(
        "scaling",
        r"(L-2)\,\dot{x}",
        "L enters the flow of (w, h) only through the unit of time, L - 2",
        "identity",
        "every L >= 5",
        Kind.EXACT,
        Quantifier.FOR_ALL,
        scopes=(),
    )


FLOW = Parameter(
    "flow", None, "true: the flow (12) of w_Q, w_K and h; printed: the paper's flow of w and h", ("true", "printed")
)

FORMULAS = (
    Formula(r"r(w)", lambda: R_CURVE, "h/h* where dh/dt = 0, as a function of v = w^2"),
    Formula(r"h(t)/h^\star", lambda: ETA_BELOW, "(24) repaired, while w <= w*/sqrt(2) and t <= T_1^h", Kind.LOWER),
    Formula(r"\sigma_\star", lambda: SIGMA_STAR, "largest sigma_init for which the derived bounds are proved"),
)

TRENDS = Result(
    id="induction.trends",
    title="Trends and bounds of the induction head's w and h under gradient flow",
    citation=Citation(WANG2024, _C2, "(P1.1)-(P1.3), (23)-(29)"),
    claim=r"h^\star \le h(t) \le (1 + 0.04375\,w^\star)\,h^\star \text{ for } t \ge T_1^h; \quad w(t) \uparrow w^\star",
    parameters=(*PARAMETERS.values(), FLOW),
    hypotheses=(
        *HYPOTHESES,
        Hypothesis(
            "sigma_init", sp.Lt(2 * sigma_init, w_star, evaluate=False), "w < w*/2 at the start, so that T_1/2^w > 0"
        ),
        Hypothesis(
            "sigma_init", sp.Lt(sigma_init * (1 + alpha), 1, evaluate=False), "h < h* at the start, so that T_1^h > 0"
        ),
    ),
    quantities=QUANTITIES,
    notation={**NOTATION, speed: "c"},
    symbols={speed: "1 on the flow (12), 2 on the paper's"},
    formulas=FORMULAS,
    remarks=(
        "The paper asks for a 'sufficiently small' start; (P1.1) to (P1.3) and (23) are proved here for every "
        "sigma_init <= sigma_star = min(h*, w*/sqrt(2) exp(-speed h*^2 phi(3v*/2) log(psi/(psi-1)))), psi = psi(v*), "
        "speed 1 (true flow) or 2 (printed), by the signs of the flow on its nullclines.",
        "L enters only through the unit of time, L - 2.",
        "On the printed flow w grows twice as fast as on (12); (29) has half of its rate at the plateau.",
    ),
)
