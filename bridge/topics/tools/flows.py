"""Flows followed at numbers: solutions that are read by formulas in their coordinates and letters."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Any

import numpy as np
import sympy as sp

from bridge.lowering import Lowered, lower
from bridge.lowering.formula import evaluate
from numeric.balls.digits import apart
from numeric.tools.flows import Event, Path, integrate
from symbolic.derivations.exact_numbers import as_float, as_formula, as_positive_float, require_symbols
from symbolic.dynamics import Flow
from symbolic.words.errors import UsageError
from symbolic.words.shown import brief

Numbers = Mapping[sp.Symbol, Any]
Views = Mapping[sp.Symbol, sp.Expr]  # letters by formulas in coordinates and letters


@dataclass(frozen=True)
class Trajectory:
    """A solution of a flow from time 0 to `end`, at numbers for the flow's letters.

    It is read by formulas in the coordinates, in these letters and in those of `views`, which are formulas in the
    former (other coordinates, a loss). Raises UsageError for a formula with any other letter, and for times outside
    [0, end].
    """

    state: tuple[sp.Symbol, ...]
    path: Path
    letters: Numbers
    views: Views = field(default_factory=dict)

    __repr__ = brief

    @property
    def end(self) -> float:
        return self.path.end

    def at(self, times: Any, *formulas: sp.Expr) -> np.ndarray:
        """The values of the formulas at `times` (T,), an array (formulas, T)."""
        states = self._states(times)
        found = [self._reads(each)(states) for each in formulas]
        return np.array(found, dtype=float).reshape(len(formulas), states.shape[1])

    def exactly(self, time: float | int, formula: sp.Expr) -> float:
        """The value at one time, by steps of the solver that end there: as exact as its steps are."""
        time = _within("Trajectory.exactly", time, self.end)
        return float(self._reads(formula)(self.path.exactly(time)[:, None])[0])

    def last(self, *formulas: sp.Expr) -> tuple[float, ...]:
        """The values at the end."""
        states = self.path.steps[:, -1:]
        return tuple(float(self._reads(each)(states)[0]) for each in formulas)

    def first(self, event: sp.Expr, after: float | int = 0.0, letters: Numbers | None = None) -> float | None:
        """The first time, from `after` on, at which the formula `event` is positive; None if it never is.

        `letters` are further ones of the event: a level that is reached, say. See `Path.first` for the accuracy.
        """
        return self.path.first(self._reads(event, letters), _within("Trajectory.first", after, self.end))

    def _states(self, times: Any) -> np.ndarray:
        moments = _moments("Trajectory.at", times, self.end)
        return self.path.at(moments) if len(moments) else np.empty((len(self.state), 0))

    def _reads(self, formula: sp.Expr, more: Numbers | None = None) -> Event:
        if more is not None:
            require_symbols("Trajectory.first", "letters", more)
        return _reader(formula, self.state, {**self.letters, **(more or {})}, self.views)


def _within(call: str, time: Any, end: float) -> float:
    """The time as a float. Raises UsageError for one outside of the run."""
    moment = time if isinstance(time, float) else as_float(call, "time", time)
    if not 0 <= moment <= end * (1 + 1e-12):
        raise UsageError("{}: time {} is outside of the run, 0 .. {}".format(call, *apart(moment, end)))
    return moment


def _moments(call: str, times: Any, end: float) -> np.ndarray:
    """The times as an array (T,). Raises UsageError for what is not a time of the run."""
    try:
        given = np.asarray(times)
        moments = np.atleast_1d(given.astype(float))
    except (TypeError, ValueError):  # of letters, text and rows of different lengths
        given, moments = np.empty(0, dtype=str), np.empty((0, 0))
    if moments.ndim != 1 or given.dtype.kind not in "fiuO":
        raise UsageError(f"{call}: times = {times!r:.80}; give a number or a list of numbers")
    if len(moments) and not (moments.min() >= 0 and moments.max() <= end * (1 + 1e-12)):
        first, last = (apart(float(each), end)[0] for each in (moments.min(), moments.max()))
        raise UsageError(f"{call}: times {first} .. {last} are outside of the run, 0 .. {end:g}")
    return moments


@dataclass(frozen=True)
class JoinedTrajectory:
    """Runs one after the other, each perhaps in coordinates of its own; times count from the first.

    Formulas are in letters that every run gives: its coordinates or those of its `views`. Raises UsageError for no run.
    """

    parts: tuple[Trajectory, ...]

    __repr__ = brief

    def __post_init__(self) -> None:
        if not isinstance(self.parts, tuple | list) or not all(isinstance(each, Trajectory) for each in self.parts):
            raise UsageError(f"JoinedTrajectory: parts = {self.parts!r:.80}; give a tuple of those that `follow` gives")
        if not self.parts:
            raise UsageError("JoinedTrajectory: no runs came; give at least one")
        object.__setattr__(self, "parts", tuple(self.parts))

    @cached_property
    def starts(self) -> tuple[float, ...]:
        return tuple(accumulate((part.end for part in self.parts[:-1]), initial=0.0))

    @property
    def end(self) -> float:
        return self.starts[-1] + self.parts[-1].end

    def at(self, times: Any, *formulas: sp.Expr) -> np.ndarray:
        """As that of one run."""
        moments = _moments("JoinedTrajectory.at", times, self.end)
        found, places = np.empty((len(formulas), len(moments))), self._places(moments)
        for place, (start, part) in enumerate(zip(self.starts, self.parts, strict=True)):
            here = places == place
            if here.any():
                found[:, here] = part.at(moments[here] - start, *formulas)
        return found

    def exactly(self, time: float | int, formula: sp.Expr) -> float:
        """As that of one run."""
        time = _within("JoinedTrajectory.exactly", time, self.end)
        place = int(self._places(np.array([time]))[0])
        return self.parts[place].exactly(time - self.starts[place], formula)

    def first(self, event: sp.Expr, after: float | int = 0.0, letters: Numbers | None = None) -> float | None:
        """As that of one run."""
        after = _within("JoinedTrajectory.first", after, self.end)
        later = [(start, part) for start, part in zip(self.starts, self.parts, strict=True) if after < start + part.end]
        happened = ((start, part.first(event, max(after - start, 0.0), letters)) for start, part in later)
        return next((start + time for start, time in happened if time is not None), None)

    def _places(self, times: np.ndarray) -> np.ndarray:
        """The part in which each of the times lies."""
        return np.maximum(np.searchsorted(self.starts, times, side="left") - 1, 0)


def follow(
    flow: Flow,
    start: Numbers,
    end: float | int,
    letters: Numbers | None = None,
    *,
    stop: sp.Expr | None = None,
    views: Views | None = None,
    relative: float = 1e-11,
    absolute: Any = 1e-14,
    longest_step: float = math.inf,
) -> Trajectory:
    """The solution of a flow from `start`, a number for each coordinate, to time `end`, or until `stop` is positive.

    `letters` are numbers for the other letters of the flow. `stop` is a formula in letters that the trajectory reads,
    those of `views` included; where it is positive from the start on, nothing stops the run. Local
    errors are about `relative` |x| + `absolute` (one number, or one for each coordinate, in their order), steps at most
    `longest_step` long; the flow may be stiff (numeric/tools/flows.py).

    Raises UsageError for a coordinate or a letter without a finite number, for an end that is not positive and finite
    and for tolerances and steps that are none, IntegrationError where the flow cannot be followed.
    """
    if not isinstance(flow, Flow):
        raise UsageError(f"follow: flow = {flow!r:.80}; give a Flow, such as bs.dynamics.Flow((x,), (-x,))")
    letters, views = {} if letters is None else letters, {} if views is None else views
    for name, given in (("start", start), ("letters", letters), ("views", views)):
        require_symbols("follow", name, given)
    views = {letter: as_formula("follow", f"views[{letter}]", view) for letter, view in views.items()}
    letters = dict(letters)
    others = tuple(sorted(set().union(*(rate.free_symbols for rate in flow.field)) - set(flow.state), key=str))
    _require_numbers("start", "coordinate", start, flow.state)
    _require_numbers("letters", "letter", letters, others)
    end = as_positive_float("follow", "end", end)
    tolerances = _tolerances(len(flow.state), relative, absolute, longest_step)
    rates, jacobian = _lowered(flow, (*flow.state, *others))
    numbers = [float(letters[each]) for each in others]
    path = integrate(
        lambda x: np.asarray(rates(*x, *numbers)).reshape(-1),
        [float(start[each]) for each in flow.state],
        end,
        jacobian=lambda x: np.asarray(jacobian(*x, *numbers)),
        stop=None if stop is None else _reader(stop, flow.state, letters, views),
        **tolerances,
    )
    return Trajectory(flow.state, path, letters, views)


def _require_numbers(argument: str, kind: str, given: Numbers, needed: tuple[sp.Symbol, ...]) -> None:
    """Raises UsageError, which names all of them, unless each has a finite number."""
    wrong = [each for each in needed if each not in given or not _is_finite(given[each])]
    if wrong:
        came = ", ".join(f"{each}: {number!r}" for each, number in given.items())
        raise UsageError(
            f"follow: {argument}={{{came}}}; give a finite number for each {kind}, also for "
            f"{', '.join(map(str, wrong))}"
        )


def _is_finite(number: Any) -> bool:
    try:
        as_float("follow", "a number", number)
    except UsageError:
        return False
    return True


def _tolerances(coordinates: int, relative: Any, absolute: Any, longest_step: Any) -> dict[str, Any]:
    """Those of the integration, as floats."""
    each = list(absolute) if isinstance(absolute, list | tuple | np.ndarray) and np.ndim(absolute) == 1 else [absolute]
    floors = [as_float("follow", "absolute", floor) for floor in each]
    if min(floors, default=-1.0) < 0 or (each is not absolute and len(floors) not in (1, coordinates)):
        raise UsageError(
            f"follow: absolute = {absolute!r:.80}; give a number >= 0, or one for each of the {coordinates} coordinates"
        )
    return {
        "relative": as_positive_float("follow", "relative", relative),
        "absolute": floors[0] if len(floors) == 1 else floors,
        "longest_step": math.inf
        if longest_step == math.inf
        else as_positive_float("follow", "longest_step", longest_step),
    }


@lru_cache(maxsize=256)
def _lowered(flow: Flow, arguments: tuple[sp.Symbol, ...]) -> tuple[Lowered, Lowered]:
    """The field and its Jacobian."""
    field = lower(sp.Matrix(flow.field), args=arguments, watch=False)  # an integrator asks for fewer digits, often
    return field, lower(flow.jacobian, args=arguments, watch=False)


def _reader(formula: sp.Expr, state: tuple[sp.Symbol, ...], letters: Numbers, views: Views) -> Event:
    """The formula as a function of states (n, T), with values (T,)."""
    in_state = _viewed(formula, tuple(views.items()))

    def read(states: np.ndarray) -> np.ndarray:
        found = evaluate(in_state, {**letters, **dict(zip(state, states, strict=True))})
        return np.broadcast_to(found, states.shape[1:])

    return read


@lru_cache(maxsize=1024)
def _viewed(formula: Any, views: tuple[tuple[sp.Symbol, sp.Expr], ...]) -> sp.Expr:
    return as_formula("Trajectory", "formula", formula).xreplace(dict(views))
