"""Theorem 5.5 (wang2024): the four phases, their times, and the leading constant of each, derived.

tau = t/(L-2); h* psi(v*) is the plateau of h; the saddle is (w, h) = (0, h* psi(v*)); n = L - 2. What is not in closed
form (kappa, a number that an orbit gives) is a symbol here and integrated by `bridge.topics.induction.phase_times`.
"""

from functools import cache
from typing import Any

import sympy as sp

from symbolic.dynamics import Flow, LinearComparison, decayed, held_back, past_saddle
from symbolic.statements.result import Hypothesis, Parameter
from symbolic.topics.induction import coordinates
from symbolic.topics.induction.training import (
    HEAD_FLOW,
    HEAD_FLOW_PRINTED,
    KEPT,
    L,
    alpha,
    g_star,
    h,
    h_star,
    psi,
    sigma_init,
    t,
    v,
    v_star,
    w,
    w_star,
)

tau = sp.Symbol("tau", nonnegative=True)  # t/(L-2)
kappa = sp.Symbol("kappa", real=True)
mu = sp.Symbol("mu", positive=True)
reach = sp.Symbol("C", positive=True)  # C(n sigma_init), see `gram_time`
BRACKETS = ((0.3, 0.55), (0.55, 0.706))  # the share of the overshoot rises in the first and falls in the second

FLOW = Parameter(
    "flow", None, "the flow: 'true', or 'printed' with the paper's rate of `w` (twice the true one)", "true"
)


# -- the induction head ------------------------------------------------------------------------------------------------


@cache
def ramp_of_h() -> LinearComparison:
    """h over tau while w = 0, from sigma_init."""
    return LinearComparison.along(_without_w(coordinates.early_flow("true")), coordinates.h, sigma_init)


@cache
def ramp_past_optimum() -> LinearComparison:
    """The same for h - h*, free of cancellation: it rests at v* times a divided difference of psi."""
    return LinearComparison.along(_without_w(coordinates.deviation_flow("true")), coordinates.eta, sigma_init - h_star)


def _without_w(flow: Flow) -> Flow:
    return Flow(flow.state[1:], tuple(rate.subs(sp.exp(2 * coordinates.y), 0) for rate in flow.field[1:]))


def plateau() -> sp.Expr:
    """Where h rests while w = 0: the zero of dh/d tau there."""
    return ramp_of_h().rest


def ramp() -> sp.Expr:
    """h(tau) while w = 0."""
    return ramp_of_h().after(tau)


@cache
def growth_rate(flow: str) -> sp.Expr:
    """lambda: d log w / d tau at the saddle, the eigenvalue of its unstable direction."""
    rate = coordinates.early_flow(flow).field[0].subs(sp.exp(2 * coordinates.y), 0)
    return sp.simplify(rate.subs(coordinates.h, plateau()))


@cache
def delay() -> sp.Expr:
    """By how much tau the ramp of h holds back the growth of w.

    d log w / d tau = lambda h / plateau while w = 0.
    """
    return sp.expand(ramp_of_h().lag() / plateau())


@cache
def manifold_slope(flow: str) -> sp.Expr:
    """c of h = plateau + c v + O(v^2) on the unstable manifold of the saddle.

    Invariance: dh/d tau = c dv/d tau = 2 lambda c v, and dh/d tau = (h* phi(v*) - c) v to first order.
    """
    c = sp.Dummy("c")
    small = sp.Dummy("v", positive=True)
    rate = coordinates.early_flow(flow).field[1].subs(sp.exp(2 * coordinates.y), small)
    bend = sp.diff(rate.subs(coordinates.h, plateau() + c * small), small).subs(small, 0)
    (found,) = sp.solve(bend - 2 * growth_rate(flow) * c, c)
    return found


@cache
def observation_time() -> sp.Expr:
    """T_o/(L-2) as w -> 0: where the ramp passes h*, for sigma_init < h*."""
    return ramp_past_optimum().passage(0).time


def overshoot_share() -> sp.Expr:
    """The share of L_IH2(T_o) that h's way from h* to its plateau takes away, with w = 0 throughout.

    (psi(v*) - 1)^2 / (psi(2v*) + 1 - 2 psi(v*)), both differences divided by v*^2.
    """
    bend = coordinates.psi_bend(2 * v_star, v_star, sp.Integer(0))
    return coordinates.psi_slope(v_star, sp.Integer(0)) ** 2 / (2 * bend)


def overshoot_time(share: sp.Expr | None = None) -> sp.Expr:
    """T_II/(L-2) where the overshoot takes more than 1 %: without any growth of w.

    `share`, by default the derived one, is what the overshoot takes.
    With plateau - h = (plateau - h*) e^-s after T_o the loss falls by the share (1 - e^-2s) of what it can.
    """
    return observation_time() + squares_fall_to(1 - (1 - KEPT) / (share or overshoot_share()))


