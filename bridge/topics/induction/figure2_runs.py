"""The run of the two layers that Figure 2 shows, and the phase times that it reaches."""

import math
from functools import lru_cache

from bridge.theorems.numbers import plain
from bridge.topics.induction.phase_times import gram_time
from bridge.topics.induction.trajectory import TwoLayerTrajectory, run
from symbolic.topics.induction import figure2 as theory
from symbolic.topics.induction import training as letters
from symbolic.words.errors import UsageError

BEYOND = 10  # the figure ends at this many T_III, or T_I if that is later
PHASE_TIMES = ("T_I", "T_o", "T_II", "T_III")


@lru_cache(maxsize=16)
def trajectory_of(L: int, alpha: float, w_star: float, sigma_init: float, flow: str) -> TwoLayerTrajectory:
    """Long enough for T_I and T_III, by their formulas; then cut to BEYOND times the later one.

    T_III by the growth of log w at the plateau, T_I by the orbit out of the saddle (0, 0).
    """
    letters.check_flow(flow, theory.FIGURE2.id)
    slowest = letters.FLOWS[flow].speed * w_star**2 / (1 + alpha) ** 2
    taus = 40 + (40 + 3 * math.log(1 / sigma_init)) / slowest
    gram = 2 * gram_time({"L": L, "alpha": alpha, "sigma_init": sigma_init, "w_star": w_star}, "loss") + 100
    long = run(L, alpha, w_star, sigma_init, flow=flow, end=max(taus * (L - 2), gram))
    if long.T_I is None or long.T_III is None:
        return long
    return run(L, alpha, w_star, sigma_init, flow=flow, end=BEYOND * max(long.T_I, long.T_III))


def reached(trajectory: TwoLayerTrajectory) -> dict[str, float]:
    """The phase times that the run reaches."""
    found = {name: getattr(trajectory, name) for name in PHASE_TIMES}
    return {name: time for name, time in found.items() if time is not None}


def unreached(trajectory: TwoLayerTrajectory) -> str:
    missing = ", ".join(name for name in PHASE_TIMES if name not in reached(trajectory))
    return f"{missing} is not reached by `t = {plain(trajectory.end)}`" if missing else ""


def phase_times(trajectory: TwoLayerTrajectory) -> dict[str, float]:
    """All of them. Raises UsageError for one that is not reached."""
    if missing := unreached(trajectory):
        raise UsageError(f"{theory.FIGURE2.id}: {missing}")
    return reached(trajectory)
