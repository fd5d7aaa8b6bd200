"""How w and h of C.2 (wang2024) move, proved by the signs of the flow on its nullclines.

Letters: v = w^2, v* = w*^2, eta = h/h*, tau = t/(L-2), psi and phi = psi' of C.2. The flow of eta has its nullcline at
r(v) = psi(v+v*)/psi(2v), that of v at phi(v+v*)/phi(2v). `speed` is 1 on the flow (12), 2 on the paper's, which takes
w = w_Q = w_K for one parameter: d w/d tau = speed w h*^2 eta (phi(v+v*) - eta phi(2v)).
"""

from dataclasses import dataclass, replace
from functools import cache

import sympy as sp

from symbolic.derivations.derivation import DerivationError
from symbolic.dynamics import Flow, LinearComparison, Strip, past_saddle, proved_sign
from symbolic.topics.induction.coordinates import phi_slope, psi_slope
from symbolic.topics.induction.training import (
    FLOWS,
    L,
    h,
    h_star,
    phi,
    psi,
    sigma_init,
    t,
    v,
    v_star,
    w,
    w_star,
)
from symbolic.topics.induction.turning import R_CURVE, R_TURN, TURNING, W_TURN, at_optimum

eta = sp.Symbol("eta", positive=True)  # h / h*
speed = sp.Symbol("speed", positive=True)
sigma_star = sp.Symbol("sigma_star", positive=True)  # SIGMA_STAR below

TAU = t / (L - 2)
LEAST = sp.Rational(1, 100)  # C.2 calls w small up to 0.01 w*

# ---- The flow in coordinates that keep their digits for small w*, where eta - 1 is of the size v*^2

gain = sp.Symbol("gain", real=True)  # log(w/sigma_init)
lag = sp.Symbol("lag", real=True)  # (eta - r(v))/(v v*), whose sign is that of -dh/dt
RISE = (v_star - v) * psi_slope(v + v_star, 2 * v) / (v_star**2 * psi(2 * v))  # (r(v) - 1)/v*^2


# eta - 1 = v v* lag + v*^2 RISE; phi(v+v*) - eta phi(2v) = (v*-v) phi_slope - (eta - 1) phi(2v);
# d eta/d tau = -v v* lag psi(2v). The lag soon is about -2 v* (d log w/d tau) d RISE/dv, of one size while w is small.
@cache
def scaled_flow(flow: str) -> Flow:
    """(gain, lag) over tau; parameters h*, v* and sigma_init."""
    excess = v * v_star * lag + v_star**2 * RISE
    pull = (v_star - v) * phi_slope(v + v_star, 2 * v) - excess * phi(2 * v)
    growth = FLOWS[flow].speed * h_star**2 * (1 + excess) * pull
    falls = -(psi(2 * v) + 2 * growth) * lag - 2 * v_star * growth * sp.diff(RISE, v)
    here = {v: sigma_init**2 * sp.exp(2 * gain)}
    return Flow((gain, lag), (growth.subs(here), falls.subs(here)))


# (eta - 1)/v*^2 in these coordinates, and w/w*.
rise = sp.Symbol("rise", real=True)
_V = sigma_init**2 * sp.exp(2 * gain)
SCALED_VIEWS = {rise: lag * _V / v_star + RISE.subs(v, _V)}
W_SHARE = sigma_init * sp.exp(gain) / sp.sqrt(v_star)


# ---- Proofs by the signs of polynomials


@dataclass(frozen=True)
class Fact:
    """`expression` > 0 for 0 < v < v* < 1/2 (or, with only_star, for 0 < v* < 1/2); or = 0 if `equation`."""

    name: str
    expression: sp.Expr
    because: str
    equation: bool = False

    def proved(self) -> bool:
        if self.equation:
            return bool(sp.simplify(self.expression) == 0)
        try:
            return proved_sign(self.expression, _TO_POSITIVE) == 1
        except DerivationError:
            return False


# v* = a/(2(1+a)) and v = v* b/(1+b) run through 0 < v < v* < 1/2 as a, b > 0 do.
_a, _b, _c = sp.symbols("a b c", positive=True)
_TO_POSITIVE = {v_star: _a / (2 * (1 + _a)), v: _a * _b / (2 * (1 + _a) * (1 + _b))}


def facts() -> tuple[Fact, ...]:
    """What the proofs of (P1.1) to (P1.3), (23) and (26) rest on."""
    y = v + v_star
    return (
        Fact(
            "slope of r",
            sp.diff(sp.log(R_CURVE), v) - TURNING / ((1 - y**2) * (1 - 4 * v**2)),
            "r increases where TURNING > 0 and decreases where it is < 0",
            equation=True,
        ),
        # TURNING is convex in v, so one root lies in (v*/3, v*)
        Fact("convex", sp.diff(TURNING, v, 2), "TURNING is convex"),
        Fact("below the root", TURNING.subs(v, v_star / 3), "TURNING > 0 at v*/3"),
        Fact("above the root", -TURNING.subs(v, v_star), "TURNING < 0 at v*"),
        Fact("root", TURNING.subs(v, W_TURN**2).subs(v_star, w_star**2), "w_turn^2 is a root", equation=True),
        # the root increases with v*: -(d TURNING/d v*) / (d TURNING/d v) > 0
        Fact("in v*", sp.diff(TURNING, v_star), "TURNING increases in v*"),
        Fact("in v", -sp.diff(TURNING, v), "TURNING decreases in v below v*"),
        # r is largest at w_turn; on [0, v*/2] it is least at an end, and at 0 if psi(3v*/2)/psi(v*) >= psi(v*)
        Fact("ramp", (1 - v_star**2) ** 2 - (1 - sp.Rational(9, 4) * v_star**2), "r(v) >= psi(v*) for v <= v*/2"),
    )