def squares_fall_to(share: sp.Expr) -> sp.Expr:
    """The tau in which (plateau - h)^2 falls to that share of it."""
    return LinearComparison(sp.S.One, 2 * ramp_of_h().rate, sp.S.Zero).passage(share).time


@cache
def overshoot_range() -> tuple[sp.Expr, sp.Expr]:
    """The w* between which the overshoot alone takes more than 1 % of the loss: the two roots of its share = 1 %."""
    missing = overshoot_share().subs(v_star, w_star**2) - (1 - KEPT)
    low, high = (sp.nsolve(missing, w_star, bracket, solver="bisect", verify=False) for bracket in BRACKETS)
    return low, high


def late_value() -> sp.Expr:
    """h/h* at 2 T_1^h as w -> 0: the ramp leaves psi(v*) e^-tau of its plateau, ((psi - 1)/psi)^2 psi then."""
    return 2 - 1 / psi(v_star)


def late_share() -> sp.Expr:
    """`overshoot_share` of what is left at T_o = 2 T_1^h: ((psi - 1)^2/psi)^2 over itself plus psi(2v*) - psi(v*)^2.

    All differences divided by v*: psi(2v*) - psi^2 = 2 v*^2 bend - (psi - 1)^2.
    """
    slope = coordinates.psi_slope(v_star, sp.Integer(0))
    left = slope**4 * v_star**2 / psi(v_star) ** 2
    at_rest = 2 * coordinates.psi_bend(2 * v_star, v_star, sp.Integer(0)) - slope**2
    return left / (left + at_rest)


@cache
def head_time(flow: str) -> sp.Expr:
    """T/(L-2) up to o(1) as sigma_init -> 0, for the time T at which the orbit out of the saddle is at some loss.

    kappa: log w* + kappa is log w + (what the orbit's growth falls short of lambda), up to that loss.
    """
    out_of_saddle = past_saddle(sigma_init, w_star * sp.exp(kappa), rate=growth_rate(flow))
    return sp.expand_log(held_back(out_of_saddle, delay()).time)


@cache
def head_time_leading(flow: str) -> sp.Expr:
    """The one term that grows as sigma_init -> 0."""
    return past_saddle(sigma_init, 1, rate=growth_rate(flow)).time


@cache
def growth_exponent(flow: str) -> sp.Expr:
    """log(w / sigma_init) at tau, while w is small."""
    return LinearComparison(sp.S.Zero, sp.S.Zero, growth_rate(flow) / plateau() * ramp(), tau).after(tau)


def head_left() -> sp.Expr:
    """L_IH2(tau) / L_IH2(0) while w = 0."""
    form = h_star**2 * psi(2 * v_star) / 2 + h**2 / 2 - h_star * h * psi(v_star)
    return form.subs(h, ramp()) / form.subs(h, sigma_init)


def observed_loss() -> sp.Expr:
    """(L-2) L_IH2 at T_o as w -> 0: h*^2 (psi(2v*) + 1 - 2 psi(v*)) / 2."""
    return h_star**2 * v_star**2 * coordinates.psi_bend(2 * v_star, v_star, sp.Integer(0))


def starting_loss() -> sp.Expr:
    """(L-2) L_IH2 at the start as sigma_init -> 0."""
    return h_star**2 * psi(2 * v_star) / 2


@cache
def approach(flow: str) -> tuple[sp.Expr, sp.Expr]:
    """Sum and product of the two rates at which (v, h) approaches (v*, h*), per tau."""
    chosen = {"true": HEAD_FLOW, "printed": HEAD_FLOW_PRINTED}[flow]
    squared = chosen.changed({v: w**2, h: h}, {w: sp.sqrt(v), h: h}).slowed(L - 2)
    linear = squared.linearised({v: v_star, h: h_star})
    return sp.simplify(-linear.trace()), sp.simplify(linear.det())


def smaller_root(trace: sp.Expr, determinant: sp.Expr) -> sp.Expr:
    """Of x^2 - trace x + determinant, free of cancellation."""
    return 2 * determinant / (trace + sp.sqrt(trace**2 - 4 * determinant))


@cache
def slow_rate(flow: str) -> sp.Expr:
    """mu: the smaller of the two rates at which (v, h) approaches (v*, h*), per tau."""
    return smaller_root(*approach(flow))


# -- the 4-gram head ---------------------------------------------------------------------------------------------------

p, g = coordinates.p, coordinates.g


@cache
def long_flow() -> Flow:
    """The flow of (p, g) as n -> oo with p > 0 fixed: M = 1/(1-u), M(2p)/M = 1/(1+u), m/M = u/(1-u)."""
    u = sp.exp(-p)
    inverse, share = 1 - u, 1 / (1 + u)
    misfit = g_star - g * share
    # m/M times 1/M is u; m(2p)/M(2p) times 1/M is u^2/(1+u)
    return Flow((p, g), (g * (u * misfit + g * share * u**2 / (1 + u)), inverse * misfit))


