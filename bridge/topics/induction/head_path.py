"""One run of (w, h), and what C.2 (wang2024) bounds along it: its turns, its growth, its values.

Letters: eta = h/h*, tau = t/(L-2), rise = (eta - 1)/v*^2; `speed` is 1 on the flow (12), 2 on the paper's. T counts
times. The run has the coordinates of `signs.scaled_flow`, in which no digit is lost where w* is small.
"""

import itertools
import math
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import sympy as sp

from bridge.lowering.formula import evaluate
from bridge.theorems.numbers import plain
from bridge.topics.induction.trajectory import STRIDE, numbers_at
from bridge.topics.tools.flows import JoinedTrajectory, Trajectory, follow
from numeric.tools.integration_error import IntegrationError
from symbolic.topics.induction.signs import RISE, SCALED_VIEWS, W_SHARE, gain, lag, rise, scaled_flow
from symbolic.topics.induction.training import FLOWS, h_star, sigma_init, v, v_star

SLACK = 1e-8  # relative: beyond it a float run is taken to exceed a bound (its own tolerance is 1e-10)
NEAR = 1e-5  # of the crest of h, and of log w: nearer to the optimum the run ends
NOISE = 1e-8  # of a time tau at which something happens
LOOKS = 4000
MOST_GAIN = 150  # of log w: the lag of h begins at the size (w*/sigma_init)^2
ENDED = sp.Min(NEAR * RISE.subs(v, 0) - sp.Abs(rise), NEAR - sp.Abs(sp.log(W_SHARE)))


class UnreachedError(Exception):
    """An event does not happen along the run: the message names it and the end of the run."""


