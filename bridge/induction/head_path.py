"""One run of (w, h), and what C.2 (wang2024) speaks of along it: its turns, its growth, its bounds.

Letters: eta = h/h*, tau = t/(L-2); `speed` is 1 on the flow (12), 2 on the paper's. T counts times.
"""

import math
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from typing import Any

import numpy as np

from bridge.induction.trajectory import HeadRun, run
from bridge.lowering import lower
from symbolic.induction import signs
from symbolic.induction.training import phi, v, v_star
from symbolic.statements import UsageError

SLACK = 1e-8  # relative: beyond it a float run is taken to exceed a bound (its own tolerance is 1e-10)
NEAR = 1e-6  # h/h* - 1 below which signs along the run are the solver's
NOISE = 1e-9  # of h/h* along a run
LOOKS = 4000


class HeadPath:
    """One run of (w, h), and what C.2 speaks of along it. Times are tau."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        self.alpha, self.w_star, self.start = (float(params[name]) for name in ("alpha", "w_star", "sigma_init"))
        self.h_star, self.v_star = 1 / (1 + self.alpha), self.w_star**2
        self.speed = signs.FLOWS[params["flow"]][1]
        self.rise = float(self._r(np.zeros(1))[0]) - 1  # psi(v*) - 1
        self.noise = NOISE + 1e-6 * self.rise
        slowest = self.speed * self.h_star**2 * self.v_star  # of the growth of log w at the plateau, about
        end = 40 + (20 + 3 * math.log(self.w_star / self.start)) / slowest
        self.head: HeadRun = run(3, self.alpha, self.w_star, self.start, flow=str(params["flow"]), end=end).head

    def states(self, taus: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """log w and eta at taus (T,)."""
        log_w, value, _ = self.head.at(taus)
        return log_w, value / self.h_star

    @cached_property
    def tau_1(self) -> float:
        return self._reached(self.head.tau_o, "h = h*")

    @cached_property
    def tau_half(self) -> float:
        return self._reached(self.head.first(lambda x: x[0] - math.log(self.w_star / 2)), "w = w*/2")

    @cached_property
    def tau_2(self) -> float:
        """Where h turns: the first time at which eta exceeds r(v), by more than the solver's noise on the plateau."""
        return self._reached(
            self.head.first(lambda x: x[1] / self.h_star - self._r(np.exp(2 * x[0])) - self.noise), "dh/dt = 0"
        )

    @cached_property
    def seen(self) -> np.ndarray:
        """Times at which the run is looked at: from 0 until h is near h* again."""
        end = self.head.end
        settled = self.head.first(lambda x: 1 + NEAR - x[1] / self.h_star, self.tau_2) or end
        times = np.array([self.tau_1, self.tau_2, self.tau_half])
        parts = [np.linspace(0, self.tau_1, LOOKS), np.linspace(self.tau_1, min(end, settled), LOOKS), times]
        return np.unique(np.concatenate(parts))

    def growth(self, taus: np.ndarray) -> np.ndarray:
        """d log w / d tau, from the field."""
        log_w, eta = self.states(taus)
        push, pull = _phis()(np.exp(2 * log_w), self.v_star)
        return np.asarray(self.speed * self.h_star**2 * eta * (push - eta * pull))

    def _r(self, v: np.ndarray) -> np.ndarray:
        return np.asarray(_r_curve()(v, self.v_star))

    def turns(self) -> int:
        """How often dh/dt changes its sign."""
        log_w, eta = self.states(self.seen)
        away = self._r(np.exp(2 * log_w)) - eta
        directions = np.sign(away[np.abs(away) > self.noise])
        return int(np.count_nonzero(directions[1:] != directions[:-1]))

    def mean_growth(self) -> tuple[np.ndarray, np.ndarray]:
        """Times up to tau_half, and log(w/sigma_init)/tau there."""
        taus = np.geomspace(1e-3, self.tau_half, LOOKS)
        return taus, (self.states(taus)[0] - math.log(self.start)) / taus

    def above(self, least: Callable[..., Any], until: float) -> float:
        """The least eta/least(tau) for 0 < tau <= `until` (at 0 both are the start)."""
        taus = np.linspace(0, until, LOOKS)[1:]
        return float(np.min(self.states(taus)[1] / least(taus)))

    def _reached(self, time: float | None, what: str) -> float:
        if time is None:
            raise UsageError(f"induction.trends: {what} is not reached by tau = {self.head.end:g}; raise sigma_init")
        return time


@cache
def _r_curve() -> Callable[..., Any]:
    return lower(signs.R_CURVE, args=(v, v_star))


@cache
def _phis() -> Callable[..., Any]:
    """phi(v+v*) and phi(2v)."""
    push, pull = lower(phi(v + v_star), args=(v, v_star)), lower(phi(2 * v), args=(v,))
    return lambda v, v_star: (push(v, v_star), pull(v))
