"""One run of the closed-form flows of section 5 (wang2024): parameters and losses at any time, and the phase times.

The flow of (p, g) and that of (w, h) are decoupled; the second is followed over tau = t/(L-2), which removes L: first
as (log w, h), then as log distance and direction to the optimum, so that a loss of 1e-300 still has its digits
(`symbolic.topics.induction.coordinates`).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from bridge.lowering.formula import evaluate
from bridge.topics.tools.flows import JoinedTrajectory, Trajectory, follow
from symbolic.dynamics import Flow
from symbolic.topics.induction import coordinates
from symbolic.topics.induction import training as theory
from symbolic.topics.induction.coordinates import EARLY_VIEWS, LATE_VIEWS, above, log_loss, log_w, value, y
from symbolic.topics.induction.training import OPTIMA, alpha, check_flow, g, g_star, h_star, p, v_star, w_star
from symbolic.topics.induction.training import L as LENGTH

Number = float | int

STRIDE = 0.2
LEARNT, KEPT = float(theory.LEARNT), float(theory.KEPT)
HALFWAY = sp.log(sp.sqrt(v_star) / 2)  # log w at w = w*/2
level = sp.Symbol("level", real=True)  # of a loss


def numbers_at(**given: Any) -> dict[sp.Symbol, float]:
    """L, alpha and w_star, as far as they are given, and the optima that they determine."""
    letters = {each: float(given[each.name]) for each in (LENGTH, alpha, w_star) if each.name in given}
    known = {each: formula for each, formula in OPTIMA.items() if formula.free_symbols <= letters.keys()}
    return letters | {each: float(evaluate(formula, letters)) for each, formula in known.items()}


@dataclass(frozen=True)
class TrajectoryRecord:
    """A run at times of the shape (T,); every field has that shape. `L_IH2` underflows where `log_L_IH2` does not."""

    t: np.ndarray
    p: np.ndarray
    g: np.ndarray
    w: np.ndarray
    h: np.ndarray
    log_w: np.ndarray
    L_G4: np.ndarray
    L_IH2: np.ndarray
    log_L_IH2: np.ndarray  # noqa: N815 - the log of a letter of the paper


def gram_run(L: Number, alpha: Number, sigma_init: float, end: float) -> Trajectory:
    """(p, g) from (sigma_init, sigma_init), to time `end`."""
    start, letters = dict.fromkeys((p, g), sigma_init), numbers_at(L=L, alpha=alpha)
    return follow(coordinates.GRAM_FLOW, start, end, letters, absolute=1e-12 * sigma_init)


class HeadRun:
    """(w, h) from (sigma_init, sigma_init), over tau = t/(L-2), to tau = `end`."""

    def __init__(self, alpha: Number, w_star: float, sigma_init: float, flow: str, end: float):
        self.letters = numbers_at(alpha=alpha, w_star=w_star)
        self.h_star, self.v_star = self.letters[h_star], self.letters[v_star]
        self.sigma_init = sigma_init
        early = self._from_the_start(flow, end)
        turn = 0.0 if early is None else early.end
        late = self._to_the_optimum(flow, early, end - turn) if turn < end else None
        self.run = JoinedTrajectory(tuple(part for part in (early, late) if part is not None))

    def _from_the_start(self, flow: str, end: float) -> Trajectory | None:
        """To w = w*/2, as (log w, h - h*); None where w starts beyond."""
        start = (math.log(self.sigma_init), self.sigma_init - self.h_star)
        if start[0] >= evaluate(HALFWAY, self.letters):
            return None
        chosen = coordinates.deviation_flow(flow)
        overshoot = self.h_star * self.v_star**2 / 2  # h*(psi(v*) - 1) to leading order
        return follow(
            chosen,
            dict(zip(chosen.state, start, strict=True)),
            end,
            self.letters,
            stop=y - HALFWAY,
            views=EARLY_VIEWS,
            longest_step=stride(chosen, 0.0, self.letters),
            absolute=(1e-11, 1e-12 * min(self.sigma_init, overshoot)),
        )

    def _to_the_optimum(self, flow: str, early: Trajectory | None, end: float) -> Trajectory:
        start = (math.log(self.sigma_init), self.sigma_init - self.h_star)
        begin, over = start if early is None else early.last(log_w, above)
        away = (math.exp(begin) ** 2 - self.v_star, over)
        polar = (math.log(math.hypot(*away)), math.atan2(away[1], away[0]))
        chosen = coordinates.late_flow(flow)
        return follow(
            chosen,
            dict(zip(chosen.state, polar, strict=True)),
            end,
            self.letters,
            views=LATE_VIEWS,
            absolute=(1e-11, 1e-11 * min(1.0, self.v_star)),
        )

    @property
    def end(self) -> float:
        return self.run.end

    def at(self, taus: Any) -> np.ndarray:
        """log w, h and the log of (L-2) L_IH2, each (T,)."""
        return self.run.at(taus, log_w, value, log_loss)

    @cached_property
    def tau_o(self) -> float | None:
        return self.run.first(above)

    def falls_to(self, share: float, late: float = 1.0) -> float | None:
        """The first tau after `late` tau_o at which the loss is at most `share` of its value then; None without one.

        `late` is at least 1.
        """
        if self.tau_o is None or late * self.tau_o > self.end:
            return None
        observed = late * self.tau_o
        threshold = self.run.exactly(observed, log_loss) + math.log(share)
        return self.run.first(level - log_loss, observed, {level: threshold})


@dataclass(frozen=True)
class TwoLayerTrajectory:
    """A run to time `end`, by `run`. Phase times are those of Theorem 5.5, None where they are not reached by `end`."""

    L: float
    alpha: float
    w_star: float
    sigma_init: float
    flow: str
    end: float

    @cached_property
    def gram(self) -> Trajectory:
        return gram_run(self.L, self.alpha, self.sigma_init, self.end)

    @cached_property
    def head(self) -> HeadRun:
        return HeadRun(self.alpha, self.w_star, self.sigma_init, self.flow, self.end / (self.L - 2))

    def at(self, times: Any) -> TrajectoryRecord:
        """Parameters and losses at `times` (T,). Raises ValueError for times outside [0, end]."""
        wanted = np.atleast_1d(np.asarray(times, dtype=float))
        steps, value_of_g, gram_loss = self.gram.at(wanted, p, g, coordinates.GRAM_LOSS)
        of_w, of_h, loss = self.head.at(np.minimum(wanted / (self.L - 2), self.head.end))
        loss = loss - math.log(self.L - 2)
        return TrajectoryRecord(wanted, steps, value_of_g, np.exp(of_w), of_h, of_w, gram_loss, np.exp(loss), loss)

    @cached_property
    def T_I(self) -> float | None:
        """The first time at which L_G4 is at most 0.01 of its start."""
        threshold = LEARNT * self.gram.exactly(0.0, coordinates.GRAM_LOSS)
        return self.gram.first(level - coordinates.GRAM_LOSS, letters={level: threshold})

    @cached_property
    def T_1g(self) -> float | None:
        """The first time at which g exceeds g*."""
        return self.gram.first(g - g_star)

    @property
    def T_o(self) -> float | None:
        """The first time at which h exceeds h* (0 where it starts above)."""
        return self._time(self.head.tau_o)

    @cached_property
    def T_II(self) -> float | None:
        """The first time after T_o at which L_IH2 is at most 0.99 of what it was at T_o."""
        return self._time(self.head.falls_to(KEPT))

    @cached_property
    def T_III(self) -> float | None:
        """The first time after T_o at which L_IH2 is at most 0.01 of what it was at T_o."""
        return self._time(self.head.falls_to(LEARNT))

    def _time(self, tau: float | None) -> float | None:
        return None if tau is None else tau * (self.L - 2)


def run(
    L: Number, alpha: Number, w_star: Number, sigma_init: Number, *, flow: str = "true", end: Number = 1e8
) -> TwoLayerTrajectory:
    """The flow from p = g = w = h = sigma_init to time `end`, with w_Q = w_K = w.

    `flow`: "true", the gradient flow of (12), or "printed", the paper's, in which w moves at twice the rate. Either
    head is integrated when it is first asked for. Raises UsageError for a flow that is neither; the parameters are
    checked by the hypotheses of `symbolic.topics.induction.setting`, not here.
    """
    check_flow(flow, "run")
    return TwoLayerTrajectory(float(L), float(alpha), float(w_star), float(sigma_init), flow, float(end))


def stride(early: Flow, top: float, letters: Mapping[sp.Symbol, float]) -> float:
    """The tau in which log w grows by about STRIDE at most: past v + v* = 1 there is no field of `early_flow`.

    `top`: the second coordinate at h = h*.
    """
    places = {y: np.array([math.log(letters[v_star]) / 2 - STRIDE, -math.inf]), early.state[1]: top}
    return STRIDE / float(evaluate(early.field[0], {**letters, **places}).max())
