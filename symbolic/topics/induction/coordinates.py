"""The flows and losses of section 5 (wang2024) in coordinates in which none of their digits is lost.

The losses (19) and (22) are sums that cancel near their minimum, the flow of w spans tens of decades, and the sums M
and m lose digits as p (L-2) -> 0. The forms below are equal to those of `training` (the tests prove it) and free of
cancellation: differences of psi and phi are divided by the difference of their arguments.
"""

from functools import cache

import sympy as sp

from symbolic.dynamics import Flow
from symbolic.topics.induction.training import FLOWS, L, g, g_star, h_star, p, phi, psi, v, v_star, w
from symbolic.topics.induction.training import h as head_value

y = sp.Symbol("y", real=True)  # log w
h = sp.Symbol("h", real=True)
r = sp.Symbol("r", real=True)  # log of the distance of (v, h) to (v*, h*)
theta = sp.Symbol("theta", real=True)  # its direction
delta, eta = sp.symbols("delta eta", real=True)  # v - v*, h - h*

SMALL = sp.Rational(1, 100)  # below it the series of `slope_M` is exact to float64


def inverse_M(p: sp.Expr, n: sp.Expr = L - 2) -> sp.Expr:
    return (1 - sp.exp(-p)) / (1 - sp.exp(-n * p))


def share_M(p: sp.Expr, n: sp.Expr = L - 2) -> sp.Expr:
    """M(2p) / M(p)."""
    return (1 + sp.exp(-n * p)) / (1 + sp.exp(-p))


def tail_M(p: sp.Expr, n: sp.Expr = L - 2) -> sp.Expr:
    """M(2p) - 1, the sum without its first term."""
    return sp.exp(-2 * p) * (1 - sp.exp(-2 * p * (n - 1))) / (1 - sp.exp(-2 * p))


def slope_M(p: sp.Expr, n: sp.Expr = L - 2) -> sp.Expr:
    """m(p) / M(p) = -d log M / dp, by its series where the two terms cancel."""
    series = sum((slope_coefficient(k) * p**k * (1 - n ** (k + 1)) for k in range(6)), sp.Integer(0))
    closed = sp.exp(-p) / (1 - sp.exp(-p)) - n * sp.exp(-n * p) / (1 - sp.exp(-n * p))
    return sp.Piecewise((series, n * p < SMALL), (closed, True))


@cache
def slope_coefficient(k: int) -> sp.Expr:
    """The coefficient of x^k of 1/(e^x - 1) - 1/x: B_{k+1} / (k+1)!."""
    bernoulli = sp.Rational(-1, 2) if k == 0 else sp.bernoulli(k + 1)
    return bernoulli / sp.factorial(k + 1)


# (p, g): the flow of (19) with M(2p)/M(p), m/M and 1/M in these forms.
_misfit = g_star - g * share_M(p)
GRAM_FLOW = Flow(
    (p, g),
    (
        g * inverse_M(p) * (slope_M(p) * _misfit + g * share_M(p) * slope_M(2 * p)),
        inverse_M(p) * _misfit,
    ),
)
# (19): the square of what is missing at x_{L-2}, plus the squares of the other weights.
GRAM_LOSS = (g_star - g * inverse_M(p)) ** 2 / 2 + g**2 * tail_M(p) * inverse_M(p) ** 2 / 2


def psi_slope(a: sp.Expr, b: sp.Expr) -> sp.Expr:
    """(psi(a) - psi(b)) / (a - b)."""
    return (a + b) * psi(a) ** 2 * psi(b) ** 2 / (psi(a) + psi(b))


def phi_slope(a: sp.Expr, b: sp.Expr) -> sp.Expr:
    """(phi(a) - phi(b)) / (a - b), with phi(x) = x psi(x)^3."""
    return psi(a) ** 3 + b * psi_slope(a, b) * (psi(a) ** 2 + psi(a) * psi(b) + psi(b) ** 2)


