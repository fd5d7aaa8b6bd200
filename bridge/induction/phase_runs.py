"""The runs on which the phases of Theorem 5.5 (wang2024) are measured, each made once, as long as its phases need.

The flow of (w, h) has L in its time scale only, so that one run over tau serves every L.
"""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from bridge.induction import phase_times as times
from bridge.induction.theta import Point
from bridge.induction.trajectory import LEARNT, HeadRun, Trajectory, run
from symbolic.induction import phases

HALF = 0.5  # any w*: the flow of (p, g) does not depend on it
LATEST = 1e8


@lru_cache(maxsize=512)
def _gram_run(length: float, alpha: float, sigma_init: float) -> Trajectory:
    """Long enough for T_I, whose derived value is an estimate."""
    point = {"L": length, "alpha": alpha, "w_star": HALF, "sigma_init": sigma_init}
    return run(length, alpha, HALF, sigma_init, end=2 * times.gram_time(point, "loss") + 100)


@lru_cache(maxsize=512)
def _head_run(alpha: float, w_star: float, sigma_init: float, flow: str) -> HeadRun:
    """Long enough for T_III and its rate after: 60 times the slow time of the linear flow beyond."""
    point = {"L": 3, "alpha": alpha, "w_star": w_star, "sigma_init": sigma_init}  # L - 2 = 1: times are tau
    end = 2 * max(times.emergence_time(point, flow), 50.0) + 60 / times.slow_rate(point, flow)
    return HeadRun(alpha, w_star, sigma_init, flow, end)


def head_run(point: Point, flow: str) -> HeadRun:
    return _head_run(float(point["alpha"]), float(point["w_star"]), float(point["sigma_init"]), flow)


def gram_measured(point: Point) -> float | None:
    return _gram_run(float(point["L"]), point["alpha"], point["sigma_init"]).T_I


def value_measured(point: Point) -> float | None:
    return _gram_run(float(point["L"]), point["alpha"], point["sigma_init"]).T_1g


def head_time(share: float | None, flow: str, late: float = 1.0) -> Callable[[Point], float | None]:
    """The first time after T_o = `late` T_1^h at which L_IH2 is `share` of L_IH2(T_o); T_1^h itself for None."""

    def measure(point: Point) -> float | None:
        made = head_run(point, flow)
        tau = made.tau_o if share is None else made.falls_to(share, late)
        return None if tau is None else tau * (point["L"] - 2)

    return measure


def head_left(point: Point, flow: str) -> float:
    """L_IH2(T_I) / L_IH2(0)."""
    until = gram_measured(point)
    assert until is not None  # L_G4 -> 0
    tau, made = until / (point["L"] - 2), head_run(point, flow)
    if tau > made.end:
        made = HeadRun(float(point["alpha"]), float(point["w_star"]), float(point["sigma_init"]), flow, tau)
    first, last = made.at(np.array([0.0, tau]))[2]
    return math.exp(last - first)


def head_left_derived(point: Point) -> float | None:
    """None where the formulas of small starts do not apply."""
    if times.gram_start(point) or times.head_start(point):
        return None
    return _left_by_formula(point)


def _left_by_formula(point: Point) -> float:
    tau = times.gram_time(point, "loss") / (point["L"] - 2)
    return times.value(phases.head_left(), point, tau=tau)


def length_needed(point: Point) -> float:
    """The least L from which on 0.99 of L_IH2 is left at T_I, by bisection of the derived formula in log L."""
    low, high = math.log(5.0), math.log(1e12)
    for _ in range(60):
        middle = (low + high) / 2
        enough = _left_by_formula({**point, "L": math.exp(middle)}) >= float(phases.KEPT)
        low, high = (low, middle) if enough else (middle, high)
    return math.exp(high)


def exponent_at(tau_of: Callable[[Point], float], flow: str) -> Callable[[Point], float | None]:
    """log(w / sigma_init) at a tau."""

    def measure(point: Point) -> float | None:
        found = head_run(point, flow).at(np.array([0.0, tau_of(point)]))[0]
        return float(found[1] - found[0])

    return measure


def fall_between(
    first: Callable[[Point], float], last: Callable[[Point], float | None], flow: str
) -> Callable[[Point], float | None]:
    """log(L_IH2 at the first tau / L_IH2 at the last); None where the last is not reached."""

    def measure(point: Point) -> float | None:
        end = last(point)
        if end is None:
            return None
        found = head_run(point, flow).at(np.array([first(point), end]))[2]
        return float(found[0] - found[1])

    return measure


def fall_to_learnt(flow: str, *, absolute: bool) -> Callable[[Point], float | None]:
    """-log L_IH2(T_III) itself, or against the log of the loss at the start; None without a T_III."""

    def measure(point: Point) -> float | None:
        made = head_run(point, flow)
        end = made.falls_to(LEARNT)
        if end is None:
            return None
        first, last = made.at(np.array([0.0, end]))[2]
        return float(math.log(point["L"] - 2) - last if absolute else first - last)

    return measure


def gram_loss_at(point: Point) -> float:
    """L_G4 at the time `t` of the point."""
    made = _long_gram_run(float(point["L"]), float(point["alpha"]), float(point["sigma_init"]))
    return float(made.gram.loss(made.gram.path.at(point["t"]))[0])


@lru_cache(maxsize=64)
def _long_gram_run(length: float, alpha: float, sigma_init: float) -> Trajectory:
    return run(length, alpha, HALF, sigma_init, end=LATEST)
