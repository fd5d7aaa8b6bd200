"""Which printed bounds of C.2 (wang2024) hold from every small enough start, and up to which w*.

Letters as in `signs`.
"""

from dataclasses import dataclass, replace

import sympy as sp

from symbolic.derivations.inequalities import Inequality
from symbolic.statements.errata import Erratum
from symbolic.statements.result import Kind, Printed, Quantifier, Quantity
from symbolic.topics.induction.signs import ETA_ABOVE, LOG_W_ABOVE, eta
from symbolic.topics.induction.training import L, psi, v_star, w_star
from symbolic.topics.induction.trend_errata import OVERSHOOT_FACTOR
from symbolic.topics.induction.trends import H_RAMP, LOG_W_PRINTED_BELOW, T_1_FIRST, T_1_SECOND, TRENDS
from symbolic.topics.induction.turning import SHARE
from symbolic.words.citations import WANG2024, Citation

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


# d log w/d tau over speed h*^2 v* at v = share v*, as phi(x) = x psi(x)^3.
share = sp.Symbol("share", nonnegative=True)
GROWTH = eta * ((1 + share) * psi((1 + share) * v_star) ** 3 - eta * 2 * share * psi(2 * share * v_star) ** 3)


def growth_inequalities() -> tuple[Inequality, Inequality]:
    """(27) repaired, at most phi(2v*) for eta <= 3/2; and (29) repaired, at least v*/2 for v <= v*/4 and eta >= 1."""
    stars, etas = (sp.Integer(0), sp.Rational(49, 100)), (sp.Integer(0), sp.Rational(3, 2))
    early, late = {share: (0, 1), eta: etas}, {share: (0, sp.Rational(1, 4)), eta: (1, etas[1])}
    return (
        Inequality(
            "w.rate.above",
            2 * psi(2 * v_star) ** 3 - GROWTH,
            {v_star: stars, **early},
            meaning="growth of `log w` at most speed `h*^2 phi(2v*)`",
        ),
        Inequality(
            "w.rate.below",
            2 * GROWTH - 1,
            {v_star: stars, **late},
            meaning="growth of `log w` at least `h*^2 v*` from `T_1^h` on",
        ),
    )


# ---- Refuted from a small start

_AT_T_1 = "`h/h*` at the printed bound on `T_1^h`"
_SUBJECTS = {
    "h.ramp": "`h/h*` at a fixed time `t` from a fixed small `sigma_init`",
    "T_1": _AT_T_1,
    "T_1.simple": _AT_T_1,
}


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
    def quantity(self) -> Quantity:
        is_upper = self.kind is Kind.UPPER
        side, proved, claimed = ("lower", "at least", "at most") if is_upper else ("upper", "at most", "at least")
        subject = _SUBJECTS.get(self.of, "`log(w/sigma_init)` at a fixed time `t` from a fixed small `sigma_init`")
        return replace(
            TRENDS.quantity(self.of),
            name=self.name,
            kind=self.kind,
            meaning=f"{subject}; column measured: a proved {side} bound on this value",
            finding=f"{subject} is {proved} {{found}}; printed: {claimed} {{printed}}",
            norm="in balls",
            domain="one start and one time",
            remark="",
            derive=None,
        )

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

# For which w* the bounds hold: printed is the domain where the paper uses them, if it gives a number.
_BETWEEN = "proved for `w*` up to the value in column derived, false from that in column measured on"
_FAILS = (
    "the bound fails from small starts for every `w*` >= {found}; printed: it holds for all `v* <= 0.3` (in `w*`: "
    "{printed})"
)
_THRESHOLDS: dict[str, tuple[str, sp.Expr | None, str, str, Erratum | None]] = {
    "h.turn.line": (
        "largest `w*` with `R(w*) <= 1 + 0.04 w*`",
        None,
        "before (26)",
        "printed: 'if `w* = O(1)'`, read as `w* < c`; this is the largest `c`",
        None,
    ),
    "h.overshoot.line": (
        "largest `w*` with `h <= (1 + 0.04375 w*) h*` from every small start",
        None,
        "(26)",
        "between derived and measured the answer depends on `alpha*` and the flow; Figure 2 has `w* = 0.49`",
        None,
    ),
    "h.overshoot.constant": (
        "largest `w*` with `h <= 1.02 h*` from every small start",
        sp.sqrt(sp.Rational(3, 10)),
        "Step II.2, `v* <= 0.3`",
        "",
        OVERSHOOT_FACTOR,
    ),
    "w.rate.above.range": (
        "largest `w*` with (27) from every small start for all `alpha* >= 1`",
        None,
        "(27)",
        "on the paper's flow; false at `alpha* = 1` for `w*` at and above the measured number; Figure 2 has `w* = "
        "0.49`",
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
        "`0 < w* < 1/sqrt(2)`, `sigma_init` small enough",
        Kind.LOWER,
        Quantifier.FOR_ALL,
        printed=None if printed is None else Printed(printed, Citation(WANG2024, "Appendix C.2", place)),
        scopes=(),
        remark=remark,
        erratum=erratum,
        finding="" if printed is None else _FAILS,
    )


def scaling_quantity() -> Quantity:
    return Quantity(
        "scaling",
        r"\partial_L\,(L-2)\,\dot{x}",
        "derivative in `L` of `(L-2) dx/dt`, `x = w` or `h`: `L` enters the flow only through the unit of time, `L - "
        "2`",
        "identity",
        "every `L >= 5`",
        Kind.EXACT,
        Quantifier.FOR_ALL,
        scopes=(),
    )