@cache
def overshoot(flow: str) -> Strip:
    """h above h* and below the nullcline of v, where w grows: the flow does not leave it."""
    squared = FLOWS[flow].flow.changed({v: w**2, h: h}, {w: sp.sqrt(v), h: h})
    nullcline = h_star * phi(v + v_star) / phi(2 * v)
    return Strip(squared, v, (sp.S.Zero, v_star), h, h_star, nullcline, {**_TO_POSITIVE, L: 2 + _c})


def proofs_hold() -> bool:
    """Whether SymPy proves every fact, that the strip is one and that w grows in it."""
    return all(fact.proved() for fact in facts()) and all(overshoot(flow).trend(v) == 1 for flow in FLOWS)


def scaling() -> bool:
    """Whether L enters the flow of (w, h) by the unit of time L - 2 alone, and both flows are as the head says."""
    for flow, rate in FLOWS.values():
        field = [sp.simplify((L - 2) * each.subs(v_star, w_star**2)) for each in flow.field]
        value = (phi(w**2 + w_star**2) * h_star - h * phi(2 * w**2)) * w * h
        if any(each.has(L) for each in field) or sp.simplify(field[0] - rate * value) != 0:
            return False
    return True


# ---- What the signs give (derived), for a start below sigma_star
#
# 1. While eta < 1 and v <= v*/2: d eta/d tau = psi(2v) (r - eta) >= psi(v*) - eta (fact "ramp"), and by the quotient of
#    the two rates d log w/d eta <= speed h*^2 eta phi(3v*/2) / (psi(v*) - eta) there. Its integral over eta in (0, 1)
#    is at most the exponent below: so eta reaches 1 before v reaches v*/2.
# 2. {0 < v < v*, 1 < eta < phi(v+v*)/phi(2v)} is invariant, and v grows in it (`overshoot`): (P1.1), (P1.2).
# 3. At eta = r(v) eta rests and v grows: the flow passes from below r to above it where r decreases, v > v_turn, and
#    back where r increases. It starts below r, so it crosses once, at v > v_turn, and stays above: (P1.3), (23). It
#    does cross: below r eta would grow for ever, away from the limit 1.
# 4. Hence h/h* <= max r = R(w*) always.
_PSI = psi(v_star)
FROM_BELOW = LinearComparison(sigma_init / h_star, sp.Integer(-1), _PSI)  # eta, by 1. and while w <= w*/sqrt(2)
GAIN = speed * h_star**2 * phi(3 * v_star / 2) * replace(FROM_BELOW, start=sp.Integer(0)).passage(1).time
SIGMA_STAR = at_optimum(sp.Min(h_star, sp.sqrt(v_star / 2) * sp.exp(-GAIN)))
# (27) repaired: eta (phi(v+v*) - eta phi(2v)) <= R phi(2v*); and (28) by it.
RATE_ABOVE = at_optimum(speed * h_star**2 * phi(2 * v_star)) * R_TURN
TIME_TO_HALF = (L - 2) * past_saddle(sigma_init, w_star / 2, rate=RATE_ABOVE).time
# (25) and (24) repaired.
TIME_TO_OPTIMUM = at_optimum((L - 2) * FROM_BELOW.passage(1).time)
ETA_BELOW = at_optimum(FROM_BELOW.after(TAU))
# While w <= 0.01 w*, conversely: psi(v+v*) <= psi((1 + 10^-4) v*), psi(2v) >= 1.
_NEAR = (1 + LEAST**2) * v_star
FROM_ABOVE = replace(FROM_BELOW, source=psi(_NEAR))
ETA_ABOVE = at_optimum(FROM_ABOVE.after(TAU))
# d log w/d tau = speed h*^2 eta (phi(v+v*) - eta phi(2v)) <= speed h*^2 phi(_NEAR) eta.
_CLOCK = sp.Symbol("tau", nonnegative=True)
LOG_W_ABOVE = at_optimum(
    LinearComparison(sp.S.Zero, sp.S.Zero, speed * h_star**2 * phi(_NEAR) * FROM_ABOVE.after(_CLOCK), _CLOCK).after(TAU)
)
# The two sides hold at t if w cannot have passed 0.01 w* by then: this is positive.
STILL_SMALL = sp.log(LEAST * w_star / sigma_init) - LOG_W_ABOVE
