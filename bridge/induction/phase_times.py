"""The leading constants of the phase times (wang2024, Theorem 5.5) at numbers: closed forms, and orbits out of saddles.

An orbit is followed from its series at a saddle; sigma_init is in none of them.
"""

import math
from functools import cache, lru_cache
from typing import Any

import numpy as np
import sympy as sp

from bridge.export.numbers import plain
from bridge.induction.trajectory import KEPT, LEARNT, early_loss, lowered_flow, stride
from bridge.lowering import lower
from numeric.flows import integrate
from symbolic.induction import coordinates, phases
from symbolic.induction.training import L as LENGTH
from symbolic.induction.training import g_star, h_star, sigma_init, t, v_star, w_star

START = 1e-5  # an orbit starts where what its series leaves out is below 1e-10
FAR = 40.0  # e^-FAR is nothing beside 1
_NO_SMALL_START = "no formula: sigma_init is not small enough here"

SYMBOLS = (LENGTH, g_star, h_star, v_star, w_star, sigma_init, phases.kappa, phases.reach, phases.tau, t)


@cache
def _function(formula: sp.Expr) -> Any:
    return lower(formula, args=SYMBOLS)


def value(formula: sp.Expr, point: dict[str, Any], **more: float) -> float:
    """The formula at a point (L, alpha, w_star, sigma_init), and `more` (kappa, C, tau, t)."""
    alpha, target = float(point["alpha"]), float(point["w_star"])
    numbers = {
        "L": float(point["L"]),
        "g_star": alpha / (1 + alpha),
        "h_star": 1 / (1 + alpha),
        "v_star": target**2,
        "w_star": target,
        "sigma_init": float(point["sigma_init"]),
        **more,
    }
    return float(_function(formula)(*(numbers.get(symbol.name, math.nan) for symbol in SYMBOLS)))


def head_time(point: dict[str, Any], flow: str, share: float, observed: float = 1.0) -> float:
    """The two-term formula of T - the first time at which L_IH2 is `share` of L_IH2(T_o) - as w leaves 0.

    `observed` is h/h* at T_o.
    """
    kappa = head_kappa(float(point["alpha"]), float(point["w_star"]), flow, share, observed)
    return value(phases.head_time(flow), point, kappa=kappa) * (point["L"] - 2)


def observation_time(point: dict[str, Any]) -> float:
    """T_o: 0 where h starts above h*."""
    if point["sigma_init"] >= 1 / (1 + point["alpha"]):
        return 0.0
    return value(phases.observation_time(), point) * (point["L"] - 2)


def overshoots(w_star: float) -> bool:
    """Whether h's overshoot alone takes 1 % of the loss."""
    low, high = phases.overshoot_range()
    return float(low) < w_star < float(high)


def plateau_time(point: dict[str, Any], flow: str) -> float:
    """T_II: by the overshoot where that suffices, else with the growth of w."""
    if overshoots(point["w_star"]):
        return value(phases.overshoot_time(), point) * (point["L"] - 2)
    return head_time(point, flow, KEPT)


def late_value(point: dict[str, Any]) -> float:
    """h/h* at 2 T_1^h."""
    return value(phases.late_value(), point)


def late_plateau_time(point: dict[str, Any], flow: str) -> float:
    """T_II for T_o = 2 T_1^h: with the growth of w at every w*."""
    return head_time(point, flow, KEPT, late_value(point))


def late_start(point: dict[str, Any], flow: str) -> str:
    """Why `late_plateau_time` does not apply here; "" where it does."""
    reason = head_start(point)
    if reason or late_plateau_time(point, flow) > 2 * observation_time(point):
        return reason
    return _NO_SMALL_START


def emergence_time(point: dict[str, Any], flow: str) -> float:
    """T_III."""
    return head_time(point, flow, LEARNT)


