"""Stiff integration of autonomous flows over many orders of time, and the times at which something first happens.

Plain callables in, arrays out. A state has the shape (n,), a run at T times (n, T).
"""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from scipy.integrate import OdeSolution, solve_ivp
from scipy.optimize import brentq

from numeric.balls.digits import apart
from numeric.tools.integration_error import IntegrationError

Field = Callable[[np.ndarray], np.ndarray]  # (n,) to (n,)
Jacobian = Callable[[np.ndarray], np.ndarray]  # (n,) to (n, n)
Event = Callable[[np.ndarray], np.ndarray]  # (n, T) to (T,); it happens where this is positive

MOST_EVALUATIONS = 15_000  # more than any run needs that LSODA's choice of method suits
NEARER = 1e-6  # of the distance of two looks: about how far off the polynomial is
LOOKS = 4  # an event is looked for at this many times in each step


@dataclass(frozen=True)
class Path:
    """A solution from time 0 to `end`: `times` (T,) and `steps` (n, T) of the solver, and between them a polynomial."""

    field: Field
    times: np.ndarray
    steps: np.ndarray
    between: OdeSolution
    rules: dict[str, Any]

    @property
    def end(self) -> float:
        return float(self.times[-1])

    def at(self, times: Any) -> np.ndarray:
        """The states at `times` (T,), as (n, T). Raises ValueError for times outside [0, end]."""
        moments = np.atleast_1d(np.asarray(times, dtype=float))
        if moments.size and not (moments.min() >= 0 and moments.max() <= self.end * (1 + 1e-12)):
            first, last = (apart(float(each), self.end)[0] for each in (moments.min(), moments.max()))
            raise ValueError(f"times {first} .. {last} are outside of the run, 0 .. {self.end:g}")
        states: np.ndarray = self.between(np.minimum(moments, self.end))
        return states

    def exactly(self, time: float) -> np.ndarray:
        """The state (n,) at one time, by steps that end there: as exact as the steps are."""
        before = max(int(np.searchsorted(self.times, time, side="right")) - 1, 0)
        duration = time - self.times[before]
        if duration <= 0:
            return np.asarray(self.steps[:, before])
        run, _ = _solved(self.field, self.steps[:, before], duration, self.rules)
        return np.asarray(run.y[:, -1])

    def first(self, event: Event, after: float = 0.0) -> float | None:
        """The first time, from `after` on, at which `event` is positive; None if it never is.

        It is looked for at LOOKS times in each step; the time found is then not read off the polynomial, which is of
        lower order than the steps.
        """
        looks = self._looks(after)
        happened = np.flatnonzero(event(self.at(looks)) > 0)
        if not len(happened):
            return None
        place = int(happened[0])
        if place == 0:
            return after

        def margin(time: float) -> float:
            return float(event(self.exactly(time)[:, None])[0])

        low, high = float(looks[place - 1]), float(looks[place])
        while margin(high) <= 0:  # the polynomial was positive here, the solution is not yet
            if high >= self.end:
                return None
            high = min(high + (high - low) / 10, self.end)
        if margin(low) > 0:
            return low
        low, high = self._nearer(event, margin, low, high)
        return float(brentq(margin, low, high, xtol=1e-13 * high, rtol=1e-13))

    def _nearer(self, event: Event, margin: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
        """A shorter bracket of the crossing about that of the polynomial, if the solution crosses in it too."""

        def height(time: float) -> float:
            return float(event(self.at(time))[0])

        if not height(low) <= 0 < height(high):
            return low, high
        middle, reach = float(brentq(height, low, high, xtol=1e-13 * high, rtol=1e-13)), NEARER * (high - low)
        before, after = max(low, middle - reach), min(high, middle + reach)
        return (before, after) if margin(before) <= 0 < margin(after) else (low, high)

    def _looks(self, after: float) -> np.ndarray:
        shares = np.arange(LOOKS) / LOOKS
        inside = (self.times[:-1, None] + np.diff(self.times)[:, None] * shares).ravel()
        later = np.append(inside, self.end)
        return np.append(after, later[later > after])


def integrate(
    field: Field,
    start: Any,
    end: float,
    *,
    jacobian: Jacobian | None = None,
    stop: Event | None = None,
    relative: float = 1e-11,
    absolute: Any = 1e-14,
    longest_step: float = math.inf,
) -> Path:
    """The solution of dx/dt = field(x), x(0) = start, to time `end`, or until `stop` turns positive if that is earlier.

    Method: LSODA (Adams, or BDF where it finds the flow stiff), Radau if that does not finish; with local
    errors of about `relative` |x| + `absolute` (a number, or one for each coordinate), and steps of at most
    `longest_step` (for a field with an edge, past which a trial step must not go). Raises IntegrationError where the
    solver gives up or the field is not finite, ValueError for an end that is not positive.
    """
    if not end > 0:
        raise ValueError(f"integrate: the run must end after it starts; got end = {end}")
    rules: dict[str, Any] = {"rtol": relative, "atol": absolute, "method": "LSODA", "max_step": longest_step}
    if jacobian is not None:
        rules["jac"] = lambda _, x: jacobian(x)
    events = None if stop is None else _terminal(stop)
    found, rules = _solved(field, np.asarray(start, dtype=float), end, rules, dense_output=True, events=events)
    return Path(field, found.t, found.y, found.sol, rules)


def first_crossing(time: np.ndarray, values: np.ndarray) -> float | None:
    """The first time at which sampled `values` reach 0 from below, between the points linearly; None if never.

    `time` and `values` are of the shape (T,).
    """
    reached = np.flatnonzero(values >= 0)
    if len(reached) == 0:
        return None
    place = int(reached[0])
    if place == 0:
        return float(time[0])
    low, high = values[place - 1], values[place]
    return float(time[place - 1] + (time[place] - time[place - 1]) * low / (low - high))


def difference_jacobian(field: Field, state: np.ndarray, step: float) -> np.ndarray:
    """d field_i / d x_j at a state (n,), as (n, n), by central differences of fourth order: off by about step^4."""

    def across(change: np.ndarray) -> np.ndarray:
        return np.asarray((field(state + change) - field(state - change)) / 2)

    steps = step * np.eye(len(state))
    return np.stack([(8 * across(each) - across(2 * each)) / (6 * step) for each in steps], axis=1)


def _terminal(stop: Event) -> Callable[[float, np.ndarray], float]:
    def watched(_: float, state: np.ndarray) -> float:
        return float(stop(state[:, None])[0])

    watched.direction = 1.0  # type: ignore[attr-defined]  # solve_ivp reads these two attributes
    watched.terminal = True  # type: ignore[attr-defined]
    return watched


def _finite(field: Field, state: np.ndarray) -> np.ndarray:
    rate = np.asarray(field(state), dtype=float)
    if not np.isfinite(rate).all():
        raise IntegrationError(f"the field is not finite at the state {state}: {rate}")
    return rate


class _MissedStiffnessError(Exception):
    """LSODA has used so many evaluations that it has not detected the stiffness of the flow."""


def _solved(
    field: Field, start: np.ndarray, end: float, rules: dict[str, Any], **more: Any
) -> tuple[Any, dict[str, Any]]:
    """The solver's answer, and the method that found it."""
    evaluations = count()

    def counted(_: float, state: np.ndarray) -> np.ndarray:
        if next(evaluations) > MOST_EVALUATIONS:
            raise _MissedStiffnessError
        return _finite(field, state)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # LSODA also reports these warnings as a status, which is raised here
        try:
            found = solve_ivp(counted, (0.0, end), start, **rules, **more)
        except _MissedStiffnessError:
            rules = {**rules, "method": "Radau"}
            found = solve_ivp(lambda _, x: _finite(field, x), (0.0, end), start, **rules, **more)
    if found.status < 0:
        raise IntegrationError(
            f"the flow was followed to t = {found.t[-1]:g} of {end:g}, state {found.y[:, -1]}: {found.message}"
        )
    return found, rules