def long_loss() -> sp.Expr:
    """(19) as n -> oo with p > 0 fixed: 1/M = 1 - u, (M(2p) - 1)/M^2 = u^2 (1-u)/(1+u)."""
    u = sp.exp(-p)
    return (g_star - g * (1 - u)) ** 2 / 2 + g**2 * u**2 * (1 - u) / (1 + u) / 2


@cache
def gram_tail() -> sp.Expr:
    """L_G4 for large t, to leading order.

    g follows the zero of dg/dt, g = g* (1 + u) + O(u^3); there du/dt = -c u^3 + ...
    """
    u = sp.Symbol("u", positive=True)
    rate_p, rate_g = (rate.subs(sp.exp(-2 * p), u**2).subs(sp.exp(-p), u) for rate in long_flow().field)
    (slaved,) = sp.solve(rate_g, g)
    decay = sp.series(sp.simplify((u * rate_p).subs(g, slaved)), u, 0, 4).removeO().coeff(u, 3)
    loss = long_loss().subs(sp.exp(-2 * p), u**2).subs(sp.exp(-p), u).subs(g, slaved)
    leading = sp.series(sp.simplify(loss), u, 0, 3).removeO().coeff(u, 2)
    return leading * decayed(sp.oo, decay, 3, t) ** 2


@cache
def inner_flow() -> Flow:
    """(P, G) = (n p, n g) over s = g* t as n -> oo, while p is small: where sigma_init is of the order of 1/n.

    G' = 1/a(P), P' = G b(P)/a(P)^2, with n a(P) -> M and n^2 b(P) -> m; b/a by its series near 0 as in `slope_M`.
    """
    inverse = p / (1 - sp.exp(-p))
    closed = 1 / p - sp.exp(-p) / (1 - sp.exp(-p))
    series = -sum((coordinates.slope_coefficient(k) * p**k for k in range(6)), sp.Integer(0))
    slope = sp.Piecewise((series, p < coordinates.SMALL), (closed, True))
    return Flow((p, g), (g * slope * inverse, inverse))


@cache
def gram_time() -> sp.Expr:
    """T up to o(1) as sigma_init -> 0 and L -> oo, for the time T at which the 4-gram head is at some point.

    Near 0 the long flow is p' = g* g, g' = g* p: a saddle that p = g = x e^{g* t} leaves. Before, while n p = O(1), the
    inner flow takes (n sigma_init, n sigma_init) to n x = C(n sigma_init): C(X) = X (1 + o(1)) as X -> oo, C(0) > 0.
    """
    return sp.expand_log(past_saddle(reach / (L - 2), sp.exp(kappa), rate=g_star).time, force=True)


@cache
def long_series() -> dict[sp.Symbol, sp.Expr]:
    """The second-order terms of the orbit out of (0, 0): p = z + a z^2, g = z + b z^2 with z' = g* z."""
    z = sp.Dummy("z", positive=True)
    a, b = sp.symbols("a b")
    place = {p: z + a * z**2, g: z + b * z**2}
    rates = [sp.series(rate.subs(place), z, 0, 3).removeO() for rate in long_flow().field]
    wanted = [
        (g_star * z * sp.diff(x, z) - rate).expand().coeff(z, 2) for x, rate in zip(place.values(), rates, strict=True)
    ]
    found = sp.solve(wanted, (a, b))
    return {p: found[a], g: found[b]}


# -- the statements ----------------------------------------------------------------------------------------------------

# What the proofs ask for explicitly of "L = Omega(1/sigma_init)" (wang2024, Appendix C.1 Part I) and "w* = O(1)"
# (Appendix C.2 Part II).
NEGLIGIBLE = sp.Rational(1, 10_000)
LONG_ENOUGH = (
    sp.Lt((L - 3) * sp.exp(-(L - 3) * sigma_init), NEGLIGIBLE, evaluate=False),
    sp.Lt(sp.exp(-(L - 5) * sigma_init), NEGLIGIBLE, evaluate=False),
)
MODERATE = sp.Le(w_star**2, sp.Rational(3, 10), evaluate=False)
# (L-2) sigma_init of Figure 2: the reading of L = Omega(1/sigma_init) where no proof says more.
REACH = sp.Integer(10)

FINITE_START = Hypothesis(
    "sigma_init", sp.Lt(4 * sigma_init**4, 1, evaluate=False), "the loss (22) is infinite at the start otherwise"
)


def long_enough(sigma: Any) -> sp.Expr:
    """A length that meets LONG_ENOUGH.

    With x = (L-5) sigma = 2 log(1/(NEGLIGIBLE sigma)), e^-x is (NEGLIGIBLE sigma)^2. The first condition then has
    (2 + x/sigma) (NEGLIGIBLE sigma)^2 or less on its left.
    """
    return 5 + 2 * sp.log(1 / (NEGLIGIBLE * sigma)) / sigma


THETA = (alpha + 1) ** 2 * L * sp.log(1 / sigma_init) / w_star**2
EXPONENT = w_star**2 * t / ((1 + alpha) ** 2 * L)
