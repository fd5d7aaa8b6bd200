"""The leading constants of the phase times (wang2024, Theorem 5.5) at numbers: closed forms, and orbits out of saddles.

An orbit is followed from its series at a saddle; sigma_init is in none of them.
"""

import math
from functools import lru_cache

import sympy as sp

from bridge.judging.laws import Numbers, value_at
from bridge.lowering.formula import evaluate
from bridge.theorems.numbers import plain
from bridge.topics.induction.trajectory import KEPT, LEARNT, level, numbers_at, stride
from bridge.topics.tools.flows import follow
from symbolic.statements.paths import Point
from symbolic.topics.induction import coordinates, training
from symbolic.topics.induction import phases_derivation as phases
from symbolic.topics.induction.training import L as LENGTH
from symbolic.topics.induction.training import g_star, h_star

START = 1e-5  # an orbit starts where what its series leaves out is below 1e-10
FAR = 40.0  # e^-FAR is nothing beside 1


def value(formula: sp.Expr, point: Point, more: Numbers | None = None) -> float:
    """The formula at a point, and at `more` (kappa, C, tau)."""
    return value_at(formula, point, {**numbers_at(**point), **(more or {})})


# -- the induction head ------------------------------------------------------------------------------------------------


def observation_time(point: Point) -> float:
    """T_o: 0 where h starts above h*."""
    if point["sigma_init"] >= 1 / (1 + point["alpha"]):
        return 0.0
    return value(phases.observation_time(), point) * (point["L"] - 2)


def overshoots(w_star: float) -> bool:
    """Whether h's overshoot alone takes 1 % of the loss."""
    low, high = phases.overshoot_range()
    return float(low) < w_star < float(high)


def plateau_formula(point: Point) -> sp.Expr:
    """T_II: by the overshoot where that suffices, else with the growth of w."""
    return (LENGTH - 2) * (phases.overshoot_time() if overshoots(point["w_star"]) else phases.head_time(point["flow"]))


def kappa_until(point: Point, share: float) -> float:
    return head_kappa(float(point["alpha"]), float(point["w_star"]), point["flow"], share)


def late_kappa(point: Point) -> float:
    """That of T_II for T_o = 2 T_1^h."""
    observed = value(phases.late_value(), point)
    return head_kappa(float(point["alpha"]), float(point["w_star"]), point["flow"], KEPT, observed)


def emergence_time(point: Point) -> float:
    """T_III."""
    return value((LENGTH - 2) * phases.head_time(point["flow"]), point, {phases.kappa: kappa_until(point, LEARNT)})


def slow_rate(point: Point) -> float:
    """mu, per unit of tau."""
    return value(phases.slow_rate(point["flow"]), point)


@lru_cache(maxsize=256)
def head_kappa(alpha: float, w_star: float, flow: str, share: float, observed: float = 1.0) -> float:
    """kappa of `phases.head_time`: from the orbit out of (0, h* psi(v*)) to where the loss is `share` of L_IH2(T_o).

    At T_o w is 0 and h is `observed` h*.

    log w = y_0 + lambda tau all along an exponential through the orbit's start, so that log w* + kappa is y_0 + lambda
    tau at the end of the orbit.
    """
    point = {"alpha": alpha, "w_star": w_star}
    rate = value(phases.growth_rate(flow), point)
    start = math.log(START * w_star)
    slope = value(phases.manifold_slope(flow), point)
    value_of_head = value(phases.plateau(), point) + slope * math.exp(2 * start)
    chosen, letters = coordinates.early_flow(flow), numbers_at(alpha=alpha, w_star=w_star)
    loss, top = coordinates.EARLY_LOSS, letters[h_star]
    wanted = share * float(evaluate(loss, {**letters, coordinates.y: -math.inf, coordinates.h: observed * top}))
    run = follow(
        chosen,
        {coordinates.y: start, coordinates.h: value_of_head},
        4 * (-start + 10) / rate + 50,
        {**letters, level: wanted},
        stop=level / 2 - loss,
        longest_step=stride(chosen, top, letters),
    )
    duration = run.first(level - loss)
    assert duration is not None  # the orbit ends at the optimum, where the loss is 0
    return rate * duration + start - math.log(w_star)


def head_start(point: Point) -> str:
    """Why the formulas of the head do not apply here; "" where they do."""
    sigma, tops = float(point["sigma_init"]), {"h*": 1 / (1 + float(point["alpha"])), "w*": float(point["w_star"])}
    beyond = [f"`{name} = {plain(top)}`" for name, top in tops.items() if sigma >= top]
    return f"no formula: `sigma_init = {plain(sigma)}` is not below {' and '.join(beyond)}" if beyond else ""


# -- the 4-gram head ---------------------------------------------------------------------------------------------------


def gram_orbits(point: Point, until: str) -> Numbers:
    """kappa and C of `phases.gram_time`."""
    reached = gram_reach((point["L"] - 2) * float(point["sigma_init"]))
    return {phases.kappa: gram_kappa(float(point["alpha"]), until), phases.reach: reached}


def gram_time(point: Point, until: str) -> float:
    """T_I (`until` "loss") or T_1^g ("value"), to o(1)."""
    return value(phases.gram_time(), point, gram_orbits(point, until))


@lru_cache(maxsize=256)
def gram_kappa(alpha: float, until: str) -> float:
    """kappa of `phases.gram_time`: g* T + log z_0 on the orbit out of (0, 0), from z_0, as n -> oo."""
    g_top = alpha / (1 + alpha)
    start = {x: START + START**2 * float(second.subs(g_star, g_top)) for x, second in phases.long_series().items()}
    run = follow(phases.long_flow(), start, 1e3 / g_top**2 + 1e2 / g_top, {g_star: g_top})
    events = {"loss": training.LEARNT * g_star**2 / 2 - phases.long_loss(), "value": coordinates.g - g_star}
    duration = run.first(events[until])
    assert duration is not None  # L_G4 falls to 0 as 1/(4t)
    return g_top * duration + math.log(START)


@lru_cache(maxsize=256)
def gram_reach(start: float) -> float:
    """C(X) of `phases.gram_time`: the orbit from (X, X) becomes P + G = 2 C e^s."""
    if start > FAR:
        return start
    inner = phases.inner_flow()
    run = follow(inner, dict.fromkeys(inner.state, start), FAR, stop=inner.state[0] - FAR)
    return sum(run.last(*inner.state)) / 2 * math.exp(-run.end)


def gram_start(point: Point) -> str:
    """Why `gram_time` does not apply here; "" where it does."""
    top = float(point["alpha"]) / (1 + float(point["alpha"]))
    if point["sigma_init"] >= top:
        return f"no formula: `sigma_init = {plain(point['sigma_init'])}` is not below `g* = {plain(top)}`"
    return ""