@lru_cache(maxsize=256)
def head_kappa(alpha: float, w_star: float, flow: str, share: float, observed: float = 1.0) -> float:
    """kappa of `phases.head_time`: from the orbit out of (0, h* psi(v*)) to where the loss is `share` of L_IH2(T_o).

    At T_o w is 0 and h is `observed` h*.

    log w = y_0 + lambda tau all along an exponential through the orbit's start, so that log w* + kappa is y_0 + lambda
    tau at the end of the orbit.
    """
    point = {"L": math.nan, "alpha": alpha, "w_star": w_star, "sigma_init": math.nan}
    rate = value(phases.growth_rate(flow), point)
    start = math.log(START * w_star)
    slope = value(phases.manifold_slope(flow), point)
    value_of_head = value(phases.plateau(), point) + slope * math.exp(2 * start)
    values = (1 / (1 + alpha), w_star**2)
    lowered = lowered_flow(coordinates.early_flow(flow), (h_star, v_star), values)
    longest = 4 * (-start + 10) / rate + 50
    at_observation = float(early_loss()(-np.inf, observed * values[0], *values))

    def fallen(states: np.ndarray, share: float = share) -> np.ndarray:
        return np.asarray(share * at_observation - early_loss()(*states, *values))

    path = integrate(
        lowered.field,
        (start, value_of_head),
        longest,
        jacobian=lowered.jacobian,
        stop=lambda x: fallen(x, share / 2),
        longest_step=stride(lowered, values),
    )
    duration = path.first(fallen)
    assert duration is not None  # the orbit ends at the optimum, where the loss is 0
    return rate * duration + start - math.log(w_star)


def gram_time(point: dict[str, Any], until: str) -> float:
    """T_I (`until` "loss") or T_1^g ("value"), to o(1)."""
    alpha = float(point["alpha"])
    kappa = gram_kappa(alpha, until)
    reached = gram_reach((point["L"] - 2) * float(point["sigma_init"]))
    return value(phases.gram_time(), point, kappa=kappa, C=reached)


@lru_cache(maxsize=256)
def gram_kappa(alpha: float, until: str) -> float:
    """kappa of `phases.gram_time`: g* T + log z_0 on the orbit out of (0, 0), from z_0, as n -> oo."""
    g_top = alpha / (1 + alpha)
    lowered = lowered_flow(phases.long_flow(), (g_star,), (g_top,))
    second = phases.long_series()
    start = [START + START**2 * float(second[x].subs(g_star, g_top)) for x in (coordinates.p, coordinates.g)]
    path = integrate(lowered.field, start, 1e3 / g_top**2 + 1e2 / g_top, jacobian=lowered.jacobian)
    loss = lower(phases.long_loss(), args=(coordinates.p, coordinates.g, g_star))
    events = {
        "loss": lambda x: LEARNT * g_top**2 / 2 - loss(*x, g_top),
        "value": lambda x: x[1] - g_top,
    }
    duration = path.first(events[until])
    assert duration is not None  # L_G4 falls to 0 as 1/(4t)
    return g_top * duration + math.log(START)


@lru_cache(maxsize=256)
def gram_reach(start: float) -> float:
    """C(X) of `phases.gram_time`: the orbit from (X, X) becomes P + G = 2 C e^s."""
    if start > FAR:
        return start
    lowered = lowered_flow(phases.inner_flow(), (), ())
    path = integrate(lowered.field, (start, start), FAR, jacobian=lowered.jacobian, stop=lambda x: x[0] - FAR)
    return float(path.steps[:, -1].sum()) / 2 * math.exp(-path.end)


def gram_start(point: dict[str, Any], until: str = "loss") -> str:
    """Why `gram_time` does not apply here; "" where it does."""
    top = float(point["alpha"]) / (1 + float(point["alpha"]))
    if point["sigma_init"] >= top:
        return f"no formula: sigma_init = {plain(point['sigma_init'])} is not below g* = {plain(top)}"
    return "" if gram_time(point, until) > 0 else "no formula: sigma_init and 1/L are not small enough here"


def head_start(point: dict[str, Any], share: float | None = None, flow: str = "true") -> str:
    """Why the formulas of the head (up to this share of L_IH2(T_o)) do not apply here; "" where they do."""
    sigma, tops = float(point["sigma_init"]), {"h*": 1 / (1 + float(point["alpha"])), "w*": float(point["w_star"])}
    beyond = [f"{name} = {plain(top)}" for name, top in tops.items() if sigma >= top]
    if beyond:
        return f"no formula: sigma_init = {plain(sigma)} is not below {' and '.join(beyond)}"
    if share is None:
        return ""
    then = plateau_time(point, flow) if share == KEPT else head_time(point, flow, share)
    return "" if then > observation_time(point) else _NO_SMALL_START


def slow_rate(point: dict[str, Any], flow: str) -> float:
    """mu, per unit of tau."""
    return value(phases.slow_rate(flow), point)
