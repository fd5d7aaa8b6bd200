"""The runs on which the phases of Theorem 5.5 (wang2024) are measured, each made once, as long as its phases need.

The flow of (w, h) has L in its time scale only, so that one run over tau serves every L.
"""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from bridge.topics.induction import phase_times as times
from bridge.topics.induction.trajectory import LEARNT, HeadRun, TwoLayerTrajectory, run
from symbolic.statements.paths import Point
from symbolic.topics.induction.coordinates import GRAM_LOSS

HALF = 0.5  # any w*: the flow of (p, g) does not depend on it
LATEST = 1e8

Measure = Callable[[Point], float | None]  # None where a run does not reach what is asked for


# -- the 4-gram head ---------------------------------------------------------------------------------------------------


@lru_cache(maxsize=512)
def _gram_run(length: float, alpha: float, sigma_init: float, end: float | None = None) -> TwoLayerTrajectory:
    """Long enough for T_I, whose derived value is an estimate, or until `end`."""
    point = {"L": length, "alpha": alpha, "w_star": HALF, "sigma_init": sigma_init}
    return run(length, alpha, HALF, sigma_init, end=end or 2 * times.gram_time(point, "loss") + 100)


def gram_run(point: Point, end: float | None = None) -> TwoLayerTrajectory:
    return _gram_run(float(point["L"]), float(point["alpha"]), float(point["sigma_init"]), end)


def gram_measured(point: Point) -> float | None:
    return gram_run(point).T_I


def value_measured(point: Point) -> float | None:
    return gram_run(point).T_1g


def gram_loss_at(point: Point) -> float:
    """L_G4 at the time `t` of the point."""
    return float(gram_run(point, LATEST).gram.at(point["t"], GRAM_LOSS)[0, 0])


# -- the induction head ------------------------------------------------------------------------------------------------


@lru_cache(maxsize=512)
def _head_run(alpha: float, w_star: float, sigma_init: float, flow: str) -> HeadRun:
    """Long enough for T_III and its rate after: 60 times the slow time of the linear flow beyond."""
    point = {"L": 3, "alpha": alpha, "w_star": w_star, "sigma_init": sigma_init, "flow": flow}  # L - 2 = 1: in tau
    end = 2 * max(times.emergence_time(point), 50.0) + 60 / times.slow_rate(point)
    return HeadRun(alpha, w_star, sigma_init, flow, end)


def head_run(point: Point) -> HeadRun:
    return _head_run(float(point["alpha"]), float(point["w_star"]), float(point["sigma_init"]), point["flow"])


def head_time(share: float | None, late: float = 1.0) -> Measure:
    """The first time after T_o = `late` T_1^h at which L_IH2 is `share` of L_IH2(T_o); T_1^h itself for None."""

    def measure(point: Point) -> float | None:
        made = head_run(point)
        tau = made.tau_o if share is None else made.falls_to(share, late)
        return None if tau is None else tau * (point["L"] - 2)

    return measure


def grown(point: Point) -> float:
    """log(w / sigma_init) at the `tau` of the point."""
    found = head_run(point).at(np.array([0.0, point["tau"]]))[0]
    return float(found[1] - found[0])


def fallen_after_learning(point: Point) -> float:
    """By how much log L_IH2 falls over the `tau` of the point, 25 slow times after T_III."""
    start = max(times.emergence_time(point) / (point["L"] - 2), 0.0) + 25 / times.slow_rate(point)
    found = head_run(point).at(np.array([start, start + point["tau"]]))[2]
    return float(found[0] - found[1])


def log_loss_learnt(point: Point) -> tuple[float, float] | None:
    """log((L-2) L_IH2) at the start and at T_III; None without a T_III."""
    made = head_run(point)
    end = made.falls_to(LEARNT)
    if end is None:
        return None
    first, last = made.at(np.array([0.0, end]))[2]
    return float(first), float(last)


def log_loss_at_end(point: Point) -> float | None:
    """-log L_IH2(T_III)."""
    found = log_loss_learnt(point)
    return None if found is None else math.log(point["L"] - 2) - found[1]


def fallen_by_end(point: Point) -> float | None:
    """log(L_IH2(0) / L_IH2(T_III))."""
    found = log_loss_learnt(point)
    return None if found is None else found[0] - found[1]


def head_left(point: Point) -> float | None:
    """L_IH2(T_I) / L_IH2(0); None where the run does not reach T_I."""
    until = gram_measured(point)
    if until is None:
        return None
    tau, made = until / (point["L"] - 2), head_run(point)
    if tau > made.end:
        made = HeadRun(float(point["alpha"]), float(point["w_star"]), float(point["sigma_init"]), point["flow"], tau)
    first, last = made.at(np.array([0.0, tau]))[2]
    return math.exp(last - first)
