"""One run of the closed-form flows of section 5 (wang2024): parameters and losses at any time, and the phase times.

The flow of (p, g) and that of (w, h) are decoupled; the second is followed over tau = t/(L-2), which removes L: first
as (log w, h), then as log distance and direction to the optimum, so that a loss of 1e-300 still has its digits
(`symbolic.induction.coordinates`).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import sympy as sp

from bridge.lowering import lower
from numeric.flows import Path, integrate
from symbolic.dynamics import Flow
from symbolic.induction import coordinates
from symbolic.induction.training import L as LENGTH
from symbolic.induction.training import check_flow, g, g_star, h_star, p, v_star

Function = Callable[..., Any]
Number = float | int

STRIDE = 0.2
LEARNT, KEPT = 0.01, 0.99  # the shares of a loss in Theorem 5.5
TINY = 1e-300  # what counts as 0 for the solver where every digit of a state matters


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


@dataclass(frozen=True)
class LoweredFlow:
    """A flow of two coordinates on arrays, with its Jacobian; the parameters are bound."""

    field: Callable[[np.ndarray], np.ndarray]
    jacobian: Callable[[np.ndarray], np.ndarray]


class GramRun:
    """(p, g) from (sigma_init, sigma_init), to time `end`."""

    def __init__(self, L: float, alpha: float, sigma_init: float, end: float):
        self.values = (float(L), alpha / (1 + alpha))
        flow = lowered_flow(coordinates.GRAM_FLOW, (LENGTH, g_star), self.values)
        start = (sigma_init, sigma_init)
        self.path = integrate(flow.field, start, end, jacobian=flow.jacobian, absolute=1e-12 * sigma_init)

    def loss(self, states: np.ndarray) -> np.ndarray:
        return np.asarray(_gram_loss()(*states, *self.values))

    @cached_property
    def T_I(self) -> float | None:
        threshold = LEARNT * self.loss(self.path.steps[:, :1])[0]
        return self.path.first(lambda x: threshold - self.loss(x))

    @cached_property
    def T_1g(self) -> float | None:
        return self.path.first(lambda x: x[1] - self.values[1])


class HeadRun:
    """(w, h) from (sigma_init, sigma_init), over tau = t/(L-2), to tau = `end`."""

    def __init__(self, alpha: float, w_star: float, sigma_init: float, flow: str, end: float):
        self.h_star, self.v_star = 1 / (1 + alpha), w_star**2
        self.values = (self.h_star, self.v_star)
        self.sigma_init = sigma_init
        self.early = self._from_the_start(flow, math.log(w_star / 2), end)
        self.turn = 0.0 if self.early is None else self.early.end
        self.late = self._to_the_optimum(flow, end - self.turn) if self.turn < end else None

    def _from_the_start(self, flow: str, halfway: float, end: float) -> Path | None:
        """To w = w*/2, as (log w, h - h*); None where w starts beyond."""
        start = (math.log(self.sigma_init), self.sigma_init - self.h_star)
        if start[0] >= halfway:
            return None
        lowered = lowered_flow(coordinates.deviation_flow(flow), (h_star, v_star), self.values)
        overshoot = self.h_star * self.v_star**2 / 2  # h*(psi(v*) - 1) to leading order
        return integrate(
            lowered.field,
            start,
            end,
            jacobian=lowered.jacobian,
            stop=lambda x: x[0] - halfway,
            longest_step=stride(lowered, (0.0, self.v_star)),
            absolute=(1e-11, 1e-12 * min(self.sigma_init, overshoot)),
        )

    def _to_the_optimum(self, flow: str, end: float) -> Path:
        w, above = (self.sigma_init, self.sigma_init - self.h_star) if self.early is None else self._turning_point()
        away = (w**2 - self.v_star, above)
        start = (math.log(math.hypot(*away)), math.atan2(away[1], away[0]))
        lowered = lowered_flow(coordinates.late_flow(flow), (h_star, v_star), self.values)
        return integrate(
            lowered.field, start, end, jacobian=lowered.jacobian, absolute=(1e-11, 1e-11 * min(1.0, self.v_star))
        )

    def _turning_point(self) -> tuple[float, float]:
        assert self.early is not None
        y, above = self.early.steps[:, -1]
        return math.exp(y), float(above)

    @property
    def end(self) -> float:
        return self.turn if self.late is None else self.turn + self.late.end

    def at(self, taus: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """log w, h and the log of (L-2) L_IH2."""
        found = np.empty((4, len(taus)))
        first = taus <= self.turn if self.late is not None else np.ones(len(taus), dtype=bool)
        if self.early is not None and first.any():
            found[:, first] = self._early(self.early.at(taus[first]))
        elif self.early is None:
            first = np.zeros(len(taus), dtype=bool)
        if self.late is not None and not first.all():
            found[:, ~first] = self._late(self.late.at(taus[~first] - self.turn))
        return found[0], found[1], found[2]

    def _early(self, states: np.ndarray) -> np.ndarray:
        loss = _deviation_loss()(*states, *self.values)
        return np.array([states[0], self.h_star + states[1], np.log(loss), states[1]])

    def _late(self, states: np.ndarray) -> np.ndarray:
        distance, direction = np.exp(states[0]), states[1]
        v, above = self.v_star + distance * np.cos(direction), distance * np.sin(direction)
        return np.array([np.log(v) / 2, self.h_star + above, _late_log_loss()(*states, *self.values), above])

    def first(self, event: Callable[[np.ndarray], np.ndarray], after: float = 0.0) -> float | None:
        """The first tau from `after` on at which `event` of (log w, h, log of (L-2) L_IH2, h - h*) is positive."""
        if self.early is not None and after < self.turn:
            found = self.early.first(lambda x: event(self._early(x)), after)
            if found is not None:
                return found
        if self.late is None:
            return None
        found = self.late.first(lambda x: event(self._late(x)), max(after - self.turn, 0.0))
        return None if found is None else self.turn + found

    @cached_property
    def tau_o(self) -> float | None:
        return self.first(lambda x: x[3])

    def falls_to(self, share: float, late: float = 1.0) -> float | None:
        """The first tau after `late` tau_o at which the loss is at most `share` of its value then; None without one.

        `late` is at least 1.
        """
        if self.tau_o is None or late * self.tau_o > self.end:
            return None
        observed = late * self.tau_o
        threshold = self._log_loss_exactly(observed) + math.log(share)
        return self.first(lambda x: threshold - x[2], observed)

    def _log_loss_exactly(self, tau: float) -> float:
        if self.early is not None and tau <= self.turn:
            return float(self._early(self.early.exactly(tau)[:, None])[2, 0])
        assert self.late is not None
        return float(self._late(self.late.exactly(tau - self.turn)[:, None])[2, 0])


@dataclass(frozen=True)
class Trajectory:
    """A run to time `end`, by `run`. Phase times are those of Theorem 5.5, None where they are not reached by `end`."""

    L: float
    alpha: float
    w_star: float
    sigma_init: float
    flow: str
    end: float

    @cached_property
    def gram(self) -> GramRun:
        return GramRun(self.L, self.alpha, self.sigma_init, self.end)

    @cached_property
    def head(self) -> HeadRun:
        return HeadRun(self.alpha, self.w_star, self.sigma_init, self.flow, self.end / (self.L - 2))

    def at(self, times: Any) -> TrajectoryRecord:
        """Parameters and losses at `times` (T,). Raises ValueError for times outside [0, end]."""
        wanted = np.atleast_1d(np.asarray(times, dtype=float))
        states = self.gram.path.at(wanted)
        log_w, value, log_loss = self.head.at(np.minimum(wanted / (self.L - 2), self.head.end))
        log_loss = log_loss - math.log(self.L - 2)
        return TrajectoryRecord(
            t=wanted,
            p=states[0],
            g=states[1],
            w=np.exp(log_w),
            h=value,
            log_w=log_w,
            L_G4=self.gram.loss(states),
            L_IH2=np.exp(log_loss),
            log_L_IH2=log_loss,
        )

    @property
    def T_I(self) -> float | None:
        """The first time at which L_G4 is at most 0.01 of its start."""
        return self.gram.T_I

    @property
    def T_1g(self) -> float | None:
        """The first time at which g exceeds g*."""
        return self.gram.T_1g

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
) -> Trajectory:
    """The flow from p = g = w = h = sigma_init to time `end`, with w_Q = w_K = w.

    `flow`: "true", the gradient flow of (12), or "printed", the paper's, in which w moves at twice the rate. Either
    head is integrated when it is first asked for. Raises UsageError for a flow that is neither; the parameters are
    checked by the hypotheses of `symbolic.induction.setting`, not here.
    """
    check_flow(flow, "run")
    return Trajectory(float(L), float(alpha), float(w_star), float(sigma_init), flow, float(end))


def stride(early: LoweredFlow, values: tuple[float, float]) -> float:
    """The tau in which log w grows by about STRIDE at most: past v + v* = 1 there is no field of `early_flow`.

    `values`: the second coordinate at h = h*, and v*.
    """
    top, target = values
    fastest = early.field(np.array([math.log(target) / 2 - STRIDE, top]))[0]
    at_rest = early.field(np.array([-math.inf, top]))[0]
    return STRIDE / max(fastest, at_rest)


@cache
def _functions(flow: Flow, parameters: tuple[sp.Symbol, ...]) -> tuple[Function, Function]:
    """The field and the Jacobian of a flow, of its state and these parameters."""
    arguments = (*flow.state, *parameters)
    return lower(sp.Matrix(flow.field), args=arguments), lower(flow.jacobian, args=arguments)


def lowered_flow(flow: Flow, parameters: tuple[sp.Symbol, ...], values: tuple[float, ...]) -> LoweredFlow:
    field, jacobian = _functions(flow, parameters)
    return LoweredFlow(
        lambda x: np.asarray(field(*x, *values)).reshape(-1),
        lambda x: np.asarray(jacobian(*x, *values)),
    )


@cache
def _gram_loss() -> Function:
    return lower(coordinates.GRAM_LOSS, args=(p, g, LENGTH, g_star))


@cache
def early_loss() -> Function:
    return lower(coordinates.EARLY_LOSS, args=(coordinates.y, coordinates.h, h_star, v_star))


@cache
def _deviation_loss() -> Function:
    return lower(coordinates.DEVIATION_LOSS, args=(coordinates.y, coordinates.eta, h_star, v_star))


@cache
def _late_log_loss() -> Function:
    return lower(coordinates.LATE_LOG_LOSS, args=(coordinates.r, coordinates.theta, h_star, v_star))