def psi_bend(a: sp.Expr, m: sp.Expr, c: sp.Expr) -> sp.Expr:
    """(psi_slope(a, m) - psi_slope(c, m)) / (a - c)."""
    x, y, z = psi(a), psi(m), psi(c)
    return y**2 * (x**2 / (x + y) + (c + m) * psi_slope(a, c) * (x * z + y * (x + z)) / ((x + y) * (z + y)))


# (L-2) times (22) as a quadratic form in delta = v - v* and eta = h - h*.
HEAD_LOSS = (
    h_star**2 * psi_bend(2 * v_star, v + v_star, 2 * v) * delta**2
    + h_star * eta * delta * psi_slope(2 * v, v + v_star)
    + eta**2 * psi(2 * v) / 2
)


@cache
def speed(flow: str) -> sp.Expr:
    """The number c of dv/d tau = c v h (h* phi(v+v*) - h phi(2v)), tau = t/(L-2): 2 for the true flow."""
    pull = v * head_value * (h_star * phi(v + v_star) - head_value * phi(2 * v))
    rate = (FLOWS[flow].flow.along(w**2) * (L - 2)).subs(w, sp.sqrt(v))
    factor = sp.simplify(rate / pull)
    assert factor.is_number  # the two flows of section 5 differ by a factor only
    return factor


@cache
def early_flow(flow: str) -> Flow:
    """(log w, h) over tau = t/(L-2): while w is small."""
    small = sp.exp(2 * y)
    growth = speed(flow) / 2 * h * (h_star * phi(small + v_star) - h * phi(2 * small))
    return Flow((y, h), (growth, h_star * psi(small + v_star) - h * psi(2 * small)))


@cache
def deviation_flow(flow: str) -> Flow:
    """(log w, eta = h - h*) over tau: `early_flow` in which h passes h* with all digits, however small psi(v*) - 1."""
    small = sp.exp(2 * y)
    growth = early_flow(flow).field[0].subs(h, h_star + eta)
    rise = h_star * (v_star - small) * psi_slope(small + v_star, 2 * small) - eta * psi(2 * small)
    return Flow((y, eta), (growth, rise))


@cache
def late_flow(flow: str) -> Flow:
    """(log rho, theta) over tau, (v, h) = (v*, h*) + rho (cos theta, sin theta): up to any distance of the optimum.

    With a - b = v* - v: h* phi(v+v*) - h phi(2v) = -eta phi(2v) - h* delta phi_slope(v+v*, 2v), and so for psi.
    """
    across, up = sp.cos(theta), sp.sin(theta)
    here, value = v_star + sp.exp(r) * across, h_star + sp.exp(r) * up
    near, double = here + v_star, 2 * here
    rate_v = -speed(flow) * here * value * (up * phi(double) + h_star * across * phi_slope(near, double))
    rate_h = -up * psi(double) - h_star * across * psi_slope(near, double)
    return Flow((r, theta), (across * rate_v + up * rate_h, across * rate_h - up * rate_v))


# log of (L-2) times (22), in the coordinates of `late_flow`.
LATE_LOG_LOSS = 2 * r + sp.log(
    HEAD_LOSS.subs({delta: sp.cos(theta), eta: sp.sin(theta)}).subs(v, v_star + sp.exp(r) * sp.cos(theta))
)
# (L-2) times (22) in those of `deviation_flow`, and of `early_flow`.
DEVIATION_LOSS = HEAD_LOSS.subs(delta, sp.exp(2 * y) - v_star).subs(v, sp.exp(2 * y))
EARLY_LOSS = DEVIATION_LOSS.subs(eta, h - h_star)
# What a run shows: log w, h, h - h* and the log of (L-2) times (22), in the coordinates of `deviation_flow` and of
# `late_flow`.
log_w, value, above, log_loss = sp.symbols("log_w value above log_loss", real=True)
EARLY_VIEWS = {log_w: y, value: h_star + eta, above: eta, log_loss: sp.log(DEVIATION_LOSS)}
_across, _up = sp.exp(r) * sp.cos(theta), sp.exp(r) * sp.sin(theta)
LATE_VIEWS = {log_w: sp.log(v_star + _across) / 2, value: h_star + _up, above: _up, log_loss: LATE_LOG_LOSS}