class HeadPath:
    """One run of (w, h), and what C.2 bounds along it. Times are tau. Raises IntegrationError."""

    def __init__(self, alpha: float, w_star: float, start: float, flow: str) -> None:
        self.letters = {**numbers_at(alpha=alpha, w_star=w_star), sigma_init: float(start)}
        self.w_star, self.start = float(w_star), float(start)
        self.h_star, self.v_star = self.letters[h_star], self.letters[v_star]
        self.flow = scaled_flow(flow)
        self.crest = self._value(RISE, {v: 0.0})  # of (h/h* - 1)/v*^2 while w is small
        # of the growth of log w at the plateau, about
        self.slowest = FLOWS[flow].speed * self.h_star**2 * self.v_star
        self.way = math.log(self.w_star / self.start)  # log(w/sigma_init) at the optimum
        self.run = self._run()

    def _value(self, formula: sp.Expr, more: dict[sp.Symbol, float]) -> float:
        return float(evaluate(formula, {**self.letters, **more}))

    def _run(self) -> JoinedTrajectory:
        if self.way > MOST_GAIN:
            raise IntegrationError(f"sigma_init = {plain(self.start)} is below e^-{MOST_GAIN} w*, too small for floats")
        growth = self.flow.field[0]
        at_once = [self._value(growth, {gain: x, lag: self._lag(x, 0.0)}) for x in (0.0, self.way - STRIDE)]

        def part(state: tuple[float, ...], end: float) -> Trajectory:
            return follow(
                self.flow,
                dict(zip(self.flow.state, state, strict=True)),
                end,
                self.letters,
                stop=ENDED,
                views=SCALED_VIEWS,
                relative=1e-10,
                longest_step=STRIDE / max(*at_once, self.slowest),
                absolute=(1e-15 * self.slowest, 1e-10 * self.slowest),
            )

        eta = self.start / self.h_star
        start = (0.0, self._lag(0.0, (eta - 1) / self.v_star**2))
        ramp = 10 + math.log(1 + abs(start[1]) / self.slowest)  # until h is where it rests, which w moves slowly
        # in two parts, as the flow is stiff after the ramp: at its start LSODA chooses its method anew
        first = part(start, ramp)
        if first.end < ramp:
            return JoinedTrajectory((first,))
        rest = 30 + (20 + 3 * self.way) / self.slowest
        return JoinedTrajectory((first, part(first.last(gain, lag), rest)))

    def _lag(self, gained: float, above: float) -> float:
        """(h/h* - r(v))/(v v*), of (h/h* - 1)/v*^2."""
        here = self.start**2 * math.exp(2 * gained)
        return (above - self._value(RISE, {v: here})) * self.v_star / here

    def states(self, taus: np.ndarray) -> np.ndarray:
        """log(w/sigma_init), (h/h* - 1)/v*^2 and (h/h* - r(v))/(v v*) at taus (T,)."""
        return self.run.at(taus, gain, rise, lag)

    def eta(self, taus: np.ndarray) -> np.ndarray:
        """h/h*."""
        return 1 + self.v_star**2 * self.states(taus)[1]

    @cached_property
    def crosses(self) -> float | None:
        return self.run.first(rise)

    @cached_property
    def peaks(self) -> float | None:
        return self.run.first(lag)

    @property
    def tau_1(self) -> float:
        return self._reached(self.crosses, "h = h*")

    @cached_property
    def tau_half(self) -> float:
        return self._reached(self.run.first(2 * W_SHARE - 1), "w = w*/2")

    @property
    def tau_2(self) -> float:
        """Where h turns."""
        return self._reached(self.peaks, "dh/dt = 0")

    @cached_property
    def sampled(self) -> np.ndarray:
        """Times at which the run is sampled: from 0 to its end, with its turns."""
        times = [0.0, *sorted(time for time in (self.crosses, self.peaks) if time), self.run.end]
        parts = [np.linspace(a, b, LOOKS) for a, b in itertools.pairwise(times)]
        return np.unique(np.concatenate(parts))

    @cached_property
    def along(self) -> np.ndarray:
        """`states` at the times `sampled`."""
        return self.states(self.sampled)

    def least_growth(self) -> float:
        """The least d log w / d tau, by the field."""
        gained, _, lags = self.along
        return float(evaluate(self.flow.field[0], {**self.letters, gain: gained, lag: lags}).min())

    def late(self) -> np.ndarray:
        """h/h* from T_1^h on."""
        return 1 + self.v_star**2 * self.along[1][self.sampled >= self.tau_1]

    def turns(self) -> int:
        """How often dh/dt changes its sign."""
        directions = np.sign(self.along[2])
        return int(np.count_nonzero(directions[1:] != directions[:-1]))

    def at_turn(self) -> tuple[float, float]:
        """w and h/h* where h turns. Raises UnreachedError where h is larger elsewhere: then it turns elsewhere too."""
        gained, risen, _ = (float(each[0]) for each in self.states(np.array([self.tau_2])))
        largest = float(self.along[1].max())
        if largest - risen > 1e-6 * self.crest:
            raise UnreachedError(f"h is not largest at the first turn, tau = {plain(self.tau_2)}")
        return self.start * math.exp(gained), 1 + self.v_star**2 * risen

    @cached_property
    def mean_growth(self) -> tuple[np.ndarray, np.ndarray]:
        """Times up to tau_half, and log(w/sigma_init)/tau there."""
        taus = np.geomspace(min(1e-3, self.tau_half / 10), self.tau_half, LOOKS)
        return taus, self.states(taus)[0] / taus

    def above(self, least: Callable[..., Any], until: float) -> float:
        """The least eta/least(tau) for 0 < tau <= `until` (at 0 both are the start)."""
        taus = np.linspace(0, until, LOOKS)[1:]
        return float(np.min(self.eta(taus) / least(taus)))

    def _reached(self, time: float | None, what: str) -> float:
        if time is None:
            raise UnreachedError(f"{what} is not reached by tau = {plain(self.run.end)}")
        return time


def head_path(alpha: float, w_star: float, sigma_init: float, flow: str) -> HeadPath:
    """Each run once. Raises UnreachedError where the flow cannot be followed."""
    found = _path(alpha, w_star, sigma_init, flow)
    if isinstance(found, IntegrationError):
        raise UnreachedError(str(found))
    return found


@lru_cache(maxsize=64)
def _path(alpha: float, w_star: float, sigma_init: float, flow: str) -> HeadPath | IntegrationError:
    try:
        return HeadPath(alpha, w_star, sigma_init, flow)
    except IntegrationError as error:
        return error
